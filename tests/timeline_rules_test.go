package tests

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/trace"
)

// perfettoRules checks what Perfetto drops or attaches elsewhere: events without the fields of their phase, times below 0, slices of a
// track that overlap, arrows without one of their ends or that go back in time, and spans whose end is missing. It returns the number
// of slices.
func perfettoRules(t *testing.T, events []lineEvent) int {
	t.Helper()
	nanos := func(micros float64) int64 { return int64(math.Round(micros * 1e3)) }
	type arrow struct{ begins, ends []lineEvent }
	rows, arrows, spans, all := map[[2]int][]lineEvent{}, map[string]*arrow{}, map[string]*arrow{}, 0
	end := func(m map[string]*arrow, e lineEvent) *arrow {
		key := e.Cat + " " + e.Name + " " + e.ID
		if m[key] == nil {
			m[key] = &arrow{}
		}
		return m[key]
	}
	for _, e := range events {
		if e.Name == "" || e.Pid == 0 || e.Ts < 0 || e.Dur < 0 || e.Ph != "M" && e.Tid == 0 {
			t.Errorf("an event lacks a field, or is before the beginning: %+v", e)
		}
		switch e.Ph {
		case "M", "C":
			if len(e.Args) != 1 {
				t.Errorf("%+v has no value", e)
			}
		case "X":
			at := [2]int{e.Pid, e.Tid}
			rows[at] = append(rows[at], e)
			all++
			for begins, is := range map[bool]bool{true: e.Out, false: e.In} {
				if !is {
					continue
				}
				id := strconv.Itoa(e.Bind)
				if arrows[id] == nil {
					arrows[id] = &arrow{}
				}
				if begins {
					arrows[id].begins = append(arrows[id].begins, e)
				} else {
					arrows[id].ends = append(arrows[id].ends, e)
				}
			}
		case "b":
			a := end(spans, e)
			a.begins = append(a.begins, e)
		case "e":
			a := end(spans, e)
			a.ends = append(a.ends, e)
		default:
			t.Errorf("%+v: the phase is unknown", e)
		}
	}
	for at, list := range rows {
		slices.SortFunc(list, func(a, b lineEvent) int { return int(nanos(a.Ts) - nanos(b.Ts)) })
		for i, e := range list[1:] {
			if before := list[i]; nanos(before.Ts)+nanos(before.Dur) > nanos(e.Ts) {
				t.Errorf("track %v: %s from %v overlaps %s, which ends %v later", at, e.Name, e.Ts, before.Name, before.Ts+before.Dur-e.Ts)
				break
			}
		}
	}
	for key, a := range arrows {
		if len(a.begins) != 1 || len(a.ends) != 1 || a.begins[0].Ts > a.ends[0].Ts {
			t.Errorf("the arrow %s: %+v", key, *a)
		}
	}
	for key, s := range spans {
		if len(s.begins) != 1 || len(s.ends) != 1 || s.begins[0].Ts > s.ends[0].Ts {
			t.Errorf("the span %s: %+v", key, *s)
		}
	}
	return all
}

// TestTimeLineRules records pipelines whose instances run at a time, and scripts on all devices, and checks that Perfetto shows all of it.
func TestTimeLineRules(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "p.js")
	text := `import { pipeline, kernel, f32 } from 'offload'
import { span } from 'trace'
const twice = kernel((g, x, y) => { y[g.x] = 2 * x[g.x] }), more = kernel((g, y) => { y[g.x] += 1 })
export default pipeline({
  inputs: { x: [f32] }, outputs: { y: [f32, ({ x }) => x.shape] },
  async run({ x, y }) { await span('step', async () => { twice.launch({ size: x.length }, x, y); more.launch({ size: x.length }, y); await y.read() }) },
})`
	if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	const instances, runs = 4, 40
	file := filepath.Join(dir, "line.json")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	line := trace.New(out)
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}, Trace: line})
	p, err := rt.LoadPipeline(t.Context(), script, orepl.PipelineOptions{Instances: instances})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range instances {
		group.Go(func() {
			for range runs {
				var y []float32
				if err := p.Run(t.Context(), orepl.Data{"x": make([]float32, 1000)}, orepl.Data{"y": &y}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	for _, err := range []error{p.Close(), rt.Shutdown(t.Context()), line.Close(), out.Close()} {
		if err != nil {
			t.Error(err)
		}
	}
	events, _ := lineEvents(t, file)
	if n := perfettoRules(t, events); n < 2*2*instances*runs { // two kernels, each with its issue
		t.Errorf("%d slices", n)
	}

	command := buildCommand(t)
	several := filepath.Join(dir, "several.js")
	text = `import { devices, kernel, f32 } from 'offload'
const k = kernel((g, x, y) => { let s = 0; for (let i = 0; i < 40; i++) s = s * 0.5 + Math.sqrt(x[g.x] + i); y[g.x] = s })
const all = devices().map(d => ({ x: d.buffer(f32, 4096, i => i), y: d.buffer(f32, 4096) }))
for (let i = 0; i < 60; i++) { for (const { x, y } of all) k.launch({ size: 4096 }, x, y); if (i % 20 === 0) await all.at(-1).y.read() }
for (const { y } of all) await y.read()`
	if err := os.WriteFile(several, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), command, "run", "--trace", file, several)
	run.Env = append(os.Environ(), "OREPL_FAR=spawn")
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	events, processes := lineEvents(t, file)
	if n := perfettoRules(t, events); n < 2*60 || len(processes) < 3 {
		t.Errorf("%d slices of %v", n, processes)
	}
}

// TestTimeLineOverlaps records slices whose times overlap at random, and checks that Perfetto shows each, at its time.
func TestTimeLineOverlaps(t *testing.T) {
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var text bytes.Buffer
		r := trace.New(&text)
		host, queue := r.Track("program", "commands"), r.Track("device x", "queue")
		const count = 6000
		issued := map[string]time.Duration{}
		for i := range count {
			at := time.Duration(i)*time.Microsecond - time.Duration(rng.IntN(20_000))*time.Microsecond/10
			at = max(at, 0)
			if i%1000 == 999 { // a command that ended long after its issue
				at = time.Duration(i/3) * time.Microsecond
			}
			length := time.Duration(rng.IntN(3000)) * time.Nanosecond
			name := fmt.Sprint("k", i)
			issued[name] = at
			r.Commands([]trace.DeviceCommand{{Program: host, Queue: queue, Kind: trace.Kernel, Name: name, Issued: at, Passed: at + length, Start: at, End: at + time.Duration(rng.IntN(5000))}})
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "line.json")
		if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		events, _ := lineEvents(t, file)
		if n := perfettoRules(t, events); n != 2*count {
			t.Errorf("%d slices", n)
		}
		late := 0.0
		for _, e := range events {
			if e.Cat == trace.Kernel && (e.Ts < late || e.Ts < float64(issued[e.Name])/1e3) {
				t.Fatalf("%s begins at %v, before its issue or the end of the one before, %v", e.Name, e.Ts, late)
			}
			if e.Cat == trace.Kernel {
				late = e.Ts + e.Dur - 1e-6
			}
			if e.Cat == "issue" && e.Ts != float64(issued[e.Name])/1e3 {
				t.Errorf("%s is at %v, not %v", e.Name, e.Ts, issued[e.Name])
			}
		}
	}
}
