package interp_test

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
)

// FuzzRun runs all modules that the verifier accepts, with unrelated arguments, in every mode. A run must not panic, access
// memory outside the arguments, or continue after it is stopped.
func FuzzRun(f *testing.F) {
	for seed := range uint64(20) {
		k := irgen.Case(rand.New(rand.NewPCG(seed, 1)), irgen.Options{Extended: seed%4 == 3, Groups: seed%2 == 0, Subgroups: seed%4 == 0}).Kernel
		f.Add(irgen.Module(k).String(), seed)
	}
	f.Add("orepl-ir 1\n"+mandelbrotNumbered, uint64(1))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		m, err := ir.ParseText("fuzz.ir", text)
		if err != nil || m.Verify() != nil {
			return
		}
		rng := rand.New(rand.NewPCG(seed, 2))
		for _, k := range m.Kernels {
			for _, o := range []interp.Options{{}, {Races: true, IgnoreProofs: true}} {
				hostileRun(t, k, o, rng)
			}
		}
	})
}

// mandelbrotNumbered is a kernel with a loop in the parser's form.
const mandelbrotNumbered = `kernel f(out: i32[*]) real f32 {
  site 0 = 0:0:0 ""
  %0: i32 = item.global.x
  %1: i32 = const 1
  loop @1 (%2: i32 = %0) {
    %3: i32 = add %2, %1
    store out[%3], %2
    continue @1 %3
  }
  return
}
`

// guard fills the memory around buffers to detect out-of-bounds writes.
const guard = 0xa5

func hostileRun(t *testing.T, k *ir.Kernel, o interp.Options, rng *rand.Rand) {
	p, err := interp.Compile(k, o)
	if err != nil {
		return
	}
	var stop atomic.Bool
	l := interp.Launch{Stop: &stop, Services: &host{}, SubgroupSize: 4 << rng.IntN(5), Unchecked: rng.IntN(2) == 0}
	for axis := range 3 {
		l.Size[axis], l.GroupSize[axis] = rng.IntN(9), 1+rng.IntN(8)
	}
	var memories [][]byte
	for i := range k.Params {
		a := k.Params[i].Array
		arg := interp.Arg{Bits: rng.Uint64()}
		if a != nil {
			memory := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(make([]uint64, 64)))), 512)
			for i := range memory {
				memory[i] = guard
			}
			clear(memory[64:448])
			memories = append(memories, memory)
			arg.Base, arg.Bytes = unsafe.Pointer(&memory[64]), 384
			for axis := range arg.Dims {
				arg.Dims[axis] = int32(rng.IntN(6))
			}
		}
		l.Args = append(l.Args, arg)
	}
	n, err := p.Prepare(&l)
	if err != nil {
		return
	}
	timer := time.AfterFunc(50*time.Millisecond, func() { stop.Store(true) })
	defer timer.Stop()
	p.Run(p.NewWorker(), &l, 0, n)
	for _, memory := range memories {
		for i, b := range memory {
			if (i < 64 || i >= 448) && b != guard {
				t.Fatalf("byte %d outside a buffer was written", i-64)
			}
		}
	}
}
