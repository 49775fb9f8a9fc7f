package buffers

import (
	"math"
	"runtime"
	"weak"

	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/runtime/memory"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Allocate allocates a buffer within the engine's limits.
func (m *Module) Allocate(d *session.Device, opts session.BufferOptions) (*session.Buffer, error) {
	opts.Context, opts.Owner, opts.RunAhead = m.Engine.Running(), m.queues.Owner(), m.queues.MayNeedScript()
	limit := m.Engine.Options().Limits.DeviceMemory
	if limit == 0 {
		return d.NewBuffer(opts)
	}
	want := uint64(max(opts.Elem, 0))
	for _, n := range opts.Dims {
		if n > 0 && want > math.MaxUint64/uint64(n) {
			want = math.MaxUint64
			break
		}
		want *= uint64(max(n, 0))
	}
	used := m.allocatedBytes()
	if want > limit || used+want > limit {
		runtime.GC() // collection frees unreachable buffers
		used = m.allocatedBytes()
	}
	if want > limit || used+want > limit {
		return nil, contract.Errorf(contract.OutOfResources, "create buffer", "%d bytes beside %d in use exceed the limit of %d bytes of device memory", want, used, limit).
			On(d.ID(), opts.Label).WithHint("free buffers that are done with, or raise the limit of device memory")
	}
	b, err := d.NewBuffer(opts)
	if err == nil {
		m.allocated = append(m.allocated, weak.Make(b))
	}
	return b, err
}

// allocatedBytes returns the total size of live buffers and drops the others from the list.
func (m *Module) allocatedBytes() uint64 {
	total := uint64(0)
	live := m.allocated[:0]
	for _, w := range m.allocated {
		if b := w.Value(); b != nil && !b.Freed() {
			total += uint64(b.Size())
			live = append(live, w)
		}
	}
	m.allocated = live
	return total
}

const (
	largeRead     = 64 << 20 // size in bytes from which free memory of the machine is checked
	objectBytes   = 600      // approximate bytes of a script object
	propertyBytes = 100      // approximate bytes of each property
)

// HostMemory allocates memory for elements within the limits of the engine and the machine. It checks in advance, because Go
// terminates a process that runs out of memory.
func (m *Module) HostMemory(b *session.Buffer, t element.Type, count int64) ([]byte, error) {
	need := count * int64(t.Size())
	if r := t.Elem.Record; r != nil {
		need += count * int64(objectBytes+propertyBytes*len(r.Fields))
	}
	most, of := int64(math.MaxInt64), ""
	if limit := m.Engine.Options().Limits.Memory; limit > 0 {
		most, of = int64(min(limit, math.MaxInt64)), "the script's limit allows"
	}
	if need >= largeRead {
		if n := memory.Available() / 2; n < most { // the other half is for the script and other processes
			most, of = n, "half of what the machine has left is"
		}
	}
	if need > most {
		return nil, contract.Errorf(contract.OutOfResources, "read", "%d elements need %d bytes of the host; %s %d", count, need, of, most).
			On(b.Device().ID(), b.Label()).WithHint("read it in parts: read(start, count)")
	}
	return make([]byte, count*int64(t.Size())), nil
}
