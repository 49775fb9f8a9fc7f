package fs

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// streamed is the number of fields per copy to a device.
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
	switch b.Type() {
	case offload.F64:
		return newStream(name, b, parseFloat)
	case offload.F32:
		return newStream(name, b, func(s string) (float32, error) { x, err := parseFloat(s); return float32(x), err })
	case offload.I8:
		return newStream(name, b, integers[int8](math.MinInt8, math.MaxInt8))
	case offload.U8:
		return newStream(name, b, integers[uint8](0, math.MaxUint8))
	case offload.I16:
		return newStream(name, b, integers[int16](math.MinInt16, math.MaxInt16))
	case offload.U16:
		return newStream(name, b, integers[uint16](0, math.MaxUint16))
	case offload.I32:
		return newStream(name, b, integers[int32](math.MinInt32, math.MaxInt32))
	case offload.U32:
		return newStream(name, b, integers[uint32](0, math.MaxUint32))
	case offload.I64:
		return newStream(name, b, integers[int64](math.MinInt64, math.MaxInt64))
	case offload.U64:
		return newStream(name, b, parseUint)
	}
	return nil, diag.New("unsupported", "fs.readCSV: column %q cannot go into a buffer of %v", name, b.Type()).
		WithHint("use a buffer of f32, f64 or an integer type")
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

// integers returns a parser of integers from low to high.
func integers[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64](low, high int64) func(string) (T, error) {
	return func(s string) (T, error) {
		n, err := parseInt(s, 64)
		if err == nil && (n < low || n > high) {
			err = fmt.Errorf("%s is not between %d and %d", strings.TrimSpace(s), low, high)
		}
		return T(n), err
	}
}

func parseUint(s string) (uint64, error) {
	if s = strings.TrimSpace(s); s == "" {
		return 0, nil
	}
	x, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no integer from 0 to 2⁶⁴ − 1", s)
	}
	return x, nil
}
