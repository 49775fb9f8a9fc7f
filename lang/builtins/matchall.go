package builtins

import (
	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
)

// A matches is the state of an iterator of matchAll.
type matches struct {
	matcher         *goja.Object
	text            goja.String
	global, unicode bool
	done            bool
}

// iterator returns the iterator of matchAll for the matches of matcher in s.
func (r *regExps) iterator(matcher *goja.Object, s goja.String, global, unicode bool) goja.Value {
	if r.iterators == nil {
		r.iterators = r.newSlots()
		original, ok := r.originalAll(goja.FunctionCall{This: r.alloc(nil, r.class), Arguments: []goja.Value{s}}).(*goja.Object)
		if !ok {
			r.Throw(internals.Unknown("matchAll"))
		}
		r.iteratorProto = original.Prototype()
		r.method(r.iteratorProto, "next", 0, r.next)
	}
	o := r.vm.CreateObject(r.iteratorProto)
	r.attach(r.iterators, o, &matches{matcher: matcher, text: s, global: global, unicode: unicode})
	return o
}

// next implements the method next of the iterator.
func (r *regExps) next(c goja.FunctionCall) goja.Value {
	m, ok := r.attached(r.iterators, c.This).(*matches)
	if !ok {
		r.typeError("RegExp String Iterator.prototype.next: this is not an iterator of matches")
	}
	result := func(v goja.Value, done bool) goja.Value {
		o := r.vm.NewObject()
		define(o, "value", v)
		define(o, "done", r.vm.ToValue(done))
		return o
	}
	if m.done {
		return result(goja.Undefined(), true)
	}
	found := r.executeAny(m.matcher, m.text)
	if found == nil {
		m.done = true
		return result(goja.Undefined(), true)
	}
	if !m.global {
		m.done = true
		return result(found, false)
	}
	if r.text(get(found, "0")).Length() == 0 {
		r.put(m.matcher, "lastIndex", advance(m.text, toLength(get(m.matcher, "lastIndex")), m.unicode))
	}
	return result(found, false)
}
