package spmd

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/exec"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/isel"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
	"github.com/orepl/orepl/plugins/cpu/internal/uarch"
	"github.com/orepl/orepl/plugins/internal/process"
)

// Program is a kernel that can be compiled for the launches that come. It can be used by any number of goroutines.
type Program struct {
	kernel   *ir.Kernel
	options  plan.Options
	observes bool
	facts    []opt.SizeFact
	indices  []opt.IndexFact // besides those
	params   map[string]int  // positions of parameters
	outputs  analysis.Outputs
	rounds   bool // some loop may be run in rounds
	batches  bool // and by several groups together

	narrow  [2]func() *Program // with gangs of 1 and 2 registers, where the compiler chose more
	singles singles
	stacked func() *Program // with stacked gangs; nil if they do not pay
	rows    int             // that those have
	refused atomic.Bool     // the compiler does not have it, as was found out for the first launch

	mu       sync.Mutex
	variants [plan.NumKinds]atomic.Pointer[exec.Variant]
	refusals [plan.NumKinds]error // why there is no code; guarded by mu
}

// Compile finds out what there is to know of a kernel of a verified module. The kernel must not change while the program is
// used. Code is made for the launches that come, since most programs see but one kind of them: [Program.Check] says whether
// there will be any. What the compiler does not have is an [*UnsupportedError].
func Compile(k *ir.Kernel, options plan.Options) (*Program, error) {
	if options.Model == nil {
		options.Model = uarch.Generic()
	}
	if options.Target = vcode.TargetOf(options.Features); options.Target == nil || !process.Supported() {
		return nil, &plan.UnsupportedError{Kernel: k.Name, What: fmt.Sprintf("this machine has no %v", vcode.Least&^options.Features)}
	}
	if err := plan.Supported(k); err != nil {
		return nil, err
	}
	p := newProgram(k, options)
	if p.options.Gang == 0 {
		p.options.Gang = plan.ChooseGang(k, p.options.Target, false)
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
func newProgram(k *ir.Kernel, options plan.Options) *Program {
	p := &Program{kernel: k, options: options, observes: options.Observes || k.ObservesGroup(), outputs: analysis.FindOutputs(k)}
	p.facts = opt.SizeFacts(k)
	p.indices = opt.IndexFacts(k, &opt.Facts{Within: p.facts})
	k.Body.Walk(func(in *ir.Instr) {
		p.rounds = p.rounds || p.observes && in.Op == ir.Loop && analysis.ContinuesOnlyAtEnd(in) && plan.OnlyExit(in) != nil
	})
	p.batches = p.rounds && !slices.ContainsFunc(k.Arrays, func(a *ir.Array) bool { return a.Space == ir.Shared })
	p.params = map[string]int{}
	for i := range k.Params {
		p.params[k.Params[i].Name] = i
	}
	return p
}

// variant gives the code for a kind of launches.
func (p *Program) variant(kind int) (*exec.Variant, error) {
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
func (p *Program) code(kind int) (*exec.Code, error) {
	options := p.options
	options.Observes = p.observes
	options.Whole, options.Beside = options.Single || kind&plan.WholeGroups != 0, kind&plan.AdjacentGangs != 0
	options.Stores = kind & (plan.HalfLineStores | plan.NonTemporalStores)
	k := p.kernel
	if kind&(plan.WithinExtents|plan.IndicesProved) != 0 {
		k = p.within(kind)
	}
	return generate(k, options, nil)
}

func (p *Program) newVariant(kind int) (*exec.Variant, error) {
	c, err := p.code(kind)
	if err != nil {
		return nil, err
	}
	return exec.NewVariant(c)
}

// within is the kernel with the proofs that the facts of a kind of launches allow.
func (p *Program) within(kind int) *ir.Kernel {
	m := (&ir.Module{Kernels: []*ir.Kernel{p.kernel}, Records: p.kernel.Records()}).Clone()
	facts := opt.Facts{Within: p.facts}
	if kind&plan.IndicesProved != 0 {
		facts.Index = p.indices
	}
	opt.Run(m, opt.Default, &facts)
	return m.Kernels[0]
}

// Describe says what instructions the kernel was compiled to.
func (p *Program) Describe() string {
	t := p.options.Target
	if p.options.Single {
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
		k = p.within(plan.WithinExtents | plan.IndicesProved)
	}
	c, err := generate(k, options, describe)
	if err != nil {
		return "", err
	}
	return c.Listing, nil
}

// Options says for which launches and machine a kernel is compiled.
type Options = plan.Options

// UnsupportedError says what the compiler does not have that a kernel needs.
type UnsupportedError = plan.UnsupportedError

// Workspace is the memory of compilations, used by one after the other.
type Workspace = vcode.Workspace

// Functions returns the functions of the device library that the compiler expands itself, by name and type.
func Functions() []string { return isel.Functions() }

// Variant is the code for one kind of launches.
type Variant = exec.Variant

// Worker is the memory in which one goroutine at a time runs units of a variant.
type Worker = exec.Worker

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
func (p *Program) Prepare(g *interp.Launch) (v *exec.Variant, units int, err error) {
	if s := p.single(g); s != nil {
		v, units, err = s.Prepare(g)
		if _, refused := err.(*plan.UnsupportedError); !refused {
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
	lanes := p.options.Target.Lanes * p.options.Gang
	if p.observes && !p.options.Single {
		whole := g.GroupSize[0]%lanes == 0
		for axis, n := range g.GroupSize {
			whole = whole && g.Size[axis]%n == 0
		}
		if whole {
			kind |= plan.WholeGroups
			if p.rounds && (g.GroupSize[0] > lanes || p.batches && g.Size[0] > g.GroupSize[0]) {
				kind |= plan.AdjacentGangs
			}
		}
	}
	if v, err = p.variant(kind); err == nil && kind&plan.AdjacentGangs != 0 && g.GroupSize[0] <= lanes && v.Code.BatchRow == 0 {
		v, err = p.variant(kind &^ plan.AdjacentGangs)
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
		if v.Code.Small && total > maxExtent {
			return nil, 0, ErrTooLarge
		}
	}
	if g.Size[0] <= 0 || g.Size[1] <= 0 || g.Size[2] <= 0 {
		return v, 0, nil
	}
	if p.observes {
		if gangs := ((g.GroupSize[0]-1)/lanes + 1) * g.GroupSize[1] * g.GroupSize[2]; gangs*v.Code.Frame > maxFrames {
			return nil, 0, ErrTooLarge
		}
		units = 1
		for axis, n := range g.GroupSize {
			units *= (g.Size[axis]-1)/n + 1
		}
		return v, units, nil
	}
	return v, plan.NumGangs(g.Size, v.Code.Width, v.Code.Height), nil
}

// fitting is how many registers gangs have in work-groups of so many items along x: as many as the compiler chose, if they
// leave no more than an eighth empty.
func (p *Program) fitting(items int) int {
	registers := func(w int) int {
		lanes := p.options.Target.Lanes * w
		return (items + lanes - 1) / lanes * w
	}
	w := p.options.Gang
	if p.options.Single || p.options.Stacked {
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
		kind |= plan.WithinExtents
	}
	if len(p.indices) == 0 {
		return kind
	}
	for i := range p.indices {
		if !p.indices[i].Holds(func(t opt.Term) int64 { return p.brings(g, t) }) {
			return kind
		}
	}
	return kind | plan.IndicesProved
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
