package images

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// libraryParam is a parameter of a library's kernel.
type libraryParam struct {
	name   string
	buffer bool
	elem   element.Type // type of the scalar, the struct, or the buffer's elements
	rank   int          // rank of a buffer; 0 accepts any buffer
}

// String returns the parameter's name, if it has one, and its type.
func (p *libraryParam) String() string {
	text := p.elem.String()
	switch {
	case p.buffer && p.rank == 0:
		text = "buffer"
	case p.buffer && p.rank > 1:
		text = fmt.Sprintf("[%s, %d]", text, p.rank)
	case p.buffer:
		text = "[" + text + "]"
	}
	if p.name != "" {
		text = p.name + ": " + text
	}
	return text
}

// parameters returns the parameters in parentheses.
func (k *nativeKernel) parameters() string {
	list := make([]string, len(k.params))
	for i := range k.params {
		list[i] = k.params[i].String()
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// contract returns the parameter's description for plugins.
func (p *libraryParam) contract() contract.Param {
	c := contract.Param{Name: p.name, Buffer: p.buffer, Type: p.elem.Contract(), Elem: p.elem.Size(), Rank: p.rank}
	switch r := p.elem.Elem.Record; {
	case p.buffer:
		c.Reads, c.Writes = true, true
		if p.rank == 0 {
			c.Type, c.Elem = contract.Opaque, 1
		}
	case r != nil:
		c.Fields = appendFields([]contract.Field{}, r, 0)
	}
	return c
}

// appendFields appends the scalar fields of a record at a byte offset.
func appendFields(list []contract.Field, r *ir.Record, at int) []contract.Field {
	for i := range r.Fields {
		f := &r.Fields[i]
		count := 1
		for _, n := range f.Dims {
			count *= n
		}
		for k := range count {
			offset := at + f.Offset + k*f.Elem.Size()
			if f.Elem.Record != nil {
				list = appendFields(list, f.Elem.Record, offset)
				continue
			}
			t, _ := contract.ParseType(f.Elem.Scalar.String())
			list = append(list, contract.Field{Type: t, Offset: offset})
		}
	}
	return list
}

// describedParams converts the parameters that an image describes.
func describedParams(params []contract.Param) []libraryParam {
	list := make([]libraryParam, len(params))
	for i, p := range params {
		t, _ := ir.ParseType(p.Type.String())
		list[i] = libraryParam{name: p.Name, buffer: p.Buffer, elem: element.Type{Elem: ir.Elem{Scalar: t}}, rank: p.Rank}
	}
	return list
}

// parseSignature parses the signature of a library's kernel: {x: [f32], …}, or {args: […] | {x: …}, convention, axes}. It
// also returns its parameters.
func (m *Module) parseSignature(name string, o *goja.Object) (*contract.Signature, []libraryParam, error) {
	const op = "kernel"
	refuse := func(format string, args ...any) *contract.Error {
		return contract.Errorf(contract.InvalidArgument, op, format, args...).On("", name)
	}
	sig := &contract.Signature{Pos: m.Caller()}
	word, conventional := element.Exported(o.Get("convention")).(string)
	if !conventional {
		params, err := m.namedParams(o, m.imageParam)
		if err != nil && o.Get("args") != nil {
			return nil, nil, refuse("the signature has args and no convention").
				WithHint("write { args: […], convention: 'item' }, 'range', 'call' or 'openmp', as the function was compiled; see docs/images.md")
		}
		if err != nil {
			return nil, nil, refuse("%v", err)
		}
		return m.completed(sig, params), params, nil
	}
	opts := m.Options.Parse(op, o, "args", "convention", "axes")
	convention, ok := contract.ParseConvention(word)
	if !ok {
		return nil, nil, refuse("there is no convention %q", word).WithHint("the conventions are 'item', 'range', 'call' and 'openmp', and 'image' for kernels of GPU images")
	}
	sig.Convention = convention
	if v := opts.Get("axes"); v != nil {
		n, err := element.Integer(v)
		switch {
		case err != nil || n < 1 || n > 3:
			return nil, nil, refuse("axes must be 1, 2 or 3, not %s", convert.Describe(v))
		case convention != contract.PerItem:
			return nil, nil, refuse("axes is for the convention 'item', not '%s'", convention)
		}
		sig.Axes = n
	}
	declared := opts.Get("args")
	if opts.Err != nil {
		return nil, nil, script.WithLabel(opts.Err, name)
	}
	list, ok := declared.(*goja.Object)
	if !ok {
		return nil, nil, refuse("the signature lacks args").WithHint("write { args: ['i64', 'f32', 'buffer'], convention: '%s' }", convention)
	}
	if list.ClassName() != "Array" {
		params, err := m.namedParams(list, m.nativeParam)
		if err != nil {
			return nil, nil, refuse("%v", err)
		}
		return m.completed(sig, params), params, nil
	}
	var params []libraryParam
	for i := range int(list.Get("length").ToInteger()) {
		p, err := m.nativeParam(list.Get(strconv.Itoa(i)))
		if err != nil {
			return nil, nil, refuse("argument %d: %v", i+1, err)
		}
		params = append(params, p)
	}
	return m.completed(sig, params), params, nil
}

func (m *Module) completed(sig *contract.Signature, params []libraryParam) *contract.Signature {
	sig.Params = make([]contract.Param, len(params))
	for i := range params {
		sig.Params[i] = params[i].contract()
	}
	return sig
}

// namedParams parses {name: type, …}.
func (m *Module) namedParams(o *goja.Object, read func(goja.Value) (libraryParam, error)) ([]libraryParam, error) {
	var list []libraryParam
	for _, key := range o.Keys() {
		p, err := read(o.Get(key))
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", key, err)
		}
		p.name = key
		list = append(list, p)
	}
	return list, nil
}

// imageParam parses the type of a kernel parameter in the kernel language.
func (m *Module) imageParam(v goja.Value) (libraryParam, error) {
	arg, err := m.types.ParamType(v)
	if err != nil {
		return libraryParam{}, err
	}
	if arg.Kind == kernel.Buffer {
		return libraryParam{buffer: true, elem: element.Type{Elem: arg.Elem}, rank: arg.Rank}, nil
	}
	return libraryParam{elem: element.Type{Elem: ir.Elem{Scalar: arg.Type}}}, nil
}

// nativeParam parses the type of a C function's parameter. It accepts a type or its name, a struct by value, 'buffer' for any
// buffer, [type] and [type, rank].
func (m *Module) nativeParam(v goja.Value) (libraryParam, error) {
	if t, ok := m.types.Of(v); ok {
		return libraryParam{elem: t}, nil
	}
	if word, ok := element.Exported(v).(string); ok {
		if word == "buffer" {
			return libraryParam{buffer: true, elem: element.Type{Elem: ir.Elem{Scalar: ir.U8}}}, nil
		}
		if t, ok := ir.ParseType(word); ok && t != ir.Void {
			return libraryParam{elem: element.Type{Elem: ir.Elem{Scalar: t}}}, nil
		}
		return libraryParam{}, fmt.Errorf("there is no type %q: a number has one such as 'f32' or 'i64', memory is 'buffer'", word)
	}
	return m.imageParam(v)
}

// bindParam converts an argument for a parameter. It also returns the device of a buffer.
func (m *Module) bindParam(p *libraryParam, v goja.Value) (session.Arg, *session.Device, error) {
	b := m.buffers.Of(v)
	switch {
	case p.buffer && p.rank == 0:
		if b == nil {
			return session.Arg{}, nil, fmt.Errorf("must be a buffer, not %s", m.InspectValue(v))
		}
		return session.Buf(b.Buffer), b.Device(), nil
	case p.buffer:
		if b == nil || p.elem.Elem.Record == nil && p.elem.Elem.Scalar != ir.Void && b.Elem != p.elem || len(b.Dims()) != p.rank {
			return session.Arg{}, nil, fmt.Errorf("must be a buffer of %s of rank %d, not %s", p.elem, p.rank, m.InspectValue(v))
		}
		return session.Buf(b.Buffer), b.Device(), nil
	case p.elem.Elem.Record != nil:
		if v == nil {
			return session.Arg{}, nil, fmt.Errorf("must be an object for the struct %s, and nothing was given", p.elem)
		}
		data, err := element.Append(nil, p.elem.Elem, v)
		if err != nil {
			return session.Arg{}, nil, fmt.Errorf("must be an object for the struct %s: %w", p.elem, err)
		}
		return session.Struct(data), nil, nil
	}
	bits, err := element.Bits(p.elem.Elem.Scalar, v)
	if err != nil {
		return session.Arg{}, nil, err
	}
	return session.Bits(p.elem.Contract(), bits), nil, nil
}
