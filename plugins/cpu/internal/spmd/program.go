package spmd

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
	"github.com/orepl/orepl/plugins/cpu/internal/uarch"
	"github.com/orepl/orepl/plugins/internal/process"
)

// Options are those of [Compile].
type Options struct {
	Features amd64.Features // of the machine
	// Gang is how many registers of 32-bit elements a gang has: 1, 2 or 4; 0 lets the compiler choose.
	Gang int
	// Unchecked compiles without faults: a load out of bounds gives 0, a store or atomic there does nothing, an integer
	// division by zero gives 0, and a Uniform gives the value of the group's first item to all of them.
	Unchecked bool
	// Observes says that the kernel observed its group before it was optimized.
	Observes bool
	// Whole says that every work-group has all its items, and no gang fewer.
	Whole bool
	// Beside says that several gangs of a work-group lie side by side.
	Beside bool

	// CacheBytes is the size of the last cache; 0 if it is not known.
	CacheBytes int
	// Cores is how many cores share a launch; 0 if it is not known.
	Cores int
	// Model is the cost table of the processor; nil stands for the generic one.
	Model *uarch.Model

	// Dump is a folder into which the function is written before the passes and after each one; "" writes nothing.
	Dump string

	// Workspace is memory that this compilation shares with others; nil gives it its own.
	Workspace *Workspace

	target  *vcode.Target
	stores  int  // kindHalves, kindPast or 0
	rounds  bool // run all loops in rounds that can be, for tests
	few     bool // give few machine registers out, for tests
	wide    bool // have wide gangs for groups that are one gang whatever the kernel, for tests
	single  bool // groups are one gang
	stacked bool // gangs are stacked
	stack   int  // have stacked gangs of so many rows wherever they can be, for tests
}

// Program is a kernel that can be compiled for the launches that come. It can be used by any number of goroutines.
type Program struct {
	kernel   *ir.Kernel
	options  Options
	observes bool
	facts    []opt.SizeFact
	indices  []opt.IndexFact // besides those
	params   map[string]int  // positions of parameters
	outputs  outputs
	rounds   bool // some loop may be run in rounds
	batches  bool // and by several groups together

	narrow  [2]func() *Program // with gangs of 1 and 2 registers, where the compiler chose more
	singles singles
	stacked func() *Program // with stacked gangs; nil if they do not pay
	rows    int             // that those have
	refused atomic.Bool     // the compiler does not have it, as was found out for the first launch

	mu       sync.Mutex
	variants [numKinds]atomic.Pointer[Variant]
	refusals [numKinds]error // why there is no code; guarded by mu
}

// The kinds of launches that have code of their own.
const (
	kindWithin  = 1 << iota // the size is within the extents that accesses at the item's own place need
	kindIndices             // and so are other indices
	kindWhole               // every group is complete
	kindBeside              // and has gangs side by side, which is asked of kernels with loops for rounds
	kindHalves              // more is written than caches near to the core hold
	kindPast                // more is written and read than the caches hold
	numKinds    = 2 * kindPast
)

// Compile finds out what there is to know of a kernel of a verified module. The kernel must not change while the program is
// used. Code is made for the launches that come, since most programs see but one kind of them: [Program.Check] says whether
// there will be any. What the compiler does not have is an [*UnsupportedError].
func Compile(k *ir.Kernel, options Options) (*Program, error) {
	if options.Model == nil {
		options.Model = uarch.Generic()
	}
	if options.target = vcode.TargetOf(options.Features); options.target == nil || !process.Supported() {
		return nil, &UnsupportedError{Kernel: k.Name, What: fmt.Sprintf("this machine has no %v", vcode.Least&^options.Features)}
	}
	p := newProgram(k, options)
	if p.options.Gang == 0 {
		p.options.Gang = chooseGang(k, p.options.target, false)
		for w := 1; w < p.options.Gang && p.observes; w *= 2 {
			o := options
			o.Gang = w
			p.narrow[w-1] = sync.OnceValue(func() *Program { return newProgram(k, o) })
		}
		p.prepareSingles()
	}
	p.prepareStacked(options.Gang == 0)
	return p, nil
}

// Check makes the code for launches of the general kind: its error is why there is none.
func (p *Program) Check() error {
	_, err := p.variant(0)
	return err
}

