package spmd

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/exec"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

const product = `(g, x, y) => {
  let sum = 0
  for (let k = 0; k < 37; k++) sum += x[g.y][k] * x[k][g.x]
  y[g.y][g.x] = sum
}`

const mandelbrot = `(g, x, y) => {
  const cx = -2 + 3 * g.x / 64, cy = -1.5 + 3 * g.y / 64
  let a = 0, b = 0, n = 0
  while (n < 40 && a * a + b * b < 4) { const t = a * a - b * b + cx; b = 2 * a * b + cy; a = t; n++ }
  y[g.y][g.x] = n
}`

// stackKernels read x and write y, both of rank 2 with sides of stackSide elements.
var stackKernels = []struct {
	name, text string
	elem       ir.Type
	stacks     bool // chosen by the compiler
}{
	{"mandelbrot", mandelbrot, ir.I32, true},
	{"mandelbrot of bytes", mandelbrot, ir.U8, true},
	{"mandelbrot of doubles", mandelbrot, ir.F64, true},
	{"with values of its own and others' rows", `(g, x, y) => {
  let v = x[g.y][g.x], n = 0
  const first = x[g.y][0], top = x[0][g.x], all = x[1][2]
  while (v < 300 && n < g.x + g.y) { v = v * 1.5 + first; n++ }
  y[g.y + 1][g.x + 3] = v + n + top + all
}`, ir.F32, true},
	{"rows from below", `(g, x, y) => {
  let v = x[79 - g.y][g.x], n = 0
  while (v < 500 && n < 20) { v = v + g.x + g.y; n++ }
  y[79 - g.y][g.x] = v
}`, ir.I16, true},
	{"every other row", `(g, x, y) => {
  if (g.y > 39) return
  let v = x[2 * g.y + 1][g.x], n = 0
  while (v < 500 && n < 20) { v = v + g.x * g.y + 1; n++ }
  y[2 * g.y][g.x] = v
}`, ir.F32, true},
	{"rows above and below", `(g, x, y) => {
  let v = 0, n = 0
  if (g.y > 0 && g.x > 0) v = x[g.y - 1][g.x - 1]
  if (g.y < 79) v = v + x[g.y + 1][g.x]
  while (v < 500 && n < g.y) { v = v + g.x + 1; n++ }
  if ((g.x ^ g.y) & 1) y[g.y][g.x] = v
}`, ir.U16, true},
	{"the diagonal", `(g, x, y) => {
  let v = x[g.y][g.x >> 1], n = 0
  while (v < 500 && n < 9) { v = v + g.x + g.y; n++ }
  if (g.x == g.y) y[g.y][g.x] = v
}`, ir.F32, true},
	{"one item of each row", `(g, x, y) => {
  let v = 0
  while (v < g.x * g.y && v < 90) v += 3
  if (g.x - g.y == 13) y[g.y][g.x] = v + 1
  if (g.x + 100 * g.y == 305) y[g.y][g.x] = v + 2
  if (g.y - g.x == 2) y[g.y][g.x + 1] = v + 3
}`, ir.I32, true},
	{"memory of its own", `(g, x, y) => {
  const local = g.private(i32, 4)
  for (let i = 0; i < 4; i++) local[(i + g.x) & 3] = i * g.y
  let v = 0
  while (v < 100 * g.x) v += local[v & 3] + 1
  if (g.y == 5) v = 7
  y[g.y][g.x] = v
}`, ir.I32, true},
	{"outside to the right", `(g, x, y) => {
  let v = 0
  while (v < g.x * g.y && v < 90) v += 3
  y[g.y][g.x + 37] = v
}`, ir.I32, true},
	{"outside below", `(g, x, y) => {
  let v = 0
  while (v < g.x * g.y && v < 90) v += 3
  y[g.y + 55][g.x] = v
}`, ir.I32, true},
	{"outside above", `(g, x, y) => {
  let v = 0
  while (v < g.x * g.y && v < 90) v += 3
  y[g.y - 3][g.x] = v
}`, ir.U8, true},
	{"asserts", `(g, x, y) => {
  let v = 0
  while (v < g.x * g.y && v < 90) v += 3
  g.assert(g.x < 30 || g.y < 21, ` + "`at ${g.x} ${g.y}`" + `)
  y[g.y][g.x] = v
}`, ir.I32, true},
	{"prints", `(g, x, y) => {
  let v = 0
  while (v < g.x * g.y && v < 90) v += 3
  if ((g.x + 2 * g.y) % 16 == 3) g.print(` + "`${g.x} ${g.y} ${v}`" + `)
  y[g.y][g.x] = v
}`, ir.I32, false},
	{"a loop that x alone ends", `(g, x, y) => {
  let v = 0
  while (v < g.x) v += 3
  y[g.y][g.x] = v + g.y
}`, ir.I32, false},
	{"a loop that y alone ends", `(g, x, y) => {
  let v = 0
  while (v < g.y) v += 3
  y[g.y][g.x] = v + g.x
}`, ir.I32, false},
	{"a loop that all end together", `(g, x, y) => {
  let v = 0
  for (let i = 0; i < 30; i++) v = v * 3 + g.x + g.y
  y[g.y][g.x] = v
}`, ir.I32, false},
	{"loads in the loop", `(g, x, y) => {
  let v = 0
  while (v < g.x * g.y && v < 70) v = v + x[g.y][v] + 1
  y[g.y][g.x] = v
}`, ir.I32, false},
	{"a product", product, ir.F32, false},
	{"a product of doubles", product, ir.F64, false},
	{"a product of integers", product, ir.I32, false},
	{"a product of bytes", product, ir.U8, false},
	{"a product from the end", strings.NewReplacer("x[g.y][k]", "x[78 - g.y][k]", "x[k][g.x]", "x[39 - k][g.x + 1]").Replace(product), ir.F32, false},
	{"a product under conditions", strings.Replace(product, "sum +=", "if ((g.x + k) % 3 && g.y < 9) sum +=", 1), ir.F32, false},
	{"a product out of bounds", strings.Replace(product, "x[k][g.x]", "x[k][g.x + 31]", 1), ir.F32, false},
	{"a product that ends early", strings.Replace(product, "sum += x[g.y][k] * x[k][g.x]", "{ if (k == 30) break; sum += x[g.y][k] * x[k][g.x] }", 1), ir.F32, false},
	{"distances", strings.Replace(product, "sum += x[g.y][k] * x[k][g.x]", "{ const d = x[k][g.y] - x[k][g.x]; sum += d * d }", 1), ir.F32, false},
	{"a transpose", `(g, x, y) => {
  let v = 0
  while (v < g.x * g.y && v < 70) v = v + 7
  y[g.x][g.y] = v
}`, ir.I32, false},
}

