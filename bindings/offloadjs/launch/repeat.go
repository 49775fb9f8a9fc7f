package launch

import (
	"math"
	"reflect"
	"weak"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/buffers"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/option"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Limits of what [repeats] recognises.
const (
	mostRepeats   = 4 // launches of a kernel
	mostArguments = 8
	mostMissed    = 8 // launches with an equal mark and other terms, after which those with this mark are no longer bound
)

// repeats are the newest launches of a kernel with different marks. A launch whose mark occurs again is bound, so that later equal
// ones submit the same call. repeats keep no argument alive: a call that no script holds lives until the next garbage collection.
type repeats struct {
	list [mostRepeats]repeated
	next int
}

type repeated struct {
	mark   mark
	bound  weak.Pointer[boundLaunch]
	missed int
}

// mark describes the place and the arguments of a launch. Launches with different marks differ; those with equal marks may.
type mark struct {
	at    contract.Position
	count int
	words [mostArguments]uint64
}

// terms hold the options and arguments of launches that submit one call.
type terms struct {
	specialization *specialization
	at             contract.Position
	key            option.Key
	options        Options
	values         []goja.Value
	passed         []*buffers.Buffer
}

// markOf returns the mark of a call of launch or bind. ok is false for arguments that are not recognised.
func markOf(at contract.Position, call *goja.FunctionCall) (n mark, ok bool) {
	if len(call.Arguments) == 0 || len(call.Arguments) > mostArguments+1 {
		return n, false
	}
	n.at, n.count = at, len(call.Arguments)
	for i, v := range call.Arguments[1:] {
		o, isObject := v.(*goja.Object)
		switch {
		case v == nil:
			return n, false
		case isObject:
			n.words[i] = uint64(reflect.ValueOf(o).Pointer())
			continue
		}
		switch v.ExportType() {
		case element.TypeInt64, element.TypeFloat64, typeBool:
			n.words[i] = math.Float64bits(v.ToFloat())
		default:
			return n, false
		}
	}
	return n, true
}

// find returns the entry of a mark, or nil.
func (r *repeats) find(n *mark) *repeated {
	for i := range r.list {
		if r.list[i].mark == *n {
			return &r.list[i]
		}
	}
	return nil
}

// add notes the mark of a launch in place of the oldest, and returns the new entry.
func (r *repeats) add(n *mark) *repeated {
	e := &r.list[r.next]
	*e = repeated{mark: *n}
	r.next = (r.next + 1) % mostRepeats
	return e
}

// again returns the call of an equal earlier launch or bind, or nil. It counts in e a call with other terms.
func (m *Module) again(op string, e *repeated, call *goja.FunctionCall) *boundLaunch {
	b := e.bound.Value()
	if b == nil || !m.equal(b.terms, call) {
		if b != nil {
			e.missed++
		}
		return nil
	}
	q, err := m.queues.Chosen(op, b.terms.options.Queue, b.terms.options.Device, deviceOf(b.terms.passed))
	if err != nil || q != b.queue {
		return nil
	}
	return b
}

// equal reports whether a call with an equal mark has the terms. It returns false if one of the buffers has been freed.
func (m *Module) equal(t *terms, call *goja.FunctionCall) bool {
	for i, v := range t.values {
		if call.Arguments[i+1] != v {
			return false
		}
	}
	for _, b := range t.passed {
		if b != nil && b.Freed() {
			return false
		}
	}
	o, isObject := call.Arguments[0].(*goja.Object)
	return isObject && m.Options.Matches(o, &t.key, "queue", "device")
}

// termsOf returns the terms of a prepared call, or nil if an equal one cannot be recognised or must not share its call.
func (m *Module) termsOf(p *prepared, cfg *Options, call *goja.FunctionCall) *terms {
	if p.calls || !m.parsed.known {
		return nil
	}
	o, isObject := call.Arguments[0].(*goja.Object)
	if !isObject {
		return nil
	}
	key, ok := m.Options.KeyOf(o, "queue", "device")
	if !ok || !key.Equal(&m.parsed.key) {
		return nil
	}
	t := &terms{specialization: p.specialization, at: cfg.Pos, key: key, options: *cfg, values: append([]goja.Value(nil), call.Arguments[1:]...)}
	for _, v := range t.values {
		b := m.buffers.Of(v)
		if _, isObject := v.(*goja.Object); isObject && b == nil {
			return nil
		}
		t.passed = append(t.passed, b)
	}
	return t
}

// deviceOf returns the device of the first buffer, or nil.
func deviceOf(passed []*buffers.Buffer) *session.Device {
	for _, b := range passed {
		if b != nil {
			return b.Device()
		}
	}
	return nil
}

// repeat launches the call of an equal earlier launch.
func (m *Module) repeat(k *Kernel, b *boundLaunch) (goja.Value, error) {
	if err := m.env.stopLaunch(k); err != nil {
		return nil, err
	}
	if err := m.queues.Submit(b.queue, b.call); err != nil {
		return nil, err
	}
	m.tape.Add(b.queue, b.call)
	m.tape.Describe(b.terms.specialization.Kernel)
	if len(k.captures) > 0 {
		m.warnOfChanges(k)
	}
	if s := b.terms.specialization.shapes; s != nil {
		s.note(b.terms.options.Size, b.terms.options.GroupSize)
	}
	return m.queues.EventAfter(b.queue, b.label)
}
