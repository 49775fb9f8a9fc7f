//go:build linux && (amd64 || arm64) && !nonative

package opencl

import (
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/internal/lowered"
	"github.com/orepl/orepl/plugins/opencl/internal/cl"
	"github.com/orepl/orepl/runtime/offload"
)

// launch implements [queue.LaneLaunch].
type launch struct {
	lowered.Launch
	device *device
	kernel *kernel      // nil if image is set
	image  *imageKernel // kernel of OpenCL C or SPIR-V
	args   []argument
}

// argument is an argument in the form that the driver takes.
type argument struct {
	memory *block
	offset uint64
	bits   uint64
	data   []byte // contents of a struct
}

func (s *launch) Set(o *offload.Launch) error {
	s.kernel, s.image = nil, nil
	of, k := (*device)(nil), (*lowered.Kernel)(nil)
	switch o := o.Kernel.(type) {
	case *kernel:
		s.kernel, of, k = o, o.device, &o.Kernel
	case *imageKernel:
		s.image, of = o, o.program.device
	}
	if err := s.Launch.Set(o, k, of == s.device, &s.device.Device, s.device.check); err != nil {
		return err
	}
	if s.Group == [3]int{} && s.image == nil {
		s.Group = offload.DefaultGroupSize(o.Size)
		if !s.Info.ObservesGroup {
			s.Group = freeGroup(o.Size, s.device.Info())
		}
	}
	s.args = s.args[:0]
	for i := range o.Args {
		a := &o.Args[i]
		n := argument{bits: a.Bits, data: a.Data}
		if a.Memory != nil {
			n.memory, n.offset = a.Memory.(*block), uint64(a.Offset)
		}
		s.args = append(s.args, n)
	}
	if s.image != nil {
		return s.checkImage(o)
	}
	return nil
}

const (
	largeGroup    = 1024 // group size on a processor for launches of many groups
	groupsPerCore = 16   // many groups per core let cores end at about the same time
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
	s.Launch.Clear()
	*s = launch{Launch: s.Launch, device: s.device, args: s.args[:0]}
}

// enqueue enqueues the launch and returns the event of its end.
func (s *launch) enqueue(l *stream, f *flight) (e cl.Event, err error) {
	d := s.device
	v, err := s.kernel.lock(s.kernel.choose(s))
	if err != nil {
		return 0, err
	}
	defer v.Unlock()
	if err := s.CheckGroup(v.Most); err != nil {
		return 0, err
	}
	run, err := l.records.Start(&s.Launch, v.Lowered, nil)
	if err != nil {
		return 0, err
	}
	r := run.Records()
	err = s.bind(v, r)
	if err == nil {
		err = r.begin(l.queue, v.Lowered)
	}
	if err == nil {
		var global, group [3]uintptr
		for axis := range global {
			n := uintptr(s.Group[axis])
			global[axis], group[axis] = (uintptr(s.Size[axis])+n-1)/n*n, n
		}
		if v.Code.flat {
			items := group[0] * group[1] * group[2]
			global = [3]uintptr{global[0] / group[0] * items, global[1] / group[1], global[2] / group[2]}
			group = [3]uintptr{items, 1, 1}
		}
		e, err = d.lib.Launch(l.queue, v.Code.handle, &global, &group)
	}
	if err != nil {
		l.quiesce(0) // the driver may still read the records
		run.Release()
		return 0, s.Located(d.failure("launch", "", err))
	}
	last, err := r.end(l.queue)
	if err != nil {
		d.lib.Wait(e)
		d.lib.Release(e)
		run.Release()
		return 0, s.Located(d.failure("launch", "", err))
	}
	if last != 0 {
		d.lib.Release(e)
		e = last
	}
	f.Launch = run
	return e, nil
}

// bind sets the arguments in the order of package clc's declarations. The caller has locked v.
func (s *launch) bind(v *lowered.Variant[code], r records) (err error) {
	index := 0
	set := func(size int, p unsafe.Pointer) {
		if err == nil {
			err = s.device.lib.SetArg(v.Code.handle, index, size, p)
		}
		index++
	}
	number := func(n int32) { set(4, unsafe.Pointer(&n)) }
	params := v.Lowered.IR.Params
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
			number(s.Dims[i].Dims[axis])
		}
	}
	if err == nil {
		err = r.bind(v.Code.handle, index)
	}
	index++
	start := uint64(0)
	set(8, unsafe.Pointer(&start))
	for range v.Lowered.Records.Rank {
		number(int32(len(r.Words())))
	}
	for _, n := range s.Size {
		number(int32(n))
	}
	if v.Code.flat {
		for _, n := range s.Group {
			number(int32(n))
		}
	}
	return err
}
