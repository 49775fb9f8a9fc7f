package offloadjs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/kernel"
	kerneldiag "github.com/orepl/orepl/lang/kernel/diag"
)

// source returns the kernel compiler's source for a script function: its text, position and captures. info holds the
// function's name in the script.
func (m *instance) source(fn goja.Value) (src *kernel.Source, info *lang.FunctionInfo, err error) {
	if info, err = m.Engine.FunctionInfo(fn); err != nil {
		return nil, nil, err
	}
	if info.Native {
		return nil, nil, kerneldiag.List{{ID: kerneldiag.NotAFunction, Message: fmt.Sprintf("%s is a function of the host, which has no text", info.Name),
			Rewrite: "write kernel((g, x) => { x[g.x] = … })"}}
	}
	return m.sourceOf(info), info, nil
}

func (m *instance) sourceOf(info *lang.FunctionInfo) *kernel.Source {
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

// capture returns the value of a free variable of a function.
func (m *instance) capture(info *lang.FunctionInfo, name string) (any, error) {
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
			if _, isType := m.asType(c.Value); isType {
				return m.captured(c.Value, name)
			}
			if o, ok := c.Value.(*goja.Object); ok && m.isLanguageName(o) {
				return nil, nil
			}
			return nil, nativeError(c.Function.Name)
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
func (m *instance) captured(v goja.Value, path string) (any, error) {
	if v == nil || goja.IsUndefined(v) {
		return nil, errors.New("it is undefined")
	}
	if t, ok := m.asType(v); ok {
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
	if m.isLanguageName(o) {
		return nil, nil
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
	if b := m.asBuffer(o); b != nil {
		if name, ok := m.passed[b]; ok {
			return kernel.Parameter(name), nil
		}
		return nil, errors.New("it is a buffer")
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

// nativeHints maps functions of the host to their equivalents in kernels.
var nativeHints = map[string]string{
	"log": "write g.print(`…`)", "info": "write g.print(`…`)", "warn": "write g.print(`…`)", "error": "write g.print(`…`)",
	"parseInt": "write Math.trunc(x), or x | 0", "parseFloat": "write f32(x)",
	"BigInt": "write i64(x)",
	"assert": "write g.assert(condition, message)",
}

// nativeError returns the error for a captured function of the host.
func nativeError(name string) error {
	hint := nativeHints[name]
	if hint == "" {
		hint = "call it outside of the kernel, and pass its result as an argument"
	}
	return &captureError{"it is a function of the host, which has no text", hint}
}

// isClass reports whether a function's text is a class declaration rather than a method named class.
func isClass(text string) bool {
	rest, ok := strings.CutPrefix(text, "class")
	return ok && strings.IndexAny(rest, " {") == 0 && !strings.HasPrefix(strings.TrimSpace(rest), "(")
}

// capturedObject is a captured plain object of the script.
type capturedObject struct {
	m    *instance
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
		c.m.reads.add(&capturedField{path: c.path + "." + name, object: c.o, name: name, captured: v, last: v, text: c.m.brief(v)})
	}
	return c.m.captured(v, c.path+"."+name)
}

// Fields returns the names of the object's own properties.
func (c capturedObject) Fields() []string { return c.o.Keys() }

// wrapKernel returns a kernel of generated text that calls a script function by name.
func (m *instance) wrapKernel(text, name string, fn goja.Value) (*kernelObject, error) {
	inner, info, err := m.source(fn)
	if err != nil {
		return nil, err
	}
	src := &kernel.Source{
		Text:     text,
		Position: func(int) (string, int, int) { return inner.Position(0) },
		Capture: func(n string) (any, error) {
			if n == name {
				return inner, nil
			}
			return nil, nil
		},
	}
	f, err := kernel.Parse(src)
	if err != nil {
		return nil, err
	}
	declared := cmp.Or(info.Name, name)
	return &kernelObject{fn: f, name: declared, text: inner.Text, params: f.Params(), opts: kernel.Options{Name: declared, Warnings: true},
		compiled: map[string]*specialization{}, checked: map[string]*specialization{}}, nil
}

// capturedBuffers returns the buffers that a function captures, directly or through functions that it calls. Their names are
// distinct and differ from the taken ones.
func (m *instance) capturedBuffers(fn goja.Value, taken ...string) (buffers []*bufferObject, names map[*bufferObject]string) {
	info, err := m.Engine.FunctionInfo(fn)
	if err != nil {
		return nil, nil
	}
	names = map[*bufferObject]string{}
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
				if b := m.asBuffer(c.Value); b != nil && names[b] == "" {
					name := c.Name
					for slices.Contains(taken, name) {
						name += "_"
					}
					taken = append(taken, name)
					buffers, names[b] = append(buffers, b), name
				}
			}
			visit(c.Function)
		}
	}
	visit(info)
	return buffers, names
}
