package tests

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/trace"
)

// lineEvent is an event of a time line.
type lineEvent struct {
	Name, Cat, Ph, ID string
	Ts, Dur           float64
	Pid, Tid          int
	Args              map[string]any
	Bind              int  `json:"bind_id"` // of an arrow
	Out               bool `json:"flow_out"`
	In                bool `json:"flow_in"`
}

// lineEvents reads the events of a time line and the names of its processes.
func lineEvents(t *testing.T, file string) (events []lineEvent, processes map[int]string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &events); err != nil {
		t.Fatal(err)
	}
	processes = map[int]string{}
	for _, e := range events {
		if e.Name == "process_name" {
			processes[e.Pid], _ = e.Args["name"].(string)
		}
	}
	return events, processes
}

// withLaunchers runs a test with each MPI launcher.
func withLaunchers(t *testing.T, run func(t *testing.T, launcher string)) {
	for _, launcher := range []string{"mpirun.openmpi", "mpirun.mpich"} {
		t.Run(launcher, func(t *testing.T) {
			if _, err := exec.LookPath(launcher); err != nil { // tests of plugins/mpi fail in CI without it
				t.Skip(err)
			}
			run(t, launcher)
		})
	}
}

// TestTimeLineOfRanks checks the time line of a picture in 16 tiles on three workers: every launch and copy is present once, each
// arrow ends on its slice, and all times are those of the workers' clocks.
func TestTimeLineOfRanks(t *testing.T) {
	orepl := buildCommand(t)
	withLaunchers(t, func(t *testing.T, launcher string) {
		file := filepath.Join(t.TempDir(), "line.json")
		printed(t, nil, orepl, "mpirun", "--launcher", launcher, "-n", "3", "--trace", file, "../examples/distributed/tiles.js", "mpi:1/cpu:0", "mpi:2/cpu:0", "mpi:3/cpu:0")
		events, processes := lineEvents(t, file)
		perfettoRules(t, events)
		const tiles, tileBytes = 16, 64 * 64 * 4
		count, size, seen := map[string]int{}, map[string]float64{}, map[string]bool{}
		starts, ends := map[int]string{}, map[int]string{}
		for _, e := range events {
			switch e.Ph {
			case "X":
				if e.Out {
					starts[e.Bind] = e.Cat + " " + e.Name
				}
				if e.In {
					ends[e.Bind] = "issue " + e.Name
				}
				if e.Cat == "issue" {
					continue
				}
				count[e.Cat+" "+e.Name]++
				n, _ := e.Args["bytes"].(float64)
				size[e.Name] += n
				if key := fmt.Sprint(e.Pid, e.Tid, e.Args["command"]); seen[key] {
					t.Errorf("command %v of %s is present twice", e.Args["command"], processes[e.Pid])
				} else {
					seen[key] = true
				}
				if !strings.HasPrefix(processes[e.Pid], "device mpi:") || e.Args["clock"] != nil {
					t.Errorf("%s of %s has the clock of the %v", e.Name, processes[e.Pid], e.Args["clock"])
				}
			}
		}
		for _, name := range []string{"kernel mandelbrot", "copy zero", "copy read"} {
			if count[name] != tiles {
				t.Errorf("%s: %d times", name, count[name])
			}
		}
		if len(count) != 3 || size["zero"] != tiles*tileBytes || size["read"] != tiles*tileBytes {
			t.Errorf("%v, bytes %v", count, size)
		}
		if len(starts) != 3*tiles || len(ends) != 3*tiles {
			t.Errorf("%d arrows begin and %d end", len(starts), len(ends))
		}
		if !maps.Equal(starts, ends) {
			t.Errorf("arrows begin at %v and end at %v", starts, ends)
		}
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		sum, err := trace.Summarize(f)
		if err != nil || sum.Cut || len(sum.Kernels) != 1 || sum.Kernels[0].Count != tiles || len(sum.Copies) != 2 || sum.Copies[0].Bytes != tiles*tileBytes {
			t.Errorf("%v\n%v", err, sum)
		}
	})
}

// clockScript runs a kernel that reads the machine's clock on the devices of the command line and prints what it read.
const clockScript = `import { args, device, register, f64 } from 'offload'
const lib = await register('clock.so')
const read = lib.kernel('now', { args: [[f64]], convention: 'item' })
for (const id of args) {
  const times = device(id).buffer(f64, 1)
  for (let i = 0; i < 40; i++) {
    await read.launch({ size: 1 }, times)
    console.log(id, (await times.read())[0])
  }
}
`

// clockSource is that kernel. All processes of a machine have the same clock.
const clockSource = `#include <stdint.h>
#include <time.h>
void now(int64_t i, double *out) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	out[i] = t.tv_sec * 1e9 + t.tv_nsec;
}
`

// clockRuns is the number of jobs of which one must meet clockBar. Other programs may run beside the others.
const clockRuns = 5

// clockBar is the error that a time line states at most, in microseconds, while no other programs run.
const clockBar = 50

