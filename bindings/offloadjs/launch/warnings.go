package launch

import (
	"errors"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/kernel"
	kerneldiag "github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/kernel/overflow"
	"github.com/orepl/orepl/lang/kernel/races"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// maxAnalyses is the maximum number of launches of a specialization that are analysed for overflows. Later ones are not warned of.
const maxAnalyses = 32

// overflowTracker finds the integers of a specialization that may overflow in its launches so far, where JavaScript's numbers
// would not.
type overflowTracker struct {
	fn   *kernel.Function
	opts kernel.Options

	mu       sync.Mutex
	code     *kernel.Compiled // compiled with branches for precision; nil until needed
	launched *opt.Launches    // properties of the launches so far; nil without launches
	covered  *opt.Launches    // launches that need no further analysis
	found    kerneldiag.List
	analyses int
	never    bool // no launch can overflow
}

// newOverflowTracker returns the overflow tracker of a specialization.
func newOverflowTracker(k *Kernel) *overflowTracker {
	return &overflowTracker{fn: k.fn, opts: k.opts}
}

// list returns the current warnings, or none for a nil tracker. Before the first launch, it assumes typical launches.
func (w *overflowTracker) list(s *kernel.Compiled, types []kernel.Arg) kerneldiag.List {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.launched == nil {
		return w.analyse(s, types, overflow.Assumed(s))
	}
	return slices.Clone(w.found)
}

// analyse returns the overflow warnings for a set of launches. It first analyses the compiled kernel,
// whose missing branches make the result conservative.
func (w *overflowTracker) analyse(s *kernel.Compiled, types []kernel.Arg, l *opt.Launches) kerneldiag.List {
	if w.code != nil {
		return overflow.Warnings(w.code, l)
	}
	list := overflow.Warnings(s, l)
	if len(list) == 0 {
		return nil
	}
	opts := w.opts
	opts.Branches = true
	code, err := w.fn.Compile(types, opts)
	if err != nil { // a captured object's getter may return another value
		return nil
	}
	w.code = code
	return overflow.Warnings(code, l)
}

// done reports whether further launches need no analysis.
func (w *overflowTracker) done() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.never || w.analyses >= maxAnalyses
}

// launch records a launch and returns the new warnings, or nil if an earlier analysis covers it.
func (w *overflowTracker) launch(s *specialization, l *opt.Launches) kerneldiag.List {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.covered != nil && includes(w.covered, l) {
		return nil
	}
	if w.launched == nil {
		w.launched = l
		if len(w.analyse(s.Compiled, s.types, unboundedLaunches(s.Compiled))) == 0 {
			w.never = true
			return nil
		}
	}
	w.analyses++
	w.launched = union(w.launched, l)
	// Analyse larger launches in advance, since later launches are often larger. This avoids repeated analyses.
	bounds := roundedUp(w.launched)
	list := w.analyse(s.Compiled, s.types, bounds)
	w.covered = bounds
	if len(list) > len(w.found) {
		list, w.covered = w.analyse(s.Compiled, s.types, w.launched), w.launched
	}
	var fresh kerneldiag.List
	for _, d := range list {
		if !slices.ContainsFunc(w.found, func(f *kerneldiag.Diagnostic) bool { return f.Position == d.Position }) {
			fresh = append(fresh, d)
		}
	}
	w.found = append(w.found, fresh...).Sort()
	return fresh
}

// unboundedLaunches returns launches with arbitrary sizes and values.
func unboundedLaunches(c *kernel.Compiled) *opt.Launches {
	l := overflow.Assumed(c)
	l.Size = [3]int64{math.MaxInt32, math.MaxInt32, math.MaxInt32}
	for _, dims := range l.Extents {
		for i := range dims {
			dims[i] = math.MaxInt32
		}
	}
	clear(l.Scalars)
	return l
}

