//go:build linux && (amd64 || arm64) && !nonative

package opencl

import (
	"context"
	"regexp"

	"github.com/orepl/orepl/lang/kernel/emit/clc"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/plugins/internal/lowered"
	"github.com/orepl/orepl/plugins/opencl/internal/cl"
	"github.com/orepl/orepl/runtime/offload"
)

// dialect is the form in which OpenCL drivers take kernels.
var dialect = lowered.Dialect{Format: "clc", Language: "OpenCL C", Device: "an OpenCL device"}

// program is a program of portable kernel IR.
type program struct {
	*lowered.Program[*kernel]
	device *device
}

// kernel is a kernel of portable kernel IR.
type kernel struct {
	lowered.Kernel
	device   *device
	variants lowered.Variants[choice, code]
}

// choice selects a variant of a kernel. Drivers vectorize kernels only without checks, polls and partial groups.
type choice struct {
	unchecked bool
	whole     bool // all groups of the launch are complete
	within    bool // the launch's size is at most the extents
	indices   bool // other indices are below the extents, too
	brief     bool // the launch executes at most briefWork instructions
}

// briefWork bounds the instructions of launches whose loops do not poll the stop flag. A processor takes about a second for
// them.
const briefWork = 1 << 31

// code is the driver's part of a variant. The kernel object holds the arguments of one launch at a time.
type code struct {
	program cl.Program
	handle  cl.Kernel
	flat    bool // groups have one dimension in the driver
}

func load(ctx context.Context, d *device, img *offload.Image) (*program, error) {
	p, err := lowered.Load(ctx, img, d, &d.Device, d.newKernel)
	if err != nil {
		return nil, err
	}
	return &program{p, d}, nil
}

func (d *device) newKernel(m *ir.Module, k *ir.Kernel, info offload.KernelInfo) *kernel {
	return &kernel{Kernel: d.NewKernel(m, k, info), device: d}
}

// lock returns the compiled variant for a choice, locked; the caller unlocks it.
func (k *kernel) lock(c choice) (*lowered.Variant[code], error) {
	return k.variants.Lock(&k.Kernel, c, k.compile)
}

func (k *kernel) Prepare() error {
	_, err := k.Source()
	return err
}

func (k *kernel) Source() (string, error) {
	v, err := k.lock(k.usual())
	if err != nil {
		return "", err
	}
	defer v.Unlock()
	return v.Source, nil
}

func (k *kernel) Engine() (string, error) {
	return "OpenCL C, compiled by " + k.device.Info().Name, k.Prepare()
}

func (k *kernel) Unload() {
	k.variants.Unload(&k.Kernel, func(c code) {
		k.device.lib.ReleaseKernel(c.handle)
		k.device.lib.ReleaseProgram(c.program)
	})
}

// usual returns the choice for a typical launch, which Prepare, listings and occupancy take.
func (k *kernel) usual() choice {
	within, indices := k.Facts.Any()
	return choice{whole: true, within: within, indices: indices, brief: k.Facts.Bounded()}
}

// choose returns the choice for a launch.
func (k *kernel) choose(s *launch) choice {
	c := choice{unchecked: s.Unchecked, whole: s.Whole()}
	g := s.Grid()
	c.within, c.indices = k.Facts.Hold(g) // without checks, too: proved loads move out of loops
	work, ok := k.Facts.Work(g)
	c.brief = ok && work <= briefWork
	return c
}

var (
	comments = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`//[^\n]*`) }}
	doubles  = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`\bdouble\d*\b`) }}
)

// usesDouble reports whether a source of package clc uses the type double; the word in names and comments does not count.
func usesDouble(source string) bool {
	return doubles.Get().MatchString(comments.Get().ReplaceAllString(source, ""))
}

