package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

const (
	suiteElements = 1 << 22 // doubles of an array: 32 MiB, more than the caches of a core
	suiteTimes    = 30
	suiteRounds   = 7
)

// suiteScript measures the suite of memory and prints the least time of each kernel in seconds.
const suiteScript = `import { memory } from 'suites'
const rows = await memory({ devices: ['cpu'], elements: %d, bench: { repeats: %d, minTime: 0 } })
const times = {}
for (const r of rows) {
  if (r.verified !== true) throw new Error(r.name + ': ' + (r.wrong ?? r.failed))
  times[r.params.kernel ?? r.params.test + '/' + r.params.bytes] = r.least / 1e3
}
console.log(JSON.stringify(times))
`

// suitesBesideC compares the suite of memory with the methods of BabelStream and nvbandwidth in C.
func suitesBesideC(r *report) error {
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	compilers := map[string]string{}
	for name, line := range map[string][]string{"gcc": {"gcc"}, "clang": {"clang-19"}} {
		program := filepath.Join(dir, name)
		if out, err := exec.Command(line[0], "-O3", "-march=native", "-ffast-math", "-fopenmp", "-o", program, "tests/peers/c/suites.c").CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", line[0], err, out)
		}
		compilers[name] = program
	}
	theirs, ours := map[string]float64{}, map[string]float64{}
	var kernels = []string{"Copy", "Mul", "Add", "Triad", "Dot"}
	least := func(of map[string]float64, name string, v float64) {
		if old, ok := of[name]; !ok || v < old {
			of[name] = v
		}
	}
	for range suiteRounds { // in turn, since other programs use the machine; the least time of all rounds counts, as in BabelStream
		for compiler, program := range compilers {
			out, err := exec.Command(program, fmt.Sprint(suiteElements), fmt.Sprint(suiteTimes)).Output()
			if err != nil {
				return fmt.Errorf("%s: %w", compiler, err)
			}
			for line := range strings.Lines(string(out)) {
				var name string
				var seconds float64
				if _, err := fmt.Sscan(line, &name, &seconds); err != nil {
					return err
				}
				least(theirs, name, seconds)
			}
		}
		times, err := suiteTimesOf(fmt.Sprintf(suiteScript, suiteElements, suiteTimes))
		if err != nil {
			return err
		}
		for name, seconds := range times {
			least(ours, name, seconds)
		}
	}
	line := func(name string, a, b, bytes float64) {
		fmt.Printf("  %-32s %8.2f GB/s / %8.2f GB/s  %.3f\n", name, bytes/a/1e9, bytes/b/1e9, b/a)
	}
	const array = 8 * suiteElements
	for _, name := range kernels {
		line(name, ours[name], theirs[name], array*map[string]float64{"Copy": 2, "Mul": 2, "Add": 3, "Triad": 3, "Dot": 2}[name])
	}
	memcpy := min(theirs["memcpy_one"], theirs["memcpy_all"])
	for _, name := range []string{"host_to_device_memcpy_ce", "device_to_host_memcpy_ce", "device_local_copy"} {
		line(name, ours[fmt.Sprintf("%s/%d", name, array/2)]*2, memcpy, array) // the largest size that is a power of 4 times 64 KiB
	}
	return nil
}

// suiteTimesOf runs a script and returns the times that it prints.
func suiteTimesOf(script string) (times map[string]float64, err error) {
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	defer rt.Close()
	var out bytes.Buffer
	e, err := inside.Of(rt).NewEngine(lang.Options{Stdout: &out})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	if _, err := e.Run(context.Background(), "suites.js", script); err != nil {
		return nil, err
	}
	return times, json.Unmarshal(out.Bytes(), &times)
}
