package interp

import (
	"math/bits"
	"unsafe"
)

// width is the number of lanes of a row. Lane numbers are uint8 and registers arrays of width elements, so loops over lanes
// need no bounds checks.
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

// row holds the active lanes of one row, as a set and as a list.
type row struct {
	set   set
	lanes []uint8 // ascending; other rows may share the slice, see share
	buf   [width]uint8
}

// first activates lanes 0 to n−1 and no others.
func (r *row) first(n int) {
	for i := range r.set {
		k := min(max(n-64*i, 0), 64)
		r.set[i] = ^uint64(0) >> (64 - k)
	}
	r.lanes = identity[:n]
}

// keep activates the lanes of s; it does nothing if they already are the active ones.
func (r *row) keep(s *set) {
	if *s != r.set {
		r.assign(s)
	}
}

// assign activates the lanes of s and no others.
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

// share activates the lanes of from, which must not change while r is in use.
func (r *row) share(from *row) {
	r.set = from.set
	r.lanes = from.lanes
}

func (r *row) clear() {
	r.set = set{}
	r.lanes = nil
}

// mask holds the active lanes of a block of items: a row per 256 items.
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

// frame holds the registers of one row of a block and the state of the current step.
type frame struct {
	w    *Worker
	row  int
	regs []uint64
	addr [width]uint64 // byte offsets of the current access in its array
	bad  set           // lanes that [frame.leave] has marked in the current step
	left bool          // bad is not empty
	some [width]uint8  // lanes of the current access that did not fault
}

// leave marks a lane to be removed after the current step.
func (f *frame) leave(lane uint8) {
	f.bad.add(lane)
	f.left = true
}

// drop removes the marked lanes from the row.
func (f *frame) drop(r *row) {
	s := r.set
	s.remove(&f.bad)
	r.keep(&s)
	f.bad, f.left = set{}, false
}

// remaining returns the lanes that are not marked, in f.some, which the next call overwrites.
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

// at returns the register at a word offset.
func at[T any](f *frame, reg int) *[width]T { return (*[width]T)(unsafe.Pointer(&f.regs[reg])) }

// step executes one instruction for some lanes of a row.
type step func(f *frame, lanes []uint8)
