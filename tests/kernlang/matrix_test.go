package kernlang

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
)

// long reports whether to run the full counts, as ./tests/run --long does.
var long = os.Getenv("OREPL_TEST_LONG") == "1"

// special returns the special values of a storage type: a selection of irgen's, or all of them in a long run.
func special(t ir.Type) []uint64 {
	v := t.Value()
	if t != v {
		return small(t)
	}
	// The reference has one NaN; TestCopiesOfNaNs tests the others.
	all := slices.DeleteFunc(irgen.Special(t), func(b uint64) bool {
		nan := t == ir.F32 && b&math.MaxInt32 > 0x7f800000 || t == ir.F64 && b&math.MaxInt64 > 0x7ff<<52
		return nan && b != ir.FloatBits(t, math.NaN())
	})
	if long || t == ir.Bool {
		return all
	}
	var out []uint64
	for i, b := range all {
		if testing.Short() && i >= 6 && i%9 != 0 && i < len(all)-3 {
			continue
		}
		// Keeps the first values, alternating signs of the others, and the last ones: zero, infinity and NaN.
		if i < 8 || i%5 == i/5%2 || i >= len(all)-3 {
			out = append(out, b)
		}
	}
	return out
}

// small returns the special values of an 8- or 16-bit type.
func small(t ir.Type) []uint64 {
	if t.Size() == 1 {
		return []uint64{0, 1, 2, 127, 128, 255, 200}
	}
	return []uint64{0, 1, 0x7fff, 0x8000, 0xffff, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x3f80, 0x7f80, 0xff80, 0x7fc0, 0x0080, 0x83ff, 1234, 0x4248}
}

// pool runs programs on one runner per processor.
type pool struct {
	t       *testing.T
	work    chan func(*Runner)
	done    sync.WaitGroup
	runners []*Runner
}

func newPool(t *testing.T) *pool {
	t.Helper()
	p := &pool{t: t, work: make(chan func(*Runner))}
	for range max(1, min(runtime.GOMAXPROCS(0), 8)) {
		r, err := NewRunner()
		if err != nil {
			t.Fatal(err)
		}
		p.runners = append(p.runners, r)
		p.done.Add(1)
		go func() {
			defer p.done.Done()
			for f := range p.work {
				f(r)
			}
		}()
	}
	if !p.runners[0].HasNode() {
		t.Log("node is not installed: nothing is compared with it")
	}
	return p
}

func (p *pool) do(f func(*Runner)) { p.work <- f }

// wait waits for all programs and closes the runners.
func (p *pool) wait() {
	close(p.work)
	p.done.Wait()
	for _, r := range p.runners {
		if err := r.Close(); err != nil {
			p.t.Error(err)
		}
	}
}

// cell is one operation on operand types, tested by a kernel that runs over all combinations of special values.
type cell struct {
	op    operation
	types []ir.Type
	real  ir.Type
}

func (c *cell) String() string { return fmt.Sprintf("%s of %v", c.op.text, c.types) }

// operands returns the combinations of the operands' special values.
func (c *cell) operands() [][]uint64 {
	rows := [][]uint64{nil}
	for k, t := range c.types {
		var next [][]uint64
		for n, row := range rows {
			for i, b := range special(t) {
				if k == 2 && (i+n)%16 != 0 {
					continue // all values of a third operand, but not for every pair
				}
				next = append(next, append(row[:len(row):len(row)], b))
			}
		}
		rows = next
	}
	return rows
}

// run checks the cell and returns the number of combinations.
func (c *cell) run(t *testing.T, r *Runner) int {
	want, id := c.op.typ(c.real, c.types)
	if id != "" {
		c.refused(t, id)
		return 1
	}
	rows := c.operands()
	p, out := c.program(want, rows)
	res, err := r.Run(p)
	if err != nil {
		t.Errorf("%v: %v\n%s", c, err, p.Text)
		return 0
	}
	if got := storedType(res.Compiled.Kernel); got != want {
		t.Errorf("%v is %v, not %v", c, want, got)
		return 0
	}
	if c.op.value == nil {
		return len(rows)
	}
	expect := *res.Outcome
	expect.Data = append([][]byte{}, res.Data...)
	expect.Data[out] = nil
	for i, row := range rows {
		x := make([]num, len(row))
		for k, b := range row {
			x[k] = fromBits(c.types[k], b)
		}
		v := c.op.value(c.real, x)
		if i == 0 && v.t != want {
			t.Fatalf("the reference of %v gives %v, not %v", c, v.t, want)
		}
		expect.Data[out] = irgen.AppendElem(expect.Data[out], want, v.bits(want))
	}
	if d := res.Case.Diff(&expect, res.Outcome); d != "" {
		t.Errorf("%v: reference and kernel differ: %s%s", c, d, c.where(d, rows))
		return 0
	}
	return len(rows)
}

