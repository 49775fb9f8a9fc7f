package lowered

import (
	"sync"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/plugins/portable"
	"github.com/orepl/orepl/runtime/offload"
)

const (
	leastWords = 1 << 10 // minimum number of words of records
	printWords = 1 << 20 // minimum number of words for a launch that prints, 4 MiB
	mostIdle   = 8       // maximum number of idle records of one size
)

// Records are the device's records of one launch at a time, in the format of [lower.Kernel.Read].
type Records interface {
	// Words returns the words that the host reads and writes.
	Words() []uint32
	// Fetch makes a range of words visible to the host after the launch ended.
	Fetch(from, to int) *offload.Error
	// Stoppable reports whether the kernel sees changes of the words while it runs.
	Stoppable() bool
	Free()
}

// Pool keeps records for reuse. Launches of different kernels share records of a size.
type Pool[R Records] struct {
	make func(words int) (R, error)
	mu   sync.Mutex
	idle map[int][]R // by number of words, a power of two
}

// NewPool returns a pool of records that newRecords allocates.
func NewPool[R Records](newRecords func(words int) (R, error)) *Pool[R] {
	return &Pool[R]{make: newRecords, idle: map[int][]R{}}
}

// Take returns initialized records for a launch of a kernel, with room for prints if prints is set.
func (p *Pool[R]) Take(k *lower.Kernel, prints bool) (r R, err error) {
	size := leastWords
	for size < k.PrintStart() {
		size *= 2
	}
	room := 0
	if prints {
		size = max(size, printWords)
		room = size - k.PrintStart()
	}
	p.mu.Lock()
	list := p.idle[size]
	reuse := len(list) > 0
	if reuse {
		r, p.idle[size] = list[len(list)-1], list[:len(list)-1]
	}
	p.mu.Unlock()
	if !reuse {
		if r, err = p.make(size); err != nil {
			return r, err
		}
	}
	words := r.Words()
	clear(words[:k.PrintStart()])
	words[lower.CapacityWord] = uint32(room)
	return r, nil
}

// Put keeps records for reuse, or frees them if mostIdle of their size are kept.
func (p *Pool[R]) Put(r R) {
	size := len(r.Words())
	p.mu.Lock()
	kept := len(p.idle[size]) < mostIdle
	if kept {
		p.idle[size] = append(p.idle[size], r)
	}
	p.mu.Unlock()
	if !kept {
		r.Free()
	}
}

// Free frees the idle records.
func (p *Pool[R]) Free() {
	for _, list := range p.idle {
		for _, r := range list {
			r.Free()
		}
	}
	p.idle = nil
}

// kinds maps names to kinds of faults.
var kinds = func() map[string]interp.FaultKind {
	m := map[string]interp.FaultKind{}
	for k := interp.OutOfBounds; k <= interp.Unwritten; k++ {
		m[k.String()] = k
	}
	return m
}()

// outcome delivers the prints of a launch of a lowered kernel, and returns its fault. Without a fault it returns an error if
// prints were lost. calls has the launch's calls of services, nil if the kernel calls none.
func (s *Launch) outcome(k *lower.Kernel, r Records, calls *lower.Calls) error {
	words := r.Words()
	words[lower.CapacityWord] = min(words[lower.CapacityWord], uint32(max(len(words)-k.PrintStart(), 0))) // the kernel may have written it
	if used := int(min(words[lower.CursorWord], words[lower.CapacityWord])); used > 0 {
		if err := r.Fetch(k.PrintStart(), k.PrintStart()+used); err != nil {
			return s.Located(err)
		}
	}
	fault, prints, lost := k.Read(words, lower.Geometry{Size: s.Size, GroupSize: s.Group})
	if s.Services != nil {
		for _, p := range prints {
			at, _ := portable.Position(s.Kernel.Module, k.Source, p.Site)
			s.Services.Print(&offload.Message{Device: s.device, Kernel: s.Info.Name, Item: p.Item, Pos: at, Text: p.Text})
		}
	}
	switch {
	case fault != nil:
		f := &interp.Fault{Kind: kinds[fault.Kind], Site: fault.Site, Array: fault.Array, Axis: fault.Axis, Item: fault.Item, Text: fault.Text}
		if fault.Array != nil && len(fault.Bits) >= 2 {
			f.Index, f.Extent = int64(fault.Bits[0]), int64(fault.Bits[1])
		}
		var cause error
		if calls != nil {
			cause = calls.Err(fault)
		}
		if cause != nil {
			f.Text = cause.Error()
		}
		out := portable.Fault(s.Kernel.Module, k.Source, f, s.Grid(), s.Labels)
		if code := offload.CodeOf(cause); code != "" {
			out.Code = code
		}
		e := s.Located(offload.Errorf(out.Code, "launch", ""))
		e.Fault, e.Err = out, cause
		return e
	case lost > 0:
		return s.Located(offload.Errorf(offload.OutOfResources, "launch", "%d prints did not fit in %d MiB", lost, 4*printWords>>20).
			WithHint("print from fewer work-items, or in several launches; the results of this launch are complete"))
	}
	return nil
}
