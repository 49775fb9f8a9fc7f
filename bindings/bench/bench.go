// Package bench implements the module 'bench', which measures functions and kernels and reports confidence intervals.
//
// # Design
//
// A missed threshold is no exception, because the figures behind it show whether the machine or the kernel got slower. The
// command ends with code 99, which differs from that of a script that failed.
package bench

import (
	"embed"
	"fmt"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/bench/stats"
	"github.com/orepl/orepl/lang"
)

//go:embed measure.js sweep.js table.js
var sources embed.FS

const types = `interface BenchOptions {
  /** The number of unmeasured calls after the first one. Default: 3. */
  warmup?: number
  /** The number of samples. Default: 30. Variants that are compared take three times as many, since a comparison uses the least of each three. Without repeats, time, precision and quick, they take up to four times that number on a noisy machine, and with compare up to sixteen times. */
  repeats?: number
  /** The time for the samples in milliseconds, in place of a number of samples. At least five are taken. */
  time?: number
  /** Take samples until the 95 % interval is at most twice this share of the median wide: 0.01 is 1 %. They end at 20 times repeats, or when time has passed. */
  precision?: number
  /** The minimum time of a sample in milliseconds, which determines the number of calls per sample. Default: 1. */
  minTime?: number
  /** Whether a sample is one call. Otherwise short calls are batched. Default: false. */
  isolate?: boolean
  /** 'cold' overwrites up to 128 MiB of the device's memory before each sample, which then is one call. The function must return the event of a launch. Default: 'warm'. */
  caches?: 'warm' | 'cold'
  /** The number of bytes that one call reads and writes, for the bandwidth in GB/s. */
  bytes?: number
  /** The number of floating-point operations of one call, for GFLOP/s. */
  flops?: number
  /** The rates that the device can reach. The result then has the share of them that was reached. */
  roofline?: { gigabytesPerSecond: number; gigaflops: number }
  /** An unmeasured function that runs before each call, for example to reset data that the call changes. A promise or event that it returns is awaited. With this option a sample is one call. */
  before?: () => unknown
  /** A function that runs after the first call. If it throws, or returns another value than true or undefined, the result is wrong. A promise is awaited. The result of bench then has the reason in wrong, with a warning; orepl bench exits with status 99. */
  verify?: () => unknown
  /** 'device' measures a sample by the device's clock, from before its first kernel to the end of its last one. It is the default if the function returns an event. */
  clock?: 'host' | 'device'
  /** The least relative change that comparisons call a difference. Default: 0.01. */
  noise?: number
  /** Thresholds for the result: maximum times in milliseconds, minimum gigabytesPerSecond and gigaflops. If a result misses one, orepl bench exits with status 99. */
  thresholds?: BenchThresholds
}
type BenchThresholds = Partial<Record<'median' | 'low' | 'high' | 'least' | 'most' | 'gigabytesPerSecond' | 'gigaflops', number>>
/** The options of sweep: those of bench, with functions that are called with a point. A point has a value for each axis, and S is what setup returns. */
interface SweepOptions<A extends Record<string, Iterable<any>>, S, V extends string = string, W = unknown> extends Omit<BenchOptions, 'bytes' | 'flops' | 'before' | 'verify' | 'thresholds'> {
  /** The values of each axis. All combinations are measured; the last axis varies fastest. */
  axes?: A
  /** Returns whether to measure a point. */
  filter?: (point: PointOf<A>) => boolean
  /** Makes what the functions of a point need, such as buffers. It is called for the first call of each variant; all variants are measured with its last result. */
  setup?: (point: PointOf<A>) => S | Promise<S>
  /** Frees what setup made. Default: calls the method free of the state, or else of each of its members that has one. */
  teardown?: (state: S, point: PointOf<A>) => unknown
  /** The function to measure. If there are variants, too, it is called with the value of one of them, and verify with its name. */
  run?: (state: S, point: PointOf<A>, variant: W) => unknown
  /** Functions to measure in turn and to compare with the first one, in place of run; with run, values for it, such as kernels. */
  variants?: Record<V, W | ((state: S, point: PointOf<A>) => unknown)>
  /** An unmeasured function that runs before each call. */
  before?: (state: S, point: PointOf<A>) => unknown
  /** A function that runs after the first call of each variant, with the variant's name where run has its value. If it throws, or returns another value than true or undefined, the result is wrong. A wrong variant is not measured. */
  verify?: (state: S, point: PointOf<A>, variant: V) => unknown
  bytes?: number | ((point: PointOf<A>) => number)
  flops?: number | ((point: PointOf<A>) => number)
  thresholds?: BenchThresholds | ((point: PointOf<A>) => BenchThresholds)
}
/** A value for each axis of a sweep. */
type PointOf<A> = { [K in keyof A]: A[K] extends Iterable<infer T> ? T : never }
/** The result of a measurement. Times are in milliseconds per call; low and high are the 95 % confidence interval of the median, least and most the extremes. They are NaN if nothing was measured. */
interface BenchResult {
  name: string; median: number; low: number; high: number; least: number; most: number
  /** The median absolute deviation of the samples, scaled to the standard deviation of a normal distribution. */
  deviation: number
  /** The numbers of samples beyond 1.5 (mild) and 3 (severe) interquartile ranges from the quartiles. */
  outliers: { lowSevere: number; lowMild: number; highMild: number; highSevere: number }
  /** The medians of the two groups of samples, if they are bimodal. */
  modes?: [number, number]
  /** Whether the median exceeds 1.2 times, or the maximum 4 times, the minimum. */
  noisy: boolean
  /** The slow-down of a fixed piece of work beside the samples, if it exceeds 1.3. */
  interference?: number
  /** The share of the processors' time that other programs used while the samples were taken; absent if it is unknown. */
  others?: number
  /** The number of samples, and the number of calls per sample. */
  samples: number; batch: number
  /** The samples in the order of measurement. */
  times: number[]
  clock: 'host' | 'device'
  /** The device whose event the function returned. */
  device?: string
  /** The names of the sweep or comparison and of the variant, and the values of the axes. */
  group?: string; variant?: string; params?: Record<string, number | string>
  /** Whether verify found the result right; absent without verify. */
  verified?: boolean
  /** Why verify found the result wrong, and where. */
  wrong?: string
  /** Why a point of a sweep was not measured, or that a function waits for a promise that can no longer settle: the message, the place and the hint. */
  failed?: string
  /** Whether the filter or the list of orepl bench left the benchmark out. */
  skipped?: true
  gigabytesPerSecond?: number; gigaflops?: number
  /** The reached share of the roofline. */
  roofline?: number
  /** A description of each missed threshold; absent without thresholds. */
  missed?: string[]
  /** The comparison with the first variant of the point. */
  against?: { variant: string } & BenchComparison
}
/** A comparison of the times of two functions. */
interface BenchComparison {
  /** The relative change, the median of the ratios of pairs of samples, and its 95 % confidence interval: 0.05 is 5 % slower. */
  change: number; low: number; high: number
  /** The probability of a change as large if there is no difference, by this test. */
  p: number; test: string
  /** Whether p is below 0.01, the interval excludes 0, and the change is at least the option noise. Medians and tenth percentiles must have changed in the same direction, the latter by at least noise and a quarter of the change. */
  different: boolean
  /** 'slower' or 'faster', or '~' if the samples show no difference. */
  verdict: 'slower' | 'faster' | '~'
}
/** Settings of all benchmarks of a script. Flags of orepl bench take precedence over variables of the environment, these over options of calls, and those over settings. Names of files and baselines have an effect only in orepl bench. */
interface BenchSettings {
  /** The options of these names. */
  time?: number; precision?: number; noise?: number
  /** Limit repeats to 9, minTime to 0.2 ms, and warmup to 1. */
  quick?: boolean
  /** A regular expression that names of benchmarks must match. */
  filter?: string
  /** The seed of a random order of the points of sweeps. */
  shuffle?: number
  /** Save the results as a baseline; compare them with one; also with one of an unlike machine. */
  save?: string; compare?: string; unlike?: boolean
  /** Keep the results of each run under this name. */
  history?: string
  /** Conditions under which orepl bench exits with status 99, such as 'median > 5%'. */
  failIf?: string | string[]
  /** Files to write. */
  report?: string; json?: string; csv?: string; markdown?: string; gobench?: string; junit?: string
}`

