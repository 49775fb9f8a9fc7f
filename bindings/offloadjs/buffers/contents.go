package buffers

import (
	"context"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/kernel/ir"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Contents is a copy of a buffer's elements, for modules that write buffers to files.
type Contents struct {
	Type  ir.Type // element type
	Shape []int
	data  []byte
	event *session.Event
	m     *Module
}

// Fetch enqueues a copy of a script's buffer to the host. It returns nil for other values, and an error for a buffer of
// records.
func Fetch(e *lang.Engine, v goja.Value) (*Contents, error) {
	host, _ := e.HostValue(v)
	b, ok := host.(*Buffer)
	if !ok {
		return nil, nil
	}
	if b.Elem.Elem.Record != nil {
		return nil, script.Explain(e, contract.Errorf(contract.InvalidArgument, "read", "a buffer of records cannot be written to this file").
			On(b.Device().ID(), b.Label()).WithHint("let a kernel copy the field to a buffer of its own"))
	}
	q, p, err := b.m.startRead(b, goja.FunctionCall{}, b.m.Options.Parse("read", goja.Undefined()))
	if err != nil {
		return nil, script.Explain(e, err)
	}
	event, err := q.Record("")
	if err != nil {
		return nil, script.Explain(e, err)
	}
	return &Contents{Type: b.Elem.Elem.Scalar, Shape: b.Dims(), data: p.data, event: event, m: b.m}, nil
}

// Wait waits for the copy and returns the elements.
func (c *Contents) Wait(ctx context.Context) ([]byte, error) {
	if err := c.event.Sync(ctx); err != nil {
		return nil, err
	}
	return c.data, nil
}

// Explain adds the script position to an error of Wait. It must run on the loop's goroutine.
func (c *Contents) Explain(err error) error { return c.m.Explain(err) }