// where returns the operands of the element in a reported difference.
func (c *cell) where(d string, rows [][]uint64) string {
	i := 0
	if _, err := fmt.Sscanf(d[strings.Index(d, "element ")+1:], "lement %d", &i); err != nil || i >= len(rows) {
		return ""
	}
	s := ""
	for k, b := range rows[i] {
		x := fromBits(c.types[k], b)
		if x.i != nil {
			s += fmt.Sprintf(", %v", x.i)
		} else {
			s += fmt.Sprintf(", %v", x.f)
		}
	}
	return " for " + s[2:]
}

// program returns the kernel of a cell and the index of the argument with the results.
func (c *cell) program(want ir.Type, rows [][]uint64) (p *Program, out int) {
	params, operands := "", make([]string, len(c.types))
	p = &Program{Size: [3]int{len(rows), 1, 1}, Unchecked: true, Options: kernel.Options{Real: c.real}}
	for k, t := range c.types {
		name := string(rune('a' + k))
		params += name + ", "
		operands[k] = name + "[g.x]"
		var data []byte
		for _, row := range rows {
			data = irgen.AppendElem(data, t, row[k])
		}
		p.Args = append(p.Args, buffer(t, data))
	}
	p.Args = append(p.Args, buffer(want, make([]byte, len(rows)*want.Size())))
	p.Text = fmt.Sprintf("(g, %sy) => { const v = %s; y[g.x] = v }", params, c.op.of(operands...))
	return p, len(c.types)
}

func buffer(t ir.Type, data []byte) Arg {
	return Arg{Arg: kernel.Arg{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: t}, Rank: 1}, Data: data, Dims: []int32{int32(len(data) / t.Size())}}
}

// refused checks that the cell is an error with this ID.
func (c *cell) refused(t *testing.T, id diag.ID) {
	p, _ := c.program(ir.F32, [][]uint64{make([]uint64, len(c.types))})
	_, err := p.Compile()
	var list diag.List
	if !errors.As(err, &list) || list[0].ID != id {
		t.Errorf("%v: got %v, expected %s", c, err, id)
	}
}

// storedType returns the type of the value in the kernel's last store.
func storedType(k *ir.Kernel) (t ir.Type) {
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op == ir.Store {
			t = in.Args[len(in.Args)-1].Type
		}
	})
	return t
}

// runCells runs cells and logs their number.
func runCells(t *testing.T, cells []cell) {
	p := newPool(t)
	var values atomic.Int64
	for i := range cells {
		c := &cells[i]
		p.do(func(r *Runner) { values.Add(int64(c.run(t, r))) })
	}
	p.wait()
	t.Logf("%d cells (operation × types) with %d combinations of values, on interpreter, optimised IR, emitted JavaScript and reference", len(cells), values.Load())
}

// realOf returns the real type of a kernel with buffers of these types.
func realOf(types ...ir.Type) ir.Type {
	for _, t := range types {
		if t == ir.F64 {
			return ir.F64
		}
	}
	return ir.F32
}

// TestBinaryOperations checks every binary operation on every pair of types.
//
// [11.1] [11.2] [11.3] [11.4] [11.5] [11.6] [11.7] [11.8] [12.1] [12.2] [12.3] [12.6] [13.3] [13.4]: the reference computes them
// [7.2]: the kernels have no signature
// [27.1] [27.2]: each runs as written, optimized and as emitted JavaScript
func TestBinaryOperations(t *testing.T) {
	t.Parallel()
	var cells []cell
	for _, op := range binaryOperations() {
		for _, a := range irgen.Values {
			for _, b := range irgen.Values {
				cells = append(cells, cell{op, []ir.Type{a, b}, realOf(a, b)})
			}
		}
	}
	runCells(t, cells)
}

