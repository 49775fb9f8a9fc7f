package interp

import (
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// races finds races by barrier epochs: two accesses to a byte, one of them a write and not both atomic, by different
// items, race if the items are of different groups, or if no barrier of the group lies between. What matters is which
// barriers lie between, not in which order the interpreter happens to run.
type races struct {
	w      *Worker
	launch int64 // serial of the launch that global is of
	epoch  int
	global map[uintptr]*history
	shared map[uintptr]*history
}

// visit is an access to a byte.
type visit struct {
	some         bool
	atomic       bool
	group, order int
	epoch        int
	site         int
	item         [3]int
}

// history is what races need to know of a byte: the last write, and the last reads of two items of the last group that
// read it and of one of another group. Any later write races with one of all reads only if it does with one of these.
type history struct {
	write, plainWrite           visit
	read, otherItem, otherGroup visit
	written                     bool
}

func newRaces(w *Worker) *races {
	return &races{w: w, global: map[uintptr]*history{}, shared: map[uintptr]*history{}}
}

// begin starts a group.
func (s *races) begin() {
	if serial := s.w.launch.serial; s.launch != serial {
		s.launch = serial
		clear(s.global)
	}
	clear(s.shared)
	s.epoch = 0
}

// access notes the accesses of lanes at f.addr from base on, and records a race as a fault that ends no item.
func (s *races) access(f *frame, a *access, lanes []uint8, base unsafe.Pointer) {
	var bytes map[uintptr]*history
	switch a.array.Space {
	case ir.Global:
		bytes = s.global
	case ir.Shared:
		bytes = s.shared
	default:
		return
	}
	size := uintptr(a.scalar.Size())
	for _, i := range lanes {
		order := f.row*width + int(i)
		v := visit{some: true, atomic: a.atomic, group: s.w.group, order: order, epoch: s.epoch, site: a.site,
			item: s.w.item(order)}
		from := uintptr(base) + uintptr(f.addr[i])
		for at := from; at < from+size; at++ {
			h := bytes[at]
			if h == nil {
				h = &history{}
				bytes[at] = h
			}
			if other := h.conflict(&v, a.writes); other != nil {
				if fault := f.fault(i, Race, a.site); fault != nil {
					fault.Array, fault.OtherSite, fault.OtherItem = a.array, other.site, other.item
				}
			}
			if !a.writes && a.array.Space == ir.Shared && !h.written {
				if fault := f.fault(i, Unwritten, a.site); fault != nil {
					fault.Array = a.array
				}
			}
			h.note(&v, a.writes)
		}
	}
}

// concurrent reports whether nothing orders the two.
func (v *visit) concurrent(u *visit) bool {
	if !v.some || v.atomic && u.atomic || v.group == u.group && v.order == u.order {
		return false
	}
	return v.group != u.group || v.epoch == u.epoch
}

// conflict finds an earlier access that races with v.
func (h *history) conflict(v *visit, writes bool) *visit {
	for _, u := range []*visit{&h.plainWrite, &h.write} {
		if u.concurrent(v) {
			return u
		}
	}
	if !writes {
		return nil
	}
	for _, u := range []*visit{&h.read, &h.otherItem, &h.otherGroup} {
		if u.concurrent(v) {
			return u
		}
	}
	return nil
}

func (h *history) note(v *visit, writes bool) {
	if writes {
		h.written = true
		if v.atomic {
			h.write = *v
		} else {
			h.plainWrite = *v
		}
		return
	}
	switch {
	case h.read.group != v.group:
		h.otherGroup, h.otherItem = h.read, visit{}
	case h.read.order != v.order:
		h.otherItem = h.read
	}
	h.read = *v
}
