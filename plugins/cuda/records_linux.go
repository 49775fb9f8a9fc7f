//go:build linux && (amd64 || arm64) && !nonative

package cuda

import (
	"unsafe"

	"github.com/orepl/orepl/runtime/offload"
)

// records implements [lowered.Records] in pinned memory that host and device access concurrently.
type records struct {
	pool   *pinnedPool
	memory *pinned
}

// newRecords returns records. The context is current.
func (d *device) newRecords(words int) (*records, error) {
	b, err := d.pinned.get(int64(4 * words))
	if err != nil {
		return nil, err
	}
	return &records{&d.pinned, b}, nil
}

func (r *records) Words() []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(r.memory.data))), len(r.memory.data)/4)
}

func (r *records) Fetch(int, int) *offload.Error { return nil }
func (r *records) Stoppable() bool               { return true }
func (r *records) Free()                         { r.pool.put(r.memory) }
