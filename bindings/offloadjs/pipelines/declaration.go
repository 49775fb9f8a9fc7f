package pipelines

import (
	"cmp"
	"errors"
	"strconv"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/option"
	"github.com/orepl/orepl/bindings/offloadjs/placement"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	contract "github.com/orepl/orepl/runtime/offload"
)

// declaration is the argument of pipeline(). All of its mistakes are collected, and later errors have the positions of its
// properties.
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
	d.Set = m.Options.ParseAll("pipeline", o, func(key string, err error) { d.fail(err, key) }, "device", "prefer", "devices", "params", "inputs", "outputs", "temporaries", "run")
	return d
}

// wish returns the devices that the script wants, and the name of the option that says so, or "device" if there is none. It records
// mistakes and returns false for them.
func (d *declaration) wish() (w placement.Wish, key string, ok bool) {
	before := len(d.mistakes)
	for _, name := range []string{"device", "prefer", "devices"} {
		v := d.Get(name)
		if v == nil {
			continue
		}
		if key != "" {
			d.fail(contract.Errorf(contract.InvalidArgument, "pipeline", "%s and %s are both set", key, name).
				WithHint("device for one that is required, prefer for the first available one, devices to use several at a time"), name)
			continue
		}
		key = name
		if id, isText := element.Exported(v).(string); isText && name == "device" {
			w.Device = id
			continue
		}
		list, err := d.ids(name, v)
		if err != nil {
			d.fail(err, name)
		}
		if name == "devices" {
			w.Spread = list
		} else {
			w.Prefer = list
		}
	}
	return w, cmp.Or(key, "device"), len(d.mistakes) == before
}

// ids returns the ids in v, the value of the option name. It returns an error unless v is an array of one or more valid ids.
func (d *declaration) ids(name string, v goja.Value) (list []string, err error) {
	what := "a list of ids"
	if name == "device" {
		what = "a device's id"
	}
	wrong := func(v goja.Value) error {
		return contract.Errorf(contract.InvalidArgument, "pipeline", "%s: expected %s, not %s", name, what, convert.Describe(v)).
			WithHint("write %s: ['cuda', 'cpu']", name)
	}
	o, isObject := v.(*goja.Object)
	if !isObject || o.ClassName() != "Array" {
		return nil, wrong(v)
	}
	for i := range int(o.Get("length").ToInteger()) {
		one := o.Get(strconv.Itoa(i))
		if one == nil {
			one = goja.Undefined()
		}
		id, isText := element.Exported(one).(string)
		if !isText {
			return nil, wrong(one)
		}
		list = append(list, id)
	}
	if len(list) == 0 {
		return nil, contract.Errorf(contract.InvalidArgument, "pipeline", "%s: the list of ids is empty", name).WithHint("leave it out for the best device")
	}
	if err := placement.Check(list); err != nil {
		return nil, contract.Errorf(contract.InvalidArgument, "pipeline", "%s: %v", name, err)
	}
	return list, nil
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
