//go:build linux && (amd64 || arm64)

package cuda

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/orepl/orepl/lang/kernel/emit/ptx"
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cuda/internal/driver"
	"github.com/orepl/orepl/plugins/portable"
	"github.com/orepl/orepl/runtime/offload"
)

// program implements [offload.Program].
type program struct {
	device  *device
	kernels []*kernel
}

// kernel implements [offload.Kernel].
type kernel struct {
	device   *device
	module   *ir.Module
	ir       *ir.Kernel // optimized
	info     offload.KernelInfo
	facts    *portable.LaunchFacts
	axes     int    // number of axes of the positions that the kernel reads
	readOnly []bool // by parameter, whether it is a buffer that the kernel only loads; nil if none is

	best atomic.Int32 // group size of highest occupancy; 0 before the first variant

	mu       sync.Mutex
	variants map[choice]*variant
	unloaded bool
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

// variant is a compiled kernel.
type variant struct {
	mu       sync.Mutex
	lowered  *lower.Kernel
	source   string
	module   driver.Module
	function driver.Function
	most     int   // maximum number of items of a group
	err      error // the compilation's error
}

// load creates a program. Each kernel is compiled separately at its first use, so a kernel that fails does not affect the
// others.
func load(ctx context.Context, d *device, img *offload.Image) (*program, error) {
	m, err := portable.Decode(img)
	if err != nil {
		return nil, err
	}
	p := &program{device: d}
	for i, k := range m.Kernels {
		if ctx.Err() != nil {
			e := portable.Cancelled(ctx, img)
			return nil, e
		}
		info, one := portable.Describe(k), *m
		one.Kernels = m.Kernels[i : i+1 : i+1]
		opt.Run(&one, opt.Default, nil)
		p.kernels = append(p.kernels, d.newKernel(m, k, info))
	}
	return p, nil
}

// newKernel returns an optimized kernel, which is compiled at its first use.
func (d *device) newKernel(m *ir.Module, k *ir.Kernel, info offload.KernelInfo) *kernel {
	info.GroupItems = d.Info().Limits.GroupItems
	return &kernel{device: d, module: m, ir: k, info: info, facts: portable.FindLaunchFacts(k), axes: axesOf(k), readOnly: ptx.ReadOnly(k), variants: map[choice]*variant{}}
}

func (k *kernel) Info() *offload.KernelInfo { return &k.info }

func (p *program) Symbols() (list []offload.Symbol) {
	for _, k := range p.kernels {
		list = append(list, offload.Symbol{Name: k.info.Name, Kernel: true})
	}
	return list
}

func (p *program) find(name string) *kernel {
	if i := slices.IndexFunc(p.kernels, func(k *kernel) bool { return k.info.Name == name }); i >= 0 {
		return p.kernels[i]
	}
	return nil
}

func (p *program) Kernel(name string) (offload.Kernel, error) {
	k := p.find(name)
	if k == nil {
		return nil, offload.Errorf(offload.NotFound, "kernel", "the program has no kernel of this name").On(p.device.id, name)
	}
	if err := p.device.proveExact(); err != nil {
		return nil, err
	}
	var err error
	if k.info.ObservesGroup { // the first launch compiles it for its group size
		_, _, err = k.emit(k.usual())
	} else {
		_, err = k.variant(k.usual())
	}
	if err != nil {
		return nil, err
	}
	return k, nil
}

func (p *program) Global(name string) (offload.Memory, error) {
	if p.find(name) != nil {
		return nil, offload.Errorf(offload.SymbolKind, "global", "the name is a kernel's").On(p.device.id, name)
	}
	return nil, offload.Errorf(offload.NotFound, "global", "portable kernel IR has no global variables").On(p.device.id, name)
}

func (p *program) Unload() error {
	for _, k := range p.kernels {
		k.mu.Lock()
		k.unloaded = true
		k.mu.Unlock()
		for _, v := range k.variants { // unloaded prevents further variants
			v.mu.Lock()
			if v.module != 0 && !p.device.isLost.Load() {
				_ = p.device.in(func() error { return p.device.driver.Unload(v.module) })
			}
			v.module, v.function, v.err = 0, 0, k.closed()
			v.mu.Unlock()
		}
	}
	return nil
}

// Listing implements [offload.Lister].
func (p *program) Listing(name, format string) (string, error) {
	k := p.find(name)
	if k == nil {
		return "", offload.Errorf(offload.NotFound, "listing", "the program has no kernel of this name").On(p.device.id, name)
	}
	v, err := k.variant(k.usual())
	if err != nil {
		return "", err
	}
	switch format {
	case "ptx":
		return v.source, nil
	case "engine":
		d := p.device.driver
		text := ""
		err := p.device.in(func() error {
			text = fmt.Sprintf("PTX, compiled by the driver for %s: %d registers, %d bytes of shared and %d of local memory", p.device.Info().Arch,
				d.FunctionAttribute(v.function, driver.FuncRegisters), d.FunctionAttribute(v.function, driver.FuncSharedBytes), d.FunctionAttribute(v.function, driver.FuncLocalBytes))
			if inexact := p.device.arithmetic.Inexact(); inexact != nil {
				text += "; not exact: " + inexact.Error()
			}
			return nil
		})
		return text, err
	}
	return "", offload.Errorf(offload.Unsupported, "listing", "a CUDA device has no %s", format).On(p.device.id, name).WithHint("the format 'ptx' shows its PTX")
}

// axesOf returns the number of axes of the positions that a kernel reads.
func axesOf(k *ir.Kernel) int {
	axes := 1
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op == ir.Item && in.Item != ir.SubgroupSize {
			axes = max(axes, int(in.Axis)+1)
		}
	})
	return axes
}

