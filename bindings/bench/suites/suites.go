// Package suites implements the module 'suites': benchmarks of devices with the kernels, the checks and the names of well-known
// programs.
package suites

import (
	_ "embed"
	"fmt"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/lang"
)

//go:embed suites.js
var source string

const types = `type BenchResult = import('bench').BenchResult
interface SuiteOptions {
  /** The devices to measure, or their ids. Default: all. */
  devices?: readonly (string | import('offload').Device)[]
  /** The number of elements of the arrays, or of work-items for atomics and peak. The default suits the suite; launches and messages ignore the option. */
  elements?: number
  /** Options of sweep, such as repeats. */
  bench?: { warmup?: number; repeats?: number; minTime?: number; time?: number; precision?: number }
}`

// suite is a suite that orepl bench runs by its name.
type suite struct{ name, help string }

// list holds the suites in the order of the documentation.
var list = []suite{
	{"memory", "Measures the bandwidth of memory: BabelStream's Copy, Mul, Add, Triad and Dot on arrays of f64, or of f32 if a device has no f64, and nvbandwidth's copies between host and device, on a device, and between devices. A copy on a device counts the bytes that are read and those that are written."},
	{"launches", "Measures launches of an empty kernel by the host's clock: until one has completed, until a hundred have, the same with bound arguments, and the wait for an event of an idle queue."},
	{"atomics", "Measures atomic additions of all work-items, of i32 and u32: to one address, to 1024 addresses chosen by the number of the group, and to 1024 chosen by that of the work-item. With more than 1024 groups, several share an address. The rate in the column GFLOP/s is in billions of additions per second."},
	{"messages", "Measures messages with the names of OSU's benchmarks, for devices of MPI jobs and others: osu_latency, a write of the host and a read of the same bytes, of which OSU's figure is half; osu_bw, 64 writes and a wait; osu_bcast and osu_allreduce on all devices together, if there are several."},
	{"peak", "Measures the peak rate of arithmetic: eight chains of multiplications and additions for each work-item, of f32, f64 and i32, as two operations and, for floats, fused."},
}

// Names returns the names of the suites.
func Names() []string {
	var names []string
	for _, s := range list {
		names = append(names, s.name)
	}
	return names
}

// Script returns the script that runs a suite on the devices that its arguments name, or false if there is no suite with
// this name.
func Script(name string) (text string, ok bool) {
	for _, s := range list {
		if s.name == name {
			return fmt.Sprintf("import { %[1]s } from 'suites'\nimport { args } from 'offload'\nawait %[1]s({ devices: args })\n", name), true
		}
	}
	return "", false
}

// Module returns the module 'suites'.
func Module() bindings.Module {
	return bindings.Module{
		Module:  lang.Module{Name: "suites", Source: func() string { return source }},
		Help:    "Benchmarks of devices that are ready to run: memory, launches, atomics and arithmetic, with the kernels, checks and names of BabelStream and nvbandwidth.",
		Types:   types,
		Entries: entries,
	}
}

func entries() (all []bindings.Entry) {
	for _, s := range list {
		example := ""
		if s.name == "launches" {
			example = "import { launches } from 'suites'\nimport { table } from 'bench'\nconsole.log(table(await launches({ devices: ['cpu'], bench: { repeats: 3, minTime: 0.1 } })))"
		}
		all = append(all, bindings.NewFunction(s.name, s.help+" orepl bench suite:"+s.name+" runs it.", example, "(options?: SuiteOptions): Promise<BenchResult[]>"))
	}
	return append(all, bindings.NewFunction("roofline", "Measures the greatest bandwidth of BabelStream's kernels and the greatest rate of f32 arithmetic on a device, by default the best one. The result is for the option roofline of bench. If --filter or --list of orepl bench leaves one of these benchmarks out, both rates are NaN, and results then have no share.",
		"import { roofline } from 'suites'\nimport { bench } from 'bench'\nconst roof = await roofline('cpu', { elements: 1 << 10, bench: { repeats: 2, minTime: 0.1 } })\nawait bench('sum', () => {}, { flops: 1, roofline: roof, repeats: 2 })",
		"(device?: string | import('offload').Device, options?: SuiteOptions): Promise<{ gigabytesPerSecond: number; gigaflops: number }>"))
}