// compile compiles a variant.
func (k *kernel) compile(v *lowered.Variant[code], c choice) error {
	d, source := k.device, k.IR
	if c.within || c.indices {
		source = k.Facts.Prove(k.IR, c.indices)
	}
	l, err := lower.Lower(source, d.target, lower.Options{SubgroupSize: lowered.SubgroupSize, MaxGroup: d.Info().Limits.GroupItems, Unchecked: c.unchecked, Whole: c.whole, Unpolled: c.brief, Lockstep: d.pocl, Observes: k.Info().ObservesGroup})
	if err == nil {
		v.Lowered, v.Code.flat = l, d.pocl && meetsInBranch(l.IR.Body, false)
		v.Source, err = clc.Options{FlatGroups: v.Code.flat}.Emit(l)
	}
	if err != nil {
		return k.unsupported(err)
	}
	if !d.Info().Features.F64 && usesDouble(v.Source) {
		return offload.Errorf(offload.Unsupported, "compile", "the kernel computes in f64, which the device lacks").On(d.ID, k.Info().Name).
			WithHint("f32 divisions and roots are exact only by way of f64; Math.fast has approximations")
	}
	if n, limit := l.IR.ABI().SharedBytes, d.Info().Limits.SharedBytes; n > limit {
		return offload.Errorf(offload.Unsupported, "compile", "the kernel's shared arrays take %d bytes, more than the %d of the device", n, limit).On(d.ID, k.Info().Name).
			WithHint("declare smaller arrays with g.shared; group operations such as g.reduce take some of this memory, too")
	}
	var log string
	options := "-cl-std=CL1.2" + d.rounded + d.options
	if v.Code.flat {
		options += " -cl-opt-disable"
	}
	v.Code.program, log, err = d.buildSource(v.Source, options)
	if err != nil {
		return k.refused(v.Source, log, err)
	}
	if v.Code.handle, err = d.lib.NewKernel(v.Code.program, clc.Name(k.IR)); err != nil {
		d.lib.ReleaseProgram(v.Code.program)
		return d.failure("compile", k.Info().Name, err)
	}
	v.Most = d.lib.MaxGroup(v.Code.handle, d.handle)
	return nil
}

// unsupported returns the error for a kernel that cannot be lowered.
func (k *kernel) unsupported(err error) error {
	e := k.Unsupported(err)
	k.IR.Body.Walk(func(in *ir.Instr) {
		switch in.Op {
		case ir.Call:
			e.Hint = "OpenCL devices cannot call the host from a kernel: use device('cpu'), or pass the values in buffers"
		case ir.Clock:
			e.Hint = "OpenCL C 1.2 has no clock: use device('cpu'), or measure launches by their events"
		}
	})
	return e
}

// logLine matches a line number, before a column or in parentheses, in a line of a build log with the word error.
var logLine = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`(?m)(?::|\()(\d+)(?::\d+|\))[^\n]*\berror\b`) }}

// refused returns the error for a source that the driver rejects, at the position of the log's first error.
func (k *kernel) refused(source, log string, err error) error {
	e := k.Refused(k.device.failure("compile", k.Info().Name, err), source, log, logLine.Get(), clc.SiteOf)
	if e.Hint == "" {
		e.Hint = "`orepl kernel --emit clc` shows the OpenCL C; the driver's compiler should take it: please report both"
	}
	return e
}

// meetsInBranch reports whether a block has a conditional barrier. If branch is set, the block itself is conditional.
// PoCL 3.1 miscompiles such kernels in two ways. It runs
// the first work-item of a group alone to evaluate the condition. Groups with one item in their first dimension run it a
// second time; one-dimensional groups do not (seed 200030 of TestRandomKernels). With optimization, items beyond the
// launch's size execute the kernel (seed 77004).
func meetsInBranch(b *ir.Block, branch bool) bool {
	for _, in := range b.Instrs {
		if in.Op == ir.Barrier && branch {
			return true
		}
		within := branch || in.Op == ir.If
		if in.Then != nil && meetsInBranch(in.Then, within) || in.Else != nil && meetsInBranch(in.Else, within) {
			return true
		}
	}
	return false
}

// buildSource compiles a source, or loads its binary from the cache. It returns the build log even if the build fails.
func (d *device) buildSource(source, options string) (p cl.Program, log string, err error) {
	info := d.Info()
	key := cacheKey(d.driver, info.Name, info.Arch, info.DriverVersion, options, source)
	if binary := d.cache.get(key); binary != nil {
		if p, log, err = d.lib.BuildBinary(d.context, d.handle, binary, options); err == nil {
			return p, log, nil
		}
		d.cache.remove(key)
	}
	p, log, err = d.lib.Build(d.context, d.handle, source, options)
	if err == nil {
		if binary := d.lib.Binary(p); binary != nil {
			_ = d.cache.put(key, binary) // an error only costs the next process a compilation
		}
	}
	return p, log, err
}
