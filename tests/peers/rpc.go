package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/plugins/all"
)

// rpcSide is an engine with kernels that call services, next to a C program of LLVM's protocol.
type rpcSide struct {
	dir     string
	runtime *orepl.Runtime
	engine  *orepl.Engine
	out     bytes.Buffer
	entries []int64 // times of calls of the Go service, in nanoseconds since start
	start   time.Time
	counted int64
}

func newRPCSide() (s *rpcSide, err error) {
	s = &rpcSide{start: time.Now(), entries: make([]int64, 0, 1<<20)}
	if s.dir, err = os.MkdirTemp("", "orepl-rpc"); err != nil {
		return nil, err
	}
	for _, args := range [][]string{
		{"-shared", "-fPIC", "-I", "kernels/include", "-o", filepath.Join(s.dir, "kernels.so"), "tests/peers/c/rpc_kernels.c"},
		{"-pthread", "-o", filepath.Join(s.dir, "peer"), "tests/peers/c/rpc_peer.c"},
	} {
		if text, err := exec.Command("gcc", append([]string{"-O2", "-Wall", "-Wextra"}, args...)...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("gcc: %w\n%s", err, text)
		}
	}
	s.runtime = orepl.Open(orepl.Options{Plugins: all.Plugins()})
	s.engine, err = s.runtime.Engine(orepl.EngineOptions{Policy: lang.AllowAll, Dir: s.dir, Stdout: &s.out, Services: []orepl.Service{
		{Name: "next", Func: func(x int32) int32 { return x + 1 }},
		{Name: "timed", Func: s.enter},
		{Name: "quick", Func: s.enter, AtOnce: true},
		{Name: "count", Func: func(x int32) { s.counted += int64(x) }},
	}})
	return s, err
}

// enter implements the Go services timed and quick, which record the time.
func (s *rpcSide) enter(x int32) int32 {
	s.entries = append(s.entries, int64(time.Since(s.start)))
	return x + 1
}

func (s *rpcSide) close() {
	if s.engine != nil {
		_ = s.engine.Close()
	}
	if s.runtime != nil {
		_ = s.runtime.Close()
	}
	_ = os.RemoveAll(s.dir)
}

// rpcPrelude registers the native kernels and a service of the script, and declares the functions of the measurements.
const rpcPrelude = `
import { device, kernel, register, rpc, i32, i64 } from 'offload'
const dev = device('cpu'), lib = await register('kernels.so')
const native = (name, ...args) => lib.kernel(name, { args, convention: 'item' })
const median = xs => Number(xs.sort()[xs.length >> 1])
rpc.on('script', { args: [i32], result: i32 }, x => x + 1)
async function ask(n, idle, scripted) {
  const times = dev.buffer(i64, n)
  await native('ask', [i64], 'i32', 'i64', 'i32').launch({ size: 1 }, times, n, idle, scripted)
  return median(await times.read())
}
async function compiled(k, n) {
  const o = dev.buffer(i32, 1)
  await o.read()
  const start = performance.now()
  await k.launch({ size: 1 }, o, n)
  const ns = (performance.now() - start) * 1e6 / n
  if ((await o.read())[0] !== n) throw new Error('the calls are wrong')
  return ns
}
async function rate(name, n) {
  const k = native(name, 'i32')
  const start = performance.now()
  await k.launch({ size: 1 }, n)
  return n * 1e3 / (performance.now() - start)
}
`

// run runs a function body in a script and returns the number that it returns.
func (s *rpcSide) run(body string) (float64, error) {
	s.out.Reset()
	text := rpcPrelude + "console.log(await (async () => {" + body + "})()); await lib.unregister()"
	if _, err := s.engine.Run(context.Background(), "rpc.js", text); err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(s.out.String()), 64)
}

func (s *rpcSide) ours(body string) func() (float64, error) {
	return func() (float64, error) { return s.run(body) }
}

func (s *rpcSide) theirs(args ...string) func() (float64, error) {
	return func() (float64, error) {
		out, err := exec.Command(filepath.Join(s.dir, "peer"), args...).Output()
		if err != nil {
			return 0, fmt.Errorf("rpc_peer %s: %w", strings.Join(args, " "), err)
		}
		return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	}
}

