package spmd

import (
	"fmt"
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/emit"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/exec"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/grid"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/isel"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/passes"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/regalloc"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
	"github.com/orepl/orepl/plugins/cpu/internal/uarch"
)

// generate compiles the variant of a kernel that spec selects. If list is not nil, the code has a listing, with what list
// returns for each site. The error is an [*UnsupportedError] or another reason why there is no code.
func generate(k *ir.Kernel, options plan.Options, spec Spec, list func(site int) string) (c *exec.Code, err error) {
	if options.Model == nil {
		options.Model = uarch.Generic()
	}
	work := options.Workspace
	if work == nil {
		work = new(vcode.Workspace)
	}
	room := work.Take(options.Features)
	asm := &room.Asm
	if list != nil {
		asm.StartListing()
	}
	k, times := plan.Unroll(k, options, spec)
	f := &vcode.Func{Target: options.Target, FewRegs: options.FewRegs, Asm: asm, Scratch: &room.Scratch, Regs: append(room.Regs, vcode.RegInfo{}),
		Insts: room.Insts, Spare: room.Spare, Consts: map[vcode.ConstKey]vcode.Reg{}}
	trimmed, trim := plan.TrimRows(k, &options, &spec)
	a := plan.Analyse(trimmed, options, spec, times)
	if a.Band > 0 && trimmed != k {
		a = plan.Analyse(k, options, spec, times) // columns have no gangs that could start elsewhere
	} else {
		a.Trim = trim
	}
	if err := a.Supported(); err != nil {
		return nil, err
	}
	l, done := grid.Build(isel.New(f, a))
	if err := optimise(l); err != nil {
		return nil, err
	}
	where := regalloc.Allocate(l.Func)
	out, err := emit.Func(l.Func, where, emit.Options{Layout: &l.Layout, Done: []amd64.Label{l.Stop, done}, Fence: spec.Stores == plan.NonTemporalStores, Comment: list})
	switch {
	case err != nil && l.Target == &vcode.AVX2: // an instruction without an AVX2 expansion
		return nil, &plan.UnsupportedError{Kernel: k.Name, What: fmt.Sprintf("%s: %v", l.Target.Name, err)}
	case err != nil:
		return nil, fmt.Errorf("kernel %s: %w", k.Name, err)
	}
	c = &exec.Code{Params: l.Kernel.Params, Observes: l.Observes, Unchecked: options.Unchecked, Bytes: out.Bytes, Listing: out.Listing, Resume: out.Resume, Ends: out.Ends, Layout: l.Layout, Arrays: l.Kernel.Arrays, Traps: l.Traps, Groups: l.Groups,
		Lanes: l.Lanes(), Width: l.Width(), Height: l.Height(), Target: l.Target, Small: l.Small, Band: l.Band, Barrier: len(l.Resumes) > 0, BatchRow: l.BatchBytes()}
	c.Frame = l.Layout.Frame + int(where.FrameBytes)
	c.Shared = l.Layout.Size
	c.Context = l.Layout.Size + int(where.SharedBytes)
	if len(c.Traps) > 0 {
		c.Regs, c.Where, c.Constants = slices.Clone(l.Regs), where, map[vcode.Reg]uint64{}
		for key, r := range l.Consts {
			c.Constants[r] = key.Bits
		}
	}
	work.Put(room, l.Func)
	return c, nil
}

// optimise runs the passes. If dumping is enabled, it writes a dump before the first pass and after each one.
func optimise(l *grid.Builder) error {
	in := passes.Input{Func: l.Func, Frames: l.Observes, TwoD: l.Spec.Is2D(), Single: l.Spec.IsOneGang(),
		Advance: l.Advance, Start: l.Start, Fresh: l.Begin}
	if l.Batch != nil {
		in.Fresh = 0 // other groups of the batch may be waiting at the start of a group
	}
	d := dump{dir: l.Options.Dump, name: dumpName(l.Kernel, l.Options, l.Spec)}
	d.write("lowered", l.Func)
	var done func(pass string)
	if d.dir != "" {
		done = func(pass string) { d.write(pass, l.Func) }
	}
	if err := passes.Run(&in, done); err != nil {
		return &plan.UnsupportedError{Kernel: l.Kernel.Name, What: err.Error()}
	}
	return d.err
}
