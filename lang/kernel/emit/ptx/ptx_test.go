package ptx_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/emit/ptx"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/lang/kernel/opt"
)

// assemble runs the vendor's assembler on a text for each processor architecture.
func assemble(t *testing.T, text string) {
	t.Helper()
	name := os.Getenv("OREPL_PTXAS")
	if name == "" {
		name = "ptxas"
	}
	program, err := exec.LookPath(name)
	if err != nil {
		t.Skip(err, "(of the package nvidia-cuda-toolkit; OREPL_PTXAS names another file)")
	}
	file := filepath.Join(t.TempDir(), "kernels.ptx")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, arch := range []string{"sm_70", "sm_80", "sm_90"} {
		out, err := exec.Command(program, "-arch="+arch, "-O1", file, "-o", os.DevNull).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v:\n%.3000s", arch, err, out)
			if keep := os.Getenv("OREPL_KEEP_PTX"); keep != "" {
				_ = os.WriteFile(keep, []byte(text), 0o600)
			}
			return
		}
	}
}

func lowered(t *testing.T, k *ir.Kernel) *lower.Kernel {
	t.Helper()
	target, err := ptx.Target()
	if err != nil {
		t.Fatal(err)
	}
	l, err := lower.Lower(k, target, lower.Options{MaxGroup: 256})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestParameters prints kernels whose argument blocks just fit, and are too large.
func TestParameters(t *testing.T) {
	for n, fits := range map[int]bool{253: true, 255: false} { // 16 bytes each, and 28 for the records and the size
		k := &ir.Kernel{Name: "many", Real: ir.F32, Body: &ir.Block{}, Sites: []ir.Site{{}}}
		for i := range n {
			a := &ir.Array{Name: fmt.Sprint("b", i), Space: ir.Global, Elem: ir.Elem{Scalar: ir.I32}, Rank: 1, ID: i}
			k.Arrays = append(k.Arrays, a)
			k.Params = append(k.Params, ir.Param{Name: a.Name, Array: a})
		}
		b := ir.Builder{Kernel: k, Block: k.Body}
		b.Emit(&ir.Instr{Op: ir.Return}, ir.Void)
		text, err := ptx.Emit(lowered(t, k))
		switch {
		case fits && err != nil:
			t.Errorf("%d buffers: %v", n, err)
		case fits:
			assemble(t, text)
		case err == nil || !strings.Contains(err.Error(), "has room for 4096"):
			t.Errorf("%d buffers: %v", n, err)
		}
	}
}

// TestRandom assembles random kernels.
func TestRandom(t *testing.T) {
	n := 40
	if os.Getenv("OREPL_TEST_LONG") == "1" {
		n = 2000
	}
	for first := 0; first < n; first += 20 {
		var list []*lower.Kernel
		for i := range 20 {
			seed := uint64(first + i)
			rng := rand.New(rand.NewPCG(seed, 17))
			c := irgen.Case(rng, irgen.Options{Groups: seed%2 == 0, Subgroups: seed%4 == 0, Tiles: seed%3 == 0, Places: seed%5 == 0, Extended: seed%7 == 0, Size: 20 + rng.IntN(80)})
			c.Kernel.Name = fmt.Sprint("random", seed)
			opt.Run(irgen.Module(c.Kernel), opt.Default, nil)
			list = append(list, lowered(t, c.Kernel))
		}
		text, err := ptx.Emit(list...)
		if err != nil {
			t.Fatal(err)
		}
		assemble(t, text)
	}
}

// TestOperations assembles every operation on all its types, and checks the instructions in the text.
func TestOperations(t *testing.T) {
	var list []*lower.Kernel
	for i, op := range irgen.Operations() {
		k := &ir.Kernel{Name: fmt.Sprint("op", i), Real: ir.F32, Body: &ir.Block{}, Sites: []ir.Site{{}}}
		b := ir.Builder{Kernel: k, Block: k.Body}
		buffer := func(typ ir.Type) *ir.Array {
			a := &ir.Array{Name: fmt.Sprint("b", len(k.Arrays)), Space: ir.Global, Elem: ir.Elem{Scalar: typ}, Rank: 1, ID: len(k.Arrays)}
			k.Arrays = append(k.Arrays, a)
			k.Params = append(k.Params, ir.Param{Name: a.Name, Array: a})
			return a
		}
		path := []ir.Step{{Kind: ir.StepIndex}}
		at := b.Emit(&ir.Instr{Op: ir.Item}, ir.I32)
		in := ir.Instr{Op: op.Op, Elem: op.Elem}
		for _, typ := range op.Args {
			in.Args = append(in.Args, b.Emit(&ir.Instr{Op: ir.Load, Array: buffer(typ), Path: path, Args: []*ir.Value{at}}, typ))
		}
		v := b.Emit(&in, op.To)
		b.Emit(&ir.Instr{Op: ir.Store, Array: buffer(op.To), Path: path, Args: []*ir.Value{at, v}}, ir.Void)
		b.Emit(&ir.Instr{Op: ir.Return}, ir.Void)
		opt.CanonicalizeNaNs(k)
		list = append(list, lowered(t, k))
	}
	text, err := ptx.Emit(list...)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"add.rn.f32", "mul.rn.f64", "fma.rn.f32", "div.rn.f32", "sqrt.rn.f32", "mul.lo.s64", "mul.hi.u32", "setp.neu.f32", "cvt.rni.f64.f64", "popc.b64"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, never := range []string{"trap", ".ftz", ".approx", "fma.rz", ".sat"} {
		if strings.Contains(text, never) {
			t.Errorf("the text has %s", never)
		}
	}
	assemble(t, text)
}