// includes reports whether all has the bounds of l within its own.
func includes(all, l *opt.Launches) bool {
	for i := range l.Size {
		if l.Size[i] > all.Size[i] || l.GroupSize[i] > all.GroupSize[i] {
			return false
		}
	}
	for name, dims := range l.Extents {
		for i, n := range dims {
			if n > all.Extents[name][i] {
				return false
			}
		}
	}
	for name, r := range all.Scalars {
		if now, ok := l.Scalars[name]; !ok || now[0] < r[0] || now[1] > r[1] {
			return false
		}
	}
	return true
}

// union returns launches whose bounds contain those of a and b.
func union(a, b *opt.Launches) *opt.Launches {
	out := &opt.Launches{Extents: map[string][]int64{}, Scalars: map[string][2]int64{}}
	for i := range a.Size {
		out.Size[i], out.GroupSize[i] = max(a.Size[i], b.Size[i]), max(a.GroupSize[i], b.GroupSize[i])
	}
	for name, dims := range a.Extents {
		for i, n := range dims {
			out.Extents[name] = append(out.Extents[name], max(n, b.Extents[name][i]))
		}
	}
	for name, r := range a.Scalars {
		if o, ok := b.Scalars[name]; ok {
			out.Scalars[name] = [2]int64{min(r[0], o[0]), max(r[1], o[1])}
		}
	}
	return out
}

// roundedUp returns launches with each positive bound rounded up to 2ⁿ-1, which less than doubles it. Negative lower bounds of scalars
// are rounded down likewise.
func roundedUp(l *opt.Launches) *opt.Launches {
	up := func(n int64) int64 {
		if n <= 0 {
			return n
		}
		return int64(1)<<bits.Len64(uint64(n)) - 1
	}
	out := union(l, l)
	for i := range out.Size {
		out.Size[i], out.GroupSize[i] = min(up(out.Size[i]), math.MaxInt32), min(up(out.GroupSize[i]), math.MaxInt32)
	}
	for _, dims := range out.Extents {
		for i := range dims {
			dims[i] = min(up(dims[i]), math.MaxInt32)
		}
	}
	for name, r := range out.Scalars {
		out.Scalars[name] = [2]int64{-up(-r[0]), up(r[1])}
	}
	return out
}

// launchesOf returns launches of a size, without facts about arguments.
func launchesOf(size, group []int) *opt.Launches {
	l := &opt.Launches{Extents: map[string][]int64{}, Scalars: map[string][2]int64{}}
	items := [3]int{element.Axis(size, 0), element.Axis(size, 1), element.Axis(size, 2)}
	groups := [3]int{element.Axis(group, 0), element.Axis(group, 1), element.Axis(group, 2)}
	if group == nil {
		groups = contract.DefaultGroupSize(items)
	}
	for i := range 3 {
		l.Size[i], l.GroupSize[i] = int64(items[i]), int64(groups[i])
	}
	return l
}

// launchesWith returns launches of a size with facts about the arguments.
func (m *Module) launchesWith(k *Kernel, s *specialization, cfg *Options, values []goja.Value) *opt.Launches {
	l := launchesOf(cfg.Size, cfg.GroupSize)
	for i, v := range values {
		name := k.params[i]
		if b := m.buffers.Of(v); b != nil {
			for _, n := range b.Dims() {
				l.Extents[name] = append(l.Extents[name], int64(n))
			}
			continue
		}
		if x, err := element.Number(v); err == nil && math.Abs(x) < 1<<53 && s.Params[i].Type.Size() <= 8 {
			l.Scalars[name] = [2]int64{int64(math.Floor(x)), int64(math.Ceil(x))}
		}
	}
	return l
}

// warnOfOverflows warns of results that may differ from JavaScript's, once per position.
func (m *Module) warnOfOverflows(k *Kernel, s *specialization, l *opt.Launches) {
	m.warnOfAll(k, s.overflow.launch(s, l))
}

