package spmd

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	godebug "runtime/debug"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	hostmachine "github.com/orepl/orepl/plugins/cpu/internal/machine"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/exec"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
	"github.com/orepl/orepl/plugins/cpu/internal/uarch"
	"github.com/orepl/orepl/plugins/internal/process"
	"github.com/orepl/orepl/runtime/debug"
)

// allTargets are the targets of the compiler. A test of code's shape names its target or loops over these; a test of results
// loops over targets().
var allTargets = []*vcode.Target{&vcode.AVX512, &vcode.AVX2}

// runnable returns the extensions with which tests may run: the machine's, except those masked by the switch cpu-features.
var runnable = sync.OnceValue(func() amd64.Features {
	s, err := debug.Env("")
	if err != nil {
		panic(err)
	}
	return hostmachine.Features(s)
})

// needMachine skips a test of results if no target can run.
func needMachine(t testing.TB) {
	t.Helper()
	if missing := vcode.Least &^ runnable(); missing != 0 || !process.Supported() {
		t.Skipf("this machine has no %v", missing)
	}
}

// targets returns the targets that this machine can run.
func targets() (list []*vcode.Target) {
	for _, t := range allTargets {
		if t.Features&^runnable() == 0 && process.Supported() {
			list = append(list, t)
		}
	}
	return list
}

// onTargets runs a test of results for each target that this machine can run.
func onTargets(t *testing.T, test func(t *testing.T, target *vcode.Target)) {
	t.Helper()
	needMachine(t)
	for _, target := range targets() {
		t.Run(target.Name, func(t *testing.T) { test(t, target) })
	}
}

// onAllTargets runs a test of code's shape for each target of the compiler.
func onAllTargets(t *testing.T, test func(t *testing.T, target *vcode.Target)) {
	t.Helper()
	for _, target := range allTargets {
		t.Run(target.Name, func(t *testing.T) { test(t, target) })
	}
}