// TestUnaryOperations checks every unary operation on every type.
//
// [10.1] [10.3] [10.4] [10.5] [10.6] [15.1] [15.4] [16.4]: the reference computes them
// [16.1] [16.2]: the library's functions have the same bits on the interpreter, optimized, and under node
func TestUnaryOperations(t *testing.T) {
	t.Parallel()
	var cells []cell
	for _, op := range unaryOperations() {
		for _, a := range irgen.Values {
			cells = append(cells, cell{op, []ir.Type{a}, realOf(a)})
		}
	}
	runCells(t, cells)
}

// TestThreeOperands checks the operations with three operands.
//
// [14.1] [14.2] [14.3]: sums of products are fused where the reference fuses them
func TestThreeOperands(t *testing.T) {
	t.Parallel()
	float := func(real ir.Type, a []ir.Type) (ir.Type, diag.ID) {
		out := ir.Void
		for _, t := range a {
			if wide(t) {
				return ir.Void, diag.Mixed64
			}
			if t.IsFloat() && out != ir.F64 {
				out = t
			}
		}
		if out == ir.Void {
			out = real
		}
		return out, ""
	}
	inFloat := func(f func(x, y, z num) num) func(ir.Type, []num) num {
		return func(real ir.Type, x []num) num {
			t, _ := float(real, []ir.Type{x[0].t, x[1].t, x[2].t})
			return f(x[0].to(t), x[1].to(t), x[2].to(t))
		}
	}
	// A product of floats is fused if it has the sum's type.
	fusing := func(text string, value func(real ir.Type, x []num) num) operation {
		return operation{text, 3, func(real ir.Type, a []ir.Type) (ir.Type, diag.ID) {
			for _, pair := range [][2]ir.Type{{a[0], a[1]}, {a[0], a[2]}, {a[1], a[2]}} {
				if _, ok := arithmeticType(pair[0], pair[1]); !ok {
					return ir.Void, diag.Mixed64
				}
			}
			t, _ := arithmeticType(a[0], a[1])
			t, _ = arithmeticType(t, a[2])
			return t, ""
		}, value}
	}
	negative := func(x num) num {
		if x.i != nil {
			return intNum(x.t, wrap(x.t, new(big.Int).Neg(x.i)))
		}
		return floatNum(x.t, -x.f)
	}
	product := func(x, y, z num, sign func(num) num, add func(num) num) num {
		p, _ := arithmeticType(x.t, y.t)
		s, _ := arithmeticType(p, z.t)
		if p == s && s.IsFloat() {
			return fused(sign(x.to(s)), y.to(s), add(z.to(s)))
		}
		m, _ := arithmetic("*", x.to(p), y.to(p))
		r, _ := arithmetic("+", sign(m.to(s)), add(z.to(s)))
		return r
	}
	keep := func(x num) num { return x }
	ops := []operation{
		{"Math.fma(A, B, C)", 3, float, inFloat(fused)},
		{"Math.mix(A, B, C)", 3, float, inFloat(func(x, y, z num) num {
			d, _ := arithmetic("-", y, x)
			return fused(d, z, x)
		})},
		fusing("A * B + C", func(_ ir.Type, x []num) num { return product(x[0], x[1], x[2], keep, keep) }),
		fusing("(A * B) - C", func(_ ir.Type, x []num) num { return product(x[0], x[1], x[2], keep, negative) }),
		fusing("C + A * B", func(_ ir.Type, x []num) num { return product(x[0], x[1], x[2], keep, keep) }),
		fusing("C - A * B", func(_ ir.Type, x []num) num { return product(x[0], x[1], x[2], negative, keep) }),
		{"A ? B : C", 3, joinedOperation("", 3, nil).typ, func(_ ir.Type, x []num) num {
			t, _ := joinType(x[1].t, x[2].t)
			if x[0].truth() {
				return x[1].to(t)
			}
			return x[2].to(t)
		}},
	}
	var cells []cell
	for _, op := range ops {
		for _, a := range irgen.Values {
			for _, b := range irgen.Values {
				for _, c := range irgen.Values {
					cells = append(cells, cell{op, []ir.Type{a, b, c}, realOf(a, b, c)})
				}
			}
		}
	}
	runCells(t, cells)
}

// literal is a number in a kernel's text.
type literal struct {
	text string
	num  num // has i if it is integral
	big  bool
}

