// Package itemtrace implements the class of what kernel.debug returns: the trace of one work-item.
package itemtrace

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/trace"
	"github.com/orepl/orepl/lang/later"
)

// Module holds the class of traces of one engine.
type Module struct {
	*script.Script
	class *lang.Class[*Trace]
}

// New defines the class of traces.
func New(s *script.Script) *Module {
	m := &Module{Script: s}
	m.define()
	return m
}

// Constructors returns the constructors of the classes that scripts see.
func (m *Module) Constructors() []*goja.Object {
	return []*goja.Object{m.class.Constructor()}
}

// Trace is the trace of one work-item, which kernel.debug returns.
type Trace struct {
	*trace.Trace
	name string
	item [3]int
}

func (m *Module) define() {
	m.class = lang.NewClass(m.Engine, lang.ClassSpec[*Trace]{
		Name:    "Trace",
		Methods: []lang.Method[*Trace]{script.Method(m.Script, "toString", func(t *Trace, _ goja.FunctionCall) (goja.Value, error) { return m.VM.ToValue(Format(t)), nil })},
		Fields: []lang.Field[*Trace]{
			script.Field(m.Script, "item", func(t *Trace) (goja.Value, error) { return m.Ints(t.item[:]), nil }),
			script.Field(m.Script, "steps", func(t *Trace) (goja.Value, error) { return m.steps(t), nil }),
			script.Value(m.Script, "ended", func(t *Trace) any { return t.Ended }),
			script.Field(m.Script, "fault", func(t *Trace) (goja.Value, error) { return m.fault(t), nil }),
		},
		Inspect: func(t *Trace, _ inspect.Options) string { return Format(t) },
	})
}

// NewTrace returns the trace of a work-item of a kernel.
func NewTrace(t *trace.Trace, kernel string, item [3]int) *Trace {
	return &Trace{Trace: t, name: kernel, item: item}
}

// ObjectOf returns a new script object of a trace.
func (m *Module) ObjectOf(t *Trace) *goja.Object { return m.class.New(t) }

// place returns the source location of a site as script properties.
func (t *Trace) place(site int) []script.Pair {
	file, s := t.Where(site)
	return []script.Pair{{"file", file}, {"line", s.Line}, {"column", s.Col}, {"text", s.Text}}
}

func (m *Module) fault(t *Trace) goja.Value {
	if t.Fault == nil {
		return goja.Undefined()
	}
	fault := t.place(t.Fault.Site)
	return m.Object(append(fault, script.Pair{"code", t.Fault.Kind.String()}, script.Pair{"message", t.Fault.Error()})...)
}

// steps returns the steps as script objects.
func (m *Module) steps(t *Trace) goja.Value {
	steps := make([]any, len(t.Steps))
	for i := range t.Steps {
		s := &t.Steps[i]
		values, accesses := m.VM.NewObject(), []any{}
		o := m.Object(t.place(s.Site)...)
		set := func(o *goja.Object, name string, v any) { _ = o.Set(name, v) } // cannot fail on a new plain object
		for j := range s.Events {
			switch e := &s.Events[j]; e.Kind {
			case kernel.MarkValue:
				if e.Name == "" {
					set(o, "value", m.value(e.Value))
				} else {
					set(values, e.Name, m.value(e.Value))
				}
			case kernel.MarkPrint:
				set(o, "printed", e.Text)
			default:
				index := make([]any, len(e.Index))
				for n := range index {
					index[n] = m.value(e.Index[n])
				}
				accesses = append(accesses, m.Object([]script.Pair{{"kind", accessKinds.Get()[e.Kind]}, {"array", e.Name},
					{"index", m.VM.NewArray(index...)}, {"text", e.Access()}, {"value", m.value(e.Value)}}...))
			}
		}
		set(o, "depth", s.Depth)
		set(o, "values", values)
		set(o, "accesses", m.VM.NewArray(accesses...))
		steps[i] = o
	}
	return m.VM.NewArray(steps...)
}

var accessKinds = later.Value[map[kernel.MarkKind]string]{Make: func() map[kernel.MarkKind]string {
	return map[kernel.MarkKind]string{kernel.MarkLoad: "load", kernel.MarkStore: "store", kernel.MarkAtomic: "atomic"}
}}

func (m *Module) value(v interp.Scalar) goja.Value {
	return element.ScalarValue(m.VM, v.Type, binary.LittleEndian.AppendUint64(nil, v.Bits))
}

// traceText is the maximum number of characters of a statement's text in a printed trace.
const traceText = 44

// Format formats a trace with one line per step.
func Format(t *Trace) string {
	var b strings.Builder
	fmt.Fprintf(&b, "item [%d, %d, %d] of %s", t.item[0], t.item[1], t.item[2], t.name)
	first, _ := t.Where(0)
	places, texts := make([]string, len(t.Steps)), make([]string, len(t.Steps))
	wide, long := 0, 0
	for i := range t.Steps {
		file, s := t.Where(t.Steps[i].Site)
		places[i] = fmt.Sprintf("%d:%d", s.Line, s.Col)
		if file != first {
			places[i] = file + ":" + places[i]
		}
		texts[i] = strings.Repeat("  ", t.Steps[i].Depth) + shorten(s.Text, traceText)
		wide, long = max(wide, len(places[i])), max(long, utf8.RuneCountInString(texts[i]))
	}
	for i := range t.Steps {
		line := fmt.Sprintf("\n  %*s  %-*s  %s", wide, places[i], long, texts[i], strings.Join(eventTexts(&t.Steps[i]), "  "))
		b.WriteString(strings.TrimRight(line, " "))
	}
	switch {
	case t.Fault != nil:
		_, s := t.Where(t.Fault.Site)
		fmt.Fprintf(&b, "\n  fault at %d:%d: %v", s.Line, s.Col, t.Fault)
	case t.Cut:
		fmt.Fprintf(&b, "\n  … the trace ends here: raise limit to see more")
	}
	return b.String()
}

func eventTexts(s *trace.Step) []string {
	var list []string
	for i := range s.Events {
		e := &s.Events[i]
		value := shortScalar(e.Value)
		switch e.Kind {
		case kernel.MarkPrint:
			list = append(list, "prints "+strconv.Quote(e.Text))
		case kernel.MarkLoad, kernel.MarkAtomic:
			list = append(list, e.Access()+" → "+value)
		case kernel.MarkStore:
			list = append(list, e.Access()+" ← "+value)
		default:
			if e.Name != "" {
				value = e.Name + " = " + value
			}
			list = append(list, value)
		}
	}
	return list
}

// shortScalar formats a value. An f32 becomes the shortest decimal that rounds to it; −0 has its sign, as in console.log.
func shortScalar(v interp.Scalar) string {
	if v.Type.IsFloat() && v.Bits == ir.FloatBits(v.Type, math.Copysign(0, -1)) {
		return "-0"
	}
	if v.Type == ir.F32 {
		x := float64(math.Float32frombits(uint32(v.Bits)))
		if short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', -1, 32), 64); err == nil {
			v = interp.Scalar{Type: ir.F64, Bits: math.Float64bits(short)}
		}
	}
	return string(interp.AppendScalar(nil, v))
}

// shorten truncates a text to n characters.
func shorten(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}
