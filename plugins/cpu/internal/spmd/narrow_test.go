package spmd

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// narrowKernels store bytes or words. The narrow ones compute in 16-bit lanes.
var narrowKernels = []struct {
	value  string
	narrow bool // for u8 elements
}{
	{"(3 * a + b + 2) >> 2", true},
	{"a - b", true},
	{"(a - b) >> 3", true},
	{"(a - 2 * b) >> 1", true},
	{"a * b", true},
	{"(a * b) >> 8", true},
	{"(a * 1000 + b) & 255", true},
	{"(a * 1000 + b) >> 8", false}, // needs more than 16 bits
	{"(a * -200 + b) >> 8", false},
	{"(a * -100 + b) >> 7", true},
	{"(a ^ b) | 3", true},
	{"(a << 4) - (b << 15)", true},
	{"(((a << 7) + b) >> 3) & 0x1234", true},
	{"(a + b) >>> 1", true},
	{"(a - b) >>> 1", false},
	{"a + g.x", false},
	{"a / 3", false},
	{"(a * a + b * b) >> 2", false},
	{"a", true},
	{"a * 32768 + b", true},
}

func narrowKernel(t *testing.T, value string, elem ir.Type) *ir.Kernel {
	return rank2(t, fmt.Sprintf("(g, x, y) => { const a = x[g.y][g.x], b = y[g.y][g.x + 3]; y[g.y][g.x + 1] = %s }", value), elem)
}

// TestNarrow checks which stores of bytes compute in 16-bit lanes.
func TestNarrow(t *testing.T) {
	for _, c := range narrowKernels {
		k := narrowKernel(t, c.value, ir.U8)
		text := listed(t, k, plan.Options{Features: vcode.AVX2.Features, Gang: 4})
		if got := strings.Contains(text, "vpackuswb"); got != c.narrow {
			t.Errorf("%s: narrow: %v, want %v\n%s", c.value, got, c.narrow, text)
		}
	}
}

// TestNarrowStores compares stores of bytes and words with the interpreter.
func TestNarrowStores(t *testing.T) {
	needMachine(t)
	for _, elem := range []ir.Type{ir.U8, ir.I8, ir.U16, ir.I16} {
		for n, c := range narrowKernels {
			k := narrowKernel(t, c.value, elem)
			for i, gang := range []int{1, 2, 4} {
				each := stackCase(k, elem, [3]int{76, 1, 1})
				for at := range each.Args[0].Data { // includes large and negative elements
					each.Args[0].Data[at], each.Args[1].Data[at] = byte(at*167+at/255), byte(at*59+at/80)
				}
				each.Unchecked = (i+n)%3 == 0
				if !compare(t, each, gang, (i+n)%4) {
					t.Fatalf("%v of %v, gang %d", c.value, elem, gang)
				}
			}
		}
	}
}

// TestNarrowOrder inserts a store between the loads of a narrow expression and its own store, which must not reload the
// operands.
func TestNarrowOrder(t *testing.T) {
	needMachine(t)
	for _, text := range []string{
		`(g, x, y) => { const a = x[g.y][g.x]; x[g.y][g.x] = 7; y[g.y][g.x] = a + 1 }`,
		`(g, x, y) => { const a = x[g.y][g.x], b = y[g.y][g.x]; x[g.y][g.x] = (a + b) >> 1; y[g.y][g.x] = (a - b) >> 1 }`,
		`(g, x, y) => { const a = x[g.y][g.x]; let b = 5; if (g.x > 20) { b = a + 9; x[g.y][g.x] = a ^ b }; y[g.y][g.x] = a + 3 * b }`,
	} {
		for _, elem := range []ir.Type{ir.U8, ir.I16} {
			for _, gang := range []int{1, 2, 4} {
				for level := range 4 {
					compare(t, stackCase(rank2(t, text, elem), elem, [3]int{76, 3, 1}), gang, level)
				}
			}
		}
	}
}
