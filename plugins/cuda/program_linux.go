//go:build linux && (amd64 || arm64) && !nonative

package cuda

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"sync/atomic"

	"github.com/orepl/orepl/lang/kernel/emit/ptx"
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/plugins/cuda/internal/driver"
	"github.com/orepl/orepl/plugins/internal/lowered"
	"github.com/orepl/orepl/plugins/portable"
	"github.com/orepl/orepl/runtime/offload"
)

// dialect is the form in which the driver takes kernels.
var dialect = lowered.Dialect{Format: "ptx", Language: "PTX", Device: "a CUDA device"}

// program is a program of portable kernel IR.
type program struct{ *lowered.Program[*kernel] }

// kernel is a kernel of portable kernel IR.
type kernel struct {
	lowered.Kernel
	device   *device
	axes     int          // number of axes of the positions that the kernel reads
	readOnly []bool       // by parameter, whether it is a buffer that the kernel only loads; nil if none is
	best     atomic.Int32 // group size of highest occupancy, at most smallGroup; 0 if unknown
	variants lowered.Variants[choice, code]
}

// choice selects a variant of a kernel. Fewer axes, and facts that prove checks, make the code shorter.
type choice struct {
	unchecked bool
	large     bool   // groups have more than smallGroup items
	axes      int    // axes up to the last one with more than one item
	within    bool   // the launch's size is at most the extents
	indices   bool   // other indices are below the extents, too
	small     bool   // all extents and sizes are at most smallExtent
	whole     bool   // the launch's size is a multiple of the group size
	readOnly  bool   // no written argument overlaps one that is only loaded
	brief     bool   // loops do not poll the stop word: see briefWork
	group     [3]int // group size of a kernel that observes it; zero if unknown
}

const (
	smallExtent = 1 << 30 // sums of smaller indices and constants do not wrap
	briefWork   = 1 << 36 // maximum instructions of a launch without polls of the stop word: less than a second
	briefItem   = 1 << 26 // maximum instructions of one item of such a launch
)

// smallGroup is the maximum size of usual groups. Kernels compiled for small groups may use more registers.
const smallGroup = 256

// code is the driver's part of a variant.
type code struct {
	module   driver.Module
	function driver.Function
}

func load(ctx context.Context, d *device, img *offload.Image) (*program, error) {
	p, err := lowered.Load(ctx, img, d, &d.Device, d.newKernel)
	if err != nil {
		return nil, err
	}
	return &program{p}, nil
}

func (d *device) newKernel(m *ir.Module, k *ir.Kernel, info offload.KernelInfo) *kernel {
	return &kernel{Kernel: d.NewKernel(m, k, info), device: d, axes: axesOf(k), readOnly: ptx.ReadOnly(k)}
}

// variant returns the compiled variant for a choice.
func (k *kernel) variant(c choice) (*lowered.Variant[code], error) {
	v, err := k.variants.Lock(&k.Kernel, c, k.compile)
	if err == nil {
		v.Unlock()
	}
	return v, err
}

// Prepare implements [lowered.Compiled]. A kernel that observes its group is only printed as PTX, since its first launch compiles
// it for its group size. So is any kernel while an unbounded launch runs, since loading would block until that ends.
func (k *kernel) Prepare() (err error) {
	if k.Info().ObservesGroup || k.device.unbounded.Load() > 0 {
		_, _, err = k.emit(k.usual())
	} else {
		_, err = k.variant(k.usual())
	}
	return err
}

func (k *kernel) Source() (string, error) {
	v, err := k.variant(k.usual())
	if err != nil {
		return "", err
	}
	return v.Source, nil
}

func (k *kernel) Engine() (text string, err error) {
	v, err := k.variant(k.usual())
	if err != nil {
		return "", err
	}
	d, f := k.device, v.Code.function
	err = d.in(func() error {
		text = fmt.Sprintf("PTX, compiled by the driver for %s: %d registers, %d bytes of shared and %d of local memory", d.Info().Arch,
			d.driver.FunctionAttribute(f, driver.FuncRegisters), d.driver.FunctionAttribute(f, driver.FuncSharedBytes), d.driver.FunctionAttribute(f, driver.FuncLocalBytes))
		return nil
	})
	return text, err
}

func (k *kernel) Unload() {
	k.variants.Unload(&k.Kernel, func(c code) {
		if d := k.device; !d.isLost.Load() {
			_ = d.in(func() error { return d.driver.Unload(c.module) })
		}
	})
}

