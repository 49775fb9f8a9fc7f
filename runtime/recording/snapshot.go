package recording

import (
	"context"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// snapshot returns the contents of the memory of all buffers after the commands issued so far, by the number of
// [session.Buffer.Memory]. Errors: OutOfResources for more than [Limit] bytes; a failure of a queue, which it does not consume.
func snapshot(ctx context.Context, s *session.Session) (map[uint64][]byte, error) {
	all, total := map[uint64][]byte{}, int64(0)
	for _, d := range s.Opened() {
		list, bytes := d.Allocations(Limit)
		if total += bytes; total > Limit {
			return nil, offload.Errorf(offload.OutOfResources, "record", "the buffers of the devices have more than %d bytes, which a recording cannot keep", Limit).On(d.ID(), "").
				WithHint("free the buffers that are not needed")
		}
		if len(list) == 0 {
			continue
		}
		q, err := d.Queue()
		if err != nil {
			return nil, err
		}
		for _, b := range list {
			if err := q.WaitForSpace(ctx); err != nil {
				return nil, err
			}
			id, _, size, _ := b.Memory()
			data := make([]byte, size)
			switch err := q.Read(data, b, 0); {
			case err == nil:
				all[id] = data
			case offload.CodeOf(err) != offload.Closed: // freed meanwhile
				return nil, err
			}
		}
		if err := q.Settle(ctx); err != nil {
			return nil, err
		}
		if err := q.Failure(); err != nil {
			return nil, err
		}
	}
	return all, nil
}
