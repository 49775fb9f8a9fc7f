package spmd

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/exec"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/values"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
	"github.com/orepl/orepl/plugins/cpu/internal/uarch"
	"github.com/orepl/orepl/plugins/internal/process"
	"github.com/orepl/orepl/plugins/portable"
)

// Program is a kernel with the variants compiled for its launches. It is safe for concurrent use.
type Program struct {
	kernel      *ir.Kernel
	options     plan.Options
	observes    bool
	facts       *portable.LaunchFacts
	outputs     plan.Outputs
	interleaves bool // a loop may be interleaved
	batches     bool // interleaved loops of several work-groups may run together

	gang    int  // registers of a gang of the general variant
	narrows bool // launches may have variants with narrower gangs
	oneGang int  // maximum registers of a gang that covers a work-group; 0 if there are no such gangs
	rows    int  // rows of 2-D gangs; 0 if there are none

	variants variants
}

// Compile analyses a kernel of a verified module, which must not change while the program is used. Variants are compiled
// when launches need them, since most programs have one class of launches; [Program.Check] compiles the general one. Compile
// returns an [*UnsupportedError] for a kernel that the compiler does not support.
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
	p := &Program{kernel: k, options: options, observes: options.Observes || k.ObservesGroup(), outputs: plan.FindOutputs(k), facts: portable.FindLaunchFacts(k)}
	k.Body.Walk(func(in *ir.Instr) {
		p.interleaves = p.interleaves || p.observes && in.Op == ir.Loop && analysis.ContinuesOnlyAtEnd(in) && plan.OnlyExit(in) != nil
	})
	p.batches = p.interleaves && !slices.ContainsFunc(k.Arrays, func(a *ir.Array) bool { return a.Space == ir.Shared })
	p.chooseGangs()
	return p, nil
}

// chooseGangs chooses the gangs of the variants. A gang size in the options holds for all launches instead.
func (p *Program) chooseGangs() {
	p.gang, p.rows = p.options.Gang, p.options.BlockRows
	free := p.gang == 0
	if free {
		p.gang = plan.ChooseGang(p.kernel, p.options.Target, false)
	}
	switch {
	case p.observes:
		if p.rows == 0 && free && p.gang > 1 {
			p.rows = plan.ChooseRows(p.kernel, p.options.Target, p.gang)
		}
		if !plan.StacksGroups(p.kernel) {
			p.rows = 0
		}
		if free {
			p.narrows, p.oneGang = true, plan.OneGangRegs(p.kernel, &p.options, p.gang)
		}
	case p.rows == 0 && free && p.gang > 1:
		p.rows = plan.ChooseRows(p.kernel, p.options.Target, p.gang)
	}
}

// Check compiles the general variant and returns the reason if it has no code.
func (p *Program) Check() error {
	_, err := p.variant(p.spec())
	return err
}

// variant returns the variant of a spec, and compiles it at the first call.
func (p *Program) variant(s Spec) (*exec.Variant, error) {
	if v := p.variants.find(s); v != nil {
		return v()
	}
	return p.variants.add(s, func() (*exec.Variant, error) {
		c, err := p.code(s, nil)
		if err != nil {
			return nil, err
		}
		return exec.NewVariant(c)
	})()
}

// code compiles the variant of a spec. If list is not nil, the code has a listing, with what list returns for each site.
func (p *Program) code(s Spec, list func(site int) string) (*exec.Code, error) {
	options := p.options
	options.Observes = p.observes
	k := p.kernel
	if s.Proved() {
		k = p.facts.Prove(k, s.IndicesProved)
	}
	return generate(k, options, s, list)
}

// Describe returns a text that names the instruction set and the gangs of a variant's code.
func (p *Program) Describe(s Spec) string {
	t := p.options.Target
	gang := fmt.Sprint(t.Lanes * s.Gang)
	switch s.Shape {
	case plan.OneGang:
		return fmt.Sprintf("%s code, groups of %s work-items, which are one gang each", strings.ToUpper(t.Name), gang)
	case plan.Gang2D:
		gang = fmt.Sprintf("%d × %d", t.Lanes, s.Gang)
	}
	return fmt.Sprintf("%s code, gangs of %s work-items", strings.ToUpper(t.Name), gang)
}

