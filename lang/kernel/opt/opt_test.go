package opt_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/irtest"
	"github.com/orepl/orepl/lang/kernel/opt"
)

// outcome is all that a launch leaves behind.
type outcome struct {
	memory [][]byte
	prints string
	fault  *interp.Fault
}

type printed struct{ bytes.Buffer }

func (p *printed) Print(_ int, item [3]int, text string) { fmt.Fprintf(p, "%v%s\n", item, text) }

func (p *printed) Call(string, [3]int, []interp.Scalar, ir.Type) (uint64, error) { return 0, nil }

// launch runs a kernel of irtest on arguments that the seed decides. NaNs in memory become canonical.
func launch(t *testing.T, k *ir.Kernel, seed uint64, options interp.Options) outcome {
	t.Helper()
	p, err := interp.Compile(k, options)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 77))
	var o outcome
	var prints printed
	l := interp.Launch{Size: [3]int{irtest.Items, 1, 1}, GroupSize: [3]int{irtest.GroupSize, 1, 1}, Services: &prints}
	for _, param := range k.Params {
		a := param.Array
		if a == nil {
			var bits uint64
			switch {
			case param.Type == ir.Bool:
				bits = rng.Uint64N(2)
			case param.Type.IsFloat():
				bits = ir.FloatBits(param.Type, rng.NormFloat64()*10)
			default:
				bits = ir.IntBits(param.Type, rng.Int64N(100)-20)
			}
			l.Args = append(l.Args, interp.Arg{Bits: bits})
			continue
		}
		n := irtest.Inputs * a.Elem.Size()
		words := make([]uint64, n/8)
		memory := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n)
		if a.Name[:2] == "in" {
			for i := range memory {
				memory[i] = byte(rng.Uint32())
			}
		}
		arg := interp.Arg{Base: unsafe.Pointer(&words[0]), Bytes: n, Dims: [3]int32{irtest.Inputs}}
		if a.Rank == 2 {
			arg.Dims = [3]int32{8, irtest.Inputs / 8}
		}
		l.Args = append(l.Args, arg)
		o.memory = append(o.memory, memory)
	}
	n, err := p.Prepare(&l)
	if err != nil {
		t.Fatal(err)
	}
	o.fault = p.Run(p.NewWorker(), &l, 0, n)
	o.prints = prints.String()
	buffers := 0
	for _, param := range k.Params {
		if a := param.Array; a != nil {
			canonicalize(o.memory[buffers], a.Elem.Scalar)
			buffers++
		}
	}
	return o
}

func canonicalize(memory []byte, t ir.Type) {
	switch t {
	case ir.F32:
		for i := 0; i < len(memory); i += 4 {
			p := (*uint32)(unsafe.Pointer(&memory[i]))
			if x := math.Float32frombits(*p); x != x {
				*p = ir.NaN32
			}
		}
	case ir.F64:
		for i := 0; i < len(memory); i += 8 {
			p := (*uint64)(unsafe.Pointer(&memory[i]))
			if x := math.Float64frombits(*p); x != x {
				*p = ir.NaN64
			}
		}
	case ir.BF16, ir.F16:
		inf := map[ir.Type]uint16{ir.BF16: 0x7f80, ir.F16: 0x7c00}[t]
		for i := 0; i < len(memory); i += 2 {
			p := (*uint16)(unsafe.Pointer(&memory[i]))
			if *p&0x7fff > inf {
				*p = inf | inf>>1
			}
		}
	}
}

func sameOutcome(t *testing.T, what string, got, want outcome) bool {
	t.Helper()
	if (got.fault == nil) != (want.fault == nil) {
		t.Errorf("%s: fault %v, want %v", what, got.fault, want.fault)
		return false
	}
	for i := range want.memory {
		if !bytes.Equal(got.memory[i], want.memory[i]) {
			at := 0
			for got.memory[i][at] == want.memory[i][at] {
				at++
			}
			t.Errorf("%s: buffer %d differs at byte %d", what, i, at)
			return false
		}
	}
	if got.prints != want.prints {
		t.Errorf("%s: other prints", what)
		return false
	}
	return true
}

