// Package capture converts the variables that a script's kernels capture, and compares them with their current values.
package capture

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/buffers"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/bindings/offloadjs/types"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/kernel"
	kerneldiag "github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/later"
)

// Module converts the variables that kernels of one engine capture.
type Module struct {
	*script.Script
	types      *types.Module
	buffers    *buffers.Module
	helpers    map[*lang.FunctionInfo]*kernel.Source
	passed     map[*buffers.Buffer]string // parameters that pass captured buffers to an initialiser
	reads      *List                      // records the compilation's reads of captured objects; may be nil
	language   []*goja.Object             // global objects that the kernel language also defines, without Atomics; Math is the first
	descriptor goja.Callable              // Object.getOwnPropertyDescriptor
}

// languageNames are the names of the objects in Module.language.
var languageNames = []string{"Math", "Number", "Boolean", "isNaN", "isFinite"}

// New returns the conversion of an engine.
func New(s *script.Script, t *types.Module, b *buffers.Module) *Module {
	m := &Module{Script: s, types: t, buffers: b, helpers: map[*lang.FunctionInfo]*kernel.Source{}}
	for _, name := range languageNames {
		o, _ := m.VM.GlobalObject().Get(name).(*goja.Object) // nil if the script has removed it
		m.language = append(m.language, o)
	}
	if object, ok := m.VM.GlobalObject().Get("Object").(*goja.Object); ok {
		m.descriptor, _ = goja.AssertFunction(object.Get("getOwnPropertyDescriptor"))
	}
	return m
}

// atomics returns the object Atomics, or nil if no script has read it yet or a script has removed it. The engine defines
// Atomics when a script first reads it, which takes a millisecond.
func (m *Module) atomics() *goja.Object {
	if m.descriptor == nil {
		return nil
	}
	desc, err := m.descriptor(goja.Undefined(), m.VM.GlobalObject(), m.VM.ToValue("Atomics"))
	if err != nil || goja.IsUndefined(desc) {
		return nil
	}
	o, _ := desc.ToObject(m.VM).Get("value").(*goja.Object)
	return o
}

// Source returns the kernel compiler's source for a script function: its text, position and captures. info holds the
// function's name in the script.
func (m *Module) Source(fn goja.Value) (src *kernel.Source, info *lang.FunctionInfo, err error) {
	if info, err = m.Engine.FunctionInfo(fn); err != nil {
		return nil, nil, err
	}
	if info.Native {
		return nil, nil, kerneldiag.List{{ID: kerneldiag.NotAFunction, Message: fmt.Sprintf("%s is a function of the host, which has no text", info.Name),
			Rewrite: "write kernel((g, x) => { x[g.x] = … })"}}
	}
	return m.sourceOf(info), info, nil
}

func (m *Module) sourceOf(info *lang.FunctionInfo) *kernel.Source {
	return &kernel.Source{
		Text: info.Text,
		Position: func(offset int) (string, int, int) {
			p := info.Position(offset)
			return p.File, p.Line, p.Column
		},
		Capture: func(name string) (any, error) { return m.capture(info, name) },
		Names:   info.Names,
	}
}

// capture returns the value of a free variable of a function. It returns nil for names of the kernel language and for
// undeclared ones. The error says why a kernel cannot read the variable.
func (m *Module) capture(info *lang.FunctionInfo, name string) (any, error) {
	c, ok := info.Capture(name)
	switch {
	case !ok && !info.Known && kernel.IsLanguageName(name):
		return nil, nil
	case !ok && !info.Known:
		return nil, errors.New("the function is a method of a class, or comes from eval, so its variables cannot be found")
	case !ok || c.State == lang.Undeclared:
		return nil, nil
	case c.State == lang.Uninitialized:
		return nil, fmt.Errorf("it has no value yet: its declaration at %s has not run", c.Declared)
	case len(c.Assigned) > 0:
		return nil, fmt.Errorf("it is assigned at %s, and a kernel reads it once; declare it const, or pass it as an argument", c.Assigned[0])
	case c.Function != nil:
		if c.Function.Native {
			if _, isType := m.types.Of(c.Value); isType {
				return m.captured(c.Value, name)
			}
			o, ok := c.Value.(*goja.Object)
			if number, known := m.LanguageName(o); ok && known {
				return nil, renamed(number, name)
			}
			return nil, m.nativeError(o, c.Function.Name)
		}
		if o, ok := c.Value.(*goja.Object); ok && isClass(c.Function.Text) {
			return capturedObject{m, o, name}, nil // a class, for its static fields
		}
		src := m.helpers[c.Function]
		if src == nil {
			src = m.sourceOf(c.Function)
			m.helpers[c.Function] = src
		}
		return src, nil
	}
	return m.captured(c.Value, name)
}

