package buffers

import (
	"encoding/binary"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/option"
	"github.com/orepl/orepl/lang/kernel/ir"
	contract "github.com/orepl/orepl/runtime/offload"
)

// A place receives the elements that a read copies: a typed array of the script, or a new one.
type place struct {
	data   []byte     // the memory that the device writes
	array  goja.Value // the array of the option into; nil for a new one
	widens []byte     // the memory of the array, if its elements are wider than those of the buffer
}

// placeOf returns the place for count elements of a buffer: the array of the option into, or new memory within the limits.
func (m *Module) placeOf(b *Buffer, o *option.Set, count int64) (*place, error) {
	v := o.Get("into")
	if o.Err != nil {
		return nil, o.Err
	}
	if v == nil || goja.IsUndefined(v) {
		data, err := m.HostMemory(b.Buffer, b.Elem, count)
		return &place{data: data}, err
	}
	const op = "read"
	if b.Elem.Elem.Record != nil {
		return nil, contract.Errorf(contract.InvalidArgument, op, "into cannot receive records").On(b.Device().ID(), b.Label()).
			WithHint("leave into out: the result is an array of objects")
	}
	memory, from, ok := element.TypedArray(v)
	class := element.ArrayClass(b.Elem.Elem.Scalar)
	if !ok || from != element.ArrayTypes[class] {
		what := convert.Describe(v)
		if ok {
			what = "an array of " + from.String()
		}
		return nil, contract.Errorf(contract.InvalidArgument, op, "into must be a %s, not %s", class, what).On(b.Device().ID(), b.Label()).
			WithHint("a buffer of %s is read into new %s(n)", b.Elem, class)
	}
	size := int64(element.Type{Elem: ir.Elem{Scalar: from}}.Size())
	if have := int64(len(memory)) / size; have != count {
		return nil, contract.Errorf(contract.InvalidSize, op, "into has %d elements for %d of the buffer", have, count).On(b.Device().ID(), b.Label()).
			WithHint("read a part by read(start, count, { into }), or pass a part of the array: into.subarray(0, %d)", count)
	}
	if size == int64(b.Elem.Size()) {
		return &place{data: memory, array: v}, nil
	}
	data, err := m.HostMemory(b.Buffer, b.Elem, count)
	return &place{data: data, array: v, widens: memory}, err
}

// value returns the array with the elements, after the device has written them.
func (m *Module) value(b *Buffer, p *place) (goja.Value, error) {
	if p.array == nil {
		return element.FromBytes(m.VM, b.Elem, p.data)
	}
	for i := 0; p.widens != nil && i < len(p.data)/2; i++ {
		binary.LittleEndian.PutUint32(p.widens[4*i:], element.Widened(b.Elem.Elem.Scalar, p.data[2*i:]))
	}
	return p.array, nil
}