func literals() []literal {
	var out []literal
	for _, n := range []int64{0, 1, 2, -1, 7, 1<<31 - 1, -1 << 31, 1 << 31, 1<<32 - 1, 1 << 40} {
		out = append(out, literal{text: fmt.Sprint(n), num: num{i: big.NewInt(n), f: float64(n)}})
	}
	for _, f := range []float64{0.5, 0.1, -2.5, 1e300} {
		out = append(out, literal{text: fmt.Sprint(f), num: num{f: f}})
	}
	for _, n := range []int64{3, -1} {
		out = append(out, literal{fmt.Sprintf("%dn", n), num{i: big.NewInt(n)}, true})
	}
	return out
}

// typeBeside returns the type that a literal takes next to an operand. ok is false if there is none.
func (l *literal) typeBeside(t, real ir.Type) (ir.Type, bool) {
	fits := func(t ir.Type) bool { return l.num.i != nil && l.num.converted(t).i.Cmp(l.num.i) == 0 }
	t = arithmeticOf(t)
	switch {
	case l.big:
		return t, wide(t)
	case t.IsFloat():
		return t, true
	case wide(t):
		return t, fits(ir.I64) || fits(ir.U64)
	case t == ir.I32 && fits(ir.I32), t == ir.U32 && (fits(ir.I32) || fits(ir.U32)):
		return t, true
	case t == ir.I32 && fits(ir.U32):
		return ir.U32, true
	}
	return real, true
}

// in returns the literal converted to a type: rounded or wrapped.
func (l *literal) in(t ir.Type) num {
	if t.IsFloat() && l.num.i != nil {
		return floatNum(t, l.num.float(t))
	}
	return l.num.to(t)
}

// TestLiterals tests every arithmetic operation and comparison with a literal on either side, which takes the other
// operand's type.
func TestLiterals(t *testing.T) {
	t.Parallel()
	var cells []cell
	for _, l := range literals() {
		for _, a := range irgen.Values {
			for _, op := range []string{"+", "-", "*", "<", "<=", "===", "!=="} {
				for _, swapped := range []bool{false, true} {
					cells = append(cells, literalCell(l, a, op, swapped))
				}
			}
		}
	}
	runCells(t, cells)
}

// TestConvertedLiterals converts literals to every integer type. Integral literals that fit in 64 bits wrap like integers.
// Others saturate like floats.
//
// [10.1] [10.8]: conversions of constants
func TestConvertedLiterals(t *testing.T) {
	t.Parallel()
	all := literals()
	for _, text := range []string{"18446744073709551615", "-9223372036854775808", "9223372036854775808", "-6148914691236517206", "244837814094590"} {
		i, _ := new(big.Int).SetString(text, 10)
		all = append(all, literal{text + "n", num{i: i}, true})
	}
	for text, i := range map[string]*big.Int{"2 ** 63": pow2(63), "-(2 ** 63)": new(big.Int).Neg(pow2(63)), "0xdeadbeef": big.NewInt(0xdeadbeef), "-0": new(big.Int)} {
		all = append(all, literal{text: text, num: num{i: i}})
	}
	for text, f := range map[string]float64{"-1e300": -1e300, "2 ** 64": 1 << 64, "-(2 ** 63) - 2048": -1<<63 - 2048, "Infinity": math.Inf(1), "-Infinity": math.Inf(-1),
		"NaN": math.NaN(), "3e9 + 0.5": 3e9 + 0.5} {
		all = append(all, literal{text: text, num: num{f: f}})
	}
	var cells []cell
	for _, l := range all {
		for _, to := range []ir.Type{ir.I32, ir.U32, ir.I64, ir.U64} {
			cells = append(cells, cell{operation{fmt.Sprintf("%v(%s) - A", to, l.text), 1, func(ir.Type, []ir.Type) (ir.Type, diag.ID) { return to, "" }, func(_ ir.Type, v []num) num {
				r, _ := arithmetic("-", l.num.converted(to), v[0])
				return r
			}}, []ir.Type{to}, realOf(to)})
		}
	}
	runCells(t, cells)
}

func pow2(n uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), n) }

