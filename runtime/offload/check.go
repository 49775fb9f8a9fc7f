package offload

import "math"

// Check returns an error if an argument does not match the parameter. size is the number of bytes of the argument's memory, if
// it has memory.
func (p *Param) Check(a *Arg, size int64) *Error {
	refuse := func(code Code, format string, args ...any) *Error {
		return Errorf(code, "launch", "parameter %s"+format, append([]any{p.Name}, args...)...)
	}
	switch {
	case p.Aggregate():
		if a.Memory != nil || len(a.Data) != p.Elem {
			return refuse(InvalidArgument, " is a struct of %d bytes, and the argument has %d", p.Elem, len(a.Data))
		}
	case !p.Buffer && a.Memory != nil:
		return refuse(InvalidArgument, " is a scalar of type %v, and the argument a buffer", p.Type)
	case !p.Buffer && a.Type != p.Type:
		return refuse(InvalidArgument, " has type %v, and the argument type %v", p.Type, a.Type)
	case !p.Buffer:
	case a.Memory == nil:
		return refuse(InvalidArgument, " is a buffer, and the argument none")
	case p.Rank > 0 && a.Type != p.Type:
		return refuse(InvalidArgument, " is a buffer of %v, and the argument one of %v", p.Type, a.Type)
	case a.Offset < 0 || a.Offset > size:
		return refuse(InvalidSize, ": offset %d leaves the memory of %d bytes", a.Offset, size)
	default:
		if need, ok := p.Bytes(a); !ok || need > size-a.Offset {
			return refuse(InvalidSize, ": extents %v of %d bytes at offset %d leave the %d bytes of memory", a.Dims[:p.Rank], p.Elem, a.Offset, size)
		}
	}
	return nil
}

// Bytes returns the number of bytes of a buffer argument's elements, computed from its extents. It is 0 for a parameter of rank 0,
// whose buffers have no extents. ok is false for extents that are negative or too large.
func (p *Param) Bytes(a *Arg) (n int64, ok bool) {
	if p.Rank == 0 {
		return 0, true
	}
	if p.Rank < 0 || p.Rank > len(a.Dims) {
		return 0, false
	}
	n, ok = int64(p.Elem), true
	for _, extent := range a.Dims[:p.Rank] {
		if extent < 0 {
			return 0, false
		}
		ok = ok && (extent == 0 || n <= math.MaxInt64/int64(extent))
		n *= int64(extent)
	}
	return n, ok
}