const stackSide = 80

// stackSizes are launch sizes with and without partial blocks at the right and bottom edges.
var stackSizes = [][3]int{{33, 9, 2}, {16, 4, 1}, {40, 26, 1}, {1, 1, 1}, {49, 38, 1}, {64, 8, 1}, {17, 3, 3}, {50, 4, 1}}

// stackCase returns a launch of one of the kernels.
func stackCase(k *ir.Kernel, elem ir.Type, size [3]int) *oracle.Case {
	x, dims := []byte(nil), []int32{stackSide, stackSide}
	for i := range uint64(stackSide * stackSide) {
		v := i % 97
		if elem.IsFloat() {
			v = ir.FloatBits(elem, float64(v))
		}
		x = irgen.AppendElem(x, elem, v)
	}
	return &oracle.Case{Kernel: k, Size: size, GroupSize: [3]int{8, 4, 1}, Args: []oracle.Arg{{Data: x, Dims: dims}, {Data: make([]byte, len(x)), Dims: dims}}}
}

func TestStacks(t *testing.T) {
	needMachine(t)
	for n, c := range stackKernels {
		k := rank2(t, c.text, c.elem)
		for i, size := range stackSizes {
			each := stackCase(k, c.elem, size)
			each.Unchecked = (i+n)%5 == 0
			if !compare(t, each, 1, 4+(i+n)%4) { // the level also selects the kind of stores and the block height
				t.Fatalf("%s: size %v, %d rows", c.name, size, stackOf(each, 4+(i+n)%4))
			}
		}
	}
}

