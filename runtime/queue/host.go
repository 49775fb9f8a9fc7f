package queue

import (
	"slices"
	"unsafe"
)

// hostRange is host memory of a command in flight.
type hostRange struct {
	number uint64
	lo, hi uintptr // address of the first byte, and the one after the last
	write  bool    // the command writes the memory
}

// hostOf returns the host memory of a copy. ok is false for commands that access none.
func hostOf(c *Command) (r hostRange, ok bool) {
	if c.Kind != CopyBytes && c.Kind != CopyBox {
		return r, false
	}
	host := c.Src.Host
	if c.Dst.Memory == nil {
		host, r.write = c.Dst.Host, true
	}
	r.lo = uintptr(unsafe.Pointer(unsafe.SliceData(host)))
	r.hi = r.lo + uintptr(len(host))
	return r, len(host) > 0
}

// hostInUse reports whether a copy shares host memory with a command in flight, and one of them writes it. The holder of the
// role calls it.
func (f *flight) hostInUse(c *Command) bool {
	r, ok := hostOf(c)
	return ok && slices.ContainsFunc(f.host, func(o hostRange) bool {
		return (r.write || o.write) && r.lo < o.hi && o.lo < r.hi
	})
}

// useHost records the host memory of command n, which begins.
func (f *flight) useHost(c *Command, n uint64) {
	if r, ok := hostOf(c); ok {
		r.number = n
		f.host = append(f.host, r)
	}
}

// releaseHost drops the host memory of the commands up to n, which have finished.
func (f *flight) releaseHost(n uint64) {
	ended := 0
	for ended < len(f.host) && f.host[ended].number <= n {
		ended++
	}
	if ended > 0 {
		f.host = slices.Delete(f.host, 0, ended)
	}
}
