package offload

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/kernel"
	kerneldiag "github.com/orepl/orepl/lang/kernel/diag"
)

// source gives a function of the script to the kernel compiler: its text, where it stands, and what it captures.
// info has the name under which the script knows it.
func (m *instance) source(fn goja.Value) (src *kernel.Source, info *lang.FunctionInfo, err error) {
	if info, err = m.engine.FunctionInfo(fn); err != nil {
		return nil, nil, err
	}
	if info.Native {
		return nil, nil, kerneldiag.List{{ID: kerneldiag.NotAFunction, Message: fmt.Sprintf("%s is a function of the host, which has no text", info.Name),
			Rewrite: "write kernel((g, x) => { x[g.x] = … })"}}
	}
	return m.sourceOf(info), info, nil
}

// watched is a variable of the prompt that a kernel captured. Later lines may give it another value, which the kernel does
// not see.
type watched struct {
	name string
	was  goja.Value // when the kernel was made
	told goja.Value // what it is known to be now
}

// watch lists the variables of the prompt that a function captures.
func watch(info *lang.FunctionInfo) (list []watched) {
	for _, c := range info.PromptCaptures() {
		list = append(list, watched{c.Name, c.Value, c.Value})
	}
	return list
}

// warnOfChanges tells of each captured variable that has another value than when the kernel was made, once for each value.
func (m *instance) warnOfChanges(k *kernelObject) {
	for i := range k.watched {
		w := &k.watched[i]
		now := m.engine.PromptValue(w.name)
		if now == nil || now.SameAs(w.told) {
			continue
		}
		w.told = now
		if now.SameAs(w.was) {
			continue
		}
		message, hint := fmt.Sprintf("%s is another value than when the kernel %s was made, which goes on with the old one", w.name, k.name), "make the kernel anew"
		if a, b := convert.Primitive(w.was), convert.Primitive(now); a != nil && b != nil {
			message = fmt.Sprintf("%s is %v now, but the kernel %s was made when it was %v, and goes on with that", w.name, now, k.name, w.was)
			hint += ", or pass " + w.name + " as an argument"
		}
		m.engine.Warn(message, hint)
	}
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

// capture gives the value of a free variable of a function.
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
			if o, ok := c.Value.(*goja.Object); ok && m.isLanguageName(o) {
				return nil, nil
			}
			return nil, nativeError(c.Function.Name)
		}
		if o, ok := c.Value.(*goja.Object); ok && isClass(c.Function.Text) {
			return capturedObject{m, o}, nil // its static fields
		}
		src := m.helpers[c.Function]
		if src == nil {
			src = m.sourceOf(c.Function)
			m.helpers[c.Function] = src
		}
		return src, nil
	}
	return m.captured(c.Value)
}

// captured turns a value of the script into one that the kernel compiler knows.
func (m *instance) captured(v goja.Value) (any, error) {
	if v == nil || goja.IsUndefined(v) {
		return nil, errors.New("it is undefined")
	}
	if t, ok := m.asType(v); ok {
		if t.elem.Record != nil {
			return t.elem.Record, nil
		}
		return t.elem.Scalar, nil
	}
	switch x := exported(v).(type) {
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
	if data, t, ok := asTypedArray(o); ok {
		return kernel.Table{Elem: t, Data: append([]byte(nil), data...)}, nil
	}
	if m.asBuffer(o) != nil {
		return nil, errors.New("it is a buffer")
	}
	if o.ClassName() == "Array" {
		n := int(o.Get("length").ToInteger())
		list := make([]float64, 0, min(n, trustedLength))
		for i := range n {
			x, err := number(o.Get(strconv.Itoa(i)))
			if err != nil {
				return nil, fmt.Errorf("element %d is no number: %v", i, err)
			}
			list = append(list, x)
		}
		return list, nil
	}
	return capturedObject{m, o}, nil
}

// captureError says why a value cannot be captured, and what to write instead.
type captureError struct{ message, hint string }

func (e *captureError) Error() string { return e.message }
func (e *captureError) Hint() string  { return e.hint }

// nativeHints say what a kernel writes in the place of functions of the host.
var nativeHints = map[string]string{
	"log": "write g.print(`…`)", "info": "write g.print(`…`)", "warn": "write g.print(`…`)", "error": "write g.print(`…`)",
	"parseInt": "write Math.trunc(x), or x | 0", "parseFloat": "write f32(x)", "Number": "write f32(x), i32(x), …; of its constants make one of the script's own, which a kernel captures",
	"isNaN": "write x !== x", "isFinite": "write x - x === 0", "BigInt": "write i64(x)",
	"assert": "write g.assert(condition, message)",
}

// nativeError refuses a function of the host.
func nativeError(name string) error {
	hint := nativeHints[name]
	if hint == "" {
		hint = "call it outside of the kernel, and pass its result as an argument"
	}
	return &captureError{"it is a function of the host, which has no text", hint}
}

// isClass reports whether a function's text is a class's; a method could have that name.
func isClass(text string) bool {
	rest, ok := strings.CutPrefix(text, "class")
	return ok && strings.IndexAny(rest, " {") == 0 && !strings.HasPrefix(strings.TrimSpace(rest), "(")
}

// capturedObject is a plain object of the script whose fields a kernel reads.
type capturedObject struct {
	m *instance
	o *goja.Object
}

// Field gives a field as Source.Capture would.
func (c capturedObject) Field(name string) (any, error) {
	v := c.o.Get(name)
	if v == nil {
		return nil, nil
	}
	return c.m.captured(v)
}

// Fields gives the names of the object's own properties.
func (c capturedObject) Fields() []string { return c.o.Keys() }

// wrapKernel makes a kernel from a text of ours that calls a function of the script by a name.
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
	return &kernelObject{fn: f, name: declared, text: inner.Text, params: f.Params(), opts: kernel.Options{Name: declared},
		compiled: map[string]*specialization{}}, nil
}
