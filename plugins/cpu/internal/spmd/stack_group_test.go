package spmd

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

const tiledProduct = `(g, x, y) => {
  const ta = g.shared(f32, 16, 16), tb = g.shared(f32, 16, 16)
  const lx = g.local.x, ly = g.local.y
  let sum = 0
  for (let k = 0; k < 64; k += 16) {
    ta[ly][lx] = x[g.y][k + lx]
    tb[ly][lx] = x[k + ly][g.x]
    g.barrier()
    for (let i = 0; i < 16; i++) sum += ta[ly][i] * tb[i][lx]
    g.barrier()
  }
  y[g.y][g.x] = sum
}`

// stackGroupKernels read x and write y, both of rank 2 with sides of stackSide elements, in work-groups of 16 × 16 or 16 × 8.
var stackGroupKernels = []struct {
	name, text string
	elem       ir.Type
	rows       int // chosen by the compiler; 0 for 1-D gangs
}{
	{"tiled product", tiledProduct, ir.F32, 8},
	{"tiled product of doubles", strings.ReplaceAll(tiledProduct, "(f32", "(f64"), ir.F64, 8},
	{"two sums", strings.NewReplacer("let sum = 0", "let sum = 0, other = 0", "sum += ta", "{ other += ta[ly][i]; sum += ta",
		"tb[i][lx]", "tb[i][lx] }", "= sum", "= sum - other").Replace(tiledProduct), ir.F32, 4},
	{"product of integers", strings.ReplaceAll(tiledProduct, "(f32", "(i32"), ir.I32, 8},
	{"transposed tile", strings.Replace(tiledProduct, "tb[i][lx]", "tb[lx][i]", 1), ir.F32, 0},
	{"index out of bounds", strings.Replace(tiledProduct, "y[g.y][g.x]", "y[g.y + 40][g.x]", 1), ir.F32, 8},
	{"index out of the tile", strings.Replace(tiledProduct, "ta[ly][i]", "ta[ly + 3][i]", 1), ir.F32, 8},
	{"atomics", strings.NewReplacer("let sum = 0", "const n = g.shared(i32, 4)\n  let sum = 0", "  y[g.y][g.x] = sum", "  Atomics.add(n, lx & 3, ly)\n  g.barrier()\n  y[g.y][g.x] = sum + n[ly & 3]").Replace(tiledProduct), ir.I32, 0},
	{"sum of the group", strings.Replace(tiledProduct, "= sum", "= g.reduce.add(sum)", 1), ir.I32, 0},
	{"loop by row", strings.Replace(tiledProduct, "i < 16", "i < g.local.y", 1), ir.F32, 0},
	{"reversed rows", `(g, x, y) => {
  const t = g.shared(i32, 16, 16)
  t[g.local.y][g.local.x] = x[g.y][g.x] + g.local.y
  g.barrier()
  y[g.y][g.x] = t[g.groupSize.y - 1 - g.local.y][15 - g.local.x] * 3 + g.local.y
}`, ir.I32, 0},
	{"early return", `(g, x, y) => {
  const t = g.shared(i32, 16, 16)
  t[g.local.y][g.local.x] = x[g.y][g.x] + g.x
  g.barrier()
  if (g.local.x > g.local.y + 3) return
  let v = t[g.local.y >> 1][g.local.x]
  while (v < 100 && v < 40 * g.local.x) v += g.local.y + 1
  y[g.y][g.x] = v
}`, ir.I32, 0},
	{"private array", `(g, x, y) => {
  const t = g.shared(i32, 16, 16), own = g.private(i32, 4)
  for (let i = 0; i < 4; i++) own[(i + g.local.y) & 3] = i + g.x
  t[g.local.y][g.local.x] = own[g.local.x & 3]
  g.barrier()
  y[g.y][g.x] = t[g.local.y ^ 1][g.local.x] + own[g.y & 3]
}`, ir.I32, 0},
	{"assertion", strings.Replace(tiledProduct, "  y[", "  g.assert(g.local.x < 13 || g.y % 16 < 5, `at ${g.x} ${g.y} ${g.local.y}`)\n  y[", 1), ir.F32, 8},
}

