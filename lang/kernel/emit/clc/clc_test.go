package clc_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/emit/clc"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/lang/kernel/opt"
)

// clang returns the path of an OpenCL C compiler.
func clang(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"clang-19", "clang"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("there is no clang")
	return ""
}

// check compiles a text without generating code.
func check(t *testing.T, text string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kernels.cl")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(clang(t), "-x", "cl", "-cl-std=CL1.2", "-target", "spir64", "-fsyntax-only", "-Wall", "-Werror", "-Wno-unused-variable",
		"-Wno-unused-but-set-variable", "-Wno-sometimes-uninitialized", file).CombinedOutput()
	if err != nil {
		lines := strings.Split(text, "\n")
		t.Errorf("%v:\n%.2000s\n%d lines, such as\n%s", err, out, len(lines), strings.Join(lines[:min(len(lines), 30)], "\n"))
	}
}

func lowered(t *testing.T, k *ir.Kernel) *lower.Kernel {
	t.Helper()
	target, err := clc.Target()
	if err != nil {
		t.Fatal(err)
	}
	l, err := lower.Lower(k, target, lower.Options{MaxGroup: 256})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestRandom compiles random kernels.
func TestRandom(t *testing.T) {
	n := 40
	if testing.Short() {
		n = 16
	}
	var list []*lower.Kernel
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed, 12))
		c := irgen.Case(rng, irgen.Options{Groups: seed%2 == 0, Subgroups: seed%4 == 0, Tiles: seed%3 == 0, Places: seed%5 == 0, Size: 20 + rng.IntN(80)})
		opt.Run(irgen.Module(c.Kernel), opt.Default, nil)
		list = append(list, lowered(t, c.Kernel))
	}
	text, err := clc.Emit(list...)
	if err != nil {
		t.Fatal(err)
	}
	check(t, text)
}

// TestOperations compiles every operation for all types.
func TestOperations(t *testing.T) {
	var list []*lower.Kernel
	for _, o := range irgen.Operations() {
		list = append(list, lowered(t, irgen.OperationCase(o).Kernel))
	}
	text, err := clc.Emit(list...)
	if err != nil {
		t.Fatal(err)
	}
	check(t, text)
}

// TestForms compiles every memory, group and version 2 operation for all types. The target has no clock.
func TestForms(t *testing.T) {
	target, err := clc.Target()
	if err != nil {
		t.Fatal(err)
	}
	var list []*lower.Kernel
	for i, f := range irgen.Forms() {
		k := irgen.FormCase(f).Kernel
		k.Name = fmt.Sprint("form", i)
		if f.Op == ir.Clock {
			var unsupported *lower.UnsupportedError
			if _, err := lower.Lower(k, target, lower.Options{}); !errors.As(err, &unsupported) {
				t.Errorf("%v: %v, want an UnsupportedError", f, err)
			}
			continue
		}
		list = append(list, lowered(t, k))
	}
	text, err := clc.Emit(list...)
	if err != nil {
		t.Fatal(err)
	}
	check(t, text)
}

// TestSiteOf checks that lines of a text map to the statements for which they were printed.
func TestSiteOf(t *testing.T) {
	m, err := ir.ParseText("test", `orepl-ir 1
file 0 "f"
kernel k(x: f32[*]) real f32 {
  site 0 = 0:1:1 ""
  site 1 = 0:7:3 "x[g.x]"
  site 2 = 0:9:3 "x[g.x]"
  %1: i32 = item.global.x
  %2: f32 = load x[%1] !1
  %3: f32 = floor %2 !2
  store x[%1], %3 !2
  return
}
`)
	if err != nil {
		t.Fatal(err)
	}
	k := m.Kernels[0]
	text, err := clc.Emit(lowered(t, k))
	if err != nil {
		t.Fatal(err)
	}
	for part, want := range map[string]int{"= *(": 1, "floor(": 2, "__kernel": 0} {
		n := strings.Count(text[:strings.Index(text, part)], "\n") + 1
		if site, ok := clc.SiteOf(k, text, n); site != want || ok != (want > 0) {
			t.Errorf("%q in line %d is of site %d, %t", part, n, site, ok)
		}
	}
}
