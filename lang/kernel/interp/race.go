package interp

import (
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// races detects races by barrier epochs. Two accesses to a byte by different items conflict if one of them is a write and not
// both are atomic. They race if the items are in different groups, or if no barrier of the group separates them. The order in
// which the interpreter runs items does not matter.
type races struct {
	w      *Worker
	launch int64 // serial number of the launch to which global belongs
	epoch  int32 // starts at 1
	global map[uintptr]*history
	shared map[uintptr]*history
}

// visit is an access to a byte; epoch 0 means none. Every byte has several, so the type is small.
type visit struct {
	item  int // index in the launch
	group int
	epoch int32
	site  int32
}

// concurrent reports whether two accesses are unordered: they are of different items, and no barrier of a common group lies
// between.
func (v *visit) concurrent(u *visit) bool {
	return v.epoch != 0 && v.item != u.item && (v.group != u.group || v.epoch == u.epoch)
}

// visits holds the accesses of one kind that suffice to detect races on a byte. They are the last accesses of two items of the
// most recent group, and the last one of another group. A later access races with any earlier one only if it races with one of
// these.
type visits struct{ last, otherItem, otherGroup visit }

func (l *visits) add(v *visit) {
	switch {
	case l.last.group != v.group:
		l.otherGroup, l.otherItem = l.last, visit{}
	case l.last.item != v.item:
		l.otherItem = l.last
	}
	l.last = *v
}

// conflict returns an access that is concurrent with v, or nil.
func (l *visits) conflict(v *visit) *visit {
	for _, u := range []*visit{&l.last, &l.otherItem, &l.otherGroup} {
		if u.concurrent(v) {
			return u
		}
	}
	return nil
}

// history holds the accesses of a byte for race detection. Plain writes are ordered unless they race, so the last one suffices.
// Atomic accesses do not race with each other and may be concurrent.
type history struct {
	write   visit
	reads   visits
	atomics *atomics // nil if there are none
}

// atomics holds the atomic accesses to a byte.
type atomics struct{ writes, reads visits }

// conflict returns an earlier access that races with v, or nil.
func (h *history) conflict(v *visit, a *access) *visit {
	if h.write.concurrent(v) {
		return &h.write
	}
	if a.writes {
		if u := h.reads.conflict(v); u != nil {
			return u
		}
	}
	if h.atomics == nil || a.atomic {
		return nil
	}
	if u := h.atomics.writes.conflict(v); u != nil || !a.writes {
		return u
	}
	return h.atomics.reads.conflict(v)
}

func (h *history) note(v *visit, a *access) {
	if a.atomic && h.atomics == nil {
		h.atomics = &atomics{}
	}
	switch {
	case a.atomic && a.writes:
		h.atomics.writes.add(v)
	case a.atomic:
		h.atomics.reads.add(v)
	case a.writes:
		h.write = *v
	default:
		h.reads.add(v)
	}
}

// written reports whether the byte was written, also by an atomic operation.
func (h *history) written() bool {
	return h.write.epoch != 0 || h.atomics != nil && h.atomics.writes.last.epoch != 0
}

func newRaces(w *Worker) *races {
	return &races{w: w, global: map[uintptr]*history{}, shared: map[uintptr]*history{}}
}

// begin starts a group with epoch 1 and without accesses to shared memory. In the first group of a launch it also forgets the
// accesses to buffers.
func (s *races) begin() {
	if serial := s.w.launch.serial; s.launch != serial {
		s.launch = serial
		clear(s.global)
	}
	clear(s.shared)
	s.epoch = 1
}

// access records the accesses of lanes at base plus f.addr. It reports races and reads of unwritten shared memory as faults, which
// end no item.
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
	l := s.w.launch
	for _, i := range lanes {
		at := s.w.item(f.row*width + int(i))
		v := visit{item: at[0] + l.Size[0]*(at[1]+l.Size[1]*at[2]), group: s.w.group, epoch: s.epoch, site: int32(a.site)}
		from := uintptr(base) + uintptr(f.addr[i])
		for p := from; p < from+size; p++ {
			h := bytes[p]
			if h == nil {
				h = &history{}
				bytes[p] = h
			}
			if other := h.conflict(&v, a); other != nil {
				if fault := f.fault(i, Race, a.site); fault != nil {
					n := other.item
					fault.Array, fault.OtherSite = a.array, int(other.site)
					fault.SameGroup = s.w.program.observes && other.group == v.group
					fault.OtherItem = [3]int{n % l.Size[0], n / l.Size[0] % l.Size[1], n / l.Size[0] / l.Size[1]}
				}
			}
			if !a.writes && a.array.Space == ir.Shared && !a.zeros && !h.written() {
				if fault := f.fault(i, Unwritten, a.site); fault != nil {
					fault.Array = a.array
				}
			}
			h.note(&v, a)
		}
	}
}