// TestStackGroups runs kernels in 2-D gangs of work-groups, and in 1-D gangs if work-groups are incomplete.
func TestStackGroups(t *testing.T) {
	needMachine(t)
	stacked := 0
	for n, c := range stackGroupKernels {
		k := rank2(t, c.text, c.elem)
		for i, shape := range [][2][3]int{
			{{64, 64, 1}, {16, 16, 1}}, {{32, 48, 2}, {16, 8, 1}}, {{16, 32, 2}, {16, 8, 2}}, {{48, 24, 1}, {16, 12, 1}}, {{40, 20, 1}, {16, 16, 1}},
		} {
			for level := 4; level < 8; level++ { // levels at which gangs have other numbers of rows
				each := stackCase(k, c.elem, shape[0])
				each.GroupSize = shape[1]
				each.Unchecked = (i+n+level)%5 == 0
				if !compare(t, each, 1, level) {
					t.Fatalf("%s: size %v, groups %v, %d rows", c.name, shape[0], shape[1], stackOf(each, level))
				}
				if shape[1][1]%stackOf(each, level) == 0 && plan.StacksGroups(k) {
					stacked++
				}
			}
		}
	}
	if stacked < 60 {
		t.Errorf("only %d launches had 2-D gangs", stacked)
	}
}

// TestStackGroupFault makes one item of a work-group fault.
func TestStackGroupFault(t *testing.T) {
	needMachine(t)
	k := rank2(t, strings.Replace(tiledProduct, "  y[", "  if (x[g.y][g.x] == 96) sum = y[g.y + 100][g.x]\n  y[", 1), ir.F32)
	for i, at := range [][2]int{{0, 0}, {15, 3}, {16, 0}, {16, 4}, {20, 6}, {3, 2}, {31, 31}, {31, 0}, {0, 31}, {9, 8}} {
		c := stackCase(k, ir.F32, [3]int{32, 32, 1})
		c.GroupSize = [3]int{16, 16, 1}
		clear(c.Args[0].Data)
		binary.LittleEndian.PutUint32(c.Args[0].Data[4*(at[1]*stackSide+at[0]):], 0x42c00000)
		if !compare(t, c, 1, 4+i%4) { // compares the faulting item too
			t.Fatalf("%v, %d rows", at, stackOf(c, 4+i%4))
		}
	}
}

// TestStackGroupRows checks the chosen block height of work-groups, and which launches use 2-D gangs.
func TestStackGroupRows(t *testing.T) {
	for _, c := range stackGroupKernels {
		m := (&ir.Module{Kernels: []*ir.Kernel{rank2(t, c.text, c.elem)}}).Clone()
		opt.Run(m, opt.Default, nil)
		for _, target := range []*vcode.Target{&vcode.AVX512, &vcode.AVX2} {
			if got := plan.ChooseRows(m.Kernels[0], target, 2); got != c.rows {
				t.Errorf("%s: gangs of %d rows on %s, want %d", c.name, got, target.Name, c.rows)
			}
		}
	}
	needMachine(t)
	m := (&ir.Module{Kernels: []*ir.Kernel{rank2(t, tiledProduct, ir.F32)}}).Clone()
	opt.Run(m, opt.Default, nil)
	for _, target := range targets() {
		p, err := Compile(m.Kernels[0], plan.Options{Features: target.Features})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			size, group [3]int
			height      int
		}{
			{[3]int{64, 64, 1}, [3]int{16, 16, 1}, 8}, {[3]int{64, 64, 1}, [3]int{16, 8, 1}, 8}, {[3]int{64, 64, 1}, [3]int{16, 4, 1}, 1},
			{[3]int{64, 60, 1}, [3]int{16, 16, 1}, 1}, {[3]int{60, 64, 1}, [3]int{16, 16, 1}, 1}, {[3]int{64, 64, 1}, [3]int{64, 1, 1}, 1},
		} {
			v, _, err := p.Prepare(&interp.Launch{Size: c.size, GroupSize: c.group, Args: make([]interp.Arg, 2)})
			if err != nil {
				t.Fatal(err)
			}
			if v.Code.Height != c.height {
				t.Errorf("%s, size %v in groups of %v: gangs of %d rows, want %d", target.Name, c.size, c.group, v.Code.Height, c.height)
			}
		}
	}
}