// Module returns the module 'bench'.
func Module() bindings.Module {
	return bindings.Module{
		Module:  lang.Module{Name: "bench", PromptGlobals: []string{"bench", "table"}, Instantiate: instantiate},
		Help:    "Benchmarks of functions and kernels: warm-up, samples, the median with its confidence interval, bandwidth and operation rates; sweeps over parameters, and comparisons.",
		Types:   types,
		Default: "bench",
		Entries: func() []bindings.Entry {
			return []bindings.Entry{
				bindings.NewFunction("bench", "Measures a function: one call with verification, warm-up calls, then samples of at least minTime. The result has the median time of a call with its 95 % confidence interval. If the function returns the event of a launch, the device's clock is used; a promise is awaited. Launches whose event is not returned are not awaited. A missed threshold and a wrong result are reported in the result and are no errors.",
					"import { bench, table } from 'bench'\nconst r = await bench('sum', () => { let s = 0; for (let i = 0; i < 100; i++) s += i }, { repeats: 5, flops: 100 })\nconsole.log(table([r]))",
					"(name: string, fn: () => unknown, options?: BenchOptions): Promise<BenchResult>"),
				bindings.NewFunction("sweep", "Measures a function, or variants of it in turn, at all points of some axes. The options setup and teardown make and free what the calls at a point need. Each variant is verified before it is measured, and the variants are compared with the first one. A point that fails or returns a wrong result has a row with the reason; all others are measured. The rows are in the order of the axes.",
					"import { sweep, powers, table } from 'bench'\nimport { device, kernel, f32 } from 'offload'\nconst copy = kernel((g, x, y) => { y[g.x] = x[g.x] })\nconst rows = await sweep('copy', {\n  axes: { n: powers(1024, 4096) }, repeats: 5,\n  setup: ({ n }) => ({ x: device().buffer(f32, n, i => i), y: device().buffer(f32, n) }),\n  run: ({ x, y }, { n }) => copy.launch({ size: n }, x, y),\n  verify: async ({ y }) => (await y.read()).every((v, i) => v === i),\n  bytes: ({ n }) => 8 * n,\n})\nconsole.log(table(rows))",
					"<const A extends Record<string, Iterable<any>>, S = undefined, V extends string = string, W = unknown>(name: string, options: SweepOptions<A, S, V, W>): Promise<BenchResult[]>"),
				bindings.NewFunction("compare", "Measures two or more functions in turn and compares each with the first one by the Wilcoxon signed-rank test. The test takes the least of each three samples, or of six if there are at least 120 and the machine is busy. Returns the results by name; the member against of a result holds the comparison.",
					"import { compare } from 'bench'\nconst { twice } = await compare('sum', {\n  once: () => { let s = 0; for (let i = 0; i < 1000; i++) s += i },\n  twice: () => { let s = 0; for (let i = 0; i < 2000; i++) s += i },\n}, { repeats: 15 })\nconsole.log(twice.against?.verdict)",
					"<V extends string>(name: string, variants: Record<V, () => unknown>, options?: BenchOptions): Promise<Record<V, BenchResult>>"),
				bindings.NewFunction("powers", "Returns the first value times the powers of a base, by default 2, up to a last value: powers(1024, 8192) is 1024, 2048, 4096, 8192. If the first value is an integer, the others are rounded to integers, each of which occurs once: powers(1, 10, 1.5) is 1, 2, 3, 5, 8.", "", "(from: number, to: number, base?: number): number[]"),
				bindings.NewFunction("linear", "Returns the numbers from + i * step, for i = 0, 1, …, that are at most to, or exceed it only by rounding. The default step is 1.", "", "(from: number, to: number, step?: number): number[]"),
				bindings.NewFunction("curves", "Returns a value of each row of a sweep, by default the median, as series over an axis, in the form of plot's arguments. There is a series for each combination of the other parameters and the variant. Missing values are NaN, and a value that no measured row has is an error. For the median and for rates, error has the ends of the 95 % intervals.",
					"import { sweep, curves, powers } from 'bench'\nimport { plot } from 'plot'\nconst rows = await sweep('count', { axes: { n: powers(64, 256) }, run: (_, { n }) => { for (let i = 0; i < n; i++); }, repeats: 3 })\nconst { x, series, error } = curves(rows, 'n')\nplot(series, { x, error, log: 'xy', yLabel: 'ms' })",
					"(rows: readonly BenchResult[], axis: string, value?: 'median' | 'low' | 'high' | 'least' | 'most' | 'deviation' | 'samples' | 'batch' | 'gigabytesPerSecond' | 'gigaflops' | 'roofline'): { x: any[]; series: Record<string, number[]>; error?: Record<string, { low: number[]; high: number[] }> }"),
				bindings.NewFunction("configure", "Sets defaults for the measurements that follow, and what orepl bench does with the results of the script. Flags of the command line take precedence over variables of the environment, these over a call's own options, and those over settings.",
					"import { configure, bench } from 'bench'\nconfigure({ time: 20, report: 'report.html' })\nconsole.log((await bench('nothing', () => {})).name)",
					"(settings: BenchSettings): void"),
				bindings.NewFunction("table", "Returns a printable table of results, by default those of all calls of bench, compare and sweep.", "", "(results?: readonly BenchResult[]): string"),
				bindings.NewConstant("results", "readonly BenchResult[]", "The results of all calls of bench, compare and sweep so far, as plain objects that JSON.stringify accepts."),
			}
		},
	}
}