// newProgram makes a program that has no code yet.
func newProgram(k *ir.Kernel, options Options) *Program {
	p := &Program{kernel: k, options: options, observes: options.Observes || k.ObservesGroup(), outputs: findOutputs(k)}
	p.facts = opt.SizeFacts(k)
	p.indices = opt.IndexFacts(k, &opt.Facts{Within: p.facts})
	k.Body.Walk(func(in *ir.Instr) {
		p.rounds = p.rounds || p.observes && in.Op == ir.Loop && onlyLast(in) && onlyExit(in) != nil
	})
	p.batches = p.rounds && !slices.ContainsFunc(k.Arrays, func(a *ir.Array) bool { return a.Space == ir.Shared })
	p.params = map[string]int{}
	for i := range k.Params {
		p.params[k.Params[i].Name] = i
	}
	return p
}

// Variant is the code for one kind of launches.
type Variant struct {
	code    *code
	memory  *process.Code
	entry   uintptr
	resume  uintptr
	workers sync.Pool
	spare   atomic.Pointer[Worker] // at hand: the pool takes longer
}

// variant gives the code for a kind of launches.
func (p *Program) variant(kind int) (*Variant, error) {
	if v := p.variants[kind].Load(); v != nil {
		return v, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if v := p.variants[kind].Load(); v != nil {
		return v, nil
	}
	if err := p.refusals[kind]; err != nil {
		return nil, err
	}
	v, err := p.newVariant(kind)
	p.variants[kind].Store(v)
	p.refusals[kind] = err
	return v, err
}

// code makes the code for a kind of launches.
func (p *Program) code(kind int) (*code, error) {
	options := p.options
	options.Observes = p.observes
	options.Whole, options.Beside = options.single || kind&kindWhole != 0, kind&kindBeside != 0
	options.stores = kind & (kindHalves | kindPast)
	k := p.kernel
	if kind&(kindWithin|kindIndices) != 0 {
		k = p.within(kind)
	}
	return generate(k, options, nil)
}

func (p *Program) newVariant(kind int) (*Variant, error) {
	c, err := p.code(kind)
	if err != nil {
		return nil, err
	}
	return newVariant(c)
}

// newVariant maps code into executable memory.
func newVariant(c *code) (*Variant, error) {
	m, err := process.NewCode(c.bytes)
	if err != nil {
		return nil, err
	}
	c.bytes = nil
	v := &Variant{code: c, memory: m, entry: m.Entry(0), resume: m.Entry(c.resume)}
	runtime.AddCleanup(v, func(m *process.Code) { _ = m.Free() }, m)
	v.workers.New = func() any { return v.newWorker() }
	return v, nil
}

// within is the kernel with the proofs that the facts of a kind of launches allow.
func (p *Program) within(kind int) *ir.Kernel {
	m := (&ir.Module{Kernels: []*ir.Kernel{p.kernel}, Records: p.kernel.Records()}).Clone()
	facts := opt.Facts{Within: p.facts}
	if kind&kindIndices != 0 {
		facts.Index = p.indices
	}
	opt.Run(m, opt.Default, &facts)
	return m.Kernels[0]
}

// Describe says what instructions the kernel was compiled to.
func (p *Program) Describe() string {
	t := p.options.target
	if p.options.single {
		return fmt.Sprintf("%s code, groups of %d work-items, which are one gang each", strings.ToUpper(t.Name), t.Lanes*p.options.Gang)
	}
	gang := fmt.Sprint(t.Lanes * p.options.Gang)
	if p.stacked != nil {
		gang = fmt.Sprintf("%d × %d", t.Lanes, p.rows)
	}
	return fmt.Sprintf("%s code, gangs of %s work-items", strings.ToUpper(t.Name), gang)
}

// Listing gives the code that launches within the extents and of whole groups with several gangs side by side run, as text
// with the source's lines.
func (p *Program) Listing(describe func(site int) string) (string, error) {
	if p.stacked != nil {
		return p.stacked().Listing(describe)
	}
	options := p.options
	options.Observes, options.Whole, options.Beside = p.observes, p.observes, p.observes
	k := p.kernel
	if len(p.facts)+len(p.indices) > 0 {
		k = p.within(kindWithin | kindIndices)
	}
	c, err := generate(k, options, describe)
	if err != nil {
		return "", err
	}
	return c.listing, nil
}

// ErrTooLarge says that a launch has buffers that the compiled code cannot address, or groups whose gangs' memory would be
// over [maxFrames].
var ErrTooLarge = errors.New("a buffer or group is too large for vector code")

// maxFrames bounds the bytes that a worker keeps for the gangs of a group. A gang's private arrays have room for all lanes,
// also where rows of a group are narrow.
const maxFrames = 256 << 20

// maxExtent bounds the extents of buffers, see maxPeel.
const maxExtent = math.MaxInt32 - 2*vcode.MaxPeel

// Prepare chooses the code for a launch that [interp.Program.Prepare] has accepted, and gives how many units it has:
// work-groups, or gangs where groups are not observed.
func (p *Program) Prepare(g *interp.Launch) (v *Variant, units int, err error) {
	if s := p.single(g); s != nil {
		v, units, err = s.Prepare(g)
		if _, refused := err.(*UnsupportedError); !refused {
			return v, units, err
		}
		s.refused.Store(true) // what is there for other groups does
	}
	if p.stacks(g) {
		if v, units, err := p.stacked().Prepare(g); err == nil {
			return v, units, nil
		} // else what is there without stacking does
	}
	if w := p.fitting(g.GroupSize[0]); w < p.options.Gang {
		return p.narrow[w-1]().Prepare(g)
	}
	kind := p.storeKind(g) | p.proofs(g)
	lanes := p.options.target.Lanes * p.options.Gang
	if p.observes && !p.options.single {
		whole := g.GroupSize[0]%lanes == 0
		for axis, n := range g.GroupSize {
			whole = whole && g.Size[axis]%n == 0
		}
		if whole {
			kind |= kindWhole
			if p.rounds && (g.GroupSize[0] > lanes || p.batches && g.Size[0] > g.GroupSize[0]) {
				kind |= kindBeside
			}
		}
	}
	if v, err = p.variant(kind); err == nil && kind&kindBeside != 0 && g.GroupSize[0] <= lanes && v.code.batchRow == 0 {
		v, err = p.variant(kind &^ kindBeside)
	}
	if err != nil {
		return nil, 0, err
	}
	for i := range p.kernel.Params {
		a := p.kernel.Params[i].Array
		if a == nil {
			continue
		}
		arg := &g.Args[i]
		total := a.Elem.Size()
		for _, d := range arg.Dims[:a.Rank] {
			if d > maxExtent {
				return nil, 0, ErrTooLarge
			}
			total *= int(d)
		}
		if v.code.small && total > maxExtent {
			return nil, 0, ErrTooLarge
		}
	}
	if g.Size[0] <= 0 || g.Size[1] <= 0 || g.Size[2] <= 0 {
		return v, 0, nil
	}
	if p.observes {
		if gangs := ((g.GroupSize[0]-1)/lanes + 1) * g.GroupSize[1] * g.GroupSize[2]; gangs*v.code.frame > maxFrames {
			return nil, 0, ErrTooLarge
		}
		units = 1
		for axis, n := range g.GroupSize {
			units *= (g.Size[axis]-1)/n + 1
		}
		return v, units, nil
	}
	return v, gangsOf(g.Size, v.code.width, v.code.height), nil
}

// fitting is how many registers gangs have in work-groups of so many items along x: as many as the compiler chose, if they
// leave no more than an eighth empty.
func (p *Program) fitting(items int) int {
	registers := func(w int) int {
		lanes := p.options.target.Lanes * w
		return (items + lanes - 1) / lanes * w
	}
	w := p.options.Gang
	if p.options.single || p.options.stacked {
		return w
	}
	for w > 1 && p.narrow[w/2-1] != nil && 8*registers(w) > 9*registers(1) {
		w /= 2
	}
	return w
}

// proofs is the kind of the launch, as far as that is about proofs.
func (p *Program) proofs(g *interp.Launch) int {
	for _, f := range p.facts {
		if int64(g.Size[f.Axis]) > p.brings(g, opt.Term{Kind: opt.TermExtent, Axis: f.Extent, Name: f.Buffer}) {
			return 0
		}
	}
	kind := 0
	if len(p.facts) > 0 {
		kind |= kindWithin
	}
	if len(p.indices) == 0 {
		return kind
	}
	for i := range p.indices {
		if !p.indices[i].Holds(func(t opt.Term) int64 { return p.brings(g, t) }) {
			return kind
		}
	}
	return kind | kindIndices
}

// brings is what a launch brings.
func (p *Program) brings(g *interp.Launch, t opt.Term) int64 {
	switch t.Kind {
	case opt.TermSize:
		return int64(g.Size[t.Axis])
	case opt.TermGroupSize:
		return int64(g.GroupSize[t.Axis])
	case opt.TermGroups:
		return int64((g.Size[t.Axis]-1)/g.GroupSize[t.Axis] + 1)
	case opt.TermScalar:
		return int64(int32(g.Args[p.params[t.Name]].Bits))
	}
	return int64(g.Args[p.params[t.Name]].Dims[t.Axis])
}

// Together is how many neighbouring units of a launch are faster in one run than in several.
func (v *Variant) Together(g *interp.Launch) int {
	if !v.code.observes {
		return 1
	}
	return v.code.batch(g.GroupSize)
}

// Worker is the memory in which one goroutine at a time runs units of a variant.
type Worker struct {
	v       *Variant
	words   []uint64 //lint:ignore U1000 holds the memory of context and frames
	context []byte   // aligned to 64 bytes
	frames  []byte
	sharedM []uint64
	gangs   int // of a group
	batch   int // groups that there are frames for
	g       *interp.Launch
	first   int // the first unit of the run
	fault   interp.Fault
	faulted bool
	order   int // of the item that faulted, in the run
	prints  prints
	values  []interp.Scalar
	bits    []uint64
	scratch []uint64
	tables  [][]uint64
	guard   process.Guard
	broken  error // there is no guard
}

// Acquire gives a worker that is set for a launch, which must not change until Release takes the worker back.
func (v *Variant) Acquire(g *interp.Launch) *Worker {
	w := v.spare.Swap(nil)
	if w == nil {
		w = v.workers.Get().(*Worker)
	}
	w.set(g)
	return w
}

// maxSpare bounds the bytes of frames of a worker that is kept at hand for as long as the code lives; those with more the
// collector may take.
const maxSpare = 64 << 10

// Heavy reports whether the worker has so much memory that it must not be kept while it is not used.
func (w *Worker) Heavy() bool { return len(w.frames) > maxSpare }

// Release takes a worker back.
func (v *Variant) Release(w *Worker) {
	w.g = nil
	if w.Heavy() || !v.spare.CompareAndSwap(nil, w) {
		v.workers.Put(w)
	}
}

// aligned gives n bytes at a multiple of 64.
func aligned(n int) []byte {
	words := make([]uint64, n/8+16)
	b := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 8*len(words))
	off := -uintptr(unsafe.Pointer(&b[0])) & 63
	return b[off : int(off)+n : int(off)+n]
}

