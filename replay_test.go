package orepl_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
	"github.com/orepl/orepl/tests/allocs"
)

// smooth launches six kernels over an image.
const smooth = `import { pipeline, kernel, f32 } from 'offload'

const across = kernel((g, gain, x, y) => {
  const w = x.shape[1]
  y[g.y][g.x] = gain * (x[g.y][Math.max(g.x - 1, 0)] + x[g.y][g.x] + x[g.y][Math.min(g.x + 1, w - 1)]) / 3
})

export default pipeline({
  device: 'cpu',
  inputs: { image: [f32, 2], gain: f32 },
  outputs: { out: [f32, ({ image }) => image.shape] },
  temporaries: { other: [f32, ({ image }) => image.shape] },
  run({ image, gain, other, out }) {
    if (gain < 0) throw new RangeError('the gain is negative')
    const size = image.shape.toReversed()
    across.launch({ size }, gain, image, other)
    across.launch({ size }, gain, other, out)
    across.launch({ size }, gain, out, other)
    across.launch({ size }, gain, other, out)
    across.launch({ size }, gain, out, other)
    across.launch({ size }, gain, other, out)
  },
})
`

// reckless is smooth with kernels that leave the image if the gain is above 1.
var reckless = strings.Replace(smooth, "Math.min(g.x + 1, w - 1)", "g.x + 1 - (gain > 1 ? 0 : 1)", 1)

