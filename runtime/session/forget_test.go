package session_test

import (
	"testing"

	"github.com/orepl/orepl/runtime/session"
)

// TestFreeSkipsTheFill checks that freeing a buffer skips its pending zero fill, unless a command has used the buffer since.
func TestFreeSkipsTheFill(t *testing.T) {
	for _, test := range []struct {
		name   string
		use    func(q, other *session.Queue, b, target *session.Buffer) error
		filled int64
	}{
		{"unused", func(q, other *session.Queue, b, target *session.Buffer) error { return nil }, 0},
		{"read", func(q, other *session.Queue, b, target *session.Buffer) error { return q.Copy(target, b) }, 40},
		{"read by another queue", func(q, other *session.Queue, b, target *session.Buffer) error { return other.Copy(target, b) }, 40},
		{"written in part", func(q, other *session.Queue, b, target *session.Buffer) error { return q.Write(b, 0, make([]byte, 4)) }, 40},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := adder()
			p.tells = true
			s := open(t, p)
			d := device(t, s, "cpu")
			q := defaultQueue(t, d)
			other := must(d.NewQueue(session.QueueOptions{}))(t)
			target := buffer(t, d, 10)
			check(t, q.Sync(ctx))
			before := p.filled.Load()
			gate := make(chan struct{})
			check(t, q.Host(func() error { <-gate; return nil }))
			b := buffer(t, d, 10)
			check(t, test.use(q, other, b, target))
			check(t, b.Free())
			close(gate)
			check(t, q.Sync(ctx))
			check(t, other.Sync(ctx))
			if got := p.filled.Load() - before; got != test.filled {
				t.Errorf("%d bytes were filled, want %d", got, test.filled)
			}
		})
	}
}
