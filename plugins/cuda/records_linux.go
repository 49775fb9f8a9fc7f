//go:build linux && (amd64 || arm64)

package cuda

import (
	"sync/atomic"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/plugins/portable"
	"github.com/orepl/orepl/runtime/offload"
)

// printWords is the number of words of records of a launch that prints, 4 MiB.
const printWords = 1 << 20

// records are the records of one launch at a time, in memory that host and device access concurrently.
type records struct {
	memory *pinned
	words  []uint32
}

// stop requests that the running launch ends.
func (r *records) stop() { atomic.StoreUint32(&r.words[lower.StopWord], 1) }

// take returns initialized records for a launch of a kernel. The context is current.
func (l *lane) take(k *lower.Kernel, prints bool) (*records, error) {
	class := 1024
	for class < k.PrintStart() {
		class *= 2
	}
	room := 0
	if prints {
		class = max(class, printWords)
		room = class - k.PrintStart()
	}
	l.mu.Lock()
	var r *records
	if list := l.idle[class]; len(list) > 0 {
		r = list[len(list)-1]
		l.idle[class] = list[:len(list)-1]
	}
	l.mu.Unlock()
	if r == nil {
		b, err := l.device.pinned.get(int64(4 * class))
		if err != nil {
			return nil, err
		}
		r = &records{b, unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(b.data))), class)}
	}
	clear(r.words[:k.PrintStart()])
	r.words[lower.CapacityWord] = uint32(room)
	return r, nil
}

// put keeps records for reuse.
func (l *lane) put(r *records) {
	l.mu.Lock()
	l.idle[len(r.words)] = append(l.idle[len(r.words)], r)
	l.mu.Unlock()
}

// kinds maps names to kinds of faults.
var kinds = func() map[string]interp.FaultKind {
	m := map[string]interp.FaultKind{}
	for k := interp.OutOfBounds; k <= interp.Unwritten; k++ {
		m[k.String()] = k
	}
	return m
}()

// outcome decodes the records of a launch and delivers its prints. It returns the launch's fault.
func (s *launch) outcome(r *records) error {
	k := s.lowered
	fault, prints, lost := k.Read(r.words, lower.Geometry{Size: s.size, GroupSize: s.group})
	if s.services != nil {
		for _, p := range prints {
			at, _ := portable.Position(s.kernel.module, k.Source, p.Site)
			s.services.Print(&offload.Message{Device: s.device.id, Kernel: s.kernel.info.Name, Item: p.Item, Pos: at, Text: p.Text})
		}
	}
	switch {
	case fault != nil:
		f := &interp.Fault{Kind: kinds[fault.Kind], Site: fault.Site, Array: fault.Array, Axis: fault.Axis, Item: fault.Item, Text: fault.Text}
		if fault.Array != nil && len(fault.Bits) >= 2 {
			f.Index, f.Extent = int64(fault.Bits[0]), int64(fault.Bits[1])
		}
		cause := s.calls.Err(fault)
		if cause != nil {
			f.Text = cause.Error()
		}
		grid := &interp.Launch{Size: s.size, GroupSize: s.group, Args: s.dims}
		out := portable.Fault(s.kernel.module, k.Source, f, grid, s.labels)
		if code := offload.CodeOf(cause); code != "" {
			out.Code = code
		}
		e := s.located(offload.Errorf(out.Code, "launch", "%s", out))
		e.Fault, e.Err = out, cause
		return e
	case lost > 0:
		return s.located(offload.Errorf(offload.OutOfResources, "launch", "%d prints did not fit in %d MiB", lost, 4*printWords>>20).
			WithHint("print from fewer work-items, or in several launches; the results of this launch are complete"))
	}
	return nil
}
