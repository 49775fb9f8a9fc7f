//go:build linux && (amd64 || arm64)

package cuda

import (
	"context"
	"errors"
	"time"

	"github.com/orepl/orepl/lang/kernel/emit/ptx"
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/plugins/cuda/internal/driver"
	"github.com/orepl/orepl/plugins/portable"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

// launch implements [queue.LaneLaunch].
type launch struct {
	device    *device
	kernel    *kernel       // nil if native is set
	native    *nativeKernel // kernel of an image of another compiler
	info      *offload.KernelInfo
	shared    int // bytes of shared memory in addition to those that the kernel declares
	unchecked bool
	size      [3]int
	group     [3]int
	args      []ptx.Argument // arguments, with room for the records
	blocks    []*block       // blocks of the arguments; nil for scalars
	dims      []interp.Arg   // scalars and extents, for faults and facts
	labels    []string
	pos       offload.Position
	services  offload.Services

	lowered *lower.Kernel // lowered form of the variant that runs
	calls   *lower.Calls
	params  []byte // the argument block
}

func (s *launch) Set(o *offload.Launch) error {
	s.info, s.pos, s.shared = o.Kernel.Info(), o.Pos, o.SharedBytes
	s.kernel, s.native = nil, nil
	of := (*device)(nil)
	switch k := o.Kernel.(type) {
	case *kernel:
		s.kernel, of = k, k.device
	case *nativeKernel:
		s.native, of = k, k.program.device
		if k.program.unloaded.Load() {
			return s.located(offload.Errorf(offload.Closed, "launch", "the program was unloaded"))
		}
	}
	if of != s.device {
		return offload.Errorf(offload.InvalidDevice, "launch", "the kernel is of another device").On(s.device.id, o.Kernel.Info().Name)
	}
	if err := queue.CheckLaunch(o, &s.device.Info().Limits); err != nil {
		return err
	}
	if o.Checks == offload.ChecksRaces {
		return s.located(offload.Errorf(offload.Unsupported, "launch", "a CUDA device does not look for races").
			WithHint("launch the kernel on the device 'cpu' with checks: 'races'"))
	}
	s.unchecked, s.size, s.services = o.Checks == offload.ChecksOff, o.Size, o.Services
	if s.group = o.GroupSize; s.group == [3]int{} {
		s.group = offload.DefaultGroupSize(o.Size)
		if !s.info.ObservesGroup {
			best := 0
			if s.kernel != nil {
				best = int(s.kernel.best.Load())
			}
			s.group = freeGroup(o.Size, best, s.device.Info().ComputeUnits)
		}
	}
	s.args, s.blocks, s.dims, s.labels = s.args[:0], s.blocks[:0], s.dims[:0], s.labels[:0]
	for i := range o.Args {
		a := &o.Args[i]
		n := ptx.Argument{Bits: a.Bits}
		var b *block
		if a.Memory != nil {
			var ok bool
			b, ok = a.Memory.(*block)
			if !ok || b.device != s.device {
				return s.located(offload.Errorf(offload.InvalidDevice, "launch", "parameter %s: the memory is of another device", s.info.Params[i].Name))
			}
			if b.freed.Load() {
				return s.located(offload.Errorf(offload.Closed, "launch", "parameter %s: the memory was freed", s.info.Params[i].Name))
			}
			n.Address = uint64(b.at) + uint64(a.Offset)
		}
		s.args, s.blocks = append(s.args, n), append(s.blocks, b)
		s.dims = append(s.dims, interp.Arg{Bits: a.Bits, Dims: a.Dims})
		s.labels = append(s.labels, a.Label)
	}
	if s.native != nil {
		s.params = s.native.appendBlock(s.params[:0], o.Args)
	}
	return nil
}

// freeGroup returns a group size for a kernel that cannot observe it. best is the group size of highest occupancy, 0 if
// unknown. A smaller size is used if there would be fewer groups than compute units.
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
	clear(s.labels)
	clear(s.blocks)
	*s = launch{device: s.device, args: s.args[:0], blocks: s.blocks[:0], dims: s.dims[:0], labels: s.labels[:0], params: s.params[:0]}
}