// axesOf returns the number of axes up to the last one of the positions that a kernel reads, at least 1.
func axesOf(k *ir.Kernel) int {
	axes := 1
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op == ir.Item && in.Item != ir.SubgroupSize {
			axes = max(axes, int(in.Axis)+1)
		}
	})
	return axes
}

// usual returns the choice for a typical launch, which Prepare, listings and occupancy take.
func (k *kernel) usual() choice {
	c := choice{axes: k.axes, small: true, whole: true, readOnly: k.readOnly != nil, brief: k.Facts.Bounded()}
	c.within, _ = k.Facts.Any()
	return c
}

// choose returns the choice for a launch.
func (k *kernel) choose(s *launch) choice {
	c := choice{unchecked: s.Unchecked, readOnly: s.separate(), large: s.Group[0]*s.Group[1]*s.Group[2] > smallGroup, axes: 1, whole: s.Whole()}
	for axis := 1; axis < 3; axis++ {
		if s.Size[axis] > 1 || s.Group[axis] > 1 {
			c.axes = axis + 1
		}
	}
	g := s.Grid()
	if !s.Unchecked {
		c.within, c.indices = k.Facts.Hold(g)
		c.small = max(s.Size[0], s.Size[1], s.Size[2]) <= smallExtent && !slices.ContainsFunc(s.Dims, func(a interp.Arg) bool { return max(a.Dims[0], a.Dims[1], a.Dims[2]) > smallExtent })
	}
	work, bounded := k.Facts.Work(g)
	c.brief = bounded && work <= briefWork && work/max(1, int64(s.Size[0])*int64(s.Size[1])*int64(s.Size[2])) <= briefItem
	if k.Info().ObservesGroup {
		c.group = s.Group
	}
	return c
}

// emit returns the kernel for a choice, lowered and as PTX.
func (k *kernel) emit(c choice) (l *lower.Kernel, text string, err error) {
	d, most, source := k.device, smallGroup, k.IR
	if c.large {
		most = d.Info().Limits.GroupItems
	}
	facts := k.Facts.Facts(c.within, c.indices)
	if c.small {
		facts.MaxExtent, facts.MaxSize = smallExtent, smallExtent
	}
	if facts.GroupSize = c.group; !c.unchecked || c.group != [3]int{} {
		source = portable.Specialize(k.IR, facts)
	}
	l, err = lower.Lower(ptx.Unroll(source), d.target, lower.Options{SubgroupSize: lowered.SubgroupSize, MaxGroup: min(most, d.Info().Limits.GroupItems), GroupSize: c.group,
		Whole: c.whole, Unpolled: c.brief, Unchecked: c.unchecked, Observes: k.Info().ObservesGroup})
	if err == nil {
		o := ptx.Options{Axes: c.axes, Files: k.Module.Files}
		if c.readOnly {
			o.ReadOnly = k.readOnly
		}
		text, err = o.Emit(l)
	}
	if err != nil {
		return nil, "", k.Unsupported(err)
	}
	return l, text, nil
}

// compile compiles a variant.
func (k *kernel) compile(v *lowered.Variant[code], c choice) error {
	d := k.device
	l, text, err := k.emit(c)
	if err != nil {
		return err
	}
	v.Lowered, v.Source = l, text
	err = d.in(func() error {
		m, log, err := d.driver.Load([]byte(text))
		if err != nil {
			return k.refused(text, log, err)
		}
		f, err := d.driver.Function(m, ptx.Name(k.IR))
		if err != nil {
			_ = d.driver.Unload(m)
			return err
		}
		v.Code = code{m, f}
		v.Most = d.driver.FunctionAttribute(f, driver.FuncMaxThreads)
		k.best.CompareAndSwap(0, int32(d.driver.BestGroup(f, smallGroup)))
		return nil
	})
	if err != nil {
		return d.failure("compile", k.Info().Name, err)
	}
	return nil
}

// logLine matches a line number of PTX in the driver's log.
var logLine = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`\bline (\d+)`) }}

// refused returns the error for PTX that the driver rejects, at the position of the log's line.
func (k *kernel) refused(source, log string, err error) error {
	e := offload.Errorf(offload.BackendFailure, "compile", "the driver's compiler refused the kernel").On(k.device.ID, k.Info().Name)
	e.Err = err
	switch err {
	case driver.UnsupportedPTX:
		e.Hint = "the driver is too old for PTX 7.0: install one of CUDA 11.0 or later"
	case driver.InvalidPTX:
		e.Hint = "this is an error of orepl: please report it with the PTX, which `orepl kernel --emit ptx` shows"
	}
	return k.Refused(e, source, log, logLine.Get(), ptx.SiteOf)
}