// warnOfLaunch warns of numbers that their types changed, integers that may overflow in a launch, and items that race, once per
// position.
func (m *Module) warnOfLaunch(k *Kernel, p *prepared, cfg *Options, values []goja.Value) {
	s := p.specialization
	m.warnOfNumbers(k, s)
	if s.overflow != nil && !s.overflow.done() {
		m.warnOfOverflows(k, s, m.launchesWith(k, s, cfg, values))
	}
	if s.races != nil && !s.races.Done() && cfg.Checks != contract.ChecksRaces && !s.analysed.has(cfg, p.args) {
		if l := m.racesOf(p, cfg); l != nil {
			m.warnOfAll(k, s.races.Launch(s.Compiled, l))
		}
	}
}

// recent holds the newest launches of a specialization whose races were searched, so that equal ones need no search.
type recent struct {
	launches [2]launched
	next     int
}

type launched struct {
	size, group []int
	args        []session.Arg
}

// has reports whether a launch equals a recent one, and adds it otherwise.
func (r *recent) has(cfg *Options, args []session.Arg) bool {
	for i := range r.launches {
		l := &r.launches[i]
		if slices.Equal(l.size, cfg.Size) && slices.Equal(l.group, cfg.GroupSize) && slices.EqualFunc(l.args, args, session.Arg.Equal) {
			return true
		}
	}
	r.launches[r.next] = launched{slices.Clone(cfg.Size), slices.Clone(cfg.GroupSize), slices.Clone(args)}
	r.next = 1 - r.next
	return false
}

// warnOfNumbers warns, at the first launch, of constants and captured numbers that their types changed.
func (m *Module) warnOfNumbers(k *Kernel, s *specialization) {
	if s.told {
		return
	}
	s.told = true
	for _, w := range s.Compiled.Warnings {
		if w.ID == kerneldiag.InexactNumber {
			m.warnOfAll(k, kerneldiag.List{w})
		}
	}
}

// noteInexact warns, once for a parameter, of an argument that the parameter's type changed.
func (m *Module) noteInexact(k *Kernel, s *specialization, d *kerneldiag.Diagnostic) {
	for _, w := range s.inexact {
		if w.Position == d.Position {
			return
		}
	}
	s.inexact = append(s.inexact, d)
	m.warnOfAll(k, kerneldiag.List{d})
}

// racesOf describes a launch for the search of races. It returns nil for a launch that cannot be bound.
func (m *Module) racesOf(p *prepared, cfg *Options) *races.Launch {
	defer p.call.Unbind()
	if err := p.call.Rebind(cfg.Config, p.args...); err != nil {
		return nil
	}
	command := p.call.Command()
	l := &races.Launch{Extents: map[string][]int64{}, Scalars: map[string]uint64{}, Memory: map[string]races.Location{}}
	group := command.GroupSize
	if group == [3]int{} {
		group = contract.DefaultGroupSize(command.Size)
	}
	for axis := range l.Size {
		l.Size[axis], l.GroupSize[axis] = int64(command.Size[axis]), int64(group[axis])
	}
	for i, a := range command.Args {
		name := p.Params[i].Name
		if a.Memory == nil {
			l.Scalars[name] = a.Bits
			continue
		}
		for axis := range p.Params[i].Rank {
			l.Extents[name] = append(l.Extents[name], int64(a.Dims[axis]))
		}
		l.Memory[name] = races.Location{Memory: a.Memory, Offset: a.Offset}
	}
	return l
}

// warnOfAll prints the warnings of a kernel, unless they are off for it.
func (m *Module) warnOfAll(k *Kernel, list kerneldiag.List) {
	for _, w := range list {
		if k.quiet {
			continue
		}
		var d *diag.Diagnostic
		if errors.As(script.ExplainKernel(m.Engine, kerneldiag.List{w}), &d) {
			d.Cause = nil
			m.Engine.WarnOf(d)
		}
	}
}
