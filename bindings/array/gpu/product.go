package gpu

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/offload"
)

// edge is the number of items of a group along each axis of a tile.
const edge = 16

// tile is the shape of the part of a product that a group computes: each item has rows × columns sums. A panel is depth columns of
// the left matrix and as many rows of the right one.
type tile struct{ rows, columns, depth int }

// height and width are the extents of the tile's part of the product.
func (t tile) height() int { return edge * t.rows }
func (t tile) width() int  { return edge * t.columns }

// strips is the extent of a column of the left panels, in pieces of tile.rows rows: two panels of edge pieces, and one piece to
// spread the columns over the banks of the shared memory.
const strips = 2*edge + 1

// shared returns the bytes of the panels of both matrices. Each is held twice, so that one is loaded while the other is used.
func (t tile) shared(size int) int { return t.depth * (strips*t.rows + 2*edge*t.columns) * size }

// tileOf returns the tile for products of m × n elements of a size, or false if its panels do not fit the shared memory.
func tileOf(d *offload.DeviceInfo, planes, m, n, size int) (tile, bool) {
	t := tile{8, 8, 8}
	if size > 4 {
		t = tile{4, 8, 8}
	}
	if planes*divide(m, t.height())*divide(n, t.width()) < d.ComputeUnits { // smaller tiles, so that no unit is idle
		t = tile{4, 4, 16}
	}
	return t, t.shared(size) <= d.Limits.SharedBytes
}

// The least extents of a product, and of what its sums add, that tiles compute.
const (
	leastProduct = 32
	leastDepth   = 8
)

// sliceWork limits the multiplications of a launch. The launch is then short, so that its loops need no checks for cancellation.
const sliceWork = 1 << 34

// Product is a product of planes of m × k and k × n elements of a type. RepeatA and RepeatB state that all planes have one left or
// right matrix.
type Product struct {
	Type             ir.Type
	Planes, M, N, K  int
	RepeatA, RepeatB bool
}

// Fits reports whether Multiply computes the product on a device. It must run the groups of all planes and have room for the panels,
// and the matrices must be large enough.
func (p Product) Fits(d *offload.DeviceInfo) bool {
	_, ok := tileOf(d, p.Planes, p.M, p.N, p.Type.Size())
	return ok && fits(d) && min(p.M, p.N) >= leastProduct && p.K >= leastDepth && p.Planes <= d.Limits.Groups[2]
}

// Multiply stores the product p of a and b, which [Product.Fits] accepts, in c. All three arrays have three dimensions.
func Multiply[A any](h Host[A], d *offload.DeviceInfo, p Product, a, b, c A) error {
	t, _ := tileOf(d, p.Planes, p.M, p.N, p.Type.Size())
	l := Launch{Text: t.name(), Full: t.text, Bind: []Bind{{"value", p.Type}, {"REPEAT_A", p.RepeatA}, {"REPEAT_B", p.RepeatB}}}
	rows := divide(p.M, t.height())
	slice := min(max(1, sliceWork/(p.Planes*t.height()*p.N*p.K)), d.Limits.Groups[1])
	for first := 0; first < rows; first += slice {
		l.Groups = [3]int{divide(p.N, t.width()), min(slice, rows-first), p.Planes}
		if err := h.Launch(l, a, b, c, first, p.K/t.depth*t.depth+1, p.K%t.depth); err != nil {
			return err
		}
	}
	return nil
}

func (t tile) name() string { return fmt.Sprintf("product %d×%d×%d", t.rows, t.columns, t.depth) }