// captured converts a script value to a value of the kernel compiler. path is the expression of the value in the script.
// It returns nil for a global object of the kernel language under its own name. The error says why a kernel cannot use the value.
func (m *Module) captured(v goja.Value, path string) (any, error) {
	if v == nil || goja.IsUndefined(v) {
		return nil, errors.New("it is undefined")
	}
	if t, ok := m.types.Of(v); ok {
		if t.Elem.Record != nil {
			return t.Elem.Record, nil
		}
		return t.Elem.Scalar, nil
	}
	switch x := element.Exported(v).(type) {
	case bool:
		return x, nil
	case int64:
		return float64(x), nil
	case float64:
		return x, nil
	case *big.Int:
		return x, nil
	case string:
		return nil, &captureError{"it is a string", "kernels have no strings, but in g.print and g.assert"}
	}
	o, ok := v.(*goja.Object)
	if !ok {
		return nil, fmt.Errorf("it is %s", convert.Describe(v))
	}
	if number, ok := m.LanguageName(o); ok {
		return nil, renamed(number, path)
	}
	if _, callable := goja.AssertFunction(o); callable {
		return m.capturedFunction(o)
	}
	if data, t, ok := element.TypedArray(o); ok {
		data = bytes.Clone(data)
		if m.compares(len(data) / t.Size()) {
			m.reads.add(&capturedTypedArray{path: path, object: o, elem: t, captured: data, last: data})
		}
		return kernel.Table{Elem: t, Data: data}, nil
	}
	if b := m.buffers.Of(o); b != nil {
		if name, ok := m.passed[b]; ok {
			return kernel.Parameter(name), nil
		}
		return nil, bufferError{}
	}
	if o.ClassName() == "Array" {
		list, err := numbersOf(o)
		if err != nil && element.IsArray(o.Get("0")) {
			return nil, &captureError{err.Error(), "a captured array is flat: write " + path + ".flat() in the script, and [i * columns + j] in the kernel"}
		}
		if err == nil && m.compares(len(list)) {
			m.reads.add(&capturedArray{path: path, object: o, captured: list, last: list})
		}
		return list, err
	}
	return capturedObject{m, o, path}, nil
}

// numbersOf returns the elements of an array of numbers.
func numbersOf(array *goja.Object) ([]float64, error) {
	n := int(array.Get("length").ToInteger())
	list := make([]float64, 0, min(n, element.TrustedLength))
	for i := range n {
		x, err := element.Number(array.Get(strconv.Itoa(i)))
		if err != nil {
			return nil, fmt.Errorf("element %d is no number: %v", i, err)
		}
		list = append(list, x)
	}
	return list, nil
}

// captureError reports a value that cannot be captured, with advice.
type captureError struct{ message, hint string }

func (e *captureError) Error() string { return e.message }
func (e *captureError) Hint() string  { return e.hint }

// nativeHints has, by the name of a function of the host, what to write in a kernel instead.
var nativeHints = later.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		"log": "write g.print(`…`)", "info": "write g.print(`…`)", "warn": "write g.print(`…`)", "error": "write g.print(`…`)",
		"parseInt": "write Math.trunc(x), or x | 0", "parseFloat": "write f32(x)",
		"BigInt": "write i64(x)",
		"assert": "write g.assert(condition, message)",
	}
}}

// nativeError returns the error for a captured function of the host, with what the kernel language has in its place.
func (m *Module) nativeError(fn *goja.Object, name string) error {
	hint := nativeHints.Get()[name]
	if math := m.language[0]; math != nil && fn != nil {
		if v := math.Get(name); v != nil && v.SameAs(fn) {
			hint = "write Math." + name + "(…) in the kernel"
		}
	}
	switch {
	case hint != "":
	case name == "Array" || strings.HasSuffix(name, "Array"):
		hint = "use g.private(type, n) for an array of the item, or capture one that the script makes"
	default:
		hint = "call it outside of the kernel, and pass its result as an argument"
	}
	return &captureError{"it is a function of the host, which has no text", hint}
}

