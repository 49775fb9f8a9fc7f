package buffers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/runtime/session"
)

// inspect returns the type, shape, device, and the first and last values, which it copies to the host. It omits the values of a
// buffer that is freed, empty or busy, and those of all buffers while a queue waits for this script. A buffer of two dimensions
// is formatted as a matrix, and one of three as several. Buffers of records and those nested in another value are lists.
func (m *Module) inspect(b *Buffer, o inspect.Options) string {
	head := fmt.Sprintf("Buffer %s%s on %s", b.Elem, strings.ReplaceAll(fmt.Sprint(b.Dims()), " ", "×"), b.Device().ID())
	if label := b.Label(); !b.unlabelled && !strings.HasPrefix(label, "buffer ") {
		head += fmt.Sprintf(" %q", label)
	}
	if b.Freed() {
		return head + " (freed)"
	}
	if b.Len() == 0 || m.queues.Waiting() {
		return head
	}
	patience := lookPatience
	if m.Engine.Options().Prompt && !o.Nested {
		patience = promptPatience
	}
	ctx, cancel := context.WithTimeout(m.Engine.Running(), patience)
	defer cancel()
	text, err := m.values(ctx, b, head, o)
	if err != nil {
		return fmt.Sprintf("%s (%v)", head, err)
	}
	if m.Engine.Options().Prompt && !o.Nested && m.failed(b.Device()) {
		text += " (a command before it failed)"
	}
	return text
}

// failed reports whether a command of the device's default queue has failed and the failure was not reported.
func (m *Module) failed(d *session.Device) bool {
	q, err := d.Queue()
	return err == nil && q.Failure() != nil
}

// values returns head followed by the elements of a buffer, which it copies to the host. Of a long buffer it shows only the first and
// last ones. The text is valid only without an error.
func (m *Module) values(ctx context.Context, b *Buffer, head string, o inspect.Options) (string, error) {
	n, dims, record := b.Len(), b.Dims(), b.Elem.Elem.Record != nil
	if !o.Nested && !record && len(dims) > 1 {
		var rows string
		var err error
		if len(dims) == 2 {
			rows, err = m.matrix(ctx, b, 0, dims[0], dims[1], shownRows, o.Width)
		} else {
			rows, err = m.planes(ctx, b, dims, o.Width)
		}
		return head + "\n" + rows, err
	}
	most := int64(2 * shown)
	if !record && !o.Nested {
		most = shownAll
	}
	if n <= most {
		list, err := m.peek(ctx, b, 0, n)
		if record || o.Nested {
			return head + " { " + strings.Join(list, ", ") + " }", err
		}
		return inspect.List(head+" ", list, o.Width), err
	}
	first, err := m.peek(ctx, b, 0, shown)
	if err != nil {
		return "", err
	}
	last, err := m.peek(ctx, b, n-shown, shown)
	if err != nil {
		return "", err
	}
	return head + " { " + strings.Join(append(append(first, "…"), last...), ", ") + " }", nil
}

// shortest returns the shortest decimal that rounds to a float of less than 64 bits. The exact f64 would print with more
// digits. Values of other types are returned unchanged.
func (m *Module) shortest(v goja.Value, t ir.Type) goja.Value {
	if !t.IsFloat() || t == ir.F64 {
		return v
	}
	return m.VM.ToValue(scalar.Shortest(t, scalar.Round(t, v.ToFloat())))
}

// peek copies a range of elements to the host and formats each.
func (m *Module) peek(ctx context.Context, b *Buffer, start, count int64) ([]string, error) {
	q, err := m.queues.PrintOf(b.Device())
	if err != nil {
		return nil, err
	}
	size := b.Elem.Size()
	data := make([]byte, count*int64(size))
	if err := q.Read(data, b.Buffer, start); err != nil {
		return nil, err
	}
	if err := q.Sync(ctx); err != nil {
		if ctx.Err() != nil && m.Engine.Running().Err() == nil {
			return nil, errors.New("busy: a command still uses it; await its read() to see the values")
		}
		return nil, err
	}
	list := make([]string, count)
	for i := range list {
		list[i] = m.InspectValue(m.shortest(element.FieldValue(m.VM, b.Elem.Elem, nil, data[i*size:]), b.Elem.Elem.Scalar))
	}
	return list, nil
}

const (
	shown    = 3  // number of printed elements at each end of a long buffer
	shownAll = 10 // greatest number of scalars that are all printed

	// Maximum times to wait for the commands that use a printed buffer and to read its values. promptPatience is for a buffer that
	// the prompt prints by itself, lookPatience for scripts and for a buffer in another value.
	lookPatience   = 100 * time.Millisecond
	promptPatience = 500 * time.Millisecond
)
