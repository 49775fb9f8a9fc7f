package cpu

import (
	"errors"
	"math"
	"math/bits"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd"
	"github.com/orepl/orepl/plugins/portable"
	"github.com/orepl/orepl/runtime/offload"
)

// plan is a launch that was checked, and the code that was chosen for it: what [offload.Prepared] is here.
type plan struct {
	device  *device
	kernel  *kernel
	variant *variant
	code    runner
	grid    interp.Launch
	units   int
	steady  *spmd.Variant    // the code, if the launch takes about as long each time, and has few units
	made    int              // how often set was called
	labels  []string         // of the arguments
	pos     offload.Position // of the launch that it was made for, for errors
}

// Prepare implements [offload.Preparer].
func (d *device) Prepare(o *offload.Launch, again offload.Prepared) (offload.Prepared, error) {
	if o.Checks == offload.ChecksRaces {
		return nil, nil // the interpreter then tells launches apart by what it prepared
	}
	if _, native := o.Kernel.(*nativeKernel); native {
		return nil, nil
	}
	pl, ok := again.(*plan)
	if !ok {
		pl = new(plan)
	}
	pl.device = d
	if err := pl.set(o); err != nil {
		return nil, err
	}
	return pl, nil
}

// clear drops what the plan keeps of others.
func (pl *plan) clear() {
	clear(pl.grid.Args)
	clear(pl.labels)
	pl.grid.Services, pl.grid.Stop = nil, nil
	pl.kernel, pl.variant, pl.code, pl.steady = nil, nil, nil, nil
}

// copy makes pl the same plan as o, in memory of its own.
func (pl *plan) copy(o *plan) {
	args, labels := append(pl.grid.Args[:0], o.grid.Args...), append(pl.labels[:0], o.labels...)
	*pl = *o
	pl.grid.Args, pl.labels = args, labels
}

// set makes the plan for a launch.
func (pl *plan) set(o *offload.Launch) (err error) {
	pl.made++
	k, ok := o.Kernel.(*kernel)
	if !ok {
		return offload.Errorf(offload.InvalidDevice, "launch", "the kernel is of another device").On(pl.device.id, o.Kernel.Info().Name)
	}
	pl.kernel, pl.pos = k, o.Pos
	if pl.variant, err = k.variant(o.Checks); err != nil {
		return err
	}
	if err := pl.setGrid(o); err != nil {
		return err
	}
	if err := pl.setArgs(o.Args); err != nil {
		return err
	}
	pl.grid.Unchecked = o.Checks == offload.ChecksOff
	pl.grid.SubgroupSize = subgroupSize
	if pl.code, pl.units, err = pl.variant.prepare(&pl.grid); err != nil {
		var failed *offload.Error
		if errors.As(err, &failed) {
			return failed.On(pl.device.id, k.info.Name)
		}
		e := pl.refuse(offload.InvalidArgument, "")
		e.Err = err
		return e
	}
	pl.steady = nil
	if v, ok := pl.code.(*variantCode); ok && pl.variant.steady && pl.units > 0 && pl.units <= briefUnits {
		pl.steady = (*spmd.Variant)(v)
	}
	return nil
}

func (pl *plan) refuse(code offload.Code, format string, args ...any) *offload.Error {
	e := offload.Errorf(code, "launch", format, args...).On(pl.device.id, pl.kernel.info.Name)
	e.Pos = pl.pos
	return e
}

// setGrid takes over sizes.
func (pl *plan) setGrid(o *offload.Launch) error {
	for axis, n := range o.Size {
		if n < 0 || n > math.MaxInt32 {
			return pl.refuse(offload.InvalidSize, "size %d on axis %c is not in 0 to %d", n, "xyz"[axis], math.MaxInt32)
		}
	}
	if hi, items := bits.Mul64(uint64(o.Size[0])*uint64(o.Size[1]), uint64(o.Size[2])); hi != 0 || items > math.MaxInt64 {
		return pl.refuse(offload.InvalidSize, "size %v is over 2^63 work-items", o.Size)
	}
	pl.grid.Size, pl.grid.GroupSize = o.Size, o.GroupSize
	if o.GroupSize == [3]int{} {
		pl.grid.GroupSize = offload.DefaultGroupSize(o.Size)
		return nil
	}
	group := &o.GroupSize
	limits, items := &pl.device.info.Limits, 1
	for axis, n := range group {
		if n < 1 || n > limits.GroupSize[axis] {
			return pl.refuse(offload.InvalidSize, "group size %d on axis %c is not in 1 to %d", n, "xyz"[axis], limits.GroupSize[axis])
		}
		items *= n
	}
	if items > limits.GroupItems {
		return pl.refuse(offload.InvalidSize, "a group of %v has %d work-items; the device has at most %d", *group, items, limits.GroupItems)
	}
	return nil
}

// setArgs takes over arguments.
func (pl *plan) setArgs(args []offload.Arg) error {
	params := pl.kernel.info.Params
	if len(args) != len(params) {
		return pl.refuse(offload.InvalidArgument, "the kernel takes %d arguments and got %d", len(params), len(args))
	}
	pl.grid.Args = pl.grid.Args[:0]
	pl.labels = pl.labels[:0]
	for i := range args {
		p, a := &params[i], &args[i]
		pl.labels = append(pl.labels, a.Label)
		var data []byte
		if p.Buffer && a.Memory != nil {
			var err error
			if data, err = pl.device.Bytes(a.Memory); err != nil {
				e := pl.refuse(offload.CodeOf(err), "parameter %s", p.Name)
				e.Err = err
				return e
			}
		}
		arg, refused := portable.Bind(p, a, data)
		if refused != nil {
			return pl.refuse(refused.Code, "%s", refused.Detail)
		}
		pl.grid.Args = append(pl.grid.Args, arg)
	}
	return nil
}