// text returns the kernel of a tile. All sums are variables and the steps of a panel are written out. So the loop
// loads shared memory and multiplies, and does little else. An element is the sum of its products in the order of k.
func (t tile) text() string {
	var s strings.Builder
	w := func(format string, args ...any) { fmt.Fprintf(&s, format+"\n", args...) }
	log := func(n int) int { return bits.TrailingZeros(uint(n)) }
	high, deep := items/t.depth, items/t.width() // rows of the left and right matrix between two loads of an item
	w("(g, a, b, c, first, end, rest) => {")
	w("const left = g.shared(value, %d, %d, %d), right = g.shared(value, %d, %d, %d)", t.depth, strips, t.rows, t.depth, t.columns, 2*edge)
	w("const l = g.local.x & %d, tx = l & %d, ty = l >> %d", items-1, edge-1, log(edge))
	w("const row = (first + g.group.y) * %d, column = g.group.x * %d, plane = g.group.z", t.height(), t.width())
	w("const planeA = REPEAT_A ? 0 : plane, planeB = REPEAT_B ? 0 : plane")
	w("const ka = l & %d, ra = l >> %d, cb = l & %d, kb = l >> %d, from = column + cb", t.depth-1, log(t.depth), t.width()-1, log(t.width()))
	loadsA, loadsB := t.height()/high, t.depth/deep
	for p := range loadsA {
		w("const r%d = row + ra + %d", p, p*high)
	}
	load := func(k string) {
		w("const k = %s + ka", k)
		for p := range loadsA {
			w("const a%[1]d = %[2]s ? a[planeA][r%[1]d][k] : value(0)", p, inside("a", "planeA", fmt.Sprintf("r%d", p), "k"))
		}
		for p := range loadsB {
			w("const k%d = %s + kb + %d", p, k, p*deep)
			w("const b%[1]d = %[2]s ? b[planeB][k%[1]d][from] : value(0)", p, inside("b", "planeB", fmt.Sprintf("k%d", p), "from"))
		}
	}
	store := func(to string) {
		for p := range loadsA {
			w("left[ka][%s + (ra >> %d) + %d][ra & %d] = a%d", to, log(t.rows), p*high/t.rows, t.rows-1, p)
		}
		for p := range loadsB {
			w("right[kb + %d][cb >> %d][%s + (cb & %d)] = b%d", p*deep, log(edge), to, edge-1, p)
		}
	}
	add := func(k string) {
		w("{")
		for i := range t.rows {
			w("const y%d = left[%s][now + ty][%d]", i, k, i)
		}
		for j := range t.columns {
			w("const x%d = right[%s][%d][now + tx]", j, k, j)
		}
		for i := range t.rows {
			for j := range t.columns {
				w("s%d_%d += y%d * x%d", i, j, i, j)
			}
		}
		w("}")
	}
	for i := range t.rows {
		for j := range t.columns {
			w("let s%d_%d = value(0)", i, j)
		}
	}
	w("{")
	load("0")
	store("0")
	w("}")
	w("g.barrier()")
	w("for (let next = %[1]d; next < end; next += %[1]d) {", t.depth)
	w("const now = ((next >> %d) + 1 & 1) * %d", log(t.depth), edge)
	load("next")
	for k := range t.depth {
		add(fmt.Sprint(k))
	}
	store(fmt.Sprintf("(%d - now)", edge))
	w("g.barrier()")
	w("}")
	w("const now = (end >> %d & 1) * %d", log(t.depth), edge)
	w("for (let i = 0; i < rest; i++) {")
	w("const k = i & %d", t.depth-1)
	add("k")
	w("}")
	for i := range t.rows {
		w("const y%d = row + ty * %d + %d", i, t.rows, i)
	}
	for j := range t.columns {
		w("const x%d = column + tx + %d", j, edge*j)
	}
	for i := range t.rows {
		for j := range t.columns {
			w("if (%[3]s) c[plane][y%[1]d][x%[2]d] = s%[1]d_%[2]d", i, j, inside("c", "plane", fmt.Sprintf("y%d", i), fmt.Sprintf("x%d", j)))
		}
	}
	w("}")
	return s.String()
}

// inside returns the condition that indices are within the extents of an array, so that no access fails. Only a row or column whose
// number wraps is negative.
func inside(array, plane, row, column string) string {
	return fmt.Sprintf("%[2]s < %[1]s.shape[0] && %[3]s >= 0 && %[3]s < %[1]s.shape[1] && %[4]s >= 0 && %[4]s < %[1]s.shape[2]", array, plane, row, column)
}
