package queue

import (
	"math"
	"math/bits"

	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/runtime/offload"
)

// CheckGrid returns an error if the size of a launch is not valid, or its group size is not valid or exceeds the device's
// limits. It accepts a group size of 0 on all axes, and does not check the number of groups.
func CheckGrid(l *offload.Launch, limits *offload.Limits) *offload.Error {
	refuse := func(format string, args ...any) *offload.Error {
		err := offload.Errorf(offload.InvalidSize, "launch", format, args...).On("", l.Kernel.Info().Name)
		err.Pos = l.Pos
		return err
	}
	for axis, n := range l.Size {
		if n < 0 || n > math.MaxInt32 {
			return refuse("size %d on axis %c is not in 0 to %d", n, "xyz"[axis], math.MaxInt32)
		}
	}
	if hi, items := bits.Mul64(uint64(l.Size[0])*uint64(l.Size[1]), uint64(l.Size[2])); hi != 0 || items > math.MaxInt64 {
		return refuse("size %v is over 2^63 work-items", l.Size)
	}
	if l.GroupSize == [3]int{} {
		return nil
	}
	items := 1
	for axis, n := range l.GroupSize {
		if n < 1 || n > limits.GroupSize[axis] {
			return refuse("group size %d on axis %c is not in 1 to %d", n, "xyz"[axis], limits.GroupSize[axis])
		}
		items *= n
	}
	if items > limits.GroupItems {
		return refuse("a group of %v has %d work-items; the device has at most %d", l.GroupSize, items, limits.GroupItems)
	}
	return nil
}

// CheckLaunch checks a launch against the kernel's info and the device's limits, for [LaneLaunch.Set]. A lane's own refusal
// would follow only after Launch has returned. CheckLaunch does not check that the device can access the memory, nor the arguments of a
// kernel whose parameters are unknown.
func CheckLaunch(l *offload.Launch, limits *offload.Limits) error {
	info := l.Kernel.Info()
	refuse := func(code offload.Code, format string, args ...any) error {
		err := offload.Errorf(code, "launch", format, args...).On("", info.Name)
		err.Pos = l.Pos
		return err
	}
	if err := CheckGrid(l, limits); err != nil {
		return err
	}
	if l.Checks > offload.ChecksRaces {
		return refuse(offload.InvalidArgument, "there is no check mode %d", l.Checks)
	}
	if info.Params == nil {
		return nil
	}
	if len(l.Args) != len(info.Params) {
		return refuse(offload.InvalidArgument, "the kernel takes %s, not %d", spelling.Count(len(info.Params), "argument"), len(l.Args))
	}
	for i := range l.Args {
		size := int64(0)
		if m := l.Args[i].Memory; m != nil {
			size = m.Size()
		}
		if err := info.Params[i].Check(&l.Args[i], size); err != nil {
			err.Pos = l.Pos
			return err.On("", info.Name)
		}
	}
	return nil
}

// CheckMemory returns the error of an access of a device to memory, or nil if the access is allowed. own says whether the
// memory is the device's or of another device with which it can exchange. freed says whether it was freed.
func CheckMemory(own, freed bool) *offload.Error {
	switch {
	case !own:
		return offload.Errorf(offload.InvalidDevice, "access", "the memory is of another device").
			WithHint("copy it through the host, or exchange it where the devices can")
	case freed:
		return offload.Errorf(offload.Closed, "access", "the memory was freed")
	}
	return nil
}