// rpc compares calls of the host with a C program of LLVM's protocol.
func rpc(r *report) error {
	s, err := newRPCSide()
	if s != nil {
		defer s.close()
	}
	if err != nil {
		return err
	}
	const calls, posts = 200_000, 1_000_000
	busy := s.theirs("ask", fmt.Sprint(calls), "0")
	if _, err := r.pair("compiled kernel to Go and back, median", "ns", 7, s.compiledMedian("timed", calls), busy); err != nil {
		return err
	}
	if _, err := r.pair("the same with AtOnce, median", "ns", 7, s.compiledMedian("quick", calls), busy); err != nil {
		return err
	}
	if _, err := r.pair("native kernel to Go and back, median", "ns", 7, s.ours(fmt.Sprintf("return ask(%d, 0, 0)", calls)), busy); err != nil {
		return err
	}
	if _, err := r.pair("the same from idle, median", "ns", 5, s.ours("return ask(500, 500000, 0)"), s.theirs("ask", "500", "500000")); err != nil {
		return err
	}
	if err := r.alone("compiled kernel to the script and back", "ns", 7, s.ours(`
		return compiled(kernel((g, o, n) => { let s = 0; for (let i = 0; i < n; i++) s = i32(g.call('script', s)); o[0] = s }), 50000)`)); err != nil {
		return err
	}
	if err := r.alone("native kernel to the script and back, median", "ns", 7, s.ours("return ask(50000, 0, 1)")); err != nil {
		return err
	}
	tell := s.theirs("tell", fmt.Sprint(posts))
	if _, err := r.pair("one-way packets from a native kernel", "/s", 7, s.ours(fmt.Sprintf("return rate('post', %d)", posts)), tell); err != nil {
		return err
	}
	if _, err := r.pair("one-way calls of a Go service", "/s", 7, s.ours(fmt.Sprintf("return rate('tell', %d)", posts)), tell); err != nil {
		return err
	}
	if err := r.alone("processor time of a server without calls", "%", 5, s.idleShare); err != nil {
		return err
	}
	return s.prints(r)
}

// compiledMedian returns a measurement of n calls of a service by a compiled kernel: the median nanoseconds from one call to
// the next.
func (s *rpcSide) compiledMedian(service string, n int) func() (float64, error) {
	return func() (float64, error) {
		s.entries = s.entries[:0]
		_, err := s.run(fmt.Sprintf(`
			return compiled(kernel((g, o, n) => { let s = 0; for (let i = 0; i < n; i++) s = i32(g.call('%s', s)); o[0] = s }), %d)`, service, n))
		if err != nil {
			return 0, err
		}
		times := make([]int64, 0, len(s.entries))
		for i := 1; i < len(s.entries); i++ {
			times = append(times, s.entries[i]-s.entries[i-1])
		}
		slices.Sort(times)
		return float64(times[len(times)/2]), nil
	}
}

// idleShare returns the percentage of a processor that this process uses during a native kernel without calls.
func (s *rpcSide) idleShare() (float64, error) {
	ended := make(chan error, 1)
	go func() {
		_, err := s.run("await native('sleeper', 'i64').launch({ size: 1 }, 2500000000); return 0")
		ended <- err
	}()
	time.Sleep(500 * time.Millisecond) // waits until the script is compiled
	used, start := processorTime(), time.Now()
	time.Sleep(1500 * time.Millisecond)
	share := 100 * (processorTime() - used) / time.Since(start).Seconds()
	return share, <-ended
}

// prints compares lines that a native kernel prints to a file under orepl run with the C program. The lines must be
// complete, and in order per item.
func (s *rpcSide) prints(r *report) error {
	const lines, items = 100_000, 2
	binary := filepath.Join(s.dir, "orepl")
	build := exec.Command("go", "build", "-o", binary, "./cmd/orepl")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, text)
	}
	script := filepath.Join(s.dir, "lines.js")
	err := os.WriteFile(script, []byte(fmt.Sprintf(`
import { device, register } from 'offload'
const lib = await register(new URL('kernels.so', import.meta.url).pathname)
const start = performance.now()
await lib.kernel('lines', { args: ['i32'], convention: 'item' }).launch({ size: %d }, %d)
console.error(%d * 1e3 / (performance.now() - start))
`, items, lines/items, lines)), 0o600)
	if err != nil {
		return err
	}
	path := filepath.Join(s.dir, "lines.txt")
	ours := func() (float64, error) {
		file, err := os.Create(path)
		if err != nil {
			return 0, err
		}
		defer file.Close()
		cmd := exec.Command(binary, "run", script)
		var rate bytes.Buffer
		cmd.Stdout, cmd.Stderr = file, &rate
		if err := cmd.Run(); err != nil {
			return 0, fmt.Errorf("orepl run: %w\n%s", err, rate.String())
		}
		if err := checkLines(path, items, lines/items); err != nil {
			return 0, err
		}
		return strconv.ParseFloat(strings.TrimSpace(rate.String()), 64)
	}
	_, err = r.pair("lines of a native kernel to a file", "/s", 3, ours, s.theirs("lines", fmt.Sprint(lines), filepath.Join(s.dir, "theirs.txt")))
	return err
}

// checkLines checks that a file has n lines of each item, in order per item.
func checkLines(path string, items, n int) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	next := make([]int, items)
	for line := range bytes.Lines(data) {
		item, k, ok := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		i, err := strconv.Atoi(item)
		if !ok || err != nil || i < 0 || i >= items || k != strconv.Itoa(next[i]) {
			return fmt.Errorf("a line is %q after %v lines", line, next)
		}
		next[i]++
	}
	for _, got := range next {
		if got != n {
			return fmt.Errorf("%v lines, want %d of each", next, n)
		}
	}
	return nil
}
