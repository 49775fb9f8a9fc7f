package capture

import (
	"bytes"
	"fmt"
	"reflect"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// A variable or object may change after a kernel has captured it. The kernel keeps the captured value (kernel language, 2.8),
// so launches compare it with the current value and warn of a difference. At a prompt every launch compares, and warns once
// per value. In a script only the first launches compare, and warn once per kernel.

// comparedItems is the maximum length of the captured arrays that launches of a script's kernel compare. Longer ones are not
// compared, except at a prompt.
const comparedItems = 64

// List is the list of a kernel's captured values.
type List []capturedValue

// capturedValue is a captured value that can change after compilation.
type capturedValue interface {
	// Changed compares the current value with the captured one. It returns the path of the value that differs, and both as
	// text. The path is "" without a difference, or if an earlier call has reported it.
	Changed(m *Module) (path, now, was string)
}

// add appends a value, unless h is nil.
func (h *List) add(v capturedValue) {
	if h != nil {
		*h = append(*h, v)
	}
}

// VariablesOf returns the variables of the prompt that a function captures.
func (m *Module) VariablesOf(info *lang.FunctionInfo) (list List) {
	for _, c := range info.PromptCaptures() {
		list = append(list, &capturedVariable{name: c.Name, captured: c.Value, last: c.Value, text: m.Brief(c.Value)})
	}
	return list
}

// compares reports whether launches compare captured arrays of n elements: all at a prompt, and up to comparedItems in a script.
func (m *Module) compares(n int) bool { return m.Engine.Options().Prompt || n <= comparedItems }

// capturedVariable is a captured variable of the prompt.
type capturedVariable struct {
	name           string
	captured, last goja.Value // value at capture; value at the last comparison
	text           string     // text of captured at capture
}

func (h *capturedVariable) Changed(m *Module) (path, now, was string) {
	v := m.Engine.PromptValue(h.name)
	if v == nil || v.SameAs(h.last) {
		return "", "", ""
	}
	h.last = v
	if v.SameAs(h.captured) || m.sameContents(v, h.captured) {
		return "", "", ""
	}
	return h.name, m.Brief(v), h.text
}

// capturedField is a field of a captured object.
type capturedField struct {
	path           string
	object         *goja.Object
	name           string
	captured, last goja.Value // value at compilation; value at the last comparison
	text           string     // text of captured at compilation
}

func (h *capturedField) Changed(m *Module) (path, now, was string) {
	v := h.object.Get(h.name)
	if v == nil {
		v = goja.Undefined()
	}
	if v.SameAs(h.last) {
		return "", "", ""
	}
	h.last = v
	if v.SameAs(h.captured) || m.sameContents(v, h.captured) {
		return "", "", ""
	}
	return h.path, m.Brief(v), h.text
}

// capturedArray is a captured array of numbers.
type capturedArray struct {
	path           string
	object         *goja.Object
	captured, last []float64
}

func (h *capturedArray) Changed(m *Module) (path, now, was string) {
	list, err := numbersOf(h.object)
	if err != nil || sameNumbers(list, h.last) {
		return "", "", ""
	}
	h.last = list
	if len(list) != len(h.captured) {
		return h.path + ".length", fmt.Sprint(len(list)), fmt.Sprint(len(h.captured))
	}
	for i, x := range list {
		if !sameNumbers(list[i:i+1], h.captured[i:i+1]) {
			return fmt.Sprintf("%s[%d]", h.path, i), m.Brief(m.VM.ToValue(x)), m.Brief(m.VM.ToValue(h.captured[i]))
		}
	}
	return "", "", ""
}

// capturedTypedArray is a captured typed array.
type capturedTypedArray struct {
	path           string
	object         *goja.Object
	elem           ir.Type
	captured, last []byte
}

func (h *capturedTypedArray) Changed(m *Module) (path, now, was string) {
	data, _, ok := element.TypedArray(h.object)
	if !ok || bytes.Equal(data, h.last) {
		return "", "", ""
	}
	h.last = bytes.Clone(data)
	size := h.elem.Size()
	for i := 0; i+size <= min(len(data), len(h.captured)); i += size {
		if !bytes.Equal(data[i:i+size], h.captured[i:i+size]) {
			return fmt.Sprintf("%s[%d]", h.path, i/size), m.Brief(element.ScalarValue(m.VM, h.elem, data[i:])), m.Brief(element.ScalarValue(m.VM, h.elem, h.captured[i:]))
		}
	}
	if len(data) != len(h.captured) {
		return h.path + ".length", fmt.Sprint(len(data) / size), fmt.Sprint(len(h.captured) / size)
	}
	return "", "", ""
}

// sameNumbers reports whether two lists are equal; NaN equals NaN.
func sameNumbers(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i, x := range a {
		if x != b[i] && (x == x || b[i] == b[i]) {
			return false
		}
	}
	return true
}

// sameContents reports whether two objects are equal in a kernel: arrays of equal numbers, typed arrays of equal type and bytes, or
// functions of the script with equal texts.
func (m *Module) sameContents(a, b goja.Value) bool {
	x, okX := a.(*goja.Object)
	y, okY := b.(*goja.Object)
	if !okX || !okY {
		return false
	}
	if f, err := m.Engine.FunctionInfo(x); err == nil {
		g, err := m.Engine.FunctionInfo(y)
		return err == nil && !f.Native && f.Text == g.Text
	}
	if p, t, ok := element.TypedArray(x); ok {
		q, u, ok := element.TypedArray(y)
		return ok && t == u && bytes.Equal(p, q)
	}
	if x.ClassName() != "Array" || y.ClassName() != "Array" {
		return false
	}
	p, errP := numbersOf(x)
	q, errQ := numbersOf(y)
	return errP == nil && errQ == nil && sameNumbers(p, q)
}

// isData reports whether an object has a data property of its own with a name. Comparisons must not run getters, so isData returns
// false for a proxy.
func (m *Module) isData(o *goja.Object, name string) bool {
	if o.ExportType() == reflect.TypeFor[goja.Proxy]() {
		return false
	}
	desc := m.Engine.OwnProperty(o, name)
	return desc != nil && desc.Get("value") != nil
}
