package bench

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"

	others "github.com/orepl/orepl/bindings/bench/load"
	"github.com/orepl/orepl/bindings/bench/stats"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/internals"
	"github.com/orepl/orepl/lang/spelling"
)

// hostFunctions returns the functions that the scripts of the module call.
func hostFunctions(e *lang.Engine) map[string]lang.NativeFunc {
	began := time.Now()
	p := &probe{}
	var pattern *regexp.Regexp
	return map[string]lang.NativeFunc{
		"now": func(goja.FunctionCall) (goja.Value, error) {
			return e.VM().ToValue(float64(time.Since(began).Nanoseconds()) / 1e6), nil
		},
		"fail": func(call goja.FunctionCall) (goja.Value, error) {
			d := diag.New("invalid-argument", "%s%s", failPrefix, call.Argument(0))
			if hint := call.Argument(1); !goja.IsUndefined(hint) {
				d.Hint = hint.String()
			}
			return nil, d
		},
		"warn": func(call goja.FunctionCall) (goja.Value, error) {
			d := &diag.Diagnostic{Message: call.Argument(1).String()}
			if hint := call.Argument(2); !goja.IsUndefined(hint) {
				d.Hint = hint.String()
			}
			d.Position, _ = internals.Export(call.Argument(0)).(diag.Position)
			if text, ok := e.SourceText(d.Position.File); ok {
				d.Excerpt = diag.Excerpted(text, d.Position, 1)
			}
			e.WarnOf(d)
			return goja.Undefined(), nil
		},
		"caller": func(goja.FunctionCall) (goja.Value, error) { return e.VM().ToValue(e.Caller()), nil },
		"ends": func(call goja.FunctionCall) (goja.Value, error) {
			v, part := call.Argument(0), call.Argument(1)
			promise, resolve, _ := e.VM().NewPromise()
			watch := e.Loop().Watch(func() error { return resolve(e.Rejected(neverSettles(e, part))) })
			e.Settled(v, func(error) {
				if watch.Resolve(nil) {
					_ = resolve(v) // cannot fail for a promise
				}
			})
			return e.VM().ToValue(promise), nil
		},
		"nearest": func(call goja.FunctionCall) (goja.Value, error) {
			var known []string
			for _, v := range call.Arguments[1:] {
				known = append(known, v.String())
			}
			return e.VM().ToValue(spelling.Nearest(call.Argument(0).String(), known)), nil
		},
		"selected": func(call goja.FunctionCall) (goja.Value, error) {
			text := call.Argument(1).String()
			if pattern == nil || pattern.String() != text {
				var err error
				if pattern, err = regexp.Compile(text); err != nil {
					return nil, diag.New("invalid-argument", "bench: the filter %q is no regular expression", text).
						WithHint(`a filter is part of a name, as in 'copy', or a pattern, as in '^copy/n=(64|128)$'`)
				}
			}
			return e.VM().ToValue(pattern.MatchString(call.Argument(0).String())), nil
		},
		"reason": func(call goja.FunctionCall) (goja.Value, error) {
			return e.VM().ToValue(reason(e, call.Argument(0), call.Argument(1))), nil
		},
		"placed": func(call goja.FunctionCall) (goja.Value, error) {
			return e.VM().ToValue(call.Argument(0).String() + placeOf(e, call.Argument(1))), nil
		},
		"probe": func(goja.FunctionCall) (goja.Value, error) { return e.VM().ToValue(p.slowdown()), nil },
		"listing": func(goja.FunctionCall) (goja.Value, error) {
			return e.VM().ToValue(e.Running().Value(listing{}) != nil), nil
		},
		"others": func(goja.FunctionCall) (goja.Value, error) {
			meter := others.Begin()
			return e.VM().ToValue(e.Func("others", func(goja.FunctionCall) (goja.Value, error) {
				if share, known := meter.Known(); known {
					return e.VM().ToValue(share), nil
				}
				return goja.Undefined(), nil
			})), nil
		},
		"summarize": func(call goja.FunctionCall) (goja.Value, error) {
			return summary(e.VM(), stats.Summarize(numbers(call.Argument(0))))
		},
		"compareTimes": func(call goja.FunctionCall) (goja.Value, error) {
			c := stats.ComparePairs(numbers(call.Argument(0)), numbers(call.Argument(1)), call.Argument(2).ToFloat())
			return object(e.VM(), "change", c.Change, "low", c.Low, "high", c.High, "p", c.P, "test", c.Test, "different", c.Different, "verdict", c.Verdict())
		},
	}
}