func literalCell(l literal, a ir.Type, op string, swapped bool) cell {
	text := "A " + op + " (" + l.text + ")"
	if swapped {
		text = "(" + l.text + ") " + op + " A"
	}
	compares := strings.ContainsAny(op, "<=")
	operand := func(real ir.Type, x num) (num, num) {
		t, _ := l.typeBeside(x.t, real)
		y := l.in(t)
		if compares {
			x, y = num{t: x.t, i: x.i, f: x.f}, l.num
			if x.i == nil {
				y = l.in(x.t) // the type of the float
			}
		} else {
			x = x.to(t)
		}
		if swapped {
			x, y = y, x
		}
		return x, y
	}
	return cell{operation{text, 1, func(real ir.Type, a []ir.Type) (ir.Type, diag.ID) {
		if compares {
			return ir.Bool, ""
		}
		t, ok := l.typeBeside(a[0], real)
		if !ok {
			return t, diag.Mixed64
		}
		return t, ""
	}, func(real ir.Type, v []num) num {
		x, y := operand(real, v[0])
		if compares {
			o := compareOperation(op)
			return o.value(real, []num{x, y})
		}
		r, _ := arithmetic(op, x, y)
		return r
	}}, []ir.Type{a}, realOf(a)}
}

// TestStores loads every storage type, converts it, and stores it as every other, by = and by compound assignment.
func TestStores(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	var cells, values atomic.Int64
	for _, to := range irgen.Storage {
		for _, from := range irgen.Storage {
			for _, op := range []string{"", "+", "-", "*", "&", "<<"} {
				p.do(func(r *Runner) {
					cells.Add(1)
					values.Add(int64(storeCell(t, r, to, from, op)))
				})
			}
		}
	}
	p.wait()
	t.Logf("%d cells (assignment × types of target and source) with %d combinations of values", cells.Load(), values.Load())
}

func storeCell(t *testing.T, r *Runner, to, from ir.Type, op string) int {
	var a, y []byte
	var rows [][2]uint64
	for _, x := range special(to) {
		for _, b := range special(from) {
			rows = append(rows, [2]uint64{x, b})
			y, a = irgen.AppendElem(y, to, x), irgen.AppendElem(a, from, b)
		}
	}
	p := &Program{Text: "(g, y, a) => { y[g.x] " + op + "= a[g.x] }", Args: []Arg{buffer(to, y), buffer(from, a)}, Size: [3]int{len(rows), 1, 1}}
	name := fmt.Sprintf("%v %s= %v", to, op, from)
	_, known := map[string]bool{"": true, "<<": true}[op]
	_, mixed := arithmeticType(to.Value(), from.Value())
	refused := !known && !mixed
	if op == "" || op == "<<" && to != ir.Bool {
		refused = op == "" && to != ir.Bool && wide(to.Value()) != wide(from.Value())
	}
	if op == "&" && wide(to.Value()) != wide(from.Value()) {
		refused = true
	}
	if op != "" && op != "<<" && !refused {
		// The result is stored back: 64-bit integers only in elements of their type.
		res, _ := arithmeticType(to.Value(), from.Value())
		refused = to != ir.Bool && wide(res) != wide(to.Value())
	}
	res, err := r.Run(p)
	if refused {
		var list diag.List
		if !errors.As(err, &list) || list[0].ID != diag.Mixed64 {
			t.Errorf("%s: got %v, expected %s", name, err, diag.Mixed64)
		}
		return 1
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return 0
	}
	real := realOf(to, from)
	var want []byte
	for _, row := range rows {
		v := fromBits(from, row[1])
		if op != "" {
			o := bitOperation(op)
			switch op {
			case "<<":
				o = shiftOperation(op)
			case "+", "-", "*":
				o = operation{value: inType(func(x, y num) num { r, _ := arithmetic(op, x, y); return r })}
			}
			v = o.value(real, []num{fromBits(to, row[0]), v})
		}
		want = irgen.AppendElem(want, to, stored(v, to))
	}
	expect := *res.Outcome
	expect.Data = [][]byte{want, res.Data[1]}
	if d := res.Case.Diff(&expect, res.Outcome); d != "" {
		i := 0
		_, _ = fmt.Sscanf(d, "y, element %d", &i)
		t.Errorf("%s: reference and kernel differ: %s for %v, %v", name, d, fromBits(to, rows[i][0]), fromBits(from, rows[i][1]))
	}
	return len(rows)
}

// stored returns the bits of a number stored as a storage type: integers modulo their width, floats rounded once.
func stored(v num, t ir.Type) uint64 {
	if t == ir.F16 || t == ir.BF16 {
		v = num{t: t, f: v.float(t)}
	} else {
		v = v.to(t.Value())
	}
	return v.bits(t)
}
