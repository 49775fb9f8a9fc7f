//go:build linux && (amd64 || arm64)

package opencl

import (
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/plugins/opencl/internal/cl"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

// launch implements [queue.LaneLaunch].
type launch struct {
	device    *device
	kernel    *kernel      // nil if image is set
	image     *imageKernel // kernel of OpenCL C or SPIR-V
	info      *offload.KernelInfo
	shared    int // bytes of local memory that the launch requests
	unchecked bool
	size      [3]int
	group     [3]int
	args      []argument
	dims      []interp.Arg // scalars and extents
	labels    []string
	pos       offload.Position
	services  offload.Services

	lowered *lower.Kernel // lowered form of the variant that runs
}

// argument is an argument in the form that the driver takes.
type argument struct {
	memory *block
	offset uint64
	bits   uint64
	data   []byte // contents of a struct
}

func (s *launch) Set(o *offload.Launch) error {
	s.info, s.pos, s.shared = o.Kernel.Info(), o.Pos, o.SharedBytes
	s.kernel, s.image = nil, nil
	of := (*device)(nil)
	switch k := o.Kernel.(type) {
	case *kernel:
		s.kernel, of = k, k.device
	case *imageKernel:
		s.image, of = k, k.program.device
	}
	if of != s.device {
		return offload.Errorf(offload.InvalidDevice, "launch", "the kernel is of another device").On(s.device.id, o.Kernel.Info().Name)
	}
	if err := queue.CheckLaunch(o, &s.device.Info().Limits); err != nil {
		return err
	}
	if o.Checks == offload.ChecksRaces {
		return s.located(offload.Errorf(offload.Unsupported, "launch", "an OpenCL device does not look for races").
			WithHint("launch the kernel on the device 'cpu' with checks: 'races'"))
	}
	s.unchecked, s.size, s.services = o.Checks == offload.ChecksOff, o.Size, o.Services
	if s.group = o.GroupSize; s.group == [3]int{} && s.image == nil {
		s.group = offload.DefaultGroupSize(o.Size)
		if !s.info.ObservesGroup {
			s.group = freeGroup(o.Size, s.device.Info())
		}
	}
	s.args, s.dims, s.labels = s.args[:0], s.dims[:0], s.labels[:0]
	for i := range o.Args {
		a := &o.Args[i]
		n := argument{bits: a.Bits, data: a.Data}
		if a.Memory != nil {
			b, ok := a.Memory.(*block)
			if !ok || b.device != s.device {
				return s.located(offload.Errorf(offload.InvalidDevice, "launch", "parameter %s: the memory is of another device", s.info.Params[i].Name))
			}
			if b.freed.Load() {
				return s.located(offload.Errorf(offload.Closed, "launch", "parameter %s: the memory was freed", s.info.Params[i].Name))
			}
			n.memory, n.offset = b, uint64(a.Offset)
		}
		s.args = append(s.args, n)
		s.dims = append(s.dims, interp.Arg{Bits: a.Bits, Dims: a.Dims})
		s.labels = append(s.labels, a.Label)
	}
	if s.image != nil {
		return s.checkImage(o)
	}
	return nil
}

const (
	largeGroup    = 1024
	groupsPerCore = 16 // many groups per core let cores end at about the same time
)

// freeGroup returns a group size for a kernel that cannot observe it, preferably one that divides the launch's size. It has
// few results, since drivers compile a kernel for each. A processor runs a group as one loop, so that large groups cost less
// as long as there are groups for all of its cores.
func freeGroup(size [3]int, d *offload.DeviceInfo) [3]int {
	most := d.Limits.GroupItems
	if g := [3]int{largeGroup, 1, 1}; d.Type == offload.CPU && most >= largeGroup && size[0]%largeGroup == 0 &&
		size[0]/largeGroup*size[1]*size[2] >= groupsPerCore*d.ComputeUnits {
		return g
	}
	candidates := [][3]int{{256, 1, 1}, {64, 1, 1}, {8, 8, 1}, {16, 1, 1}}
	for _, g := range candidates {
		if g[0]*g[1] <= most && size[0]%g[0] == 0 && size[1]%g[1] == 0 {
			return g
		}
	}
	switch {
	case size[0] >= 256 && most >= 256:
		return [3]int{256, 1, 1}
	case size[0] >= 32 && most >= 64:
		return [3]int{64, 1, 1}
	case most >= 64 && size[1] > 1:
		return [3]int{8, 8, 1}
	}
	return [3]int{min(8, most), 1, 1}
}

func (s *launch) Clear() {
	clear(s.args)
	clear(s.labels)
	*s = launch{device: s.device, args: s.args[:0], dims: s.dims[:0], labels: s.labels[:0]}
}

// located returns the error with the device, kernel and source position of the launch.
func (s *launch) located(e *offload.Error) *offload.Error {
	e.Pos = s.pos
	return e.On(s.device.id, s.info.Name)
}

// enqueue enqueues the launch and returns the event of its end.
func (s *launch) enqueue(l *lane) (e cl.Event, r records, err error) {
	d := s.device
	v, err := s.kernel.lock(s.kernel.choose(s))
	if err != nil {
		return 0, nil, err
	}
	defer v.mu.Unlock()
	s.lowered = v.lowered
	if items := s.group[0] * s.group[1] * s.group[2]; items > v.most {
		return 0, nil, s.located(offload.Errorf(offload.InvalidSize, "launch", "a group of %v has %d work-items; the driver runs this kernel with at most %d", s.group, items, v.most).
			WithHint("give a smaller groupSize"))
	}
	if r, err = l.take(v.lowered, s.info.Prints); err != nil {
		return 0, nil, err
	}
	err = s.bind(v, r)
	if err == nil {
		err = r.begin(l.queue)
	}
	if err == nil {
		var global, group [3]uintptr
		for axis := range global {
			n := uintptr(s.group[axis])
			global[axis], group[axis] = (uintptr(s.size[axis])+n-1)/n*n, n
		}
		if v.flat {
			items := group[0] * group[1] * group[2]
			global = [3]uintptr{global[0] / group[0] * items, global[1] / group[1], global[2] / group[2]}
			group = [3]uintptr{items, 1, 1}
		}
		e, err = d.lib.Launch(l.queue, v.handle, &global, &group)
	}
	if err != nil {
		l.quiesce() // the driver may still read the records
		l.put(r)
		return 0, nil, s.located(d.failure("launch", "", err))
	}
	last, err := r.end(l.queue)
	if err != nil {
		d.lib.Wait(e)
		d.lib.Release(e)
		l.put(r)
		return 0, nil, s.located(d.failure("launch", "", err))
	}
	if last != 0 {
		d.lib.Release(e)
		e = last
	}
	return e, r, nil
}

// bind sets the arguments in the order of package clc's declarations. The caller holds v.mu.
func (s *launch) bind(v *variant, r records) (err error) {
	index := 0
	set := func(size int, p unsafe.Pointer) {
		if err == nil {
			err = s.device.lib.SetArg(v.handle, index, size, p)
		}
		index++
	}
	number := func(n int32) { set(4, unsafe.Pointer(&n)) }
	params := v.lowered.IR.Params
	for i := range s.args {
		a := &s.args[i]
		if a.memory == nil {
			size := params[i].Type.Size()
			if params[i].Type == ir.Bool {
				size = 1
			}
			set(size, unsafe.Pointer(&a.bits))
			continue
		}
		set(int(unsafe.Sizeof(a.memory.handle)), unsafe.Pointer(&a.memory.handle))
		set(8, unsafe.Pointer(&a.offset))
		for axis := range params[i].Array.Rank {
			number(s.dims[i].Dims[axis])
		}
	}
	if err == nil {
		err = r.bind(v.handle, index)
	}
	index++
	start := uint64(0)
	set(8, unsafe.Pointer(&start))
	for range v.lowered.Records.Rank {
		number(int32(len(r.words())))
	}
	for _, n := range s.size {
		number(int32(n))
	}
	if v.flat {
		for _, n := range s.group {
			number(int32(n))
		}
	}
	return err
}