// List returns the code of a variant as text with source lines, which describe returns for a site.
func (p *Program) List(s Spec, describe func(site int) string) (string, error) {
	c, err := p.code(s, describe)
	if err != nil {
		return "", err
	}
	return c.Listing, nil
}

// Options are the target machine and the settings of a compilation.
type Options = plan.Options

// UnsupportedError describes a part of a kernel that the compiler does not support.
type UnsupportedError = plan.UnsupportedError

// Workspace is memory that compilations reuse.
type Workspace = vcode.Workspace

// Functions returns the functions of the device library that the compiler expands itself, by name and type.
func Functions() []string { return values.Functions() }

// Variant is the code for a class of launches.
type Variant = exec.Variant

// Worker is the memory in which one goroutine at a time runs units of a variant.
type Worker = exec.Worker

// ErrTooLarge reports a launch with buffers that the code cannot address, or with work-groups whose frames exceed maxFrames
// bytes.
var ErrTooLarge = errors.New("a buffer or group is too large for vector code")

// maxFrames is the maximum size in bytes of the frames of a work-group. Private arrays have space for all lanes of a gang,
// even if the rows of a work-group are narrow.
const maxFrames = 256 << 20

// maxExtent is the maximum number of elements of a buffer along a dimension; see vcode.MaxPeel. For code with 32-bit indices it is also the
// maximum number of bytes of a buffer; see exec.Code.Small.
const maxExtent = math.MaxInt32 - 2*vcode.MaxPeel

// Prepare chooses the variant for a launch that [interp.Program.Prepare] has accepted. It returns the number of units: work-groups,
// or gangs if the kernel does not observe its group. The error is [ErrTooLarge] or the reason why the variant has no code.
func (p *Program) Prepare(g *interp.Launch) (v *exec.Variant, units int, err error) {
	s := Spec{Stores: p.stores(g)}
	s.WithinExtents, s.IndicesProved = p.facts.Hold(g)
	if p.hasOneGangGroups(g) {
		one := s
		one.Shape, one.Gang, one.Whole = plan.OneGang, g.GroupSize[0]/p.options.Target.Lanes, true
		v, units, err = p.prepare(g, one)
		if _, refused := err.(*plan.UnsupportedError); !refused {
			return v, units, err
		}
	}
	if p.has2DGangs(g) {
		rows := s
		rows.Shape, rows.Gang, rows.Whole = plan.Gang2D, p.rows, p.observes
		if v, units, err := p.prepare(g, rows); err == nil {
			return v, units, nil
		}
	}
	s = p.rowGangs(g, s)
	if s.Adjacent && g.GroupSize[0] <= p.options.Target.Lanes*s.Gang {
		if v, err := p.variant(s); err == nil && v.Code.BatchRow == 0 {
			s.Adjacent = false // only batches need adjacent gangs here
		}
	}
	return p.prepare(g, s)
}

// prepare returns the variant of a spec and the number of units of a launch, 0 if the launch is empty. The error is
// [ErrTooLarge] if the launch exceeds the code's limits, or the reason why the variant has no code.
func (p *Program) prepare(g *interp.Launch, s Spec) (v *exec.Variant, units int, err error) {
	if v, err = p.variant(s); err != nil {
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
	if !p.observes {
		return v, plan.NumGangs(g.Size, v.Code.Width, v.Code.Height), nil
	}
	if v.Code.GangsOf(g.GroupSize)*v.Code.Frame > maxFrames {
		return nil, 0, ErrTooLarge
	}
	units = 1
	for axis, n := range g.GroupSize {
		units *= (g.Size[axis]-1)/n + 1
	}
	return v, units, nil
}