// TestStackFaults makes one item fault, at the edge of a block or inside.
func TestStackFaults(t *testing.T) {
	needMachine(t)
	k := rank2(t, `(g, x, y) => {
  let v = 0
  while (v < g.x * g.y && v < 90) v += 3
  if (x[g.y][g.x] == 96) v = y[g.y + 100][g.x]
  y[g.y][g.x] = v
}`, ir.I32)
	for i, at := range [][2]int{{0, 0}, {15, 3}, {16, 0}, {16, 4}, {20, 6}, {3, 2}, {36, 13}, {36, 0}, {0, 13}} {
		c := stackCase(k, ir.I32, [3]int{37, 14, 1})
		clear(c.Args[0].Data)
		binary.LittleEndian.PutUint32(c.Args[0].Data[4*(at[1]*stackSide+at[0]):], 96)
		if !compare(t, c, 1, 4+i%4) { // compares the faulting item too
			t.Fatalf("%v, %d rows", at, stackOf(c, 4+i%4))
		}
	}
}

// TestStacksOneByOne runs each gang as a separate chunk, in reverse order.
func TestStacksOneByOne(t *testing.T) {
	needMachine(t)
	k := rank2(t, mandelbrot, ir.I32)
	c := stackCase(k, ir.I32, [3]int{37, 10, 3})
	c.SubgroupSize = 32
	want, err := c.Interp(interp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range targets() {
		p, err := Compile(k, plan.Options{Features: target.Features, Gang: 4, BlockRows: 3})
		if err != nil {
			t.Fatal(err)
		}
		var got oracle.Outcome
		g := interp.Launch{Size: c.Size, GroupSize: c.GroupSize, SubgroupSize: 32}
		g.Args, got.Data = c.Bind(exec.Aligned)
		v, units, err := p.Prepare(&g)
		if err != nil {
			t.Fatal(err)
		}
		w := v.Acquire(&g)
		for unit := units - 1; unit >= 0; unit-- {
			if f, err := w.Run(unit, unit+1, false); f != nil || err != nil {
				t.Fatalf("%s, unit %d: %v, %v", target.Name, unit, f, err)
			}
		}
		v.Release(w)
		if diff := c.Diff(&got, want); diff != "" {
			t.Errorf("%s: %s", target.Name, diff)
		}
	}
}

func TestChooseStack(t *testing.T) {
	for _, c := range stackKernels {
		m := (&ir.Module{Kernels: []*ir.Kernel{rank2(t, c.text, c.elem)}}).Clone()
		opt.Run(m, opt.Default, nil)
		if got := plan.ChooseRows(m.Kernels[0], &vcode.AVX512, 1); (got > 0) != c.stacks {
			t.Errorf("%s: gangs of %d rows, want some: %v", c.name, got, c.stacks)
		}
	}
}

// TestBlockRows checks the block height for kernels whose values leave room for three registers on AVX2, and for
// others.
func TestBlockRows(t *testing.T) {
	for _, c := range []struct {
		text         string
		avx512, avx2 int
	}{
		{mandelbrot, 4, 3},
		{strings.Replace(mandelbrot, "const t = a * a - b * b + cx; b = 2 * a * b + cy",
			"const p = a * a, q = b * b, t = a * (p - 3 * q) + cx; b = b * (3 * p - q) + cy", 1), 4, 2},
		{product, 4, 8},
		{strings.NewReplacer("sum =", "other = 0, sum =", "sum += x[g.y][k] * x[k][g.x]", "{ other += x[k][g.y] * x[k][g.x]; sum += x[g.y][k] * x[k][g.x] }", "= sum", "= sum + other").Replace(product), 4, 4},
		{strings.Replace(product, "x[g.y][k]", "x[2][k]", 1), 0, 0},           // rows share no element
		{strings.Replace(product, "x[k][g.x]", "x[g.x][k]", 1), 0, 0},         // elements of adjacent rows are far apart
		{strings.Replace(product, "x[k][g.x]", "x[k][g.x + g.y]", 1), 0, 0},   // each row loads different elements
		{strings.Replace(product, "k < 37", "k < g.x", 1), 0, 0},              // loops of different lengths
		{strings.Replace(product, "sum +=", "y[g.y][g.x] = sum +=", 1), 0, 0}, // stores in the loop
	} {
		m := (&ir.Module{Kernels: []*ir.Kernel{rank2(t, c.text, ir.F32)}}).Clone()
		opt.Run(m, opt.Default, nil)
		k := m.Kernels[0]
		for target, want := range map[*vcode.Target]int{&vcode.AVX512: c.avx512, &vcode.AVX2: c.avx2} {
			if got := plan.ChooseRows(k, target, plan.ChooseGang(k, target, false)); got != want {
				t.Errorf("%s: gangs of %d rows on %s, want %d", c.text, got, target.Name, want)
			}
		}
	}
}

// TestStackedLaunches checks which launches use 2-D gangs, and how many gangs they have.
func TestStackedLaunches(t *testing.T) {
	needMachine(t)
	m := (&ir.Module{Kernels: []*ir.Kernel{rank2(t, mandelbrot, ir.I32)}}).Clone()
	opt.Run(m, opt.Default, nil)
	p, err := Compile(m.Kernels[0], plan.Options{Features: amd64.ForAVX512})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		size          [3]int
		height, units int
	}{
		{[3]int{1024, 1024, 1}, 4, 64 * 256}, {[3]int{64, 1, 1}, 1, 1}, {[3]int{64, 3, 1}, 1, 3}, {[3]int{64, 7, 1}, 1, 7},
		{[3]int{640, 40, 2}, 4, 40 * 10 * 2}, {[3]int{64, 39, 1}, 4, 4 * 10}, {[3]int{16, 10, 1}, 4, 3}, {[3]int{60, 40, 1}, 4, 40},
		{[3]int{0, 4, 1}, 1, 0},
	} {
		g := interp.Launch{Size: c.size, GroupSize: [3]int{8, 8, 1}, Args: make([]interp.Arg, 2)}
		v, units, err := p.Prepare(&g)
		if err != nil {
			t.Fatal(err)
		}
		if v.Code.Height != c.height || units != c.units {
			t.Errorf("%v: %d gangs of %d rows, want %d of %d", c.size, units, v.Code.Height, c.units, c.height)
		}
	}
	for gang := 1; gang <= 4; gang *= 2 { // an explicit gang width
		p, err := Compile(m.Kernels[0], plan.Options{Features: amd64.ForAVX512, Gang: gang})
		if err != nil {
			t.Fatal(err)
		}
		if p.rows > 0 {
			t.Errorf("gangs of %d registers that are asked for are stacked", gang)
		}
	}
}

