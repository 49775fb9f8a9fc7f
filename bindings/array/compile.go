package array

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/orepl/orepl/bindings/array/built"
	texts "github.com/orepl/orepl/kernels/array"
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// Function is a function in the kernel language, with its captured values.
type Function struct {
	Source *kernel.Source
	// Key identifies functions with equal text and captured values. Kernels of a function without a key are compiled anew for
	// each operation.
	Key string
}

// Text returns a function without captured values, such as "v => Math.sin(v) * 2". Its errors have the position of the launch.
func Text(text string) Function {
	return Function{&kernel.Source{Text: text, Capture: func(string) (any, error) { return nil, nil }, Position: (*program)(nil).position}, text}
}

// Calling returns a function whose text calls another function by a name.
func Calling(text, name string, fn Function) Function {
	src := &kernel.Source{Text: text, Position: fn.Source.Position}
	src.Capture = func(n string) (any, error) {
		if n == name {
			return fn.Source, nil
		}
		if t := texts.Text(n); t != "" {
			return &kernel.Source{Text: t, Capture: func(string) (any, error) { return nil, nil }}, nil
		}
		return nil, nil
	}
	key := fn.Key
	if key != "" {
		key = text + "\x00" + key
	}
	return Function{src, key}
}

// IsZero reports whether the function is missing.
func (f Function) IsZero() bool { return f.Source == nil }

// program describes a kernel: its text, and the values of its free names.
type program struct {
	name string        // for errors
	text string        // the name of a text, or a text
	full func() string // the text of a name; nil if it is in package kernels/array
	bind map[string]any
	real ir.Type        // real type; Void for that of the parameters
	keys string         // identifies the bound values; "-" if a function has no key
	user *kernel.Source // the caller's function

	inside bool     // the text's accesses are within bounds for all elements: launches need no checks of them
	joined []string // the operations that the kernel computes besides its own
}

// with binds a name of the kernel's text: to an element type, a number, a boolean, a [Function], or the text of a function.
func (p *program) with(name string, v any) *program {
	if p.bind == nil {
		p.bind = map[string]any{}
	}
	switch x := v.(type) {
	case string:
		p.note(name, x)
		v = p.source(x)
	case Function:
		if x.Key == "" {
			p.keys = "-"
		}
		p.note(name, x.Key)
		v, p.user = x.Source, x.Source
	case int:
		p.note(name, fmt.Sprint(x))
		v = float64(x)
	default:
		p.note(name, fmt.Sprint(v))
	}
	p.bind[name] = v
	return p
}

func (p *program) note(name, key string) {
	if p.keys != "-" {
		p.keys += "\x00" + name + "=" + key
	}
}

// source returns a text whose free names are those of the program.
func (p *program) source(text string) *kernel.Source {
	return &kernel.Source{Text: text, Capture: p.capture, Position: p.position}
}

// position returns the position of the caller's function. Without one it returns zeros, and errors have the position of the launch.
func (p *program) position(int) (string, int, int) {
	if p != nil && p.user != nil && p.user.Position != nil {
		return p.user.Position(0)
	}
	return "", 0, 0
}

// capture returns the value of a free name: a bound value, or a function of the texts. It returns nil for names of the language.
func (p *program) capture(name string) (any, error) {
	if v, ok := p.bind[name]; ok {
		return v, nil
	}
	text := texts.Text(name)
	if text == "" {
		return nil, nil
	}
	src := p.source(text)
	p.bind[name] = src
	return src, nil
}

// compile returns the kernel for argument types.
func (p *program) compile(args []kernel.Arg) (*kernel.Compiled, error) {
	if p.bind == nil {
		p.bind = map[string]any{}
	}
	text := p.text
	if t := texts.Text(text); t != "" {
		text = t
	} else if p.full != nil {
		text = p.full()
	}
	src := p.source(text)
	f, err := kernel.Parse(src)
	if err != nil {
		return nil, err
	}
	code, err := f.Compile(args, kernel.Options{Name: p.name, Real: p.real})
	return code, p.hinted(err)
}

// unchecked reports whether no launch of the compiled program needs checks. Its own accesses are within bounds, and the
// caller's function has no assertions, calls of services, arrays, or integer divisions that may fail.
func (p *program) unchecked(k *ir.Kernel) bool {
	if !p.inside || p.user == nil {
		return p.inside
	}
	text := p.text
	if t := texts.Text(text); t != "" {
		text = t
	}
	arrays := -strings.Count(text, "g.private(")
	for _, a := range k.Arrays {
		if a.Space == ir.Private || a.Space == ir.Table {
			arrays++
		}
	}
	safe := arrays == 0
	k.Body.Walk(func(in *ir.Instr) {
		switch in.Op {
		case ir.Assert, ir.Call:
			safe = false
		case ir.Div, ir.Rem:
			safe = safe && (in.Type().IsFloat() || analysis.IsSpeculable(in))
		}
	})
	return safe
}

// hinted adds suggestions to errors of operands whose types do not mix, and to those that say that the caller's function returns no
// value. It returns err.
func (p *program) hinted(err error) error {
	list, _ := errors.AsType[diag.List](err)
	for _, d := range list {
		switch {
		case d.ID == diag.ValueUnused && d.Rewrite == "" && p.user != nil:
			d.Rewrite = "let the function return one: v => v + 1, or v => { return v + 1 }"
		case (d.ID == diag.Mixed64 || d.ID == diag.JoinFailed) && d.Line == 0:
			d.Notes, d.Rewrite = nil, "convert the elements of one operand first, as in x.map(v => i64(v))"
		}
	}
	return err
}

// key returns a text that identifies the kernel for argument types, or "" if the kernel must be compiled for each operation.
func (p *program) key(args []kernel.Arg) string {
	if p.keys == "-" {
		return ""
	}
	var b strings.Builder
	b.WriteString(p.name)
	b.WriteByte(0)
	b.WriteString(p.text)
	b.WriteString(p.keys)
	fmt.Fprintf(&b, "\x00%d", p.real)
	for i := range args {
		a := &args[i]
		if a.Elem.Record != nil {
			return ""
		}
		fmt.Fprintf(&b, "\x00%d,%d,%d,%d", a.Kind, a.Type, a.Elem.Scalar, a.Rank)
	}
	return b.String()
}

// resultTypes caches the type of a function's value, by the key of the program that calls the function. It also caches the number
// of a function's parameters, by the function's text. A full map, of 4*built.Most entries, is emptied.
type resultTypes struct {
	mu      sync.Mutex
	list    map[string]ir.Type
	arities map[string]int
}

// arity returns the number of a function's parameters.
func (t *resultTypes) arity(fn *kernel.Source) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n, ok := t.arities[fn.Text]; ok {
		return n, nil
	}
	n, err := kernel.ArityOf(fn)
	if err != nil {
		return 0, err
	}
	if t.arities == nil || len(t.arities) >= 4*built.Most {
		t.arities = map[string]int{}
	}
	t.arities[fn.Text] = n
	return n, nil
}

func (t *resultTypes) load(key string) ir.Type {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.list[key]
}

func (t *resultTypes) store(key string, typ ir.Type) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.list == nil || len(t.list) >= 4*built.Most {
		t.list = map[string]ir.Type{}
	}
	if key != "" {
		t.list[key] = typ
	}
}
