package far_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/plugins/far"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote"
	"github.com/orepl/orepl/runtime/remote/socket"
)

// joined is a worker in this process that has joined a script.
type joined struct {
	leave func()
	ended chan error
}

// join lets a worker join where a line of the plugin says.
func join(t *testing.T, line string) *joined {
	t.Helper()
	_, text, ok := strings.Cut(line, "orepl worker --join ")
	if !ok {
		t.Fatalf("the plugin says %q", line)
	}
	a, err := socket.ParseAddress(text)
	must(t, err)
	a, err = a.WithToken("")
	must(t, err)
	conn, err := a.Join(t.Context(), 0)
	must(t, err)
	w := &joined{func() { _ = conn.Close() }, make(chan error, 1)}
	go func() { w.ended <- remote.Serve(context.Background(), conn, cpu.New(cpu.Options{})) }()
	return w
}

// TestJoin opens a plugin that workers join, beside one that is listed. A kernel that was made before runs on their devices, which copy to
// each other. They end with the plugin.
func TestJoin(t *testing.T) {
	listed := listen(t)
	lines := make(chan string, 10)
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{far.New(far.Options{
		Workers: []string{listed, "listen:tls:127.0.0.1:0"}, Tell: func(line string) { lines <- line }})}})
	var out strings.Builder
	e, err := inside.Of(rt).NewEngine(lang.Options{Stdout: &out, OnError: func(err error) { t.Error(err) }})
	must(t, err)
	_, err = e.Eval(t.Context(), "a.js", `
import { devices, device, pool, kernel, i32 } from 'offload'
const add = kernel((g, n, x) => { x[g.x] += n })
const far0 = device('far:0/cpu:0'), x = far0.buffer(i32, 3, i => i)
await add.launch({ size: 3 }, 10, x)
let p = pool([], { join: true, tasks: 1 }), all = pool(), only = pool(['far:0/cpu:0'])
console.log(devices().map(d => d.id).join(), await p.run(({ device }) => device.id))`)
	must(t, err)
	line := <-lines
	workers := []*joined{join(t, line)}
	_, err = e.Eval(t.Context(), "joined.js", `while (p.devices.length < 2) await new Promise(r => setTimeout(r, 1))`)
	must(t, err)
	workers = append(workers, join(t, line))
	_, err = e.Eval(t.Context(), "b.js", `
for (const q of [p, all]) while (q.devices.length < 3) await new Promise(r => setTimeout(r, 1))
const ids = p.devices.map(d => d.device)
console.log(ids.join(), all.devices.map(d => d.device).join(), only.devices.length, devices().map(d => d.id).join())
const results = await p.map([1, 2, 3], async (n, { device }) => {
  const y = device.buffer(i32, 3)
  x.copyTo(y)
  await add.launch({ size: 3 }, 100, y)
  return (await y.read()).join()
})
console.log(results.join(' '), device('far:2/cpu:0').id)`)
	must(t, err)
	workers[0].leave()
	_, err = e.Eval(t.Context(), "c.js", `
while (!p.devices[1].lost) await new Promise(r => setTimeout(r, 1))
const late = kernel((g, x) => { x[g.x] = g.x * 7 })
const z = device('far:2/cpu:0').buffer(i32, 3)
await late.launch({ size: 3 }, z)
console.log((await z.read()).join())
const fresh = pool([], { join: true })
console.log(fresh.devices.map(d => d.device).join())`)
	must(t, err)
	must(t, e.Close())
	must(t, rt.Shutdown(context.Background()))
	for i, w := range workers {
		select {
		case err := <-w.ended:
			if i > 0 { // the first has closed its connection itself
				must(t, err)
			}
		case <-time.After(30 * time.Second):
			t.Error("a worker has not ended")
		}
	}
	want := "far:0/cpu:0 far:0/cpu:0\n" +
		"far:0/cpu:0,far:1/cpu:0,far:2/cpu:0 far:0/cpu:0,far:1/cpu:0,far:2/cpu:0 1 far:0/cpu:0,far:1/cpu:0,far:2/cpu:0\n" +
		"110,111,112 110,111,112 110,111,112 far:2/cpu:0\n" +
		"0,7,14\nfar:0/cpu:0,far:2/cpu:0\n"
	if out.String() != want {
		t.Errorf("printed\n%s, want\n%s", out.String(), want)
	}
}

// listen starts a worker in this process that listens, and returns its address with the token.
func listen(t *testing.T) string {
	t.Helper()
	l, err := socket.Listen(socket.Address{Network: "tcp", Place: "127.0.0.1:0"})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- l.Serve(ctx, nil, cpu.New(cpu.Options{})) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-served)
	})
	return l.Address().Secret()
}

// TestJoinWrong checks the errors of pools that no worker can join, and of wrong addresses.
func TestJoinWrong(t *testing.T) {
	for worker, want := range map[string]string{
		"":                       "pool: no worker can join",
		"listen:nonsense":        "it is no address: write tcp:127.0.0.1:4711",
		"listen:tcp:10.0.0.1:9":  "write tls:10.0.0.1:9",
		"listen:tcp::0":          "write tls::0",
		"listen:tls:192.0.2.1:9": "cannot assign requested address",
	} {
		t.Setenv(far.Variable, worker)
		t.Setenv(socket.TokenVariable, "a token of this test")
		rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{far.New(far.FromEnvironment()), cpu.New(cpu.Options{})}})
		e, err := inside.Of(rt).NewEngine(lang.Options{})
		must(t, err)
		_, err = e.Run(t.Context(), "a.js", `import { pool } from 'offload'
pool([], { join: true })`)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", worker, err, want)
		}
		must(t, e.Close())
		must(t, rt.Shutdown(context.Background()))
	}
}

// TestJoinShown checks that the line for workers has no token that both sides know before, and a machine in place of all its networks.
func TestJoinShown(t *testing.T) {
	const token = "a token of this test"
	t.Setenv(socket.TokenVariable, token)
	lines := make(chan string, 1)
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{far.New(far.Options{Workers: []string{"listen:tls:0.0.0.0:0"}, Tell: func(line string) { lines <- line }})}})
	e, err := inside.Of(rt).NewEngine(lang.Options{})
	must(t, err)
	_, err = e.Run(t.Context(), "a.js", `import { pool } from 'offload'
pool([], { join: true })`)
	must(t, err)
	line := <-lines
	if strings.Contains(line, token) || strings.Contains(line, "#") || strings.Contains(line, "[::]") || strings.Contains(line, "0.0.0.0") {
		t.Errorf("the line is %s", line)
	}
	w := join(t, line) // with the token in the variable
	_, err = e.Run(t.Context(), "b.js", `import { pool } from 'offload'
const p = pool([], { join: true })
await p.run(() => 1)`)
	must(t, err)
	must(t, e.Close())
	must(t, rt.Shutdown(context.Background()))
	must(t, <-w.ended)
}