func (v *Variant) newWorker() *Worker {
	c := v.code
	w := &Worker{v: v, context: aligned(c.context)}
	if w.guard, w.broken = process.NewGuard(); w.broken == nil {
		runtime.AddCleanup(w, process.Guard.Free, w.guard)
	}
	if !v.code.observes {
		w.growFrames(1, 1)
	}
	for _, a := range c.arrays {
		place, ok := c.layout.Arrays[a.ID]
		if !ok {
			continue
		}
		if a.Space == ir.Table {
			data := aligned(len(a.Data) + 64)
			copy(data, a.Data)
			w.tables = append(w.tables, unsafe.Slice((*uint64)(unsafe.Pointer(&data[0])), len(data)/8))
			w.put64(place, uint64(uintptr(unsafe.Pointer(&data[0]))))
			continue
		}
		if w.sharedM == nil {
			shared := aligned(c.layout.Shared)
			w.sharedM = unsafe.Slice((*uint64)(unsafe.Pointer(&shared[0])), len(shared)/8)
			w.put64(abi.CtxShared, uint64(uintptr(unsafe.Pointer(&shared[0]))))
		}
		w.put64(place, uint64(uintptr(unsafe.Pointer(&w.sharedM[0])))+uint64(c.layout.Places[a.ID]))
	}
	return w
}

