//go:build linux && (amd64 || arm64) && !nonative

package cuda

import (
	"errors"

	"github.com/orepl/orepl/lang/kernel/emit/ptx"
	"github.com/orepl/orepl/plugins/cuda/internal/driver"
	"github.com/orepl/orepl/plugins/internal/lowered"
	"github.com/orepl/orepl/runtime/offload"
)

// launch implements [queue.LaneLaunch].
type launch struct {
	lowered.Launch
	device *device
	kernel *kernel        // nil if native is set
	native *nativeKernel  // kernel of an image of another compiler
	args   []ptx.Argument // arguments, with room for the records
	blocks []*block       // blocks of the arguments; nil for scalars
	params []byte         // the argument block
}

func (s *launch) Set(l *offload.Launch) error {
	s.kernel, s.native = nil, nil
	of, k := (*device)(nil), (*lowered.Kernel)(nil)
	switch o := l.Kernel.(type) {
	case *kernel:
		s.kernel, of, k = o, o.device, &o.Kernel
	case *nativeKernel:
		s.native, of = o, o.program.device
		if o.program.unloaded.Load() { // before its memory is checked, which the program freed
			e := o.program.refuse(offload.Closed, "launch", o.info.Name, "the program was unloaded")
			e.Pos = l.Pos
			return e
		}
	}
	if err := s.Launch.Set(l, k, of == s.device, &s.device.Device, s.device.check); err != nil {
		return err
	}
	if s.Group == [3]int{} {
		s.Group = offload.DefaultGroupSize(l.Size)
		if !s.Info.ObservesGroup {
			best := 0
			if s.kernel != nil {
				best = int(s.kernel.best.Load())
			}
			s.Group = freeGroup(l.Size, best, s.device.Info().ComputeUnits)
		}
	}
	s.args, s.blocks = s.args[:0], s.blocks[:0]
	for i := range l.Args {
		a := &l.Args[i]
		n := ptx.Argument{Bits: a.Bits}
		b, ok := a.Memory.(*block)
		if ok {
			n.Address = uint64(b.at) + uint64(a.Offset)
		}
		s.args, s.blocks = append(s.args, n), append(s.blocks, b)
	}
	if s.native != nil {
		s.params = s.native.appendBlock(s.params[:0], l.Args)
	}
	return nil
}

// freeGroup returns a group size for a kernel that cannot observe it. best is the group size of highest occupancy, 0 if
// unknown, and units is the number of compute units. For 256 or more items along x, smallGroup is halved, at most down to 64,
// while it exceeds best or makes fewer groups than units. For fewer items, the result depends on size alone.
func freeGroup(size [3]int, best, units int) [3]int {
	switch {
	case size[0] >= 256:
		items := smallGroup
		for items > 64 && (best > 0 && items > best || (size[0]+items-1)/items*size[1]*size[2] < units) {
			items /= 2
		}
		return [3]int{items, 1, 1}
	case size[0] > 32:
		return [3]int{64, 1, 1}
	case size[0] > 1 && size[1] > 1:
		return [3]int{32, 8, 1}
	case size[1] > 1:
		return [3]int{1, 64, 1}
	}
	return [3]int{32, 1, 1}
}

func (s *launch) Clear() {
	clear(s.args)
	clear(s.blocks)
	s.Launch.Clear()
	*s = launch{Launch: s.Launch, device: s.device, args: s.args[:0], blocks: s.blocks[:0], params: s.params[:0]}
}

// enqueue enqueues the launch. The context is current.
func (s *launch) enqueue(l *stream, f *flight) error {
	if s.native != nil {
		if err := s.CheckGroup(s.Info.GroupItems); err != nil {
			return err
		}
		return s.submit(l, f, s.native.function, true)
	}
	choice := s.kernel.choose(s)
	v, err := s.kernel.variant(choice)
	if err != nil {
		return err
	}
	if err := s.CheckGroup(v.Most); err != nil {
		return err
	}
	run, err := l.records.Start(&s.Launch, v.Lowered, s.device.lost)
	if err != nil {
		return err
	}
	r := run.Records()
	for i := range s.args {
		s.args[i].Dims = s.Dims[i].Dims[:]
	}
	s.args = append(s.args, ptx.Argument{Address: uint64(r.memory.at), Dims: []int32{int32(len(r.Words())), 0, 0}})
	s.params = ptx.AppendArguments(s.params[:0], v.Lowered, s.args, s.Size)
	s.args = s.args[:len(s.args)-1]
	if err := s.submit(l, f, v.Code.function, !choice.brief || s.Info.CallsServices()); err != nil {
		run.Release()
		return err
	}
	f.Launch = run
	return nil
}

// separate reports whether the launch writes no buffer that the kernel only loads. It returns false if there is no such
// buffer, or one that is not in device memory.
func (s *launch) separate() bool {
	if s.kernel.readOnly == nil {
		return false
	}
	for i, b := range s.blocks {
		if b == nil || !s.kernel.readOnly[i] {
			continue
		}
		if b.kind != offload.DeviceMemory {
			return false
		}
		for j, other := range s.blocks {
			if other != nil && !s.kernel.readOnly[j] && b.overlaps(other) {
				return false
			}
		}
	}
	return true
}

// submit launches a function with the argument block. unbounded states that it may run for long or wait for the host. The context is
// current.
func (s *launch) submit(l *stream, f *flight, fn driver.Function, unbounded bool) error {
	var grid [3]int
	for axis, n := range s.Size {
		grid[axis] = (n-1)/s.Group[axis] + 1
	}
	if unbounded {
		f.State.unbounded = true
		s.device.unbounded.Add(1)
	}
	err := s.device.driver.Launch(fn, grid, s.Group, s.Shared, l.handle, s.params)
	var status driver.Status
	if err == nil || errors.As(err, &status) && status.Sticky() {
		return err
	}
	e := s.Located(offload.Errorf(offload.BackendFailure, "launch", "the CUDA driver refused"))
	e.Err = err
	return e
}
