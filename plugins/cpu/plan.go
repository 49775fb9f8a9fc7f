package cpu

import (
	"errors"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd"
	"github.com/orepl/orepl/plugins/portable"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

// plan is a checked launch with its chosen code. It is the device's [offload.Prepared].
type plan struct {
	device  *device
	kernel  *kernel
	variant *variant
	code    runner
	grid    interp.Launch
	units   int
	steady  *spmd.Variant    // the code, if the launch has few units with steady times; else nil
	made    int              // the number of calls of set
	labels  []string         // labels of the arguments
	pos     offload.Position // position of the launch for which the plan was made
}

// Prepare implements [offload.Preparer]. It returns nil for launches with checks of races, and for native kernels. If
// the parameter again is an earlier result, Prepare overwrites it and returns it.
func (d *device) Prepare(o *offload.Launch, again offload.Prepared) (offload.Prepared, error) {
	if o.Checks == offload.ChecksRaces {
		return nil, nil // the interpreter tells launches apart by their preparation
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

// clear drops references, so that the plan keeps no memory alive.
func (pl *plan) clear() {
	clear(pl.grid.Args)
	clear(pl.labels)
	pl.grid.Services, pl.grid.Prompt, pl.grid.Stop = nil, false, nil
	pl.kernel, pl.variant, pl.code, pl.steady = nil, nil, nil, nil
}

// copy makes pl a copy of o with its own lists of arguments and labels, which reuse pl's memory.
func (pl *plan) copy(o *plan) {
	args, labels := append(pl.grid.Args[:0], o.grid.Args...), append(pl.labels[:0], o.labels...)
	*pl = *o
	pl.grid.Args, pl.labels = args, labels
}

// set checks the launch, chooses its code and prepares its arguments.
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

// setGrid checks and sets the sizes of launch and group. A group of size 0 on all axes gets the default size.
func (pl *plan) setGrid(o *offload.Launch) error {
	if err := queue.CheckGrid(o, &pl.device.info.Limits); err != nil {
		return err.On(pl.device.id, pl.kernel.info.Name)
	}
	pl.grid.Size, pl.grid.GroupSize = o.Size, o.GroupSize
	if o.GroupSize == [3]int{} {
		pl.grid.GroupSize = offload.DefaultGroupSize(o.Size)
	}
	return nil
}

// setArgs checks and sets the arguments.
func (pl *plan) setArgs(args []offload.Arg) error {
	list, err := portable.BindAll(pl.grid.Args[:0], pl.kernel.info.Params, args, pl.device.Bytes)
	if err != nil {
		err.Pos = pl.pos
		return err.On(pl.device.id, pl.kernel.info.Name)
	}
	pl.grid.Args, pl.labels = list, pl.labels[:0]
	for i := range args {
		pl.labels = append(pl.labels, args[i].Label)
	}
	return nil
}