// growFrames makes room for groups of so many gangs, of which the first is the present one.
func (w *Worker) growFrames(n, groups int) {
	size := w.v.code.frame
	if n*groups*size > len(w.frames) {
		w.frames = aligned(n * groups * size)
	}
	w.gangs, w.batch = n, groups
	base := uint64(uintptr(unsafe.Pointer(&w.frames[0])))
	w.put64(abi.CtxFrames, base)
	w.put64(abi.CtxFramesEnd, base+uint64(n*groups*size))
	w.put64(abi.CtxGroupBytes, uint64(n*size))
	w.put64(abi.CtxFrameSize, uint64(size))
	w.put64(abi.CtxGangs, uint64(n))
	w.presentFirst()
}

// presentFirst makes the first group of a batch the present one, of a batch that has not met.
func (w *Worker) presentFirst() {
	w.put64(abi.CtxFrame, w.get64(abi.CtxFrames))
	w.put64(abi.CtxEnd, w.get64(abi.CtxFrames)+w.get64(abi.CtxGroupBytes))
	w.put64(abi.CtxGathered, 0)
}

func (w *Worker) put64(at int, x uint64) { *(*uint64)(unsafe.Pointer(&w.context[at])) = x }
func (w *Worker) put32(at int, x int)    { *(*uint32)(unsafe.Pointer(&w.context[at])) = uint32(x) }
func (w *Worker) get64(at int) uint64    { return *(*uint64)(unsafe.Pointer(&w.context[at])) }
func (w *Worker) get32(at int) int       { return int(*(*int32)(unsafe.Pointer(&w.context[at]))) }

