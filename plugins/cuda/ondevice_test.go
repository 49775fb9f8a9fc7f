//go:build linux && (amd64 || arm64) && !nonative

package cuda_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/plugins/cuda"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/tests/ondevice"
)

// newPlugin returns the plugin with the system's driver if OREPL_GPU is 1, otherwise with the stand-in.
func newPlugin(t *testing.T) (p offload.Plugin, s *standIn) {
	t.Helper()
	if os.Getenv("OREPL_GPU") == "1" {
		return cuda.New(cuda.Options{}), nil
	}
	s = newStandIn(t)
	return cuda.New(s.options()), s
}

// newRunner returns a runner on the first device of [newPlugin].
func newRunner(t *testing.T) *ondevice.Runner {
	t.Helper()
	plugin, _ := newPlugin(t)
	r, err := ondevice.Open(t.Context(), plugin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// number returns the number in an environment variable, or otherwise.
func number(name string, otherwise uint64) uint64 {
	if n, err := strconv.ParseUint(os.Getenv(name), 10, 64); err == nil {
		return n
	}
	return otherwise
}

// TestRandomKernels compares random kernels on the device with the interpreter: buffers, prints and faults.
// OREPL_RANDOM_KERNELS is their number, OREPL_RANDOM_FIRST the first seed.
func TestRandomKernels(t *testing.T) {
	r := newRunner(t)
	n, first := number("OREPL_RANDOM_KERNELS", 60), number("OREPL_RANDOM_FIRST", 1)
	for seed := first; seed < first+n; seed++ {
		rng := rand.New(rand.NewPCG(seed, 37))
		c := irgen.Case(rng, irgen.Options{Groups: seed%2 == 0, Subgroups: seed%4 == 0, NoFaults: seed%3 == 0, Tiles: seed%5 == 0, Places: seed%7 == 0, Even: seed%6 == 0,
			Jumps: seed%11 == 0, Size: 20 + rng.IntN(100)})
		c.SubgroupSize = 32
		if diff, err := r.Compare(t.Context(), c); err != nil || diff != "" {
			t.Fatalf("seed %d: %v, %.2000s\n%.4000v", seed, err, diff, c.Kernel)
		}
	}
	t.Logf("%d kernels from seed %d on %s", n, first, r.Device.Info().Name)
}

// TestDeviceOperations launches each operation on each of its types, for all tuples of special values.
func TestDeviceOperations(t *testing.T) {
	r := newRunner(t)
	list := irgen.Operations()
	if testing.Short() {
		list = list[:20]
	}
	for _, o := range list {
		c := irgen.OperationCase(o)
		c.Kernel.Sites = []ir.Site{{}, {Line: 2}} // gives faults a position in the source
		c.Kernel.Body.Walk(func(in *ir.Instr) { in.Site = 1 })
		if diff, err := r.Compare(t.Context(), c); err != nil || diff != "" {
			t.Errorf("%v: %v, %s", o, err, diff)
		}
	}
}

// TestPrintsOfGroups checks that prints keep their group even if passes remove all uses of the group from the kernel.
func TestPrintsOfGroups(t *testing.T) {
	if diff, err := newRunner(t).CompareGroups(t.Context()); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
}

// TestLoss stores far below a buffer without checks. The device is lost, and objects close without errors. A real driver
// then fails all calls of the process, so the test needs its own process.
func TestLoss(t *testing.T) {
	plugin, s := newPlugin(t)
	p, err := plugin.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d := p.Devices()[0]
	q, err := d.NewQueue(offload.QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	k := &ir.Kernel{Name: "k", Real: ir.F32, Body: &ir.Block{}, Sites: []ir.Site{{}, {Line: 1, Col: 1}}}
	b := ir.Builder{Kernel: k, Block: k.Body, Site: 1}
	x := &ir.Array{Name: "x", Space: ir.Global, Elem: ir.Elem{Scalar: ir.I32}, Rank: 1}
	k.Arrays, k.Params = []*ir.Array{x}, []ir.Param{{Name: "x", Array: x}}
	far := b.Emit(&ir.Instr{Op: ir.Const, Bits: 0x80000000}, ir.I32)
	b.Emit(&ir.Instr{Op: ir.Store, Array: x, Path: []ir.Step{{Kind: ir.StepIndex}}, Args: []*ir.Value{far, far}}, ir.Void)
	b.Emit(&ir.Instr{Op: ir.Return}, ir.Void)
	data, err := irgen.Module(k).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	program, err := d.Load(t.Context(), &offload.Image{Kind: offload.ImageIR, Data: data})
	if err != nil {
		t.Fatal(err)
	}
	stores, err := program.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	m := allocate(t, d, 64)
	err = q.Launch(&offload.Launch{Kernel: stores, Checks: offload.ChecksOff, Size: [3]int{1, 1, 1}, Args: []offload.Arg{{Type: offload.I32, Memory: m, Dims: [3]int32{16}}}})
	checkError(t, "sync", errors.Join(err, q.Sync(t.Context())), offload.DeviceLost, "ILLEGAL_ADDRESS (700)")
	select {
	case <-d.(offload.Losable).Lost():
	default:
		t.Error("the device is not lost")
	}
	_, err = d.Allocate(10, offload.DeviceMemory)
	checkError(t, "allocate", err, offload.DeviceLost, "lost")
	if err := errors.Join(m.Free(), program.Unload(), q.Close(), p.Close()); err != nil {
		t.Error(err)
	}
	if s != nil {
		s.mu.Lock()
		s.failed = nil
		s.mu.Unlock()
	}
}