// load evaluates the scripts of the module and returns the object with their functions.
func load(e *lang.Engine) (*goja.Object, error) {
	made := e.VM().NewObject()
	for name, fn := range hostFunctions(e) {
		if err := made.Set(name, e.Func(name, fn)); err != nil {
			return nil, err
		}
	}
	if err := made.Set("tries", stats.Tries); err != nil {
		return nil, err
	}
	if offload, err := e.Require("offload"); err == nil { // undefined on an engine without the module
		for name, export := range map[string]string{"eventClass": "Event", "u8": "u8"} {
			if err := made.Set(name, offload.Get(export)); err != nil {
				return nil, err
			}
		}
	}
	if spans, err := e.Require("trace"); err == nil && spans.Get("enabled").ToBoolean() {
		if err := made.Set("span", spans.Get("span")); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"measure.js", "sweep.js", "table.js"} {
		text, err := sources.ReadFile(name)
		if err != nil {
			return nil, err
		}
		v, err := e.VM().RunScript("orepl:bench/"+name, string(text))
		if err != nil {
			return nil, err
		}
		define, ok := goja.AssertFunction(v)
		if !ok {
			return nil, fmt.Errorf("%s is no function", name)
		}
		if _, err := define(nil, made); err != nil {
			return nil, err
		}
	}
	return made, nil
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

// controlKey is the property of the function bench that holds the functions for the command line. It is a symbol, so that
// scripts cannot access it by name.
var controlKey = goja.NewSymbol("bench.control")

func instantiate(e *lang.Engine) (*goja.Object, error) {
	made, err := load(e)
	if err != nil {
		return nil, err
	}
	fn := made.Get("bench").(*goja.Object)
	if err := fn.DefineDataPropertySymbol(controlKey, made.Get("control"), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE); err != nil {
		return nil, err
	}
	x := bindings.NewExports(e)
	for _, name := range []string{"bench", "sweep", "compare", "powers", "linear", "curves", "configure", "table", "results"} {
		x.Set(name, made.Get(name))
	}
	x.Set("default", made.Get("bench"))
	return x.Done()
}
