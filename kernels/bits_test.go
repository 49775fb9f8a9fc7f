package kernels_test

import (
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/orepl/orepl/kernels"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// TestBits compares the results of every function with checksums in testdata/bits.txt, for arguments of all magnitudes. The
// library's bits are final: changes of the sources must preserve them.
func TestBits(t *testing.T) {
	const file = "testdata/bits.txt"
	lib := kernels.New()
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 4096
	narrow, wide := [2][]float32{make([]float32, n), make([]float32, n)}, [2][]float64{make([]float64, n), make([]float64, n)}
	for i := range n {
		for k := range 2 {
			narrow[k][i], wide[k][i] = math.Float32frombits(rng.Uint32()), math.Float64frombits(rng.Uint64())
			if i%2 == 0 { // the range in which most functions are neither constant nor infinite
				narrow[k][i], wide[k][i] = 4*float32(rng.NormFloat64()), 4*rng.NormFloat64()
			}
		}
	}
	var got strings.Builder
	for _, typ := range []ir.Type{ir.F32, ir.F64} {
		for _, fn := range lib.Names(typ) {
			r := newRunner(t, lib, fn, typ)
			sum := crc32.NewIEEE()
			if typ == ir.F32 {
				for _, y := range r.run32(narrow[:r.arity]...) {
					fmt.Fprintf(sum, "%x ", canonical(y != y, uint64(math.Float32bits(y))))
				}
			} else {
				for _, y := range r.run64(wide[:r.arity]...) {
					fmt.Fprintf(sum, "%x ", canonical(y != y, math.Float64bits(y)))
				}
			}
			fmt.Fprintf(&got, "%s %s %08x\n", fn, typ, sum.Sum32())
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(got.String()) {
		if !strings.Contains("\n"+string(want), "\n"+line) {
			t.Errorf("other bits than in %s: %s", file, line)
		}
	}
	if g, w := strings.Count(got.String(), "\n"), strings.Count(string(want), "\n"); g != w {
		t.Errorf("%d functions, %d in %s", g, w, file)
	}
}

// canonical returns one value for all NaNs.
func canonical(nan bool, bits uint64) uint64 {
	if nan {
		return math.MaxUint64
	}
	return bits
}
