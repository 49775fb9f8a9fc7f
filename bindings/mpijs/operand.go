package mpijs

import (
	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/memory"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/ranks"
)

// operand is a typed array or a buffer of a script.
type operand struct {
	value  goja.Value
	typ    offload.Type
	count  int
	host   offloadjs.Host
	buffer *element.Buffer // nil for a typed array
}

func scalar(t ir.Type) element.Type { return element.Type{Elem: ir.Elem{Scalar: t}} }

// operand returns the operand of a value.
func (m *module) operand(op, what string, v goja.Value) (operand, error) {
	if data, t, ok := element.TypedArray(v); ok {
		e := scalar(t)
		return operand{value: v, typ: e.Contract(), count: len(data) / e.Size()}, nil
	}
	host, ok := offloadjs.HostOf(m.Engine, v)
	if !ok {
		return operand{}, offload.Errorf(offload.InvalidArgument, op, "%s must be a typed array or a buffer, not %s", what, convert.Describe(v)).
			WithHint("write new Float32Array([1, 2, 3])")
	}
	b, _ := host.Elements(v)
	if b.Elem.Record != nil {
		return operand{}, offload.Errorf(offload.Unsupported, op, "%s has elements of a struct", what).On(b.Device().ID(), b.Label()).
			WithHint("keep each field in a buffer of its own")
	}
	return operand{value: v, typ: b.Type(), count: int(b.Len()), host: host, buffer: &b}, nil
}

// payload returns the data of the operand as they are after the commands so far, for which it does not wait.
func (o *operand) payload(m *module, g *ranks.Group, op string) (*ranks.Payload, error) {
	p, set := ranks.NewPayload(o.typ, o.count)
	p.Lend()
	if o.buffer == nil {
		data, _, _ := element.TypedArray(o.value)
		if len(data) != o.count*o.typ.Size() { // a getter of the options changed it
			return nil, offload.Errorf(offload.InvalidArgument, op, "the memory of the typed array was transferred or resized during the call")
		}
		copied := g.Buffer(len(data))
		memory.Copy(copied, data)
		set(copied, nil)
		return p, nil
	}
	q, err := o.host.DefaultQueue(o.buffer.Device())
	if err == nil {
		err = o.host.Enter(q, 0)
	}
	if err != nil {
		return nil, err
	}
	data := g.Buffer(int(o.buffer.Size()))
	if err := q.Read(data, o.buffer.Buffer, 0); err != nil {
		return nil, err
	}
	ev, err := q.Record(op)
	if err != nil {
		return nil, err
	}
	ctx := m.Engine.Context()
	go func() { set(data, ev.Sync(ctx)) }()
	return p, nil
}

// fill copies a result to the operand and returns the operand's value. It is an error if their types or numbers of elements
// differ. The group may reuse the memory of a result for a typed array.
func (o *operand) fill(g *ranks.Group, op string, d ranks.Data) (goja.Value, error) {
	size := d.Type.Size()
	if o.typ != d.Type || o.count != len(d.Bytes)/size {
		return nil, offload.Errorf(offload.InvalidSize, op, "the result has %d elements of %s, its place has %d of %s", len(d.Bytes)/size, d.Type, o.count, o.typ).
			WithHint("without a place the result is a new typed array")
	}
	if o.buffer == nil {
		data, _, _ := element.TypedArray(o.value)
		if len(data) != len(d.Bytes) {
			return nil, offload.Errorf(offload.InvalidArgument, op, "the memory of the typed array was transferred or resized")
		}
		memory.Copy(data, d.Bytes)
		g.Free(d.Bytes)
		return o.value, nil
	}
	q, err := o.host.DefaultQueue(o.buffer.Device())
	if err == nil {
		err = o.host.Enter(q, 0)
	}
	if err == nil && len(d.Bytes) > 0 {
		err = q.Write(o.buffer.Buffer, 0, d.Bytes)
	}
	return o.value, err
}

// result returns a result as a new typed array, or in its place.
func (m *module) result(g *ranks.Group, op string, d ranks.Data, into *operand) (goja.Value, error) {
	if into != nil {
		return into.fill(g, op, d)
	}
	for _, t := range element.ScalarTypes {
		if e := scalar(t); e.Contract() == d.Type {
			return element.FromBytes(m.VM, e, d.Bytes)
		}
	}
	return nil, offload.Errorf(offload.Unsupported, op, "elements of %s have no typed array", d.Type)
}