// listed compiles a kernel and lists its code.
func listed(t *testing.T, k *ir.Kernel, options plan.Options) string {
	t.Helper()
	p, err := Compile(k, options)
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.List(p.Listed(), func(int) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// services collects prints.
type services struct{ out *oracle.Outcome }

func (s services) Print(site int, item [3]int, text string) {
	s.out.Prints = append(s.out.Prints, oracle.Print{Site: site, Item: item, Text: text})
}

func (s services) Call(_ int, name string, _ [3]int, _ []interp.Scalar, _ ir.Type) (uint64, error) {
	return 0, fmt.Errorf("there is no service %s", name)
}

// optimized returns an optimized copy of a case's kernel.
func optimized(k *ir.Kernel) *ir.Kernel {
	m := irgen.Module(k).Clone()
	opt.Run(m, opt.Default, nil)
	return m.Kernels[0]
}

// onHeap is a bit of the level of [run]: buffers are on the Go heap.
const onHeap = 8

// modelFor returns one of the cost tables, or for even n the table that enables all kinds of stores.
func modelFor(n int) *uarch.Model {
	names := uarch.Names()
	if n%2 == 0 {
		return every
	}
	return uarch.Named(names[n/2%len(names)])
}

// run runs a case with compiled code. The level selects options of the compiler; at level 0 the IR is not optimized.
func run(c *oracle.Case, target *vcode.Target, gang, level int) (*oracle.Outcome, error) {
	k := irgen.Module(c.Kernel).Clone().Kernels[0]
	if level%onHeap > 0 {
		k = optimized(c.Kernel)
	}
	bytes := 1
	for i := range c.Args {
		bytes += len(c.Args[i].Data)
	}
	p, err := Compile(k, plan.Options{Features: target.Features, Gang: gang, Unchecked: c.Unchecked, Observes: c.Kernel.ObservesGroup(),
		InterleaveAll: level%2 == 1, WideGangs: level%2 == 1, FewRegs: level%4 == 3 || level%onHeap == 4, BlockRows: stackOf(c, level), Model: modelFor(level + c.Size[0]), CacheBytes: []int{0, 1, 3 * bytes}[(level+c.Size[0])%3]}) // so that each kind of store is tested
	if err != nil {
		return nil, err
	}
	var out oracle.Outcome
	g := interp.Launch{Size: c.Size, GroupSize: c.GroupSize, SubgroupSize: 32, Unchecked: c.Unchecked, Services: services{&out}, Stop: c.Stop}
	m := memories.get()
	defer memories.put(m)
	m.reset()
	take := m.take
	if level&onHeap != 0 {
		take = func(n int) []byte { return exec.Aligned(n) }
	}
	g.Args, out.Data = c.Bind(take)
	v, units, err := p.Prepare(&g)
	if err != nil {
		return nil, err
	}
	w := v.Acquire(&g)
	defer v.Release(w)
	f, err := w.Run(0, units/3, level%2 == 0) // in two calls, like the chunks of a launch
	if f == nil && err == nil {
		f, err = w.Run(units/3, units, level%2 == 0)
	}
	if err == nil {
		err = m.check()
	}
	if err != nil {
		return nil, err
	}
	if v.Code.Height > 1 { // the order in which items print is undefined
		slices.SortStableFunc(out.Prints, func(a, b oracle.Print) int {
			return cmp.Or(a.Item[2]-b.Item[2], a.Item[1]-b.Item[1], a.Item[0]-b.Item[0])
		})
	}
	for i, data := range out.Data {
		out.Data[i] = slices.Clone(data) // a later case reuses the memory
	}
	out.Fault = told(f)
	return &out, nil
}

// told converts a fault to the oracle's type.
func told(f *interp.Fault) *oracle.Fault {
	if f == nil {
		return nil
	}
	out := &oracle.Fault{Kind: f.Kind.String(), Site: f.Site, Item: f.Item, Text: f.Text}
	if f.Kind == interp.OutOfBounds {
		out.Array, out.Axis = f.Array.Name, f.Axis
		out.Index, out.Extent = fmt.Sprint(f.Index), fmt.Sprint(f.Extent)
	}
	return out
}

// stackOf returns the block height for a level, or 0 for the compiler's choice.
func stackOf(c *oracle.Case, level int) int {
	if level%onHeap < 4 {
		return 0
	}
	return [4]int{2, 3, 4, 8}[(c.Size[0]+c.Size[1]+level)%4]
}

// compare compares a case on every target with the interpreter.
func compare(t *testing.T, c *oracle.Case, gang, level int) bool {
	t.Helper()
	c.SubgroupSize = 32
	want, err := c.Interp(interp.Options{})
	if err != nil {
		t.Error(err)
		return false
	}
	same := true
	for _, target := range targets() {
		same = compareOn(t, c, want, target, gang, level) && same
	}
	return same
}

func compareOn(t *testing.T, c *oracle.Case, want *oracle.Outcome, target *vcode.Target, gang, level int) bool {
	t.Helper()
	where := fmt.Sprintf("%s, gang %d, level %d", target.Name, gang, level)
	got, err := run(c, target, gang, level)
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return false
	}
	if want.Fault != nil || got.Fault != nil {
		// Which of several faults is reported, and the memory after a fault, are undefined.
		if (want.Fault == nil) != (got.Fault == nil) {
			t.Errorf("%s: fault %+v, want %+v", where, got.Fault, want.Fault)
			return false
		}
		if got.Fault.Item != want.Fault.Item {
			watched := *c
			watched.Watch = &got.Fault.Item
			if want, err = watched.Interp(interp.Options{}); err != nil {
				t.Error(err)
				return false
			}
		}
		if text, same := faultText(c.Kernel, got.Fault), faultText(c.Kernel, want.Fault); text != same {
			t.Errorf("%s: fault %s, and the interpreter's of this item is %s", where, text, same)
			return false
		}
		return true
	}
	if diff := c.Diff(got, want); diff != "" {
		t.Errorf("%s: %s", where, diff)
		return false
	}
	return true
}

// faultText returns a fault's text with its position and expression.
func faultText(k *ir.Kernel, f *oracle.Fault) string {
	if f == nil {
		return "none"
	}
	place := "?"
	if f.Site < len(k.Sites) {
		s := &k.Sites[f.Site]
		place = fmt.Sprintf("%d:%d %s", s.Line, s.Col, s.Text)
	}
	return fmt.Sprintf("%s (%+v)", place, *f)
}

// options returns the options of the random kernel with a seed.
func options(seed uint64) irgen.Options {
	return irgen.Options{Groups: seed%3 == 1, Subgroups: seed%6 == 1, NoFaults: seed%4 != 0, Size: 20 + int(seed%7)*25}
}

func checkSeed(t *testing.T, seed uint64) bool {
	return checkRandom(t, seed, options(seed), int(seed%8))
}

func checkRandom(t *testing.T, seed uint64, o irgen.Options, level int) bool {
	c := irgen.Case(rand.New(rand.NewPCG(seed, 5)), o)
	if err := irgen.Module(c.Kernel).Verify(); err != nil {
		t.Errorf("seed %d: %v", seed, err)
		return false
	}
	c.Unchecked = seed%11 == 3
	gang := []int{1, 2, 4}[seed%3]
	switch seed % 5 {
	case 0:
		gang = 1
	case 1:
		gang = 0 // the compiler chooses, and may use groups of one gang and narrower gangs for small groups
	}
	if !compare(t, c, gang, level) {
		t.Errorf("seed %d", seed)
		if os.Getenv("OREPL_RANDOM_SHOW") != "" {
			showReduced(t, c, gang, level)
		}
		return false
	}
	return true
}

// showReduced reduces the kernel of a failing case and logs it. It rejects reductions that run longer than a second, such as
// endless loops.
func showReduced(t *testing.T, c *oracle.Case, gang, level int) {
	c.Kernel = irgen.Reduce(c.Kernel, func(k *ir.Kernel) bool {
		var silent testing.T
		reduced := *c
		reduced.Kernel, reduced.Stop = k, new(atomic.Bool)
		timer := time.AfterFunc(time.Second, func() { reduced.Stop.Store(true) })
		defer timer.Stop()
		return !compare(&silent, &reduced, gang, level) && !reduced.Stop.Load()
	})
	compare(t, c, gang, level)
	t.Logf("size %v, groups of %v, reduced:\n%v", c.Size, c.GroupSize, c.Kernel)
}

func TestRandomKernels(t *testing.T) {
	needMachine(t)
	manySeeds(t, 400, checkSeed)
}

// TestRandomTiles runs random kernels with private arrays that the compiler keeps in registers.
func TestRandomTiles(t *testing.T) {
	needMachine(t)
	manySeeds(t, 100, func(t *testing.T, seed uint64) bool {
		o := options(seed)
		o.Tiles = true
		return checkRandom(t, seed, o, 1+int(seed%2*4))
	})
}

// TestRandomExtended runs random kernels with fences, pauses, clocks and extension operations.
func TestRandomExtended(t *testing.T) {
	needMachine(t)
	manySeeds(t, 60, func(t *testing.T, seed uint64) bool {
		o := options(seed)
		o.Extended, o.Strides = true, seed%5 == 0
		return checkRandom(t, seed, o, int(seed%8))
	})
}

// TestRandomJumps runs random kernels in which lanes leave conditions, blocks and loops.
func TestRandomJumps(t *testing.T) {
	needMachine(t)
	manySeeds(t, 200, func(t *testing.T, seed uint64) bool {
		o := options(seed)
		o.Jumps = true
		return checkRandom(t, seed, o, int(seed/3%8))
	})
}

// TestRandomGroups runs random kernels with group operations.
func TestRandomGroups(t *testing.T) {
	needMachine(t)
	manySeeds(t, 40, func(t *testing.T, seed uint64) bool {
		return checkRandom(t, seed, irgen.Options{Groups: true, Subgroups: true, Even: true, NoFaults: seed%4 != 0, Size: 30}, int(seed%8))
	})
}

// TestRandomPlaces runs random kernels with affine indices, overlapping buffers, and all kinds of atomics.
func TestRandomPlaces(t *testing.T) {
	needMachine(t)
	manySeeds(t, 60, func(t *testing.T, seed uint64) bool {
		o := options(seed)
		o.Places = true
		return checkRandom(t, seed, o, int(seed%8))
	})
}

// TestRandomStrides runs random kernels with grid-stride loops, which may run in rounds.
func TestRandomStrides(t *testing.T) {
	needMachine(t)
	manySeeds(t, 30, func(t *testing.T, seed uint64) bool {
		o := options(seed)
		o.Strides, o.Groups = true, seed%4 != 0
		return checkRandom(t, seed, o, int(seed%8))
	})
}

// TestRandomKernelsWhileCollecting runs random kernels concurrently, beside continuous garbage collection, with buffers
// on the Go heap.
func TestRandomKernelsWhileCollecting(t *testing.T) {
	needMachine(t)
	defer godebug.SetGCPercent(godebug.SetGCPercent(1))
	var checks, collector sync.WaitGroup
	var done atomic.Bool
	collector.Go(func() {
		for !done.Load() {
			runtime.GC()
			runtime.Gosched()
		}
	})
	var next atomic.Uint64
	for range 3 {
		checks.Go(func() {
			for seed := next.Add(1); seed <= 18; seed = next.Add(1) {
				o := options(seed)
				o.Places = true
				if !checkRandom(t, seed, o, int(seed%8)+onHeap) {
					return
				}
			}
		})
	}
	checks.Wait()
	done.Store(true)
	collector.Wait()
}

// manySeeds checks n seeds, or the number in the environment, and stops after several failures.
func manySeeds(t *testing.T, n uint64, check func(*testing.T, uint64) bool) {
	if testing.Short() {
		n /= 4
	}
	if s := os.Getenv("OREPL_RANDOM_KERNELS"); s != "" {
		n, _ = strconv.ParseUint(s, 10, 64)
	}
	first, _ := strconv.ParseUint(os.Getenv("OREPL_RANDOM_FIRST"), 10, 64)
	most := 20
	if f := flag.Lookup("test.failfast"); f != nil && f.Value.String() == "true" {
		most = 0
	}
	failed := 0
	for seed := first; seed < first+n; seed++ {
		if !check(t, seed) {
			if failed++; failed > most {
				return
			}
		}
	}
}

func TestOneSeed(t *testing.T) {
	s := os.Getenv("OREPL_SEED")
	if s == "" {
		t.Skip("no OREPL_SEED")
	}
	needMachine(t)
	seed, _ := strconv.ParseUint(s, 10, 64)
	c := irgen.Case(rand.New(rand.NewPCG(seed, 5)), options(seed))
	c.Unchecked = seed%11 == 3
	if os.Getenv("OREPL_RANDOM_SHOW") != "" {
		fmt.Println(c.Size, c.GroupSize, optimized(c.Kernel))
	}
	checkSeed(t, seed)
}
