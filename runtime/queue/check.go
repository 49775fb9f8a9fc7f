package queue

import (
	"math"
	"math/bits"

	"github.com/orepl/orepl/runtime/offload"
)

// CheckLaunch checks a launch against the kernel's info and the device's limits, for [LaneLaunch.Set]: a lane could refuse it
// only after Launch has returned. It does not check that the device can access the memory.
func CheckLaunch(l *offload.Launch, limits *offload.Limits) error {
	info := l.Kernel.Info()
	refuse := func(code offload.Code, format string, args ...any) error {
		err := offload.Errorf(code, "launch", format, args...).On("", info.Name)
		err.Pos = l.Pos
		return err
	}
	for axis, n := range l.Size {
		if n < 0 || n > math.MaxInt32 {
			return refuse(offload.InvalidSize, "size %d on axis %c is not in 0 to %d", n, "xyz"[axis], math.MaxInt32)
		}
	}
	if hi, items := bits.Mul64(uint64(l.Size[0])*uint64(l.Size[1]), uint64(l.Size[2])); hi != 0 || items > math.MaxInt64 {
		return refuse(offload.InvalidSize, "size %v is over 2^63 work-items", l.Size)
	}
	if l.GroupSize != [3]int{} {
		items := 1
		for axis, n := range l.GroupSize {
			if n < 1 || n > limits.GroupSize[axis] {
				return refuse(offload.InvalidSize, "group size %d on axis %c is not in 1 to %d", n, "xyz"[axis], limits.GroupSize[axis])
			}
			items *= n
		}
		if items > limits.GroupItems {
			return refuse(offload.InvalidSize, "a group of %v has %d work-items; the device has at most %d", l.GroupSize, items, limits.GroupItems)
		}
	}
	if l.Checks > offload.ChecksRaces {
		return refuse(offload.InvalidArgument, "there is no check mode %d", l.Checks)
	}
	if info.Params == nil {
		return nil
	}
	if len(l.Args) != len(info.Params) {
		return refuse(offload.InvalidArgument, "the kernel takes %d arguments and got %d", len(info.Params), len(l.Args))
	}
	for i := range l.Args {
		p, a := &info.Params[i], &l.Args[i]
		switch {
		case p.Aggregate():
			if a.Memory != nil || len(a.Data) != p.Elem {
				return refuse(offload.InvalidArgument, "parameter %s is a struct of %d bytes, and the argument has %d", p.Name, p.Elem, len(a.Data))
			}
		case !p.Buffer && a.Memory != nil:
			return refuse(offload.InvalidArgument, "parameter %s is a scalar of type %v, and the argument a buffer", p.Name, p.Type)
		case p.Buffer && a.Memory == nil:
			return refuse(offload.InvalidArgument, "parameter %s is a buffer, and the argument none", p.Name)
		case a.Type != p.Type && (!p.Buffer || p.Rank > 0):
			return refuse(offload.InvalidArgument, "parameter %s has type %v, and the argument type %v", p.Name, p.Type, a.Type)
		case p.Buffer:
			if !fits(a, p) {
				return refuse(offload.InvalidSize, "parameter %s: extents %v of %d bytes at offset %d leave the %d bytes of memory", p.Name,
					a.Dims[:p.Rank], p.Elem, a.Offset, a.Memory.Size())
			}
		}
	}
	return nil
}

// fits reports whether an argument's extents are within its memory. A buffer of rank 0 has no extents.
func fits(a *offload.Arg, p *offload.Param) bool {
	size := a.Memory.Size()
	if a.Offset < 0 || a.Offset > size || p.Rank < 0 || p.Rank > len(a.Dims) {
		return false
	}
	if p.Rank == 0 {
		return true
	}
	need := int64(p.Elem)
	for _, n := range a.Dims[:p.Rank] {
		if n < 0 || n > 0 && need > math.MaxInt64/int64(n) {
			return false
		}
		need *= int64(n)
	}
	return need <= size-a.Offset
}
