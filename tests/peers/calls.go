package main

import (
	"context"
	"fmt"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/lang"
)

// nativeCall is a script's call of a function in three forms: written for goja, a module's function, which checks its
// arguments, and an ordinary Go function.
type nativeCall struct {
	name   string
	call   string // the expression; f is the function
	bare   func(goja.FunctionCall) goja.Value
	native lang.NativeFunc
	plain  any
}

func nativeCalls(e *lang.Engine, vm *goja.Runtime) []nativeCall {
	return []nativeCall{
		{
			"no argument", "f()",
			func(goja.FunctionCall) goja.Value { return goja.Undefined() },
			func(goja.FunctionCall) (goja.Value, error) { return nil, nil },
			func() {},
		},
		{
			"a number", "f(i)",
			func(c goja.FunctionCall) goja.Value { return vm.ToValue(c.Argument(0).ToFloat() + 0.5) },
			func(c goja.FunctionCall) (goja.Value, error) {
				a := e.Args("f", c)
				return vm.ToValue(a.Float(0, "x") + 0.5), a.Err()
			},
			func(x float64) float64 { return x + 0.5 },
		},
		{
			"a string", "f(s)",
			func(c goja.FunctionCall) goja.Value { return vm.ToValue(len(c.Argument(0).String())) },
			func(c goja.FunctionCall) (goja.Value, error) {
				a := e.Args("f", c)
				return vm.ToValue(len(a.String(0, "text"))), a.Err()
			},
			func(text string) int { return len(text) },
		},
		{
			"a typed array", "f(v)",
			func(c goja.FunctionCall) goja.Value {
				v, _ := c.Argument(0).Export().([]float32)
				return vm.ToValue(len(v))
			},
			func(c goja.FunctionCall) (goja.Value, error) {
				a := e.Args("f", c)
				return vm.ToValue(len(a.Bytes(0, "v")) / 4), a.Err()
			},
			func(v []float32) int { return len(v) },
		},
		{
			"number, typed array, string", "f(i, v, s)",
			func(c goja.FunctionCall) goja.Value {
				v, _ := c.Argument(1).Export().([]float32)
				return vm.ToValue(c.Argument(0).ToFloat() + float64(len(v)+len(c.Argument(2).String())))
			},
			func(c goja.FunctionCall) (goja.Value, error) {
				a := e.Args("f", c)
				x, v, text := a.Float(0, "x"), a.Bytes(1, "v"), a.String(2, "text")
				return vm.ToValue(x + float64(len(v)/4+len(text))), a.Err()
			},
			func(x float64, v []float32, text string) float64 { return x + float64(len(v)+len(text)) },
		},
	}
}

// callLoop is a script that returns a function which calls f n times.
const callLoop = `(function (f) {
	const v = new Float32Array(16), s = 'a string'
	return function (n) { for (let i = 0; i < n; i++) %s }
})`

// calls compares calls of native functions with goja's own calls, and reports the overhead.
func calls(r *report) error {
	ctx := context.Background()
	l, err := lang.New(lang.Options{})
	if err != nil {
		return err
	}
	defer l.Close()
	return l.Do(ctx, func(vm *goja.Runtime) error {
		for _, c := range nativeCalls(l, vm) {
			loop := func(f goja.Value) func() (float64, error) {
				return timedLoop(vm, c.call, f)
			}
			bare := loop(vm.ToValue(c.bare))
			native := loop(l.Func(c.name, c.native))
			if err := r.beyond("native function, "+c.name, native, bare); err != nil {
				return err
			}
			plain, err := convert.Func(l, c.name, c.plain)
			if err != nil {
				return err
			}
			if err := r.beyond("Go function, "+c.name, loop(l.Func(c.name, plain)), bare); err != nil {
				return err
			}
		}
		return nil
	})
}

// timedLoop returns a function that measures an expression that calls f: the processor time of one evaluation in nanoseconds.
func timedLoop(vm *goja.Runtime, call string, f goja.Value) func() (float64, error) {
	const n = 20000
	made, err := vm.RunString(fmt.Sprintf(callLoop, call))
	if err != nil {
		return func() (float64, error) { return 0, err }
	}
	maker, _ := goja.AssertFunction(made)
	inner, err := maker(goja.Undefined(), f)
	if err != nil {
		return func() (float64, error) { return 0, err }
	}
	run, _ := goja.AssertFunction(inner)
	return func() (float64, error) {
		start := processorTime()
		_, err := run(goja.Undefined(), vm.ToValue(n))
		return (processorTime() - start) * 1e9 / n, err
	}
}

// beyond prints the median difference between ours and theirs in nanoseconds, with its quartiles, over alternating runs.
func (r *report) beyond(name string, ours, theirs func() (float64, error)) error {
	var own, more []float64
	for range 41 {
		a, err := ours()
		if err != nil {
			return err
		}
		b, err := theirs()
		if err != nil {
			return err
		}
		own, more = append(own, b), append(more, a-b)
	}
	lo, mid, hi := quartiles(more)
	_, theirMid, _ := quartiles(own)
	fmt.Printf("  %-46s goja's own %5.0f ns, ours %5.0f ns beyond (%.0f–%.0f)\n", name, theirMid, mid, lo, hi)
	return nil
}
