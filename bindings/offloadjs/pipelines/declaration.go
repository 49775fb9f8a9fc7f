package pipelines

import (
	"errors"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/option"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	contract "github.com/orepl/orepl/runtime/offload"
)

// declaration is the argument of pipeline() while it is checked. All of its mistakes are collected.
type declaration struct {
	*option.Set
	m        *Module
	at       contract.Position  // of the call
	run      *lang.FunctionInfo // nil if run is no function
	mistakes diag.List
}

// declarationOf returns the declaration in an object. Properties that do not exist are mistakes.
func (m *Module) declarationOf(o *goja.Object) *declaration {
	d := &declaration{m: m, at: m.Caller()}
	if run := o.Get("run"); run != nil {
		d.run, _ = m.Engine.FunctionInfo(run) // anything else is refused later
	}
	d.Set = m.Options.ParseAll("pipeline", o, func(key string, err error) { d.fail(err, key) }, "device", "params", "inputs", "outputs", "temporaries", "run")
	return d
}

// place returns the position of a property of the declaration, such as "inputs", "x", or that of the call.
func (d *declaration) place(steps ...any) contract.Position {
	if p := d.m.Engine.LocateArgument(script.Position(d.at), steps...); p.IsValid() {
		return contract.Position{File: p.File, Line: p.Line, Col: p.Column}
	}
	return d.at
}

// fail records a mistake in a property.
func (d *declaration) fail(err error, steps ...any) {
	var e *contract.Error
	if errors.As(err, &e) && !script.Position(e.Pos).IsValid() {
		e.Pos = d.place(steps...)
	}
	d.mistakes = append(d.mistakes, diag.All(d.m.Explain(err))...)
	if d.Set != nil {
		d.Err = nil // a mistake in one option hides none in others
	}
}

// failure returns one error for all mistakes, or nil.
func (d *declaration) failure() error {
	if len(d.mistakes) == 0 {
		return nil
	}
	return d.mistakes.Sort().Diagnostic()
}