// isClass reports whether a function's text is that of a class rather than of a method named class.
func isClass(text string) bool {
	rest, ok := strings.CutPrefix(text, "class")
	return ok && strings.IndexAny(rest, " {") == 0 && !strings.HasPrefix(strings.TrimSpace(rest), "(")
}

// capturedObject is a captured object of the script: a plain one, or a class with static fields.
type capturedObject struct {
	m    *Module
	o    *goja.Object
	path string // the expression of the object in the script
}

// Field returns the converted value of a field, or nil without one.
func (c capturedObject) Field(name string) (any, error) {
	v := c.o.Get(name)
	if v == nil {
		return nil, nil
	}
	if c.m.reads != nil && c.m.isData(c.o, name) {
		c.m.reads.add(&capturedField{path: c.path + "." + name, object: c.o, name: name, captured: v, last: v, text: c.m.Brief(v)})
	}
	return c.m.captured(v, c.path+"."+name)
}

// Fields returns the names of the object's own enumerable properties.
func (c capturedObject) Fields() []string { return c.o.Keys() }

// BuffersOf returns the buffers that a function captures, directly or through functions that it calls. Their names are
// distinct and differ from the taken ones. It returns nil if the value is no function of a script.
func (m *Module) BuffersOf(fn goja.Value, taken ...string) (found []*buffers.Buffer, names map[*buffers.Buffer]string) {
	info, err := m.Engine.FunctionInfo(fn)
	if err != nil {
		return nil, nil
	}
	names = map[*buffers.Buffer]string{}
	seen := map[*lang.FunctionInfo]bool{}
	var visit func(f *lang.FunctionInfo)
	visit = func(f *lang.FunctionInfo) {
		if f == nil || seen[f] {
			return
		}
		seen[f] = true
		for i := range f.Captures {
			c := &f.Captures[i]
			if c.State == lang.Bound && c.Value != nil {
				if b := m.buffers.Of(c.Value); b != nil && names[b] == "" {
					name := c.Name
					for slices.Contains(taken, name) {
						name += "_"
					}
					taken = append(taken, name)
					found, names[b] = append(found, b), name
				}
			}
			visit(c.Function)
		}
	}
	visit(info)
	return found, names
}

// LanguageName returns the number of a global object that the kernel language also defines: its index in languageNames, or the
// length of languageNames for Atomics. For other objects, and nil, it returns false.
func (m *Module) LanguageName(o *goja.Object) (number int, ok bool) {
	if o == nil {
		return 0, false
	}
	if number = slices.Index(m.language, o); number < 0 && o == m.atomics() {
		number = len(m.language)
	}
	return number, number >= 0
}

// renamed returns an error if a script's expression for a global object of the kernel language is not its name.
func renamed(number int, path string) error {
	name := "Atomics"
	if number < len(languageNames) {
		name = languageNames[number]
	}
	if path == name {
		return nil
	}
	return &captureError{"it is " + name + " by another name", "write " + name + " in the kernel"}
}

// capturedFunction converts a function in an object's field for the kernel compiler.
func (m *Module) capturedFunction(o *goja.Object) (any, error) {
	info, err := m.Engine.FunctionInfo(o)
	if err != nil {
		return nil, err
	}
	if info.Native {
		return nil, m.nativeError(o, info.Name)
	}
	return m.sourceOf(info), nil
}

// Pass lets kernels capture buffers under the names of parameters, until restore is called.
func (m *Module) Pass(names map[*buffers.Buffer]string) (restore func()) {
	outer := m.passed
	m.passed = names
	return func() { m.passed = outer }
}

// Record adds what is read of captured objects to a list, until restore is called.
func (m *Module) Record(list *List) (restore func()) {
	outer := m.reads
	m.reads = list
	return func() { m.reads = outer }
}

// bufferError is the error of a captured buffer.
type bufferError struct{}

func (bufferError) Error() string { return "it is a buffer" }

// Hint returns what to do instead.
func (bufferError) Hint() string {
	return "pass it as an argument; an operation of arrays takes it as in x.zip(y, (a, b) => a * b)"
}
