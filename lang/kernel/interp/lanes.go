package interp

import (
	"math/bits"
	"unsafe"
)

// width is the number of lanes of a row. A lane's number is a uint8 and a register an array of width elements, so that
// the loops over lanes need no bounds checks.
const width = 256

// set is a set of lanes of one row.
type set [width / 64]uint64

func (s *set) add(lane uint8) { s[lane>>6] |= 1 << (lane & 63) }

func (s *set) has(lane uint8) bool { return s[lane>>6]>>(lane&63)&1 != 0 }

func (s *set) union(t *set) {
	for i := range s {
		s[i] |= t[i]
	}
}

func (s *set) remove(t *set) {
	for i := range s {
		s[i] &^= t[i]
	}
}

// identity lists all lanes in order.
var identity = func() (l [width]uint8) {
	for i := range l {
		l[i] = uint8(i)
	}
	return l
}()

// row is the active lanes of one row, as a set and as a list.
type row struct {
	set   set
	lanes []uint8 // ascending; shared by rows that have the same lanes, so never changed in place
	buf   [width]uint8
}

// first makes lanes 0 to n−1 active.
func (r *row) first(n int) {
	for i := range r.set {
		k := min(max(n-64*i, 0), 64)
		r.set[i] = ^uint64(0) >> (64 - k)
	}
	r.lanes = identity[:n]
}

// keep makes the lanes of s active; unlike assign it takes the list to be valid, and so is cheap if nothing changes.
func (r *row) keep(s *set) {
	if *s != r.set {
		r.assign(s)
	}
}

// assign makes the lanes of s active.
func (r *row) assign(s *set) {
	r.set = *s
	n := 0
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			r.buf[n] = uint8(64*i + bits.TrailingZeros64(w))
			n++
		}
	}
	r.lanes = r.buf[:n]
}

// share makes the lanes of from active. from must not change while r is in use.
func (r *row) share(from *row) {
	r.set = from.set
	r.lanes = from.lanes
}

func (r *row) clear() {
	r.set = set{}
	r.lanes = nil
}

// mask is the active lanes of a block of items: a row for each 256 of them.
type mask []row

func (m mask) empty() bool {
	for i := range m {
		if len(m[i].lanes) != 0 {
			return false
		}
	}
	return true
}

func (m mask) clear() {
	for i := range m {
		m[i].clear()
	}
}

func (m mask) keep(s []set) {
	for i := range m {
		m[i].keep(&s[i])
	}
}

// collect adds the active lanes to s.
func (m mask) collect(s []set) {
	for i := range m {
		s[i].union(&m[i].set)
	}
}

// frame holds the registers of one row of a block and what its current step needs.
type frame struct {
	w    *Worker
	row  int
	regs []uint64
	addr [width]uint64 // offsets of the current access in its array
	bad  set           // lanes that faulted in the current step
	left bool          // bad is not empty
	some [width]uint8  // the lanes of the current access that did not fault
}

// leave takes a lane out after the current step.
func (f *frame) leave(lane uint8) {
	f.bad.add(lane)
	f.left = true
}

// drop takes the lanes that left out of the row.
func (f *frame) drop(r *row) {
	s := r.set
	s.remove(&f.bad)
	r.keep(&s)
	f.bad, f.left = set{}, false
}

// remaining lists the lanes that did not leave in the current step.
func (f *frame) remaining(lanes []uint8) []uint8 {
	n := 0
	for _, i := range lanes {
		if !f.bad.has(i) {
			f.some[n] = i
			n++
		}
	}
	return f.some[:n]
}

// at returns the register at an offset, in words.
func at[T any](f *frame, reg int) *[width]T { return (*[width]T)(unsafe.Pointer(&f.regs[reg])) }

// step is one instruction: it runs it for the lanes of one row.
type step func(f *frame, lanes []uint8)