// TestStackedProduct counts the loads and multiply-adds of a matrix product: one row of a factor for all rows of a
// gang, and one element of the other factor per row. Sums stay in registers.
func TestStackedProduct(t *testing.T) {
	m := (&ir.Module{Kernels: []*ir.Kernel{rank2(t, product, ir.F32)}}).Clone()
	opt.Run(m, opt.Default, &opt.Facts{Within: opt.SizeFacts(m.Kernels[0]), Index: opt.IndexFacts(m.Kernels[0], &opt.Facts{Within: opt.SizeFacts(m.Kernels[0])})})
	for _, target := range []*vcode.Target{&vcode.AVX512, &vcode.AVX2} {
		rows := plan.ChooseRows(m.Kernels[0], target, 4)
		c, err := generate(m.Kernels[0], plan.Options{Features: target.Features, Target: target}, Spec{Shape: plan.Gang2D, Gang: rows}, func(int) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		loop := c.Listing[strings.Index(c.Listing, "vbroadcastss"):]
		for end := strings.Index(loop, "jmp"); end >= 0; end = -1 {
			loop = loop[:end]
		}
		times := strings.Count(loop, "vfmadd231ps") / rows
		if elements, whole := strings.Count(loop, "vbroadcastss"), strings.Count(loop, "vmovups"); times == 0 || elements != rows*times || whole != times {
			t.Errorf("%s: %d elements and %d vectors are loaded for %d × %d sums:\n%s", target.Name, elements, whole, times, rows, loop)
		}
	}
}

// TestStackSharesColumns counts conversions: values that depend on x are shared by all rows, and values that depend on
// y by all columns.
func TestStackSharesColumns(t *testing.T) {
	m := (&ir.Module{Kernels: []*ir.Kernel{rank2(t, mandelbrot, ir.I32)}}).Clone()
	opt.Run(m, opt.Default, nil)
	c, err := generate(m.Kernels[0], plan.Options{Features: amd64.ForAVX512, Target: &vcode.AVX512}, Spec{Shape: plan.Gang2D, Gang: 4}, func(int) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(c.Listing, "vcvtdq2ps"); n != 4+2 {
		t.Errorf("%d conversions, want 4 of rows, and one of columns in gangs with all lanes and in others:\n%s", n, c.Listing)
	}
	if n := strings.Count(c.Listing, "vpscatter"); n != 0 {
		t.Errorf("%d stores lane by lane, want none", n)
	}
}