// byHand returns a function that issues the commands of a run as a Go program would: a copy to the device, the launches and a copy
// back.
func byHand(t testing.TB, rt *orepl.Runtime, p *orepl.Pipeline, in orepl.Data, size int) (run func() []float32) {
	t.Helper()
	var calls []*session.Call
	var q *session.Queue
	stop := rt.Session().Watch(0, func(c *session.Command) {
		if c.Kind == session.LaunchCommand {
			calls, q = append(calls, c.Call.Clone()), c.Queue
		}
	})
	var out []float32
	if err := p.Run(context.Background(), in, orepl.Data{"out": &out}); err != nil {
		t.Fatal(err)
	}
	stop()
	if len(calls) != 6 {
		t.Fatalf("the run launched %d kernels", len(calls))
	}
	image, result := calls[0].Args()[1].Buffer(), calls[5].Args()[2].Buffer()
	host := in["image"].(orepl.Array[float32]).Data
	got := make([]float32, size*size)
	ctx := context.Background()
	return func() []float32 {
		err := q.Write(image, 0, bytesOf(host))
		for _, c := range calls {
			if err == nil {
				err = q.Launch(c)
			}
		}
		if err == nil {
			err = q.Read(bytesOf(got), result, 0)
		}
		if err == nil {
			err = q.Sync(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
}

// bytesOf returns the memory of floats.
func bytesOf(list []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), 4*len(list))
}

func imageOf(size int) orepl.Array[float32] {
	a := orepl.Array[float32]{Data: make([]float32, size*size), Shape: []int{size, size}}
	for i := range a.Data {
		a.Data[i] = float32(i%17) / 4
	}
	return a
}

// processorTime returns the time that the process has used.
func processorTime(t testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestReplayCosts bounds the allocations of a run over those of the same launches by hand.
func TestReplayCosts(t *testing.T) {
	rt := open(t)
	p := load(t, rt, smooth, orepl.PipelineOptions{Instances: 1})
	in := orepl.Data{"image": imageOf(16), "gain": 1.25}
	hand := byHand(t, rt, p, in, 16)
	var out []float32
	outputs := orepl.Data{"out": &out}
	run := func() {
		if err := p.Run(context.Background(), in, outputs); err != nil {
			t.Fatal(err)
		}
	}
	run()
	if want := hand(); !slices.Equal(out, want) {
		t.Errorf("got %v, by hand %v", out, want)
	}
	byHand, byRun := allocs.PerRun(200, func() { hand() }), allocs.PerRun(200, run)
	if byRun > byHand+10 {
		t.Errorf("a run makes %v allocations, the launches by hand %v", byRun, byHand)
	}
}

// TestFailedRunsCost bounds the processor time of runs that kernels, the script or refused arguments end, by that of good ones.
func TestFailedRunsCost(t *testing.T) {
	rt := open(t)
	p := load(t, rt, reckless, orepl.PipelineOptions{Instances: 1})
	image := imageOf(16)
	var out []float32
	outputs := orepl.Data{"out": &out}
	run := func(in orepl.Data, want string) func() {
		return func() {
			if err := p.Run(context.Background(), in, outputs); diag.Code(err) != want {
				t.Fatalf("got %v, want %s", err, want)
			}
		}
	}
	good := run(orepl.Data{"image": image, "gain": 0.5}, "")
	failed := map[string]func(){
		"a fault in each kernel": run(orepl.Data{"image": image, "gain": 2}, "out-of-bounds"),
		"an exception":           run(orepl.Data{"image": image, "gain": -1}, "exception"),
		"refused arguments":      run(orepl.Data{"gain": 1}, "invalid-argument"),
	}
	timeOf := func(fn func()) time.Duration {
		before := processorTime(t)
		for range 500 {
			fn()
		}
		return processorTime(t) - before
	}
	timeOf(good)
	for name, fn := range failed {
		fn() // is recorded
		ofFailed, ofGood := time.Hour, time.Hour
		for range 20 { // other processes disturb some
			ofFailed, ofGood = min(ofFailed, timeOf(fn)), min(ofGood, timeOf(good))
		}
		if ratio := float64(ofFailed) / float64(ofGood); ratio > 3 {
			t.Errorf("%s costs %.2f times a good run, more than 3", name, ratio)
		} else {
			t.Logf("%s costs %.2f times a good run, and %v allocations", name, ratio, allocs.PerRun(100, fn))
		}
	}
}

// TestRunsOfDeepCallers bounds the processor time of runs from a deep stack by that from a shallow one: recorded runs, runs of a
// script that is called each time, and failed ones.
func TestRunsOfDeepCallers(t *testing.T) {
	rt := open(t)
	in := orepl.Data{"image": imageOf(16), "gain": 1.25}
	var out []float32
	outputs := orepl.Data{"out": &out}
	recorded := load(t, rt, smooth, orepl.PipelineOptions{Instances: 1})
	called := load(t, rt, strings.Replace(smooth, "const size = image", "const size = new Array(image)[0]", 1), orepl.PipelineOptions{Instances: 1})
	for name, c := range map[string]struct {
		runs int
		fn   func() error
	}{
		"recorded": {200, func() error { return recorded.Run(context.Background(), in, outputs) }},
		"called":   {40, func() error { return called.Run(context.Background(), in, outputs) }},
		"refused":  {200, func() error { return failing(recorded.Run(context.Background(), orepl.Data{"gain": 1}, outputs)) }},
		"throws": {100, func() error {
			return failing(recorded.Run(context.Background(), orepl.Data{"image": in["image"], "gain": -1}, outputs))
		}},
	} {
		timeAt := func(depth int) (took time.Duration) {
			if err := deep(depth, func() error {
				before := processorTime(t)
				for range c.runs {
					if err := c.fn(); err != nil {
						return err
					}
				}
				took = processorTime(t) - before
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			return took
		}
		timeAt(0) // is recorded
		var fromDeep, fromShallow []time.Duration
		for range 25 { // other processes disturb many, and a few need no second thread
			fromDeep, fromShallow = append(fromDeep, timeAt(2000)), append(fromShallow, timeAt(0))
		}
		slices.Sort(fromDeep)
		slices.Sort(fromShallow)
		ratio := float64(fromDeep[5]) / float64(fromShallow[5])
		t.Logf("%s: %.2f of %v", name, ratio, fromShallow[5]/time.Duration(c.runs))
		if ratio > 1.25 {
			t.Errorf("%s: a run from a deep stack costs %.2f times one from a shallow stack", name, ratio)
		}
	}
}

// BenchmarkRun measures runs of six launches beside the same launches by hand, in processor time of all threads.
func BenchmarkRun(b *testing.B) {
	for _, size := range []int{16, 512} {
		rt := open(b)
		p := load(b, rt, smooth, orepl.PipelineOptions{Instances: 1})
		in := orepl.Data{"image": imageOf(size), "gain": 1.25}
		hand := byHand(b, rt, p, in, size)
		var out []float32
		outputs := orepl.Data{"out": &out}
		wild := load(b, rt, reckless, orepl.PipelineOptions{Instances: 1})
		for range 100 {
			if err := wild.Run(context.Background(), orepl.Data{"image": in["image"], "gain": 0.5}, outputs); err != nil {
				b.Fatal(err)
			}
		}
		called := load(b, rt, strings.Replace(smooth, "const size = image", "const size = new Array(image)[0]", 1), orepl.PipelineOptions{Instances: 1})
		negative := orepl.Data{"image": in["image"], "gain": -1}
		for _, c := range []struct {
			name string
			fn   func() error
		}{
			{"hand", func() error { hand(); return nil }},
			{"run", func() error { return p.Run(context.Background(), in, outputs) }},
			{"called", func() error { return called.Run(context.Background(), in, outputs) }},
			{"deep", func() error { return deep(200, func() error { return p.Run(context.Background(), in, outputs) }) }},
			{"refused", func() error { return failing(p.Run(context.Background(), orepl.Data{"gain": 1}, outputs)) }},
			{"faults", func() error { return failing(wild.Run(context.Background(), in, outputs)) }},
			{"throws", func() error { return failing(p.Run(context.Background(), negative, outputs)) }},
		} {
			b.Run(fmt.Sprintf("%d/%s", size, c.name), func(b *testing.B) {
				b.ReportAllocs()
				before := processorTime(b)
				for b.Loop() {
					if err := c.fn(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/float64(b.N)/1000, "cpu-µs/op")
			})
		}
	}
}

func deep(n int, fn func() error) error {
	var pad [64]byte
	if n == 0 {
		return fn()
	}
	err := deep(n-1, fn)
	runtime.KeepAlive(&pad)
	return err
}

// last returns an error's text from the name of the file on, whose folder differs between pipelines.
func last(err error) string { return err.Error()[strings.LastIndexByte(fmt.Sprint(err), '/')+1:] }

func failing(err error) error {
	if err == nil {
		return fmt.Errorf("the run succeeded")
	}
	return nil
}

// TestReplay compares runs of scripts that change what they launch with the parameters, the shapes and each run.
func TestReplay(t *testing.T) {
	for _, c := range []struct{ name, outside, run string }{
		{"plain", "", "add.launch({ size: x.length }, a, x, y)"},
		{"returned", "", "return add.launch({ size: x.length }, a, x, y)"},
		{"awaited", "", "await add.launch({ size: x.length }, a, x, y); await add.launch({ size: x.length }, 0.5, x, y)"},
		{"branches", "", "if (a > 1) add.launch({ size: x.length }, a, x, y); else for (let i = 0; i < 3; i++) add.launch({ size: x.length }, i, x, y)"},
		{"destructured", "const two = 2", "const [n] = x.shape; let k = n - two; k += two; add.launch({ size: k, queue }, a, x, y)"},
		{"of the queue", "", "queue.launch(add, { size: x.length }, Math.max(a, 1), x, y)"},
		{"swapped", "", "let [f, g] = [a, 1]; for (let i = 0; i < 2; i++) { [f, g] = [g, f]; add.launch({ size: x.length }, f, x, y) }"},
		{"counted", "let runs = 0", "runs++; add.launch({ size: x.length }, runs, x, y)"},
		{"of an object", "const o = { runs: 0 }", "o.runs++; add.launch({ size: x.length }, o.runs, x, y)"},
		{"of a shadow", "let n = 0\nconst next = () => ++n", "{ const next = 1 }\nadd.launch({ size: x.length }, next(), x, y)"},
		{"random", "let seed = 1\nMath.max = () => seed++", "add.launch({ size: x.length }, Math.max(1, 2), x, y)"},
		{"of a getter", "let n = 0\nconst q = { get size() { return n++ } }", "add.launch({ size: x.length }, q.size, x, y)"},
		{"of this", "let n = 0", "this.n = (this.n ?? 0) + 1; add.launch({ size: x.length }, this.n, x, y)"},
		{"of a closure", "let n = 0\nconst add2 = { launch(...a) { n++; add.launch(a[0], n, ...a.slice(2)) } }", "add2.launch({ size: x.length }, a, x, y)"},
		{"read", "", "await add.launch({ size: x.length }, a, x, y); const [v] = await y.read(0, 1); add.launch({ size: x.length }, v, x, y)"},
		{"of a default", "let n = 0", "add.launch({ size: x.length }, n = n + 1, x, y)"},
		{"of a host function", "let n = 0", "queue.host(() => { n++ }); add.launch({ size: x.length }, n, x, y)"},
	} {
		text := fmt.Sprintf(`import { pipeline, kernel, f32 } from 'offload'
const add = kernel((g, a, x, y) => { y[g.x] = y[g.x] + a * x[g.x] })
%s
const declared = {
  inputs: { a: f32, x: [f32] }, outputs: { y: [f32, ({ x }) => x.shape] },
  async run({ a, x, y, queue }) { %s },
}
export default pipeline(declared)
export const plain = pipeline({ ...declared, run: (...io) => { if (globalThis.never) console.log(); return declared.run(...io) } })
`, c.outside, c.run)
		fast := load(t, open(t), text, orepl.PipelineOptions{Instances: 1})
		slow := load(t, open(t), strings.Replace(strings.Replace(text, "export default", "const unused =", 1), "export const plain =", "export default", 1), orepl.PipelineOptions{Instances: 1})
		for i, n := range []int{4, 4, 4, 4, 5, 5, 4, 4} {
			x := make([]float32, n)
			for k := range x {
				x[k] = float32(i + k)
			}
			a := []float64{1, 2, 2, 0.25}[i%4]
			var got, want []float32
			in := orepl.Data{"a": a, "x": x}
			err := fast.Run(context.Background(), in, orepl.Data{"y": &got})
			failed := slow.Run(context.Background(), in, orepl.Data{"y": &want})
			if fmt.Sprint(err) != fmt.Sprint(failed) || !slices.Equal(got, want) {
				t.Errorf("%s, run %d: got %v, %v; expected %v, %v", c.name, i, got, err, want, failed)
			}
		}
	}
}

// TestReplayFails compares the errors of replayed runs with those of runs of the script, and runs after each.
func TestReplayFails(t *testing.T) {
	text := `import { pipeline, kernel, i32 } from 'offload'
const take = kernel((g, at, y) => { y[g.x] = at[at[g.x]] })
const spin = kernel((g, at, y) => { while (at[0] === 1) { y[0] = y[0] + 1 } })
export default pipeline({
  inputs: { at: [i32] }, outputs: { y: [i32, ({ at }) => at.shape] },
  run({ at, y }) {
    take.launch({ size: at.length }, at, y)
    spin.launch({ size: 1 }, at, y)
  },
})
`
	p := load(t, open(t), text, orepl.PipelineOptions{Instances: 1, Engine: orepl.EngineOptions{Limits: lang.Limits{Time: 300 * time.Millisecond}}})
	var y []int32
	out := orepl.Data{"y": &y}
	good := func() {
		t.Helper()
		for range 3 {
			if err := p.Run(context.Background(), orepl.Data{"at": []int32{2, 0, 1}}, out); err != nil || !slices.Equal(y, []int32{1, 2, 0}) {
				t.Fatal(y, err)
			}
		}
	}
	bad := orepl.Data{"at": []int32{0, 99, 0}}
	first := p.Run(context.Background(), bad, out) // by the script
	good()
	y = []int32{7, 7, 7}
	again := p.Run(context.Background(), bad, out)
	if first == nil || diag.Format(first, false) != diag.Format(again, false) || diag.Code(again) != string(offload.OutOfBounds) {
		t.Errorf("the script's run failed with\n%v\nthe replayed one with\n%v", first, again)
	}
	if !slices.Equal(y, []int32{7, 7, 7}) {
		t.Errorf("the failed run stored %v", y)
	}
	good()
	endless := orepl.Data{"at": []int32{1, 1, 1}}
	fresh := load(t, open(t), text, orepl.PipelineOptions{Instances: 1, Engine: orepl.EngineOptions{Limits: lang.Limits{Time: 300 * time.Millisecond}}})
	first = fresh.Run(context.Background(), endless, out)
	if err := p.Run(context.Background(), endless, out); diag.Code(err) != "timeout" || last(err) != last(first) {
		t.Errorf("a kernel without end: %v, of the script's run %v", err, first)
	}
	good()
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	if err := p.Run(ctx, orepl.Data{"at": []int32{1, 1, 1}}, out); diag.Code(err) != "cancelled" {
		t.Errorf("a cancelled run: %v", err)
	}
	good()
	if err := p.Run(ctx, orepl.Data{"at": []int32{2, 0, 1}}, out); diag.Code(err) != "cancelled" {
		t.Errorf("a run of an ended context: %v", err)
	}
	good()
}
