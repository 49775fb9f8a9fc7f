package spmd

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/exec"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// columnKernels use column-major traversal, or only resemble kernels that do. Each reads x and writes y, both of rank 2,
// with a size that fits the launch in either orientation.
var columnKernels = []struct {
	name, text string
	elem       ir.Type
	columns    bool
	tiles      int
}{
	{"transpose", `(g, x, y) => { y[g.x][g.y] = x[g.y][g.x] }`, ir.F32, true, 1},
	{"transpose, read in columns", `(g, x, y) => { y[g.y][g.x] = x[g.x][g.y] }`, ir.F32, true, 0},
	{"transpose, shifted", `(g, x, y) => { y[g.x + 1][g.y + 3] = x[g.y + 2][g.x + 1] + 1 }`, ir.I32, true, 1},
	{"transpose, mirrored", `(g, x, y) => { y[g.x][79 - g.y] = x[g.y][g.x] }`, ir.F32, true, 0},
	{"transpose, rows mirrored", `(g, x, y) => { y[79 - g.x][g.y] = x[g.y][g.x] }`, ir.F32, true, 1},
	{"transpose of bytes", `(g, x, y) => { y[g.x][g.y] = x[g.y][g.x] }`, ir.U8, true, 0},
	{"transpose of doubles", `(g, x, y) => { y[g.x][g.y] = x[g.y][g.x] }`, ir.F64, true, 0},
	{"transpose of what lanes choose", `(g, x, y) => {
  let v = x[g.y][g.x]
  if (v > 40) v = v * 2
  for (let i = 0; i < g.x % 3; i++) v = v + i
  y[g.x][g.y] = v
}`, ir.F32, true, 1},
	{"transpose by some items", `(g, x, y) => { if ((g.x ^ g.y) & 1) y[g.x][g.y] = x[g.y][g.x] }`, ir.F32, true, 0},
	{"transpose by some rows", `(g, x, y) => { if (g.y % 3 == 1) return; y[g.x][g.y] = x[g.y][g.x] }`, ir.F32, true, 0},
	{"transpose by some columns", `(g, x, y) => { if (g.x % 3 == 1) return; y[g.x][g.y] = x[g.y][g.x] }`, ir.F32, true, 0},
	{"transpose in place", `(g, x, y) => { y[g.x][g.y] = y[g.x][g.y] + x[g.y][g.x] }`, ir.F32, true, 0},
	{"outside", `(g, x, y) => { y[g.x + 30][g.y] = x[g.y][g.x] }`, ir.F32, true, 1},
	{"rows", `(g, x, y) => { y[g.y][g.x] = x[g.y][g.x + 1] }`, ir.F32, false, 0},
	{"rows apart in both", `(g, x, y) => { y[g.y][g.x] = x[g.x][g.x] }`, ir.F32, false, 0},
}

// rank2 compiles a kernel with two buffers of rank 2.
func rank2(t *testing.T, text string, elem ir.Type) *ir.Kernel {
	t.Helper()
	return ofRank(t, text, elem, 2)
}

// ofRank compiles a kernel of two buffers.
func ofRank(t *testing.T, text string, elem ir.Type, rank int) *ir.Kernel {
	t.Helper()
	f, err := kernel.Parse(&kernel.Source{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	arg := kernel.Arg{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: elem}, Rank: rank}
	c, err := f.Compile([]kernel.Arg{arg, arg}, kernel.Options{Name: "k"})
	if err != nil {
		t.Fatal(err)
	}
	return c.Module.Kernels[0]
}

func TestColumns(t *testing.T) {
	needMachine(t)
	const side = 80 // side length of the buffers
	for _, c := range columnKernels {
		k := rank2(t, c.text, c.elem)
		for i, size := range [][3]int{{16, 16, 1}, {64, 64, 1}, {37, 70, 1}, {70, 19, 1}, {16, 33, 2}, {1, 40, 1}, {65, 1, 1}} {
			for _, gang := range []int{1, 2, 4} {
				n := side * side * c.elem.Size()
				x := make([]byte, n)
				for at := 0; at < n; at += c.elem.Size() {
					v := uint64(at / c.elem.Size() % 97)
					switch c.elem {
					case ir.F32, ir.F64:
						v = ir.FloatBits(c.elem, float64(v))
					}
					var b [8]byte
					binary.LittleEndian.PutUint64(b[:], v)
					copy(x[at:], b[:c.elem.Size()])
				}
				dims := []int32{side, side}
				each := oracle.Case{Kernel: k, Size: size, GroupSize: [3]int{8, 4, 1},
					Args: []oracle.Arg{{Data: x, Dims: dims}, {Data: make([]byte, n), Dims: dims}}}
				if !compare(t, &each, gang, i+gang) { // the level also selects the kind of stores
					t.Fatalf("%s: size %v, gang %d", c.name, size, gang)
				}
			}
		}
	}
}

func TestChooseWalk(t *testing.T) {
	for _, c := range columnKernels {
		m := (&ir.Module{Kernels: []*ir.Kernel{rank2(t, c.text, c.elem)}}).Clone()
		opt.Run(m, opt.Default, nil)
		k := m.Kernels[0]
		l := &plan.Analysis{Options: plan.Options{Target: &vcode.AVX512}, Kernel: k, GangRegs: 1, Uniform: k.Uniformity(ir.Scope{Lockstep: true, UniformAxis: [3]bool{false, true, true}})}
		l.Affine = analysis.FindAffine(k, l.Uniform)
		l.ChooseWalk()
		if (l.Band > 0) != c.columns || len(l.Tiles) != c.tiles {
			t.Errorf("%s: bands of %d rows and %d tiles, want columns %v and %d", c.name, l.Band, len(l.Tiles), c.columns, c.tiles)
		}
	}
}

// TestColumnOf visits the units in the order of the generated code.
func TestColumnOf(t *testing.T) {
	for _, c := range []struct{ perRow, rows, planes, band int }{{3, 40, 2, 16}, {1, 16, 1, 16}, {5, 7, 3, 64}, {4, 64, 1, 16}} {
		column, row, plane, first := 0, 0, 0, 0
		for unit := range c.perRow * c.rows * c.planes {
			gotColumn, gotRow, gotPlane, gotFirst := exec.ColumnOf(unit, c.band, c.perRow, c.rows)
			got, want := fmt.Sprint(gotColumn, gotRow, gotPlane, gotFirst), fmt.Sprint(column, row, plane, first)
			if got != want {
				t.Fatalf("%+v: unit %d is at %s, want %s", c, unit, got, want)
			}
			if row++; row < min(first+c.band, c.rows) {
				continue
			}
			if row, column = first, column+1; column < c.perRow {
				continue
			}
			column, first = 0, first+c.band
			if first >= c.rows {
				first, plane = 0, plane+1
			}
			row = first
		}
	}
}

func TestTilesAreTurned(t *testing.T) {
	onAllTargets(t, func(t *testing.T, target *vcode.Target) {
		text := listed(t, rank2(t, columnKernels[0].text, ir.F32), plan.Options{Features: target.Features, Gang: 1})
		if !strings.Contains(text, "vunpckhpd") {
			t.Errorf("the code turns no tile:\n%s", text)
		}
	})
}
