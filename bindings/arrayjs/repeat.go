package arrayjs

import (
	"encoding/binary"
	"math"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/array"
	"github.com/orepl/orepl/bindings/offloadjs"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/internals"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// repeats holds the commands of the calls of an engine, by what these depend on: the method, the types and shapes of buffers, and
// the other arguments. A call like an earlier one issues them again.
type repeats struct {
	*operations
	recent, earlier map[string]*repeat
	chains          *lang.Class[*chain]
	spare           *request
	plain           *goja.Object // the prototype of object literals
}

// mostRepeats is the number of the most recent calls whose commands are certainly kept.
const mostRepeats = 256

// repeat describes the commands and the value of calls with equal keys.
type repeat struct {
	kind     repeatKind
	sequence *array.Sequence
	narrow   bool
}

type repeatKind int

const (
	unrepeatable repeatKind = iota
	returnsBuffer
	returnsElement
	returnsThis
	returnsChain
)

// request is a call with the key of its commands.
type request struct {
	key     []byte // empty for a call whose commands are not kept
	inputs  []offloadjs.Elements
	numbers []float64
	on      offloadjs.Elements
	before  *chain
	at      offload.Position
	label   string // the variable to which the script assigns the value
	next    string // the method that the script calls on the value, if it takes joined arrays
}

type repeatsKey struct{}

// repeats returns the state of an engine.
func (o *operations) repeats(h offloadjs.Host) *repeats {
	return h.Local(repeatsKey{}, func() any {
		s := &repeats{operations: o, recent: map[string]*repeat{}, plain: h.Engine().VM().NewObject().Prototype()}
		s.defineChains(h)
		return s
	}).(*repeats)
}

// request describes a call on a buffer, or on a joined array.
func (s *repeats) request(h offloadjs.Host, m *method, on offloadjs.Elements, before *chain, args []goja.Value) *request {
	r := s.spare
	if s.spare = nil; r == nil {
		r = &request{}
	}
	r.on, r.before, r.at = on, before, h.Caller()
	var next string
	if r.label, next = h.Around(r.at); (m.joins || m.parts) && s.joins[next] != nil {
		r.next = next
		r.key = binary.AppendUvarint(r.key, uint64(s.joins[next].number))
	}
	if before != nil {
		r.key = append(r.key, before.key...)
		r.inputs, r.numbers = append(r.inputs, before.inputs...), append(r.numbers, before.numbers...)
	}
	r.key = binary.AppendUvarint(append(r.key, '.'), uint64(m.number))
	ok := true
	if before == nil {
		ok = r.buffer(on)
	} else if len(before.key) == 0 {
		ok = false
	}
	for _, v := range args {
		ok = ok && s.argument(h, m, r, v, 0)
	}
	if !ok {
		r.key = r.key[:0]
	}
	return r
}

// done ends the use of a request, whose memory the next call then uses.
func (s *repeats) done(r *request) {
	clear(r.inputs)
	*r = request{key: r.key[:0], inputs: r.inputs[:0], numbers: r.numbers[:0]}
	s.spare = r
}

// buffer appends a buffer to the key. It reports false if the commands of the call cannot be kept: for a buffer of records, and
// for too many buffers.
func (r *request) buffer(b offloadjs.Elements) bool {
	if b.Elem.Record != nil {
		return false
	}
	at := len(r.inputs)
	for i := range r.inputs {
		if r.inputs[i].Buffer == b.Buffer {
			at = i
		}
	}
	if r.key = append(r.key, 'b', byte(at), byte(b.Elem.Scalar)); at < len(r.inputs) {
		return true
	}
	r.key = append(r.key, byte(r.sharer(b)))
	if r.inputs = append(r.inputs, b); at == 0 {
		r.key = append(append(r.key, b.Device().ID()...), 0)
	}
	var scratch [3]int
	dims := b.AppendDims(scratch[:0])
	r.key = append(r.key, byte(len(dims)))
	for _, n := range dims {
		r.key = binary.AppendUvarint(r.key, uint64(n))
	}
	return at < 256
}

// sharer returns the index of the first input whose memory b shares, or the number of inputs if there is none. The index is part of
// the key: an operation that overwrites the memory of an input issues a copy of that input first.
func (r *request) sharer(b offloadjs.Elements) int {
	memory, _, _, _ := b.Memory()
	for i := range r.inputs {
		if other, _, _, _ := r.inputs[i].Memory(); other == memory {
			return i
		}
	}
	return len(r.inputs)
}

// The limits of arguments whose calls are kept.
const (
	mostElements = 8 // of an array or an object
	mostNested   = 2
)

// argument appends an argument to the key. It reports false if the commands of the call cannot be kept.
func (s *repeats) argument(h offloadjs.Host, m *method, r *request, v goja.Value, depth int) bool {
	switch {
	case goja.IsUndefined(v) || v == nil:
		r.key = append(r.key, 'u')
		return true
	case goja.IsNull(v):
		r.key = append(r.key, '0')
		return true
	case goja.IsNumber(v) && m.numbers && depth == 0:
		r.key, r.numbers = append(r.key, 'N'), append(r.numbers, v.ToFloat())
		return true
	case goja.IsNumber(v):
		r.key = binary.LittleEndian.AppendUint64(append(r.key, 'n'), math.Float64bits(v.ToFloat()))
		return true
	}
	o, ok := v.(*goja.Object)
	if !ok {
		switch x := internals.Export(v).(type) {
		case bool:
			r.key = append(r.key, 'B', map[bool]byte{true: 1}[x])
			return true
		case string:
			r.key = append(append(r.key, 's', byte(len(x))), x...)
			return len(x) < 64
		}
		return false
	}
	if b, ok := h.Elements(o); ok {
		return r.buffer(b)
	}
	if _, callable := goja.AssertFunction(o); callable {
		if info, err := h.Engine().FunctionInfo(o); err == nil && info.Known {
			r.key, ok = appendFunction(append(r.key, 'f'), h, info, 0)
			return ok
		}
	}
	if t, ok := h.Type(o); ok && t.Record == nil {
		r.key = append(r.key, 't', byte(t.Scalar))
		return true
	}
	return depth < mostNested && s.list(h, m, r, o, depth)
}

// list appends an array or an object to the key, and reports false like argument. Only the values of literals are those that the
// call reads: a getter or a proxy may return another one, and other prototypes may have options.
func (s *repeats) list(h offloadjs.Host, m *method, r *request, o *goja.Object, depth int) bool {
	if values, ok := internals.ArrayValues(o); ok {
		if len(values) > mostElements || o.Get("length").ToInteger() != int64(len(values)) {
			return false
		}
		r.key = append(r.key, 'a', byte(len(values)))
		for _, v := range values {
			if v == nil || internals.IsAccessor(v) || !s.argument(h, m, r, v, depth+1) {
				return false
			}
		}
		return true
	}
	names, values, ok := internals.Properties(o)
	if !ok || len(names) > mostElements || o.Prototype() != s.plain {
		return false
	}
	r.key = append(r.key, 'o', byte(len(names)))
	for _, k := range names {
		v := values[k]
		if len(k) > 32 || k == "queue" || k == "label" || internals.IsAccessor(v) {
			return false
		}
		if r.key = append(append(r.key, byte(len(k))), k...); !s.argument(h, m, r, v, depth+1) {
			return false
		}
	}
	return true
}

// find returns what calls with a key do, or nil. It moves what it found to the recent ones.
func (s *repeats) find(key []byte) *repeat {
	if p := s.recent[string(key)]; p != nil {
		return p
	}
	p := s.earlier[string(key)]
	if p != nil {
		s.keep(key, p)
	}
	return p
}

func (s *repeats) keep(key []byte, p *repeat) {
	if len(s.recent) >= mostRepeats {
		s.recent, s.earlier = map[string]*repeat{}, s.recent
	}
	s.recent[string(key)] = p
}

// again issues the commands of an earlier call with an equal key. ok is false if there is none, and for calls that must run.
func (s *repeats) again(h offloadjs.Host, m *method, r *request, d *session.Device, js goja.FunctionCall) (v goja.Value, ok bool, err error) {
	if len(r.key) == 0 || watching(h.Engine()) != nil {
		return nil, false, nil
	}
	p := s.find(r.key)
	if p == nil || p.kind == unrepeatable {
		return nil, false, nil
	}
	if p.kind == returnsChain {
		return s.chains.New(s.newChain(h, m, r, d, js.Arguments)), true, nil
	}
	q, err := h.Queue(m.Name, nil, d)
	if err != nil {
		return nil, false, nil // the call itself reports it
	}
	run := array.Run{Ops: s.ops, Queue: q, Context: h.Engine().Running(), Host: h, Label: r.label, Pos: r.at}
	var backing [4]*session.Buffer
	inputs := backing[:0]
	for i := range r.inputs {
		inputs = append(inputs, r.inputs[i].Buffer)
	}
	a, ok, err := p.sequence.Issue(&run, inputs, r.numbers)
	switch {
	case !ok || err != nil:
		return nil, ok, err
	case p.kind == returnsThis:
		return js.This, true, nil
	case p.kind == returnsElement:
		defer func() { _ = a.Free() }() // the read holds the memory
		v, err = readValue(h, m.Name, q, a, p.narrow)
		return v, true, err
	}
	return h.Object(offloadjs.Elements{Buffer: a.Buffer, Elem: a.Elem}, true), true, nil
}

// run runs a call, and keeps its commands unless its key is empty or known.
func (s *repeats) run(c *call, m *method, r *request, x array.Array, js goja.FunctionCall) (goja.Value, error) {
	c.next = r.next
	keep := len(r.key) > 0 && s.find(r.key) == nil
	if keep {
		inputs := make([]array.Array, len(r.inputs))
		for i, b := range r.inputs {
			inputs[i] = array.Array{Buffer: b.Buffer, Elem: b.Elem}
		}
		c.recording = true
		c.Record(inputs)
	}
	v, err := m.run(c, x)
	if c.err != nil {
		err = c.err
	}
	if err != nil {
		return nil, err
	}
	if c.link != nil {
		l := s.newChain(c.Host, m, r, c.device, js.Arguments)
		l.array = c.link.array
		if keep {
			s.keep(r.key, &repeat{kind: returnsChain})
		}
		return s.chains.New(l), nil
	}
	if keep {
		s.keep(r.key, c.recorded(v))
	}
	if v == nil {
		v = js.This
	}
	return v, nil
}

// recorded ends the record of a call that returns v. It returns how to repeat the call, with the kind unrepeatable if that is
// not possible.
func (c *call) recorded(v goja.Value) *repeat {
	p := &repeat{kind: returnsThis}
	var of array.Array
	known := v == nil && len(c.results) == 0
	if len(c.results) == 1 && c.results[0].value == v && v != nil {
		x := c.results[0]
		of, p.narrow, p.kind, known = x.array, x.narrow, returnsBuffer, true
		if x.read {
			p.kind = returnsElement
		}
	}
	if p.sequence = c.Recorded(of); p.sequence == nil || !known || of.Buffer == nil && p.sequence.Len() == 0 {
		return &repeat{}
	}
	return p
}