// located returns the error with the device, kernel and source position of the launch.
func (s *launch) located(e *offload.Error) *offload.Error {
	e.Pos = s.pos
	return e.On(s.device.id, s.info.Name)
}

// enqueue enqueues the launch. The context is current.
func (s *launch) enqueue(l *lane) (*records, error) {
	items := s.group[0] * s.group[1] * s.group[2]
	if s.native != nil {
		if most := s.info.GroupItems; items > most {
			return nil, s.tooLarge(items, most)
		}
		return nil, s.submit(l, s.native.function)
	}
	v, err := s.kernel.variant(s.kernel.choose(s))
	if err != nil {
		return nil, err
	}
	s.lowered = v.lowered
	if items > v.most {
		return nil, s.tooLarge(items, v.most)
	}
	r, err := l.take(v.lowered, s.kernel.info.Prints)
	if err != nil {
		return nil, err
	}
	s.calls = v.lowered.Calls(r.words)
	for i := range s.args {
		s.args[i].Dims = s.dims[i].Dims[:]
	}
	s.args = append(s.args, ptx.Argument{Address: uint64(r.memory.at), Dims: []int32{int32(len(r.words)), 0, 0}})
	s.params = ptx.AppendArguments(s.params[:0], v.lowered, s.args, s.size)
	s.args = s.args[:len(s.args)-1]
	if err := s.submit(l, v.function); err != nil {
		l.put(r)
		return nil, err
	}
	return r, nil
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

// tooLarge returns the error for a group that exceeds the kernel's limit on the device.
func (s *launch) tooLarge(items, most int) error {
	return s.located(offload.Errorf(offload.InvalidSize, "launch", "a group of %v has %d work-items; the device runs this kernel with at most %d", s.group, items, most).
		WithHint("give a smaller groupSize"))
}

// submit launches a function with the argument block. The context is current.
func (s *launch) submit(l *lane, f driver.Function) error {
	var grid [3]int
	for axis, n := range s.size {
		grid[axis] = (n-1)/s.group[axis] + 1
	}
	err := s.device.driver.Launch(f, grid, s.group, s.shared, l.stream, s.params)
	var status driver.Status
	if err == nil || errors.As(err, &status) && status.Sticky() {
		return err
	}
	e := s.located(offload.Errorf(offload.BackendFailure, "launch", "the CUDA driver refused"))
	e.Err = err
	return e
}

// serving is the state for answering a launch's calls. It is separate from the launch, which may be reused before a call
// returns.
type serving struct {
	calls    *lower.Calls
	services offload.Services
	device   *device
	kernel   *kernel
	source   *ir.Kernel
}

// serving returns the state for answering calls, nil if the kernel calls no services.
func (s *launch) serving() *serving {
	if !s.info.CallsServices() {
		return nil
	}
	return &serving{s.calls, s.services, s.device, s.kernel, s.lowered.Source}
}

// serve answers a launch's calls of services until the launch ends. It abandons a call when the launch is stopped.
func (v *serving) serve(f *flight) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	calls, services, device, kernel := v.calls, v.services, v.device, v.kernel
	pause := time.Microsecond
	for {
		select {
		case <-f.settled:
			return
		case <-device.lost:
			return
		default:
		}
		if f.stop.Load() {
			cancel()
		}
		call, ok := f.next()
		if !ok {
			time.Sleep(pause)
			pause = min(2*pause, 200*time.Microsecond)
			continue
		}
		pause = time.Microsecond
		at, _ := portable.Position(kernel.module, v.source, call.Site)
		r := &offload.Request{Message: offload.Message{Device: device.id, Kernel: kernel.info.Name, Item: call.Item, Pos: at}, Name: call.Service, Result: portable.TypeOf(call.Result)}
		for _, a := range call.Args {
			r.Args = append(r.Args, offload.Scalar{Type: portable.TypeOf(a.Type), Bits: a.Bits})
		}
		go func() {
			defer func() {
				if p := recover(); p != nil {
					err := offload.Errorf(offload.BackendFailure, "call", "the service %s panicked: %v", call.Service, p)
					f.answer(func() { calls.Answer(call, 0, err) })
				}
			}()
			bits, err := services.Call(ctx, r)
			f.answer(func() { calls.Answer(call, bits, err) })
		}()
	}
}
