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
  /** The number of unmeasured calls after the first one. Default: 3. */
  warmup?: number
  /** The number of samples. Default: 30. */
  repeats?: number
  /** The minimum time of a sample in milliseconds, which determines the number of calls per sample. Default: 1. */
  minTime?: number
  /** The number of bytes that one call reads and writes, for the bandwidth in GB/s. */
  bytes?: number
  /** The number of floating-point operations of one call, for GFLOP/s. */
  flops?: number
  /** An unmeasured function that runs before each call, for example to reset data that the call changes. A promise or event that it returns is awaited. With this option a sample is one call. */
  before?: () => unknown
  /** A function that runs after the first call and throws or returns false if the result is wrong. The result of bench then says so, with a warning; orepl bench exits with status 99. */
  verify?: () => unknown
  /** 'device' measures a sample by the device's clock, from before its first kernel to the end of its last one. It is the default if the function returns an event. */
  clock?: 'host' | 'device'
  /** Thresholds for the result: maximum times in milliseconds, minimum gigabytesPerSecond and gigaflops. If a result misses one, orepl bench exits with status 99. */
  thresholds?: Partial<Record<'median' | 'low' | 'high' | 'least' | 'most' | 'gigabytesPerSecond' | 'gigaflops', number>>
}
/** The result of a measurement. Times are in milliseconds per call; low and high are the 95 % confidence interval of the median, least and most the extremes. */
interface BenchResult {
  name: string; median: number; low: number; high: number; least: number; most: number
  /** Whether the median exceeds 1.2 times, or the maximum 4 times, the minimum. */
  noisy: boolean
  /** The number of samples, and the number of calls per sample. */
  samples: number; batch: number
  clock: 'host' | 'device'
  /** Whether verify found the result right; absent without verify. */
  verified?: boolean
  /** Why verify found the result wrong. */
  wrong?: string
  gigabytesPerSecond?: number; gigaflops?: number
  /** A description of each missed threshold; absent without thresholds. */
  missed?: string[]
}`

// Module returns the module 'bench'.
func Module() bindings.Module {
	return bindings.Module{
		Module:  lang.Module{Name: "bench", PromptGlobals: []string{"bench", "table"}, Instantiate: instantiate},
		Help:    "Benchmarks of functions and kernels: warm-up, samples, the median with its confidence interval, bandwidth and operation rates.",
		Types:   types,
		Default: "bench",
		Entries: []bindings.Entry{
			bindings.NewFunction("bench", "Measures a function: one call with verification, warm-up calls, then samples of at least minTime. The result has the median time of a call with its 95 % confidence interval. If the function returns the event of a launch, the device's clock is used; a promise is awaited. Launches whose event is not returned are not awaited. A missed threshold and a wrong result are reported in the result and are no errors.",
				"import { bench, table } from 'bench'\nconst r = await bench('sum', () => { let s = 0; for (let i = 0; i < 100; i++) s += i }, { repeats: 5, flops: 100 })\nconsole.log(table([r]))",
				"(name: string, fn: () => unknown, options?: BenchOptions): Promise<BenchResult>"),
			bindings.NewFunction("table", "Returns a printable table of results, by default those of all calls of bench.", "", "(results?: readonly BenchResult[]): string"),
			bindings.NewConstant("results", "readonly BenchResult[]", "The results of all calls of bench so far, as plain objects that JSON.stringify accepts."),
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
	warn := e.Func("warn", func(call goja.FunctionCall) (goja.Value, error) {
		e.Warn(call.Argument(0).String(), "the time of a wrong result says nothing; verify is called after the first call")
		return goja.Undefined(), nil
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
	made, err := make(nil, now, event, fail, nearest, warn)
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
