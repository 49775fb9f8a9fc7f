package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
)

// smallOperations are calls of operations on small arrays by a script.
var smallOperations = []string{
	"x.map(v => v + 1)", "x.map(add)", "x.zip(y, (a, b) => a * b)", "x.sum({ keepDims: true })", "x.map(v => v * v).sum({ keepDims: true })",
	"x.clip(0, 1)", "x.reshape(4, 4)", "x.slice(2, 5)", "x.at(3)", "x.flip()", "x.cumsum()", "m.transpose()", "m.sum(0)",
}

// smallCalls begins the script of arrayCalls. Its function launch launches a bound kernel n times and waits for the queue. arrayCalls
// appends such a function for each of smallOperations.
const smallCalls = `
import { device, kernel, f32 } from 'offload'
const d = device('cpu'), q = d.queue, add = v => v + 1
const x = d.random(f32, 16, { seed: 1 }), y = d.ones(f32, 16), m = x.reshape(4, 4)
const bound = kernel((g, x, y) => { y[g.x] = x[g.x] + 1 }).bind({ size: 16 }, x, y)
export async function launch(n) { for (let i = 0; i < n; i++) bound.launch(); await q.sync() }
`

// arrayCalls measures what a script's call of a small operation costs beyond a bound launch, in processor time.
func arrayCalls(r *report) error {
	ctx := context.Background()
	l, err := newLauncher()
	if err != nil {
		return err
	}
	defer l.close()
	e, err := inside.Of(l.runtime).NewEngine(lang.Options{})
	if err != nil {
		return err
	}
	defer e.Close()
	text := smallCalls
	for i, call := range smallOperations {
		text += fmt.Sprintf("export async function call%d(n) { for (let i = 0; i < n; i++) { %s }; await q.sync() }\n", i, call)
	}
	exports, err := e.Run(ctx, "calls.js", text)
	if err != nil {
		return err
	}
	timed := func(name string) func() (float64, error) {
		fn, _ := goja.AssertFunction(exports.Get(name))
		return func() (float64, error) {
			const n = 1000
			start := processorTime()
			_, err := e.Await(ctx, func(vm *goja.Runtime) (goja.Value, error) { return fn(nil, vm.ToValue(n)) })
			return (processorTime() - start) * 1e9 / n, err
		}
	}
	launch := timed("launch")
	for i, call := range smallOperations {
		if !strings.HasPrefix(call, os.Getenv("OREPL_PEERS_ONLY")) {
			continue
		}
		if err := r.over(call, timed(fmt.Sprintf("call%d", i)), launch); err != nil {
			return err
		}
	}
	return nil
}

// over prints the median difference between ours and a bound launch in nanoseconds, with its quartiles, over alternating runs.
func (r *report) over(name string, ours, bound func() (float64, error)) error {
	var own, more []float64
	for range 21 {
		a, err := ours()
		if err != nil {
			return err
		}
		b, err := bound()
		if err != nil {
			return err
		}
		own, more = append(own, b), append(more, a-b)
	}
	lo, mid, hi := quartiles(more)
	_, launch, _ := quartiles(own)
	fmt.Printf("  %-46s bound launch %5.0f ns, call %6.0f ns beyond (%.0f–%.0f)\n", name, launch, mid, lo, hi)
	return nil
}
