package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang"
)

// Progress is the state of a measurement.
type Progress struct {
	Name          string
	Done, Samples int
	Point, Points int // the point of a sweep and the number of its points; 0 outside of sweeps
}

// control returns the function of this name among those of the module for the command line.
func control(e *lang.Engine, name string) (goja.Callable, error) {
	module, err := e.Require("bench")
	if err != nil {
		return nil, err
	}
	o, ok := module.Get("bench").(*goja.Object).GetSymbol(controlKey).(*goja.Object)
	if !ok {
		return nil, fmt.Errorf("the module 'bench' is not controllable")
	}
	fn, ok := goja.AssertFunction(o.Get(name))
	if !ok {
		return nil, fmt.Errorf("the module 'bench' has no function %s", name)
	}
	return fn, nil
}

// Watch registers report for the progress of an engine's measurements. Watch must be called on the loop's goroutine, like all functions
// of this file that take an engine.
func Watch(e *lang.Engine, report func(Progress)) error {
	watch, err := control(e, "watch")
	if err != nil {
		return err
	}
	_, err = watch(nil, e.Func("report", func(call goja.FunctionCall) (goja.Value, error) {
		at := func(i int) int { return int(call.Argument(i).ToInteger()) }
		report(Progress{call.Argument(0).String(), at(1), at(2), at(3), at(4)})
		return goja.Undefined(), nil
	}))
	return err
}

// SetClock replaces the host's clock of an engine's measurements. now returns a time in milliseconds.
func SetClock(e *lang.Engine, now func() float64) error {
	set, err := control(e, "clock")
	if err != nil {
		return err
	}
	_, err = set(nil, e.Func("clock", func(goja.FunctionCall) (goja.Value, error) { return e.VM().ToValue(now()), nil }))
	return err
}

// Override sets settings that take precedence over those of the script. Their names are those of the script's function
// configure, and "list", with which nothing is measured.
func Override(e *lang.Engine, settings map[string]any) error {
	override, err := control(e, "override")
	if err != nil {
		return err
	}
	o := e.VM().NewObject()
	for name, value := range settings {
		if err := o.Set(name, value); err != nil {
			return err
		}
	}
	_, err = override(nil, o)
	return err
}

// listing is the key of contexts in which nothing is measured.
type listing struct{}

// Listing returns a context for calls of engines in which nothing is measured, as with the setting "list".
func Listing(ctx context.Context) context.Context { return context.WithValue(ctx, listing{}, true) }

// Check registers a function that is called after each call of configure. An error of it is thrown there.
func Check(e *lang.Engine, check func() error) error {
	set, err := control(e, "check")
	if err != nil {
		return err
	}
	_, err = set(nil, e.Func("check", func(goja.FunctionCall) (goja.Value, error) { return goja.Undefined(), check() }))
	return err
}

// Settings decodes the settings of the script into a struct with JSON tags.
func Settings(e *lang.Engine, into any) error {
	settings, err := control(e, "settings")
	if err != nil {
		return err
	}
	v, err := settings(nil)
	if err != nil {
		return err
	}
	text, err := v.(*goja.Object).MarshalJSON()
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// Results returns the results so far as JSON, and their table.
func Results(e *lang.Engine) (list json.RawMessage, table string, err error) {
	module, err := e.Require("bench")
	if err != nil {
		return nil, "", err
	}
	if list, err = module.Get("results").(*goja.Object).MarshalJSON(); err != nil {
		return nil, "", err
	}
	format, _ := goja.AssertFunction(module.Get("table"))
	text, err := format(nil)
	if err != nil {
		return nil, "", err
	}
	return list, text.String(), nil
}

// Skipped returns the names of the benchmarks that the filter or the list left out.
func Skipped(e *lang.Engine) ([]string, error) {
	module, err := e.Require("bench")
	if err != nil {
		return nil, err
	}
	o := module.Get("bench").(*goja.Object).GetSymbol(controlKey).(*goja.Object).Get("skipped").(*goja.Object)
	names := make([]string, o.Get("length").ToInteger())
	for i := range names {
		names[i] = o.Get(strconv.Itoa(i)).String()
	}
	return names, nil
}