var trueFacts = &opt.Facts{
	Size:      [3]int{irtest.Items, 1, 1},
	GroupSize: [3]int{irtest.GroupSize, 1, 1},
	Extents: map[string][]int{"in_2d": {8, irtest.Inputs / 8}, "in_f32": {irtest.Inputs}, "in_u8": {irtest.Inputs},
		"in_f16": {irtest.Inputs}, "out_f32": {irtest.Inputs}, "out_u64": {irtest.Inputs}, "out_bool": {irtest.Inputs}},
	Within: []opt.SizeFact{{Axis: 0, Buffer: "out_i32", Extent: 0}, {Axis: 0, Buffer: "in_i32", Extent: 0}},
}

func TestPassesKeepResults(t *testing.T) {
	seeds := uint64(500)
	if testing.Short() {
		seeds = 150
	}
	for seed := range seeds {
		checkSeed(t, seed)
		if t.Failed() {
			return
		}
	}
}

func FuzzPassesKeepResults(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(checkSeed)
}

func checkSeed(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 3))
	o := irtest.Options{Instrs: 5 + rng.IntN(120), Faults: seed%2 == 0, Groups: seed%3 == 0, Prints: seed%5 == 0}
	m := irtest.Generate(rng, o)
	if err := m.Verify(); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	want := launch(t, m.Kernels[0], seed, interp.Options{})
	if !o.Faults && want.fault != nil {
		t.Fatalf("seed %d: fault without faults: %v\n%v", seed, want.fault, m)
	}
	check := func(name string, facts *opt.Facts, run func(*ir.Module)) bool {
		c := m.Clone()
		run(c)
		what := fmt.Sprintf("seed %d, %s", seed, name)
		if err := c.Verify(); err != nil {
			t.Errorf("%s: %v\n%v", what, err, c)
			return false
		}
		k := c.Kernels[0]
		checked := launch(t, k, seed, interp.Options{IgnoreProofs: true})
		return sameOutcome(t, what, launch(t, k, seed, interp.Options{}), want) &&
			sameOutcome(t, what+", proofs ignored", checked, want) && noProvedFault(t, what, k, checked.fault)
	}
	for level := opt.Basic; level <= opt.Default; level++ {
		for _, facts := range []*opt.Facts{nil, trueFacts} {
			if !check(fmt.Sprint("level ", level, facts != nil), facts, func(c *ir.Module) { opt.Run(c, level, facts) }) {
				break
			}
		}
	}
	if t.Failed() { // which pass is it?
		for _, p := range opt.Passes(opt.Default) {
			check("only "+p.Name, nil, func(c *ir.Module) { p.Run(c.Kernels[0], nil) })
		}
		t.Logf("%v", m)
	}
}

// noProvedFault fails if a fault arose at an instruction whose check was proved away.
func noProvedFault(t *testing.T, what string, k *ir.Kernel, f *interp.Fault) bool {
	ok := true
	if f == nil {
		return ok
	}
	k.Body.Walk(func(in *ir.Instr) {
		proved := f.Kind == interp.OutOfBounds && in.Proved>>f.Axis&1 != 0 || f.Kind == interp.DivisionByZero && in.Proved == ir.ProvedDivisor
		if in.Site == f.Site && proved {
			t.Errorf("%s: %v was proved and faults: %v", what, in, f)
			ok = false
		}
	})
	return ok
}

func TestProofsAreFound(t *testing.T) {
	proved, all := 0, 0
	for seed := range uint64(100) {
		m := irtest.Generate(rand.New(rand.NewPCG(seed, 3)), irtest.Options{Instrs: 100})
		opt.Run(m, opt.Default, trueFacts)
		m.Kernels[0].Body.Walk(func(in *ir.Instr) {
			if in.NumIndices() > 0 {
				all++
				if in.Proved == 1<<in.NumIndices()-1 {
					proved++
				}
			}
		})
	}
	if proved*100 < all*55 {
		t.Errorf("only %d of %d accesses are proved", proved, all)
	}
}
