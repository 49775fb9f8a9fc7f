package repl

import (
	"context"
	"errors"
	"reflect"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/inspect"
)

// evaluate runs a block and prints its value or error. ok reports whether the block ran without an error. A returned error ends
// the session.
func (p *prompt) evaluate(name, block string) (ok bool, err error) {
	v, err := p.eval(name, block)
	if err != nil {
		return false, p.failed(err)
	}
	if v != nil && goja.IsUndefined(v) && !silent(block) {
		p.explainMissing(block)
	}
	return true, p.show(v, silent(block))
}

// eval evaluates a text, which Ctrl-C can interrupt.
func (p *prompt) eval(name, text string) (v goja.Value, err error) {
	p.run(func(ctx context.Context) { v, err = p.engine.Eval(ctx, name, text) })
	return v, err
}

// do runs fn with the engine; Ctrl-C can interrupt it.
func (p *prompt) do(fn func(*goja.Runtime) error) (err error) {
	p.run(func(ctx context.Context) { err = p.engine.Do(ctx, fn) })
	return err
}

// show stores a value in _, and prints it unless silent is set. It ignores undefined.
func (p *prompt) show(v goja.Value, silent bool) error {
	if v == nil || goja.IsUndefined(v) {
		return nil
	}
	text := ""
	err := p.do(func(vm *goja.Runtime) error {
		p.keep(vm, "_", v)
		if !silent {
			text = p.engine.InspectValue(v, p.inspection())
		}
		return nil
	})
	if err != nil {
		return p.failed(err)
	}
	if text != "" {
		p.printf("%s\n", text)
		if o, ok := v.(*goja.Object); ok && o.ExportType() == reflect.TypeFor[*goja.Promise]() {
			p.printf("%s\n", p.paint(gray, "a promise: await gives its value, as in: await _"))
		}
		if s, ok := v.(goja.String); ok && strings.Contains(s.String(), "\n") && len(text) > p.inspection().Width {
			p.printf("%s\n", p.paint(gray, "console.log(_) prints its lines"))
		}
	}
	return nil
}

func (p *prompt) inspection() inspect.Options {
	columns, _ := p.term.Size()
	return inspect.Options{Colors: p.Colors, Width: columns, Brief: true}
}

// failed prints an error and stores it in _error. It returns an exit of the script, which ends the session.
func (p *prompt) failed(err error) error {
	var exit *lang.ExitError
	if errors.As(err, &exit) {
		return exit
	}
	err = p.withStopped(err)
	p.report(err)
	var d *diag.Diagnostic
	errors.As(err, &d)
	return p.do(func(vm *goja.Runtime) error {
		if d != nil && d.Thrown != nil {
			if v, ok := d.Thrown.(goja.Value); ok {
				p.keep(vm, "_error", v)
				return nil
			}
		}
		p.keep(vm, "_error", p.engine.ErrorValue(err))
		return nil
	})
}

// keep sets a global of the prompt, unless the script has defined the name.
func (p *prompt) keep(vm *goja.Runtime, name string, v goja.Value) {
	global := vm.GlobalObject()
	last := p.kept[name]
	if now := global.Get(name); now != nil && (last == nil || !now.SameAs(last)) {
		return
	}
	if global.Set(name, v) == nil {
		p.kept[name] = v
	}
}
