package lowered

import (
	"fmt"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

// Launch is the checked form of a launch. Plugins embed it in their [queue.LaneLaunch] and add the arguments in the driver's
// form.
type Launch struct {
	Kernel    *Kernel // nil for a kernel of an image
	Info      *offload.KernelInfo
	Shared    int // bytes of shared memory in addition to those that the kernel declares
	Unchecked bool
	Size      [3]int
	Group     [3]int       // zero if the plugin is to choose it
	Dims      []interp.Arg // scalars and extents
	Labels    []string
	Pos       offload.Position
	Services  offload.Services

	device string
}

// Set checks a launch and copies it without the arguments' memory. k is the kernel, nil for one of an image; own reports
// whether the kernel is of this device. check returns an error for memory that the device cannot access.
func (s *Launch) Set(o *offload.Launch, k *Kernel, own bool, d *Device, check func(offload.Memory) *offload.Error) error {
	s.device, s.Kernel, s.Info, s.Pos, s.Shared = d.ID, k, o.Kernel.Info(), o.Pos, o.SharedBytes
	limits := &d.Info().Limits
	if !own {
		return offload.Errorf(offload.InvalidDevice, "launch", "the kernel is of another device").On(d.ID, s.Info.Name)
	}
	if err := queue.CheckLaunch(o, limits); err != nil {
		return err
	}
	if o.Checks == offload.ChecksRaces {
		return s.Located(offload.Errorf(offload.Unsupported, "launch", "%s does not look for races", d.Dialect.Device).
			WithHint("launch the kernel on the device 'cpu' with checks: 'races'"))
	}
	s.Unchecked, s.Size, s.Group, s.Services = o.Checks == offload.ChecksOff, o.Size, o.GroupSize, o.Services
	s.Dims, s.Labels = s.Dims[:0], s.Labels[:0]
	for i := range o.Args {
		a := &o.Args[i]
		if a.Memory != nil {
			if e := check(a.Memory); e != nil {
				e.Op, e.Detail = "launch", fmt.Sprintf("parameter %s: %s", s.Info.Params[i].Name, e.Detail)
				return s.Located(e)
			}
		}
		s.Dims = append(s.Dims, interp.Arg{Bits: a.Bits, Dims: a.Dims})
		s.Labels = append(s.Labels, a.Label)
	}
	return nil
}

// Clear drops the references of the launch and keeps its slices for reuse.
func (s *Launch) Clear() {
	clear(s.Labels)
	*s = Launch{Dims: s.Dims[:0], Labels: s.Labels[:0]}
}

// Empty reports whether the launch has no work-items.
func (s *Launch) Empty() bool { return s.Size[0] == 0 || s.Size[1] == 0 || s.Size[2] == 0 }

// Whole reports whether all groups of the launch are complete. The group size must be set.
func (s *Launch) Whole() bool {
	return s.Size[0]%s.Group[0] == 0 && s.Size[1]%s.Group[1] == 0 && s.Size[2]%s.Group[2] == 0
}

// Grid returns the launch in the interpreter's form, for facts and faults.
func (s *Launch) Grid() *interp.Launch {
	return &interp.Launch{Size: s.Size, GroupSize: s.Group, Args: s.Dims}
}

// Located sets the device, kernel and source position of the launch in the error, and returns the error.
func (s *Launch) Located(e *offload.Error) *offload.Error {
	e.Pos = s.Pos
	return e.On(s.device, s.Info.Name)
}

// CheckGroup returns an error if the launch's groups have more than most items. The group size must be set.
func (s *Launch) CheckGroup(most int) error {
	items := s.Group[0] * s.Group[1] * s.Group[2]
	if items <= most {
		return nil
	}
	return s.Located(offload.Errorf(offload.InvalidSize, "launch", "a group of %v has %d work-items; the device runs this kernel with at most %d", s.Group, items, most).
		WithHint("give a smaller groupSize"))
}
