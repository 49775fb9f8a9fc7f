// Package bench implements the module 'bench', which measures functions and kernels and reports confidence intervals.
package bench

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/spelling"
)

//go:embed bench.js
var source string

const types = `interface BenchOptions {
  /** Calls before anything is measured, beside the first; 3 unless told otherwise. */
  warmup?: number
  /** Samples; 30 unless told otherwise. */
  repeats?: number
  /** The least milliseconds of a sample; a sample has as many calls as that takes. 1 unless told otherwise. */
  minTime?: number
  /** Bytes that one call reads and writes, for GB/s. */
  bytes?: number
  /** Floating-point operations of one call, for GFLOP/s. */
  flops?: number
  /** Is called, and awaited if it gives a promise or an event, before each call, and is not measured: it resets what the function changes. A sample is then one call. */
  before?: () => unknown
  /** Is called after the first call, and throws or gives false if the result is wrong. */
  verify?: () => unknown
  /** 'device' measures from before the first to the end of the last kernel of a sample on the device's clock: the default if the function gives an event. */
  clock?: 'host' | 'device'
  /** Limits of the result: the most milliseconds, the least gigabytesPerSecond and gigaflops. orepl bench ends with code 99 if one is missed. */
  thresholds?: Partial<Record<'median' | 'low' | 'high' | 'least' | 'most' | 'gigabytesPerSecond' | 'gigaflops', number>>
}
/** Times are milliseconds of one call. */
interface BenchResult {
  name: string; median: number; low: number; high: number; least: number; most: number
  /** The median is over 1.2 times, or the most over 4 times, the least. */
  noisy: boolean
  /** The number of samples, and of calls in each. */
  samples: number; batch: number
  clock: 'host' | 'device'; verified: boolean
  gigabytesPerSecond?: number; gigaflops?: number
  /** The thresholds that the result misses, in words; absent if bench has no thresholds. */
  missed?: string[]
}`

// Module returns the module 'bench'.
func Module() bindings.Module {
	return bindings.Module{
		Module:  lang.Module{Name: "bench", PromptGlobals: []string{"bench", "table"}, Instantiate: instantiate},
		Help:    "Measures functions and kernels: warm-up, repeats, the median with its interval, bandwidth and operations.",
		Types:   types,
		Default: "bench",
		Entries: []bindings.Entry{
			bindings.NewFunction("bench", "Measures a function: it is called, verified, warmed up, and called in batches of at least minTime. The result has the median time of a call with its 95 % confidence interval. A function that gives the event of a launch is measured on the device's clock; a promise is awaited. A launch whose event is not given is not waited for. A result that misses one of the thresholds says so and is no error.",
				"import { bench, table } from 'bench'\nconst r = await bench('sum', () => { let s = 0; for (let i = 0; i < 100; i++) s += i }, { repeats: 5, flops: 100 })\nconsole.log(table([r]))",
				"(name: string, fn: () => unknown, options?: BenchOptions): Promise<BenchResult>"),
			bindings.NewFunction("table", "Gives results as a table to print: those of all calls of bench if none are given.", "", "(results?: readonly BenchResult[]): string"),
			bindings.NewConstant("results", "readonly BenchResult[]", "The results of all calls of bench so far. They are plain objects: JSON.stringify writes them."),
		},
	}
}

// load evaluates bench.js and returns the object with its functions.
func load(e *lang.Engine) (*goja.Object, error) {
	began := time.Now()
	now := e.Func("now", func(goja.FunctionCall) (goja.Value, error) {
		return e.VM().ToValue(float64(time.Since(began).Nanoseconds()) / 1e6), nil
	})
	fail := e.Func("fail", func(call goja.FunctionCall) (goja.Value, error) {
		d := diag.New("invalid-argument", "bench: %s", call.Argument(0))
		if hint := call.Argument(1); !goja.IsUndefined(hint) {
			d.Hint = hint.String()
		}
		return nil, d
	})
	nearest := e.Func("nearest", func(call goja.FunctionCall) (goja.Value, error) {
		var known []string
		for _, v := range call.Arguments[1:] {
			known = append(known, v.String())
		}
		return e.VM().ToValue(spelling.Nearest(call.Argument(0).String(), known)), nil
	})
	var event goja.Value = goja.Undefined() // undefined on an engine without the module 'offload'
	if offload, err := e.Require("offload"); err == nil {
		event = offload.Get("Event")
	}
	v, err := e.VM().RunScript("orepl:bench/bench.js", source)
	if err != nil {
		return nil, err
	}
	make, ok := goja.AssertFunction(v)
	if !ok {
		return nil, fmt.Errorf("bench.js is no function")
	}
	made, err := make(nil, now, event, fail, nearest)
	if err != nil {
		return nil, err
	}
	return made.(*goja.Object), nil
}

// Timer returns the script function timeCalls(fn, n), which calls fn n times and awaits events and promises. It resolves to {
// value, first, times, clock }: the last value, the first call's time, the sorted samples of the other calls, and the clock.
// Times are in milliseconds. For n = 1, times holds the first call's time.
func Timer(e *lang.Engine) (goja.Callable, error) {
	made, err := load(e)
	if err != nil {
		return nil, err
	}
	timer, _ := goja.AssertFunction(made.Get("timeCalls"))
	return timer, nil
}

// watchKey is the property of the function bench that registers the callback of [Watch]. It is a symbol, so that scripts
// cannot access it by name.
var watchKey = goja.NewSymbol("bench.watch")

// Watch registers report for the progress of an engine's function bench: the name, the samples done, and their total.
func Watch(e *lang.Engine, report func(name string, done, samples int)) error {
	module, err := e.Require("bench")
	if err != nil {
		return err
	}
	watch, ok := goja.AssertFunction(module.Get("bench").(*goja.Object).GetSymbol(watchKey))
	if !ok {
		return fmt.Errorf("bench cannot be watched")
	}
	_, err = watch(nil, e.Func("report", func(call goja.FunctionCall) (goja.Value, error) {
		report(call.Argument(0).String(), int(call.Argument(1).ToInteger()), int(call.Argument(2).ToInteger()))
		return goja.Undefined(), nil
	}))
	return err
}

func instantiate(e *lang.Engine) (*goja.Object, error) {
	made, err := load(e)
	if err != nil {
		return nil, err
	}
	fn := made.Get("bench").(*goja.Object)
	if err := fn.DefineDataPropertySymbol(watchKey, made.Get("watch"), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE); err != nil {
		return nil, err
	}
	x := bindings.NewExports(e)
	for _, name := range []string{"bench", "table", "results"} {
		x.Set(name, made.Get(name))
	}
	x.Set("default", made.Get("bench"))
	return x.Done()
}
