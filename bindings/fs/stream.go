package fs

import (
	"context"
	"fmt"

	"github.com/orepl/orepl/bindings/fs/table"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/session"
)

// streamed is the maximum number of fields per copy to a device.
const streamed = 1 << 16

// A stream is a column that is copied to a device buffer during parsing. It is double-buffered: parsing fills one half while
// the other is copied.
type stream[T session.Scalar] struct {
	parse       func(string) (T, error)
	name        string // name of the column
	buffer      *session.Buffer
	queue       *session.Queue
	next, going []T
	at          int64 // offset of next in the buffer, in elements
}

// A sink is a stream of any element type.
type sink interface {
	column
	flush(context.Context) error
	close(context.Context) error
}

// newSink returns a stream to a buffer, with a queue of its own.
func newSink(name string, b *session.Buffer) (sink, error) {
	t, _ := ir.ParseType(b.Type().String())
	switch t.Size() {
	case 1:
		return newStream(name, b, parser[uint8](t))
	case 2:
		return newStream(name, b, parser[uint16](t))
	case 4:
		return newStream(name, b, parser[uint32](t))
	case 8:
		return newStream(name, b, parser[uint64](t))
	}
	return nil, diag.New("unsupported", "fs.readCSV: column %q cannot go into a buffer of %v", name, b.Type()).
		WithHint("use a buffer of floats, integers or bool")
}

// parser returns a function that parses fields as elements of a type, whose bits T holds.
func parser[T uint8 | uint16 | uint32 | uint64](t ir.Type) func(string) (T, error) {
	return func(text string) (T, error) {
		bits, err := parseElement(t, text)
		return T(bits), err
	}
}

// parseElement returns the bits of a field as an element of a type.
func parseElement(t ir.Type, text string) (uint64, error) {
	switch {
	case t == ir.Bool:
		return table.ParseBool(text)
	case t.IsFloat():
		return table.ParseFloat(t, text)
	}
	return table.ParseInt(t, text)
}

func newStream[T session.Scalar](name string, b *session.Buffer, parse func(string) (T, error)) (sink, error) {
	q, err := b.Device().NewQueue(session.QueueOptions{Label: "fs.readCSV", Unlisted: true})
	if err != nil {
		return nil, err
	}
	room := min(b.Len(), streamed)
	return &stream[T]{parse: parse, name: name, buffer: b, queue: q, next: make([]T, 0, room), going: make([]T, 0, room)}, nil
}

func (s *stream[T]) add(ctx context.Context, field string) error {
	if s.at+int64(len(s.next)) == s.buffer.Len() {
		return fmt.Errorf("the buffer has %d elements, and the file more rows", s.buffer.Len())
	}
	x, err := s.parse(field)
	if err != nil {
		return err
	}
	if s.next = append(s.next, x); len(s.next) == cap(s.next) {
		return s.flush(ctx)
	}
	return nil
}

// flush waits for the pending copy and starts the copy of the filled half.
func (s *stream[T]) flush(ctx context.Context) error {
	if len(s.next) == 0 {
		return nil
	}
	if err := s.queue.Sync(ctx); err != nil {
		return err
	}
	if err := s.queue.Write(s.buffer, s.at, session.Bytes(s.next)); err != nil {
		return err
	}
	s.at += int64(len(s.next))
	s.next, s.going = s.going[:0], s.next
	return nil
}

func (s *stream[T]) close(ctx context.Context) error { return s.queue.Close(ctx) }