// neverSettles returns the error of a promise that can no longer settle. part returns the name and the function of the
// script that waits for it.
func neverSettles(e *lang.Engine, part goja.Value) error {
	name, at := "the function", ""
	if call, ok := goja.AssertFunction(part); ok {
		if v, err := call(nil); err == nil {
			pair := v.(*goja.Object)
			name = pair.Get("0").String()
			at = placeOf(e, pair.Get("1"))
		}
	}
	return diag.New(neverSettled, "never-settles: %s%s waits for a promise that can no longer settle", name, at).WithHint("is resolve ever called?")
}

// placeOf returns the place of a function of the script as the end of a message, or "".
func placeOf(e *lang.Engine, fn goja.Value) string {
	if info, err := e.FunctionInfo(fn); err == nil && info.Known {
		return " at " + info.Position(0).String()
	}
	return ""
}

// reason returns one line that describes what fn threw: the message, the place, and the hint if there is one. An error without a
// place gets the place of fn.
func reason(e *lang.Engine, thrown, fn goja.Value) string {
	d := e.Diagnose(e.VM().Try(func() { panic(thrown) }))
	message, at, hint := d.Message, placeOf(e, fn), d.Hint
	switch o, _ := thrown.(*goja.Object); {
	case o == nil || o.ClassName() != "Error": // any other value may be thrown
		message, hint = e.InspectValue(thrown, inspect.Options{Depth: 2, Passive: true}), ""
	case d.ID == neverSettled:
		at = "" // the message has it
	case at != "" && d.ID == "invalid-argument" && strings.HasPrefix(d.Message, failPrefix): // thrown about the function
	case d.Position.IsValid():
		at = " at " + d.Position.String()
	}
	if hint != "" {
		hint = " (hint: " + hint + ")"
	}
	return strings.Join(strings.Fields(message+at+hint), " ")
}

// failPrefix begins the messages of the module's own errors.
const failPrefix = "bench: "

// neverSettled is the code of a promise that can no longer settle.
const neverSettled = "never-settles"

// numbers returns the elements of an array of numbers, or nil if the value is no object.
func numbers(v goja.Value) []float64 {
	o, ok := v.(*goja.Object)
	if !ok {
		return nil
	}
	list := make([]float64, o.Get("length").ToInteger())
	for i := range list {
		list[i] = o.Get(strconv.Itoa(i)).ToFloat()
	}
	return list
}

// object returns an object with properties in the order of the pairs of names and values.
func object(vm *goja.Runtime, pairs ...any) (*goja.Object, error) {
	o := vm.NewObject()
	for i := 0; i < len(pairs); i += 2 {
		if err := o.Set(pairs[i].(string), pairs[i+1]); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// summary returns a summary as an object of a result's properties.
func summary(vm *goja.Runtime, s stats.Summary) (goja.Value, error) {
	outliers, err := object(vm, "lowSevere", s.Outliers.LowSevere, "lowMild", s.Outliers.LowMild, "highMild", s.Outliers.HighMild, "highSevere", s.Outliers.HighSevere)
	if err != nil {
		return nil, err
	}
	o, err := object(vm, "median", s.Median, "low", s.Low, "high", s.High, "least", s.Least, "most", s.Most,
		"noisy", s.Median > 1.2*s.Least || s.Most > 4*s.Least, "deviation", s.Deviation, "outliers", outliers)
	if err == nil && len(s.Modes) == 2 {
		err = o.Set("modes", vm.NewArray(s.Modes[0], s.Modes[1]))
	}
	return o, err
}

// A probe times a fixed piece of work, to see other programs that use the machine.
type probe struct {
	least time.Duration
	sink  uint64
}

// probes is the number of runs of the work, of which the least time counts.
const probes = 3

// slowdown returns the time of the work relative to its least time so far.
func (p *probe) slowdown() float64 {
	least := time.Duration(0)
	for range probes {
		if t := p.work(); least == 0 || t < least {
			least = t
		}
	}
	if p.least == 0 || least < p.least {
		p.least = least
	}
	return float64(least) / float64(max(p.least, 1))
}

// work runs a chain of dependent operations, which takes some tens of microseconds, and returns the time that it took.
func (p *probe) work() time.Duration {
	began := time.Now()
	v := p.sink | 1
	for range 1 << 14 {
		v ^= v << 13
		v ^= v >> 7
		v ^= v << 17
	}
	p.sink = v
	return time.Since(began)
}
