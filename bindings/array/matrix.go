package array

import (
	"fmt"
	"slices"

	"github.com/orepl/orepl/bindings/array/gpu"
	"github.com/orepl/orepl/bindings/array/openblas"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// MatMul returns the product of two matrices, or of planes of matrices, whose numbers are equal or 1. An array of one dimension
// is a row on the left and a column on the right, and its axis is not in the result; the product of two such arrays has the shape
// [1]. Both arrays have elements of one type other than bool, and the result has the type of their values.
func (r *Run) MatMul(a, b Array) (Array, error) {
	end, err := r.begin("matmul", a, b)
	if err != nil {
		return Array{}, err
	}
	defer end()
	return r.product(a, b, r.multiply)
}

// MatMulByOpenBLAS is [Run.MatMul] of matrices of f32 or f64 by OpenBLAS, which is loaded when it is first used. The bits of the
// result depend on the machine and on its number of threads. A limit of time acts between panels of rows.
func (r *Run) MatMulByOpenBLAS(a, b Array) (Array, error) {
	end, err := r.begin("matmul", a, b)
	if err != nil {
		return Array{}, err
	}
	defer end()
	t, _ := offload.ParseType(a.Elem.String())
	on, err := r.openblas.Kernel(r.Context, r.session, r.Queue.Device(), t)
	if err != nil {
		return Array{}, err
	}
	return r.product(a, b, func(a, b, c Array, shape []int, _ ir.Type) error { return r.multiplyBy(on, t, a, b, c, shape) })
}

// multiplyBy issues a call of OpenBLAS for each panel of rows of each matrix. shape has the numbers of matrices, rows and
// columns of c. If the rows of a are empty, it fills c with zeros.
func (r *Run) multiplyBy(on *session.Kernel, t offload.Type, a, b, c Array, shape []int) error {
	planes, m, n, k := shape[0], shape[1], shape[2], a.Dims()[2]
	r.records.fail() // rare
	if k == 0 {
		return r.Queue.Fill(c.Buffer, make([]byte, t.Size()))
	}
	part := func(x Array, plane, row, rows, columns int) (*session.Buffer, error) {
		if x.Dims()[0] == 1 {
			plane = 0
		}
		v, err := r.view(x, view(x, int64(plane*x.Dims()[1]+row)*int64(columns), []int{rows, columns}))
		return v.Buffer, err
	}
	rows := openblas.Panel(m, n, k)
	for plane := range planes {
		right, err := part(b, plane, 0, k, n)
		if err != nil {
			return err
		}
		for row := 0; row < m; row += rows {
			count := min(rows, m-row)
			left, err := part(a, plane, row, count, k)
			if err != nil {
				return err
			}
			out, err := part(c, plane, row, count, n)
			if err != nil {
				return err
			}
			call := on.Unbound()
			if err := call.Rebind(session.Config{Size: []int{1}, Pos: r.Pos}, openblas.Args(t, count, n, k, left, right, out)...); err != nil {
				return err
			}
			if err := r.Host.Launch(r.Queue, call); err != nil {
				return err
			}
			if r.Watch != nil {
				r.Watch(Launched{Op: r.op, Size: []int{1}, Signature: on.Signature() + " of OpenBLAS"})
			}
		}
	}
	return nil
}

// sameTypes returns an error for factors of different types.
func sameTypes(r *Run, what string, a, b Array) error {
	if a.Elem == b.Elem {
		return nil
	}
	t := a.Elem.Scalar.Value()
	if b.Elem.Scalar.IsFloat() && !a.Elem.Scalar.IsFloat() {
		t = b.Elem.Scalar.Value()
	}
	return r.fail(offload.InvalidArgument, "the %s have elements of %s and of %s", what, a.Elem, b.Elem).
		WithHint("convert one of them: x.map(v => %s(v))", t)
}

// product returns the product of planes of matrices, which multiply computes.
func (r *Run) product(a, b Array, multiply func(a, b, c Array, shape []int, acc ir.Type) error) (Array, error) {
	if err := sameTypes(r, "matrices", a, b); err != nil {
		return Array{}, err
	}
	da, db := a.Dims(), b.Dims()
	row, column := len(da) == 1, len(db) == 1
	if row {
		da = []int{1, da[0]}
	}
	if column {
		db = []int{db[0], 1}
	}
	da, db = aligned(da, 3), aligned(db, 3)
	if da[2] != db[1] {
		return Array{}, r.fail(offload.InvalidSize, "the shapes %s and %s do not match: the last axis of the left one has the extent %d, axis %d of the right one %d",
			Shape(a.Dims()), Shape(b.Dims()), da[2], max(len(b.Dims())-2, 0), db[1]).WithHint("transpose one of them: x.transpose()")
	}
	planes := max(da[0], db[0])
	if da[0] == 0 || db[0] == 0 {
		planes = 0
	}
	if da[0] != db[0] && da[0] != 1 && db[0] != 1 {
		return Array{}, r.fail(offload.InvalidSize, "the shapes %s and %s do not match: there are %d and %d matrices", Shape(a.Dims()), Shape(b.Dims()), da[0], db[0]).
			WithHint("the numbers of matrices must be equal, or one of them 1")
	}
	full := []int{planes, da[1], db[2]}
	shape := full[3-max(len(a.Dims()), len(b.Dims()), 2):]
	shape = slices.Clone(shape)
	if row {
		shape = slices.Delete(shape, len(shape)-2, len(shape)-1)
	}
	if column {
		shape = shape[:len(shape)-1]
	}
	if len(shape) == 0 {
		shape = []int{1}
	}
	acc := a.Elem.Scalar.Value()
	if a.Elem.Scalar == ir.Bool {
		return Array{}, r.fail(offload.InvalidArgument, "the matrices have elements of bool").WithHint("convert them: x.map(v => v ? 1 : 0)")
	}
	out, err := r.make(acc, shape)
	if err != nil || out.Len() == 0 {
		return out, err
	}
	views, err := r.views(view3{a, da[0], da[1], da[2]}, view3{b, db[0], db[1], db[2]}, view3{out, full[0], full[1], full[2]})
	if err != nil {
		return Array{}, err
	}
	return out, multiply(views[0], views[1], views[2], full, acc)
}

// tileRows returns the number of rows of a product of m rows that an item computes. The sums of six rows of two vectors fill the
// registers of AVX2. A product of few rows is faster by tiles of eight.
func tileRows(d *offload.DeviceInfo, m int) int {
	if d.VectorBits == 256 && m >= leastSixes {
		return 6
	}
	return 8
}

// leastSixes is the number of rows from which tiles of six rows are faster than those of eight.
const leastSixes = 192

func (r *Run) multiply(a, b, c Array, shape []int, acc ir.Type) error {
	onGPU := gpu.Product{Type: acc, Planes: shape[0], M: shape[1], N: shape[2], K: a.Dims()[2], RepeatA: a.Dims()[0] != shape[0], RepeatB: b.Dims()[0] != shape[0]}
	if d := likeGPU(r); d != nil && onGPU.Fits(d) {
		return gpu.Multiply(host{r, realFor(acc)}, d, onGPU, a, b, c)
	}
	bind := func(text string) *program {
		return (&program{name: r.op, text: text, real: realFor(acc)}).with("value", acc).with("REPEAT_A", a.Dims()[0] != shape[0]).with("REPEAT_B", b.Dims()[0] != shape[0])
	}
	rows := tileRows(r.Queue.Device().Info(), shape[1])
	tiles := shape[1] / rows
	if n, k := shape[2], a.Dims()[2]; n >= 2*panelColumns && n*k*acc.Size() >= leastPacked && shape[1] >= panelColumns && b.Dims()[0] == 1 {
		if err := r.multiplyPanels(a, b, c, acc, tiles); err != nil {
			return err
		}
	} else if tiles > 0 {
		if err := r.launch(bind("multiplyTile").with("ROWS", rows), []int{shape[2], tiles, shape[0]}, nil, in(a), in(b), in(c)); err != nil {
			return err
		}
	}
	rest := shape[1] % rows
	if rest == 0 {
		return nil
	}
	return r.launch(bind("multiplyRow"), []int{shape[2], rest, shape[0]}, nil, in(a), in(b), in(c), i32(tiles*rows))
}

// The only right matrix of a product is packed in panels of panelColumns columns if its values take leastPacked bytes or more. The
// product must also have at least panelColumns rows and 2*panelColumns columns.
const (
	panelColumns = 64
	leastPacked  = 1 << 20
)

// multiplyPanels multiplies the first rows of each matrix in a, which make up tiles, by the only matrix in b, whose columns it packs.
func (r *Run) multiplyPanels(a, b, c Array, acc ir.Type, tiles int) error {
	m, k, n := a.Dims()[1], a.Dims()[2], b.Dims()[2]
	panels := divide(n, panelColumns)
	packed, err := r.temp(b.Elem.Scalar, panels, k, panelColumns)
	if err != nil {
		return err
	}
	bind := func(text string) *program {
		return (&program{name: r.op, text: text, real: realFor(acc)}).with("value", acc).with("PANEL", panelColumns)
	}
	flat, err := r.as(b, k, n)
	if err != nil {
		return err
	}
	if err := r.launch(bind("packPanels"), []int{panelColumns, k, panels}, nil, in(flat), in(packed)); err != nil {
		return err
	}
	for plane := range c.Dims()[0] {
		left, err := r.view(a, view(a, int64(min(plane, a.Dims()[0]-1)*m)*int64(k), []int{m, k}))
		if err != nil {
			return err
		}
		out, err := r.view(c, view(c, int64(plane*m)*int64(n), []int{m, n}))
		if err != nil {
			return err
		}
		p := bind("multiplyPanels").with("ROWS", tileRows(r.Queue.Device().Info(), m))
		if err := r.launch(p, []int{panelColumns, tiles, n / panelColumns}, nil, in(left), in(packed), in(out), i32(0)); err != nil {
			return err
		}
		if rest := n % panelColumns; rest > 0 {
			if err := r.launch(p, []int{rest, tiles, 1}, nil, in(left), in(packed), in(out), i32(n/panelColumns)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Dot returns the sum of the products of two arrays' elements, in the type of [SumType]. If one of the arrays has more than one
// dimension, it returns the product of [Run.MatMul].
func (r *Run) Dot(a, b Array) (Array, error) {
	end, err := r.begin("dot", a, b)
	if err != nil {
		return Array{}, err
	}
	defer end()
	if len(a.Dims()) != 1 || len(b.Dims()) != 1 {
		return r.product(a, b, r.multiply)
	}
	if err := sameTypes(r, "arrays", a, b); err != nil {
		return Array{}, err
	}
	if a.Len() != b.Len() {
		return Array{}, r.fail(offload.InvalidSize, "the shapes %s and %s do not match: axis 0 has the extents %d and %d", Shape(a.Dims()), Shape(b.Dims()), a.Len(), b.Len())
	}
	t := SumType(a.Elem.Scalar)
	e := joinOf("dot", Text(fmt.Sprintf("(a, b) => %[1]s(a) * %[1]s(b)", t)), []Operand{In(a), In(b)})
	e.dims, e.real = a.Dims(), realOf([]Operand{In(a), In(b)}, t)
	return r.reduce(Array{Elem: ir.Elem{Scalar: t}, joined: e}, All, false, sumOf(t), t, "v => v")
}

// Outer returns the matrix of the products of two arrays' elements.
func (r *Run) Outer(a, b Array) (Array, error) {
	end, err := r.begin("outer", a, b)
	if err != nil {
		return Array{}, err
	}
	defer end()
	column, err := r.as(a, int(a.Len()), 1)
	if err != nil {
		return Array{}, err
	}
	row, err := r.flat(b)
	if err != nil {
		return Array{}, err
	}
	return r.Zip("outer", Text("(a, b) => a * b"), ir.Void, In(column), In(row))
}

// Trace returns the sum of the diagonal of a matrix that begins at column k, or at row −k if k is negative. Its type is that of
// [SumType].
func (r *Run) Trace(x Array, k int) (Array, error) {
	end, err := r.begin("trace", x)
	if err != nil {
		return Array{}, err
	}
	defer end()
	dims := x.Dims()
	if len(dims) != 2 {
		return Array{}, r.fail(offload.InvalidArgument, "the array has the shape %s, and a matrix has two dimensions", Shape(dims))
	}
	row, column := max(-k, 0), max(k, 0)
	n := max(min(dims[0]-row, dims[1]-column), 0)
	diagonal, err := r.allocate(x.Elem, []int{n}, r.op+", intermediate")
	if err != nil {
		return Array{}, err
	}
	r.scrap(diagonal)
	if n > 0 {
		if err := r.launch(&program{name: "trace", text: "(g, out, x, row, column) => { out[g.x] = x[g.x + row][g.x + column] }"}, []int{n}, nil, in(diagonal), in(x), i32(row), i32(column)); err != nil {
			return Array{}, err
		}
	}
	d := sumOf(SumType(x.Elem.Scalar))
	return r.reduce(diagonal, All, false, d, d.acc, "v => v")
}

// Norm returns the square root of the sum of the squares along an axis, or of all elements. Its type is that of [MeanType].
func (r *Run) Norm(x Array, axis int, keep bool) (Array, error) {
	end, err := r.beginJoined("norm", x)
	if err != nil {
		return Array{}, err
	}
	defer end()
	t := MeanType(x.Elem.Scalar)
	d := sumOf(t)
	d.pre = fmt.Sprintf("v => %[1]s(v) * %[1]s(v)", t)
	return r.reduce(x, axis, keep, d, t, "v => Math.sqrt(v)")
}

// MeshGrid returns the coordinates of the points of a grid as two matrices of y.Len() rows and x.Len() columns: gx[i][j] is x[j],
// and gy[i][j] is y[i].
func (r *Run) MeshGrid(x, y Array) (gx, gy Array, err error) {
	end, err := r.begin("meshgrid", x, y)
	if err != nil {
		return gx, gy, err
	}
	defer end()
	row, err := r.as(x, 1, int(x.Len()))
	if err != nil {
		return gx, gy, err
	}
	column, err := r.as(y, int(y.Len()), 1)
	if err != nil {
		return gx, gy, err
	}
	if gx, err = r.Zip("meshgrid", Text("(x, y) => x"), x.Elem.Scalar, In(row), In(column)); err != nil {
		return gx, gy, err
	}
	gy, err = r.Zip("meshgrid", Text("(x, y) => y"), y.Elem.Scalar, In(row), In(column))
	return gx, gy, err
}