// TestClocksOfRanks checks that the clocks of three workers and of the script's process agree in a time line to the error that it states,
// and that this is small. A kernel reads the machine's clock, so that each slice bounds the difference between that clock and the time line.
func TestClocksOfRanks(t *testing.T) {
	orepl := buildCommand(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"clock.js": clockScript, "clock.c": clockSource} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("gcc", "-O2", "-shared", "-fPIC", "-o", filepath.Join(dir, "clock.so"), filepath.Join(dir, "clock.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	withLaunchers(t, func(t *testing.T, launcher string) {
		worst := 0.0
		for range clockRuns {
			if worst = clocksOfRanks(t, orepl, launcher, dir); worst <= clockBar {
				return
			}
		}
		t.Errorf("each of %d time lines has or states an error above %d µs, the last one %.1f µs", clockRuns, clockBar, worst)
	})
}

// clocksOfRanks runs one job. It returns the least error that its time line states for a device, or the error found, of the worst device.
func clocksOfRanks(t *testing.T, orepl, launcher, dir string) (worst float64) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	devices := []string{"cpu", "mpi:1/cpu:0", "mpi:2/cpu:0", "mpi:3/cpu:0"}
	cmd := exec.CommandContext(ctx, orepl, append([]string{"mpirun", "--launcher", launcher, "-n", "3", "--trace", "line.json", "clock.js"}, devices...)...)
	cmd.Dir, cmd.WaitDelay = dir, 10*time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	read := map[string][]float64{}
	for line := range strings.Lines(string(out)) {
		var id string
		var ns float64
		if n, err := fmt.Sscan(line, &id, &ns); n != 2 || err != nil {
			t.Fatalf("%q", line)
		}
		read["device "+id] = append(read["device "+id], ns/1e3)
	}
	events, processes := lineEvents(t, filepath.Join(dir, "line.json"))
	low, high, launches := map[string]float64{}, map[string]float64{}, map[string]int{}
	stated, least := map[string]float64{}, map[string]float64{}
	for _, e := range events {
		if e.Name == "clock error (µs)" {
			v, _ := e.Args["value"].(float64)
			id := processes[e.Pid]
			if _, ok := stated[id]; !ok {
				least[id] = v
			}
			stated[id], least[id] = max(stated[id], v), min(least[id], v)
		}
		if e.Cat != trace.Kernel {
			continue
		}
		id := processes[e.Pid]
		if launches[id] == 0 {
			low[id], high[id] = math.Inf(-1), math.Inf(1)
		}
		at := read[id][launches[id]]
		launches[id]++
		low[id], high[id] = max(low[id], at-e.Ts-e.Dur), min(high[id], at-e.Ts)
	}
	for id, times := range read {
		if launches[id] != len(times) || len(times) != 40 {
			t.Errorf("%s: %d launches of %d", id, launches[id], len(times))
		}
		apart := max(low[id]-high["device cpu"], low["device cpu"]-high[id])
		t.Logf("%s: %.1f µs to %.1f µs from the script's clock, with an error of %.1f µs to %.1f µs", id, low[id]-high["device cpu"], high[id]-low["device cpu"], least[id], stated[id])
		if apart > stated[id]+stated["device cpu"]+0.1 { // the kernel's time is a double of nanoseconds
			t.Errorf("the clock of %s is %.1f µs wrong", id, apart)
		}
		worst = max(worst, least[id], apart)
	}
	if len(read) != len(devices) {
		t.Errorf("%s", out)
	}
	return worst
}

// TestTimeLineOfKilled kills the script's process of a job in the middle and summarizes what it left.
func TestTimeLineOfKilled(t *testing.T) {
	orepl := buildCommand(t)
	withLaunchers(t, func(t *testing.T, launcher string) {
		dir := t.TempDir()
		const script = `import { device, kernel, f32 } from 'offload'
const x = device('mpi:1/cpu:0').buffer(f32, 1000)
const k = kernel(function triple(g, x) { x[g.x] *= 3 })
for (let i = 0; i < 20; i++) { await k.launch({ size: 1000 }, x); await new Promise(done => setTimeout(done, 50)) }
await process.run('sh', ['-c', 'kill -9 $PPID'])
console.log('still there')
`
		if err := os.WriteFile(filepath.Join(dir, "killed.js"), []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, orepl, "mpirun", "--launcher", launcher, "-n", "1", "--trace", "line.json", "killed.js")
		cmd.Dir, cmd.WaitDelay = dir, 10*time.Second
		out, err := cmd.CombinedOutput()
		if err == nil || bytes.Contains(out, []byte("still there")) {
			t.Fatalf("%v\n%s", err, out)
		}
		f, err := os.Open(filepath.Join(dir, "line.json"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		s, err := trace.Summarize(f)
		if err != nil || !s.Cut || len(s.Kernels) != 1 || s.Kernels[0].Count < 10 || s.Kernels[0].Count > 20 {
			t.Errorf("%v\n%v", err, s)
		}
	})
}