// usual returns the choice for a typical launch, for listings.
func (k *kernel) usual() choice {
	c := choice{axes: k.axes, small: true, whole: true, readOnly: k.readOnly != nil, brief: k.facts.Bounded()}
	c.within, _ = k.facts.Any()
	return c
}

// choose returns the choice for a launch.
func (k *kernel) choose(s *launch) choice {
	c := choice{unchecked: s.unchecked, readOnly: s.separate(), large: s.group[0]*s.group[1]*s.group[2] > smallGroup, axes: 1}
	for axis := 1; axis < 3; axis++ {
		if s.size[axis] > 1 || s.group[axis] > 1 {
			c.axes = axis + 1
		}
	}
	g := &interp.Launch{Size: s.size, GroupSize: s.group, Args: s.dims}
	if !s.unchecked {
		c.within, c.indices = k.facts.Hold(g)
		c.small = max(s.size[0], s.size[1], s.size[2]) <= smallExtent && !slices.ContainsFunc(s.dims, func(a interp.Arg) bool { return max(a.Dims[0], a.Dims[1], a.Dims[2]) > smallExtent })
	}
	c.whole = s.size[0]%s.group[0] == 0 && s.size[1]%s.group[1] == 0 && s.size[2]%s.group[2] == 0
	work, bounded := k.facts.Work(g)
	c.brief = bounded && work <= briefWork && work/max(1, int64(s.size[0])*int64(s.size[1])*int64(s.size[2])) <= briefItem
	if k.info.ObservesGroup {
		c.group = s.group
	}
	return c
}

func (k *kernel) closed() error {
	return offload.Errorf(offload.Closed, "launch", "the program was unloaded").On(k.device.id, k.info.Name)
}

// variant returns the compiled variant for a choice.
func (k *kernel) variant(c choice) (*variant, error) {
	k.mu.Lock()
	if k.unloaded {
		k.mu.Unlock()
		return nil, k.closed()
	}
	v := k.variants[c]
	if v == nil {
		v = &variant{}
		k.variants[c] = v
	}
	k.mu.Unlock()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.function == 0 && v.err == nil {
		err := k.compile(v, c)
		if k.device.isLost.Load() {
			return nil, k.device.LostError()
		}
		v.err = err
	}
	return v, v.err
}

// emit returns the kernel for a choice, lowered and as PTX.
func (k *kernel) emit(c choice) (lowered *lower.Kernel, text string, err error) {
	d, most, source := k.device, smallGroup, k.ir
	if c.large {
		most = d.Info().Limits.GroupItems
	}
	facts := k.facts.Facts(c.within, c.indices)
	if c.small {
		facts.MaxExtent, facts.MaxSize = smallExtent, smallExtent
	}
	if facts.GroupSize = c.group; !c.unchecked || c.group != [3]int{} {
		source = portable.Specialize(k.ir, facts)
	}
	lowered, err = lower.Lower(ptx.Unroll(source), d.target, lower.Options{SubgroupSize: subgroupSize, MaxGroup: min(most, d.Info().Limits.GroupItems), GroupSize: c.group,
		Whole: c.whole, Unpolled: c.brief, Unchecked: c.unchecked, Observes: k.info.ObservesGroup})
	if err == nil {
		o := ptx.Options{Axes: c.axes, Files: k.module.Files}
		if c.readOnly {
			o.ReadOnly = k.readOnly
		}
		text, err = o.Emit(lowered)
	}
	if err != nil {
		e := offload.Errorf(offload.Unsupported, "compile", "").On(d.id, k.info.Name)
		e.Err = err
		return nil, "", e
	}
	return lowered, text, nil
}

func (k *kernel) compile(v *variant, c choice) error {
	d := k.device
	lowered, text, err := k.emit(c)
	if err != nil {
		return err
	}
	v.source = text
	err = d.in(func() error {
		m, log, err := d.driver.Load([]byte(v.source))
		if err != nil {
			return k.refused(v.source, log, err)
		}
		f, err := d.driver.Function(m, ptx.Name(k.ir))
		if err != nil {
			_ = d.driver.Unload(m)
			return err
		}
		v.module, v.function = m, f
		v.most = d.driver.FunctionAttribute(f, driver.FuncMaxThreads)
		k.best.CompareAndSwap(0, int32(d.driver.BestGroup(f, smallGroup)))
		return nil
	})
	if err != nil {
		return d.failure("compile", k.info.Name, err)
	}
	v.lowered = lowered
	return nil
}

// logLine matches a line number of PTX in the driver's log.
var logLine = regexp.MustCompile(`\bline (\d+)`)

// refused returns the error for PTX that the driver rejects, at the position of the log's line.
func (k *kernel) refused(source, log string, err error) error {
	e := offload.Errorf(offload.BackendFailure, "compile", "the driver's compiler refused the kernel").On(k.device.id, k.info.Name)
	e.Err = err
	if log = strings.TrimSpace(log); log != "" {
		e.Detail += fmt.Sprintf(": %.2000s", log)
	}
	switch err {
	case driver.UnsupportedPTX:
		e.Hint = "the driver is too old for PTX 7.0: install one of CUDA 11.0 or later"
	case driver.InvalidPTX:
		e.Hint = "this is an error of orepl: please report it with the PTX, which `orepl kernel --emit ptx` shows"
	}
	if match := logLine.FindStringSubmatch(log); match != nil {
		n, _ := strconv.Atoi(match[1])
		if site, ok := ptx.SiteOf(k.ir, source, n); ok {
			e.Pos, _ = portable.Position(k.module, k.ir, site)
		}
	}
	return e
}