// Run runs units [first, last) of the launch that the worker is set for, and gives the first fault, if any. It ends
// early when the launch is to stop, and after a fault. A run that surely takes no more than microseconds is brief: nobody
// can have the goroutine meanwhile, and a panic of what serves the code is an error.
func (w *Worker) Run(first, last int, brief bool) (*interp.Fault, error) {
	if first >= last {
		return nil, nil
	}
	if w.broken != nil {
		return nil, w.broken
	}
	v := w.v // with it the code goes
	w.first, w.faulted = first, false
	w.prints.drop() // of a run that ended in an error
	w.put32(abi.CtxPending, 0)
	w.put64(abi.CtxLeft, uint64(last-first))
	if v.code.observes {
		w.beginGroups(first)
	} else {
		w.beginGangs(first)
	}
	entry := v.entry
	for {
		var err error
		if brief {
			err = w.guard.CallHere(entry, unsafe.Pointer(&w.context[0]))
		} else {
			err = w.guard.Call(entry, unsafe.Pointer(&w.context[0]))
		}
		if err != nil {
			return nil, err
		}
		status := w.get32(abi.CtxStatus)
		if status == 0 {
			break
		}
		if brief {
			err = w.trapSafely(status - 1)
		} else {
			w.trap(status - 1)
		}
		if err != nil {
			return nil, err
		}
		if w.faulted && !v.code.observes {
			break
		}
		entry = v.resume
	}
	runtime.KeepAlive(w)
	w.prints.flush(w)
	if !w.faulted {
		return nil, nil
	}
	fault := w.fault
	return &fault, nil
}

// trapSafely is trap where nobody recovers a panic.
func (w *Worker) trapSafely(number int) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	w.trap(number)
	return nil
}

// set makes the worker ready to run units of a launch.
func (w *Worker) set(g *interp.Launch) {
	w.g = g
	c := w.v.code
	stop := uint64(uintptr(unsafe.Pointer(g.Stop)))
	if g.Stop == nil {
		stop = uint64(uintptr(unsafe.Pointer(&w.context[abi.CtxZero])))
	}
	w.put64(abi.CtxStop, stop)
	for axis := range 3 {
		w.put32(abi.CtxSize+4*axis, g.Size[axis])
		w.put32(abi.CtxGSize+4*axis, g.GroupSize[axis])
	}
	for i := range c.params {
		a := c.params[i].Array
		if a == nil {
			bits := g.Args[i].Bits
			if c.params[i].Type == ir.Bool && bits != 0 {
				bits = 1
			}
			w.put64(c.layout.Args+8*i, bits)
			continue
		}
		at := c.layout.Buffers + abi.BufSize*a.ID
		w.put64(at+abi.BufBase, uint64(uintptr(g.Args[i].Base)))
		total := uint64(1)
		for axis, d := range g.Args[i].Dims[:a.Rank] {
			w.put64(at+abi.BufDims+8*axis, uint64(d))
			total *= uint64(d)
		}
		w.put64(at+abi.BufTotal, total)
	}
	if w.v.code.observes {
		w.setGroups()
	}
}

