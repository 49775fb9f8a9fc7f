// Package heap attributes the objects of the heap to owners, such as the engines of a process, by marks in the heap profile.
//
// # Design
//
// Go accounts memory to the process. Its heap profile samples allocations with their stacks, and knows which samples are still
// in use. [Owner.Run] therefore calls functions whose names in the stack spell the owner's number.
//
// A profile costs a garbage collection and milliseconds. Engines check their share on the goroutine of the script, too, which
// therefore waits for the profile. It is taken only if the heap, or its growth since the last profile, could exceed a limit.
// Profiles take at most a fifth of the time, unless the heap has doubled. A heap that has grown by more than 1 GiB since,
// and takes half of the memory, is not divided: every owner exceeds a limit below an eighth of the growth. Objects made at
// stacks deeper than the profile keeps count for every owner.
package heap

import (
	"bytes"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Owner is a part of the program whose share of the heap is of interest.
type Owner struct {
	id    atomic.Uint32 // 0: the whole heap counts
	room  func() uint64
	since atomic.Uint64 // bytes that Exceeds was told of since the last division
}

// numbers are the owners' numbers. A released one is reused last, since its objects may still be in use.
var numbers struct {
	sync.Mutex
	made uint32
	free []uint32
}

// most is the maximum number of owners that are told apart.
const most = 1<<(3*digitCount) - 1

// NewOwner returns a new owner. room returns the maximum number of bytes that the heap may take. Beside 4095 other owners, the
// whole heap counts as the new one's.
func NewOwner(room func() uint64) *Owner {
	o, n := &Owner{room: room}, &numbers
	n.Lock()
	defer n.Unlock()
	switch {
	case n.made < most:
		n.made++
		o.id.Store(n.made)
	case len(n.free) > 0:
		o.id.Store(n.free[0])
		n.free = n.free[1:]
	}
	return o
}

// Release ends the use of the owner, which may be nil.
func (o *Owner) Release() {
	if o == nil {
		return
	}
	if id := o.id.Swap(0); id != 0 {
		numbers.Lock()
		defer numbers.Unlock()
		numbers.free = append(numbers.free, id)
	}
}

// Run calls fn, whose allocations on this goroutine count as the owner's. The owner may be nil.
func (o *Owner) Run(fn func()) {
	if o == nil {
		fn()
		return
	}
	if id := o.id.Load(); id == 0 {
		fn()
	} else {
		digits[id&7](id>>3, digitCount-1, fn)
	}
}

// Exceeds reports whether the bytes that the owner has in use, and more bytes that it is about to allocate, together exceed a
// limit. used is about what the owner has in use. It is the whole heap if that does not exceed the limit, or if the owner has no
// number of its own. Exceeds may collect garbage.
func (o *Owner) Exceeds(limit, more uint64) (used uint64, yes bool) {
	total := inUse()
	if more <= limit && total <= limit-more {
		return total, false
	}
	if o.id.Load() == 0 || runtime.MemProfileRate == 0 {
		runtime.GC()
		used = inUse()
		return used, more > limit || used > limit-more
	}
	if s := latest.Load(); s != nil {
		grown := total - min(total, s.live)
		used = s.of(o) + grown
		if grown > max(8*limit, runaway) && total > o.room()/2 {
			return used, true
		}
		if more <= limit && used <= limit-more {
			return used, false
		}
		used = s.of(o)
		if told := o.since.Add(more); s.isRecent() && total < 2*s.live+limit && told <= limit && used <= limit-told {
			return used, false
		}
	}
	o.since.Store(0)
	used = take().of(o)
	return used, more > limit || used > limit-more
}

// share is a division of the heap among owners, as of a garbage collection.
type share struct {
	live   uint64            // bytes of all objects
	own    map[uint32]uint64 // bytes by owner
	common uint64            // bytes of allocations whose stacks were too deep to tell
	end    time.Time
	took   time.Duration
}

// isRecent reports whether another division would make divisions take more than a fifth of the time.
func (s *share) isRecent() bool { return time.Since(s.end) < 4*s.took }

func (s *share) of(o *Owner) uint64 { return s.own[o.id.Load()] + s.common }

var (
	latest atomic.Pointer[share]
	taking sync.Mutex
	taken  atomic.Uint64 // number of divisions begun
)

// take divides the heap. Callers that wait for each other share a division that began after their call.
func take() *share {
	seen := taken.Load()
	taking.Lock()
	defer taking.Unlock()
	if taken.Load() >= seen+2 {
		return latest.Load()
	}
	taken.Add(1)
	start := time.Now()
	runtime.GC() // publishes the profile as of its end
	s := &share{live: metric("/gc/heap/live:bytes"), own: map[uint32]uint64{}}
	var text bytes.Buffer
	if err := pprof.Lookup("heap").WriteTo(&text, 0); err == nil {
		if list, err := samplesOf(&text); err == nil {
			s.divide(list)
		}
	}
	s.end = time.Now()
	s.took = s.end.Sub(start)
	latest.Store(s)
	return s
}

// divide adds the memory that each sample of a heap profile holds to that of its owner. Memory without an owner is common if
// its stack is cut off, and otherwise counts nowhere.
func (s *share) divide(list []sample) {
	for i := range list {
		held := list[i].held
		if held == 0 {
			continue
		}
		switch id, known := ownerOf(list[i].stack); {
		case id != 0:
			s.own[id] += held
		case !known:
			s.common += held
		}
	}
}

// deepest is the number of frames from which on a stack counts as cut off by the profile. The profile keeps 128 frames, less
// those of the allocator.
const deepest = 100

// ownerOf returns the number that the innermost digits of a stack spell, or 0. known is false if it spells none but is cut off.
func ownerOf(stack [][]string) (id uint32, known bool) {
	found, frames := 0, 0
	for _, names := range stack {
		frames += len(names)
		for _, name := range names {
			if digit, ok := strings.CutPrefix(name, digitPrefix); ok && len(digit) == 1 {
				id = id<<3 | uint32(digit[0]-'0')
				if found++; found == digitCount {
					return id, true
				}
			}
		}
	}
	return 0, frames < deepest
}

// runaway is a growth of the heap, in bytes, after which there may be no time for a division before memory runs out.
const runaway = 1 << 30

// inUse returns the bytes of heap objects, including garbage that is not yet collected.
func inUse() uint64 { return metric("/memory/classes/heap/objects:bytes") }

func metric(name string) uint64 {
	sample := [1]metrics.Sample{{Name: name}}
	metrics.Read(sample[:])
	return sample[0].Value.Uint64()
}
