package kernels_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/orepl/orepl/kernels"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// exhaustiveMain runs a function for a range of float bit patterns. It prints the maximum error against the C library's
// double function, and its argument. Without a range it evaluates arguments from stdin.
const exhaustiveMain = `
#include <stdio.h>
#include <stdlib.h>
static double rsqrt(double x) { return 1 / sqrt(x); }
static double unit(double r) {
	int e = (int)(db(r) >> 52 & 2047) - 1023 - 23;
	return bd((uint64_t)((e < -149 ? -149 : e) + 1023) << 52);
}
static double error(float y, double r) {
	if (r != r) return y != y ? 0 : INFINITY;
	if (y != y) return INFINITY;
	if (!!signbit(y) != !!signbit(r)) return INFINITY;
	if (isinf(y) && fabs(r) >= 0x1.fffffefp127) return 0;
	if (isinf(y) || isinf(r)) return INFINITY;
	return fabs(y - r) / unit(r);
}
int main(int argc, char **argv) {
	if (argc == 1) {
		uint32_t b;
		while (fread(&b, 4, 1, stdin) == 1) {
			float y = FN(bf(b));
			fwrite(&y, 4, 1, stdout);
		}
		return 0;
	}
	double worst = 0;
	uint32_t at = 0;
	for (uint64_t b = strtoull(argv[1], 0, 10), end = strtoull(argv[2], 0, 10); b < end; b++) {
		float x = bf(b);
		double e = error(FN(x), REFERENCE((double)x));
		if (e > worst) worst = e, at = b;
	}
	printf("%.6f %u\n", worst, at);
}
`

// TestF32Exhaustive runs every function of one argument for every f32. It compiles the embedded IR as C, since the
// interpreter would take days, and checks the C code against the interpreter on a sample.
func TestF32Exhaustive(t *testing.T) {
	if os.Getenv("OREPL_TEST_LONG") != "1" {
		t.Skip("runs with OREPL_TEST_LONG=1")
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no gcc")
	}
	lib, bounds, dir := kernels.New(), documented(t), t.TempDir()
	for fn := range reference32 {
		t.Run(fn, func(t *testing.T) {
			k, err := lib.Math(fn, ir.F32)
			if err != nil {
				t.Fatal(err)
			}
			source, binary := filepath.Join(dir, fn+".c"), filepath.Join(dir, fn)
			if err := os.WriteFile(source, []byte(cPrelude+cText(k, "k_"+fn)+exhaustiveMain), 0o644); err != nil {
				t.Fatal(err)
			}
			gcc := exec.Command("gcc", "-O2", "-mfma", "-ffp-contract=off", "-fwrapv", "-DFN=k_"+fn, "-DREFERENCE="+fn, "-o", binary, source, "-lm")
			if out, err := gcc.CombinedOutput(); err != nil {
				t.Fatalf("gcc: %v\n%s", err, out)
			}
			compareC(t, newRunner(t, lib, fn, ir.F32), binary)
			worst, at := everyFloat(t, binary)
			t.Logf("%s: %.4f ulp at %x", fn, worst, at)
			if bound := bounds[fn+".f32"]; !(worst <= bound) {
				t.Errorf("%s: %.4f ulp at %x, documented %.2f", fn, worst, at, bound)
			}
		})
	}
}

// compareC compares the program's results with the interpreter's on random floats.
func compareC(t *testing.T, r *runner, program string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	args := make([]float32, 100_000)
	for i := range args {
		args[i] = math.Float32frombits(rng.Uint32())
	}
	var in bytes.Buffer
	if err := binary.Write(&in, binary.LittleEndian, args); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float32, len(args))
	if err := binary.Read(bytes.NewReader(out), binary.LittleEndian, got); err != nil {
		t.Fatal(err)
	}
	for i, want := range r.run32(args) {
		if math.Float32bits(got[i]) != math.Float32bits(want) && (got[i] == got[i] || want == want) {
			t.Fatalf("C: %s(%x) = %x, interpreter %x", r.fn, args[i], got[i], want)
		}
	}
}

// everyFloat runs the program for all floats on all processors.
func everyFloat(t *testing.T, program string) (worst float64, at float32) {
	t.Helper()
	parts := uint64(runtime.NumCPU())
	var mu sync.Mutex
	var wg sync.WaitGroup
	for part := range parts {
		wg.Go(func() {
			out, err := exec.Command(program, fmt.Sprint(part<<32/parts), fmt.Sprint((part+1)<<32/parts)).Output()
			var e float64
			var bits uint32
			if err == nil {
				_, err = fmt.Sscan(strings.ToLower(string(out)), &e, &bits)
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			} else if !(e <= worst) {
				worst, at = e, math.Float32frombits(bits)
			}
		})
	}
	wg.Wait()
	return worst, at
}