// setGroups is what set does for kernels that observe their groups.
func (w *Worker) setGroups() {
	n := w.v.code.lanes
	size := w.g.GroupSize
	perRow := (size[0]-1)/n + 1
	w.growFrames(perRow*size[1]*size[2], w.v.code.batch(size))
	w.put32(abi.CtxTogether, w.together(size, n))
	w.put64(abi.CtxHalves, 1<<bits.Len(uint(w.gangs-1)))
	for axis := range 3 {
		w.put32(abi.CtxGroups+4*axis, (w.g.Size[axis]-1)/size[axis]+1)
	}
}

// beginGangs places the first gang of a run.
func (w *Worker) beginGangs(first int) {
	if first == 0 { // divisions take as long as a small launch
		w.put64(abi.CtxX, 0) // and y
		w.put32(abi.CtxZ, 0)
		w.put64(abi.CtxBand, 0) // and the tile
		return
	}
	g, n, high := w.g, w.v.code.width, w.v.code.height
	perRow := (g.Size[0]-1)/n + 1
	if band := w.v.code.band; band > 0 {
		column, row, plane, start := columnOf(first, band, perRow, g.Size[1])
		w.put32(abi.CtxX, column*n)
		w.put32(abi.CtxY, row)
		w.put32(abi.CtxZ, plane)
		w.put32(abi.CtxBand, start)
		w.put32(abi.CtxTile, 0)
		return
	}
	row, perPlane := first/perRow, (g.Size[1]-1)/high+1
	w.put32(abi.CtxX, first%perRow*n)
	w.put32(abi.CtxY, row%perPlane*high)
	w.put32(abi.CtxZ, row/perPlane)
}

// beginGroups places the first group of a run, and its gangs.
func (w *Worker) beginGroups(first int) {
	n, size := w.v.code.lanes, w.g.GroupSize
	x, y, z := 0, 0, 0
	w.presentFirst()
	for i := range w.gangs * w.batch {
		f := w.frame(i)
		f.put32(abi.FrameLocal, x)
		f.put32(abi.FrameLocal+4, y)
		f.put32(abi.FrameLocal+8, z)
		f.put32(abi.FrameIndex, i)
		if x += n; x >= size[0] {
			x = 0
			if y++; y == size[1] {
				if y, z = 0, z+1; z == size[2] {
					z = 0 // of the next group of the batch
				}
			}
		}
	}
	row, plane := 0, 0
	if first > 0 { // divisions take as long as a small launch
		columns, rows := w.get32(abi.CtxGroups), w.get32(abi.CtxGroups+4)
		first, row = first%columns, first/columns
		row, plane = row%rows, row/rows
	}
	w.put32(abi.CtxGroup, first)
	w.put32(abi.CtxGroup+4, row)
	w.put32(abi.CtxGroup+8, plane)
}

// together gives the kinds of group operations that code may compute, for groups of a size and gangs of so many lanes. The
// lanes of the gangs have to be the items of the group, and the last ones at most stay empty. Sums of floats count the
// empty ones: where the language pads less than the code, a sum of -0 would become 0.
func (w *Worker) together(size [3]int, lanes int) (kinds int) {
	items := size[0] * size[1] * size[2]
	if size[0]%lanes != 0 && items > size[0] {
		return 0
	}
	if size[0] == lanes && size[1]%columnGangs == 0 {
		kinds |= togetherColumns
	}
	if 2*items > lanes {
		kinds |= togetherAll
	}
	if rest := items % subgroupSize; w.gangs*lanes%subgroupSize == 0 && (rest == 0 || 2*rest > subgroupSize) {
		kinds |= togetherSegments
	}
	return kinds
}

// frame is the memory of a gang.
type frame []byte

func (w *Worker) frame(i int) frame {
	size := w.v.code.frame
	return frame(w.frames[i*size : (i+1)*size])
}

func (f frame) put32(at, x int)    { *(*uint32)(unsafe.Pointer(&f[at])) = uint32(x) }
func (f frame) get32(at int) int   { return int(*(*int32)(unsafe.Pointer(&f[at]))) }
func (f frame) get16(at int) int   { return int(*(*uint16)(unsafe.Pointer(&f[at]))) }
func (f frame) at(at int) *uint64  { return (*uint64)(unsafe.Pointer(&f[at])) }
func (f frame) at4(at int) *uint32 { return (*uint32)(unsafe.Pointer(&f[at])) }
