package session

import (
	"errors"

	"github.com/orepl/orepl/runtime/offload"
)

// Occupancy describes how groups of a size, each with shared bytes of memory beyond the kernel's own, share the device. A nil groupSize
// means the suggested size. Occupancy may compile the kernel. Errors: InvalidSize and InvalidArgument as for a launch; Unsupported if
// the device's plugin cannot tell.
func (k *Kernel) Occupancy(groupSize []int, shared int) (offload.Occupancy, error) {
	c := k.Unbound()
	if err := c.setGroupSize(groupSize); err != nil {
		return offload.Occupancy{}, asked(err)
	}
	if err := c.checkShared(Config{SharedBytes: shared}); err != nil {
		return offload.Occupancy{}, asked(err)
	}
	o, ok := k.program.raw.(offload.Occupied)
	if !ok {
		return offload.Occupancy{}, offload.Errorf(offload.Unsupported, occupancyOp, "the device does not tell how groups of this kernel share it").On(k.device.id, k.name)
	}
	items := 0
	if groupSize != nil {
		n := c.launch.GroupSize
		items = n[0] * n[1] * n[2]
	}
	facts, err := o.Occupancy(k.raw, items, shared)
	return facts, located(err, k.device.id, k.name)
}

const occupancyOp = "occupancy"

// asked returns the error of a launch's check as one of Occupancy.
func asked(err error) error {
	var e *offload.Error
	if errors.As(err, &e) {
		with := *e
		with.Op = occupancyOp
		return &with
	}
	return err
}
