package offloadjs

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/overflow"
)

// A variable or object may change after a kernel has captured it. The kernel keeps the captured value (kernel language, 2.8),
// so launches compare it with the current value and warn of a difference. At a prompt every launch compares, and warns once
// per value. In a script only the first launches compare, and warn once per kernel.

const (
	comparedLaunches = 64 // number of launches of a script's kernel that compare
	comparedItems    = 64 // maximum length of arrays that a script's kernel compares
)

// captureList is the list of a kernel's captured values.
type captureList []capturedValue

// capturedValue is a captured value that can change after compilation.
type capturedValue interface {
	// changed compares the current value with the captured one. It returns "" if they are equal or the difference was
	// reported.
	changed(m *instance) (path, now, was string)
}

// add appends a value, unless h is nil.
func (h *captureList) add(v capturedValue) {
	if h != nil {
		*h = append(*h, v)
	}
}

// capturedVariables returns the variables of the prompt that a function captures.
func (m *instance) capturedVariables(info *lang.FunctionInfo) (list captureList) {
	for _, c := range info.PromptCaptures() {
		list = append(list, &capturedVariable{name: c.Name, captured: c.Value, last: c.Value, text: m.brief(c.Value)})
	}
	return list
}

// compares reports whether launches compare captured arrays of n elements.
func (m *instance) compares(n int) bool { return m.Engine.Options().Prompt || n <= comparedItems }

// compile compiles a kernel and records the parts of captured objects that the compilation reads. With overflows set, integer
// overflow is a fault.
func (m *instance) compile(k *kernelObject, args []kernel.Arg, overflows bool) (*kernel.Compiled, error) {
	if m.Engine.Options().Prompt || k.compared < comparedLaunches && !k.quiet {
		defer func(outer *captureList) { m.reads = outer }(m.reads)
		m.reads = &k.captures
	}
	opts := k.opts
	if overflows {
		opts.Branches, opts.Warnings = true, false
	}
	defer m.env.session.Trace().Compile("program", "compile "+k.name)()
	code, err := k.fn.Compile(args, opts)
	if err == nil && overflows {
		err = overflow.Check(code)
	}
	return code, err
}

// warnOfChanges warns of captured values that differ from the current ones.
func (m *instance) warnOfChanges(k *kernelObject) {
	script := !m.Engine.Options().Prompt
	hint := func(path string) string {
		if script {
			return fmt.Sprintf("pass %s as an argument, or make the kernel anew with kernel()", path)
		}
		return fmt.Sprintf("make the kernel anew (enter its definition again), or pass %s as an argument", path)
	}
	if script {
		if k.compared++; k.compared >= comparedLaunches {
			defer func() { k.captures = nil }()
		}
	}
	for _, h := range k.captures {
		path, now, was := h.changed(m)
		switch {
		case path == "":
			continue
		case now == was && !script:
			m.Engine.WarnAlways(fmt.Sprintf("%s has another value than at the creation of the kernel %s, which keeps the old one", path, k.name),
				"make the kernel anew: enter its definition again")
		case now == was:
			m.Engine.WarnAlways(fmt.Sprintf("%s has another value than at the creation of the kernel %s, which keeps the old one", path, k.name),
				"make the kernel anew with kernel()")
		default:
			m.Engine.WarnAlways(fmt.Sprintf("%s is %s now, but the kernel %s was made when it was %s, and goes on with that", path, now, k.name, was),
				hint(path))
		}
		if script {
			k.compared, k.captures = comparedLaunches, nil
			return
		}
	}
}

// capturedVariable is a captured variable of the prompt.
type capturedVariable struct {
	name           string
	captured, last goja.Value // value at capture; value at the last comparison
	text           string     // text of captured at capture
}

func (h *capturedVariable) changed(m *instance) (path, now, was string) {
	v := m.Engine.PromptValue(h.name)
	if v == nil || v.SameAs(h.last) {
		return "", "", ""
	}
	h.last = v
	if v.SameAs(h.captured) || m.sameContents(v, h.captured) {
		return "", "", ""
	}
	return h.name, m.brief(v), h.text
}

// capturedField is a field of a captured object.
type capturedField struct {
	path           string
	object         *goja.Object
	name           string
	captured, last goja.Value // value at compilation; value at the last comparison
	text           string     // text of captured at compilation
}

func (h *capturedField) changed(m *instance) (path, now, was string) {
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
	return h.path, m.brief(v), h.text
}

// capturedArray is a captured array of numbers.
type capturedArray struct {
	path           string
	object         *goja.Object
	captured, last []float64
}

func (h *capturedArray) changed(m *instance) (path, now, was string) {
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
			return fmt.Sprintf("%s[%d]", h.path, i), m.brief(m.VM.ToValue(x)), m.brief(m.VM.ToValue(h.captured[i]))
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

func (h *capturedTypedArray) changed(m *instance) (path, now, was string) {
	data, _, ok := element.TypedArray(h.object)
	if !ok || bytes.Equal(data, h.last) {
		return "", "", ""
	}
	h.last = bytes.Clone(data)
	size := h.elem.Size()
	for i := 0; i+size <= min(len(data), len(h.captured)); i += size {
		if !bytes.Equal(data[i:i+size], h.captured[i:i+size]) {
			return fmt.Sprintf("%s[%d]", h.path, i/size), m.brief(element.ScalarValue(m.VM, h.elem, data[i:])), m.brief(element.ScalarValue(m.VM, h.elem, h.captured[i:]))
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

// sameContents reports whether two objects are equal in a kernel: arrays of equal numbers, or functions of equal text.
func (m *instance) sameContents(a, b goja.Value) bool {
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

// briefWidth is the maximum number of characters of a value in a warning.
const briefWidth = 48

// brief formats a value on one line, truncated to briefWidth. It runs no code of the script.
func (m *instance) brief(v goja.Value) string {
	text := m.Engine.InspectValue(v, inspect.Options{Width: 1 << 16, Items: 8, MaxString: briefWidth, Depth: 1, Passive: true})
	text, _, more := strings.Cut(text, "\n")
	if r := []rune(text); more || len(r) > briefWidth {
		text = string(r[:min(len(r), briefWidth-1)]) + "…"
	}
	return text
}

// isData reports whether an own property is a data property. Comparisons must not run getters.
func (m *instance) isData(o *goja.Object, name string) bool {
	if o.ExportType() == reflect.TypeFor[goja.Proxy]() {
		return false
	}
	desc := m.Engine.OwnProperty(o, name)
	return desc != nil && desc.Get("value") != nil
}
