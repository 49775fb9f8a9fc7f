package mpijs_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

// open returns a runtime of a process alone.
func open(t *testing.T) *orepl.Runtime {
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	t.Cleanup(func() {
		if err := rt.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return rt
}

func run(t *testing.T, rt *orepl.Runtime, opts lang.Options, text string) (string, error) {
	t.Helper()
	var out strings.Builder
	opts.Stdout = &out
	e, err := inside.Of(rt).NewEngine(opts)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	_, err = e.Run(t.Context(), "test.js", "import { mpi } from 'mpi'\nimport { device, f32, f16, struct } from 'offload'\n"+text)
	return out.String(), err
}

// TestAlone runs all operations in a process alone.
func TestAlone(t *testing.T) {
	got, err := run(t, open(t), lang.Options{}, `
const x = Float32Array.of(1, 2), d = device('cpu'), b = d.buffer(f32, 2), h = d.buffer(f16, [1, 2], () => 1.5)
console.log(mpi, mpi.rank, mpi.size, mpi, await mpi.barrier())
const sent = mpi.send(x, 0, { tag: 3 })
x[0] = 5
console.log(await sent, await mpi.recv(0, { tag: 3 }))
mpi.send(x, 0)
const any = mpi.recvAny({ tag: 4, into: new Float32Array(2) })
mpi.send(x, 0, { tag: 4 })
console.log(await any, (await Promise.all([mpi.recvAny({ tag: 5 }), mpi.send(b, 0, { tag: 5 })]))[0])
console.log(await mpi.recv(0, { into: b }) === b, await b.read())
console.log(await mpi.broadcast(x) === x, await mpi.reduce(x), await mpi.allReduce(b, 'max'), await mpi.scan(x, 'product'))
console.log(await mpi.gather(x), await mpi.allGather(h), await mpi.scatter(x), await mpi.allToAll(BigInt64Array.of(1n)))
console.log(await mpi.allReduce(x, 'sum', { into: x }) === x, await mpi.split(2, -5), await mpi.split())
`)
	const want = `Communicator { rank: 0, size: 1 } 0 1 Communicator { rank: 0, size: 1 } undefined
undefined Float32Array(2) [ 1, 2 ]
{ from: 0, data: Float32Array(2) [ 5, 2 ] } { from: 0, data: Float32Array(2) [ 0, 0 ] }
true Float32Array(2) [ 5, 2 ]
true Float32Array(2) [ 5, 2 ] Float32Array(2) [ 5, 2 ] Float32Array(2) [ 5, 2 ]
Float32Array(2) [ 5, 2 ] Float32Array(2) [ 1.5, 1.5 ] Float32Array(2) [ 5, 2 ] BigInt64Array(1) [ 1n ]
true Communicator { rank: 0, size: 1 } undefined
`
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
}

// TestErrors checks that wrong arguments are rejected with messages that name them.
func TestErrors(t *testing.T) {
	rt := open(t)
	for text, want := range map[string]string{
		"mpi.send('x', 0)":                                                    "the data must be a typed array or a buffer",
		"mpi.send(Int8Array.of(1), 1)":                                        "the receiver must be a rank from 0 to 0, not",
		"mpi.send(Int8Array.of(1), 0, { tag: -1 })":                           "tag",
		"mpi.send(Int8Array.of(1), 0, { tag: 2 ** 32 })":                      "tag must be at most",
		"mpi.recv(0.5)":                                                       "the sender must be a rank",
		"mpi.recv(0, { into: 5 })":                                            "into must be a typed array or a buffer",
		"mpi.recv(0, { form: 5 })":                                            "form",
		"mpi.recvAny(0)":                                                      "the options must be an object",
		"mpi.recvAny({ tag: 2 ** 32 })":                                       "tag must be at most",
		"mpi.recvAny({ into: 5 })":                                            "into must be a typed array or a buffer",
		"mpi.broadcast()":                                                     "the root has no data",
		"mpi.scatter()":                                                       "the root has no data",
		"mpi.gather(Int8Array.of(1), { root: 1 })":                            "the root must be a rank from 0 to 0",
		"mpi.allReduce(Int8Array.of(1), 'and')":                               "the operation is",
		"mpi.allReduce(device('cpu').buffer(f16, 2))":                         "elements of f16 cannot be reduced",
		"mpi.allGather(device('cpu').buffer(struct({x: f32}), 2))":            "struct",
		"mpi.allReduce(Int8Array.of(1), 'sum', { into: Int8Array.of(1, 2) })": "its place has 2 of i8",
		"mpi.allReduce(Int8Array.of(1), 'sum', { into: Uint8Array.of(1) })":   "its place has 1 of u8",
		"(x => mpi.send(x, 0, { get tag() { x.buffer.resize(1); return 0 } }))(new Int8Array(new ArrayBuffer(2, { maxByteLength: 2 })))":  "transferred or resized during the call",
		"(x => mpi.gather(x, { get root() { x.buffer.detached || x.buffer.transfer(); return 0 } }))(Int8Array.of(1))":                    "transferred or resized during the call",
		"(x => mpi.allReduce(x, 'sum', { get into() { x.buffer.resize(4) } }))(new Int16Array(new ArrayBuffer(2, { maxByteLength: 4 })))": "transferred or resized during the call",
		"mpi.split(-1)":    "the color must be",
		"mpi.split(1, .5)": "the key must be an integer",
	} {
		_, err := run(t, rt, lang.Options{}, "await "+text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestOneScript checks that one script at a time has the ranks, and none to which the policy denies them.
func TestOneScript(t *testing.T) {
	rt := open(t)
	denied := lang.Options{Policy: lang.Policy{Device: func(id string) error { return errors.New("no " + id) }}}
	if _, err := run(t, rt, denied, "mpi.rank"); err == nil || !strings.Contains(err.Error(), "no mpi [permission-denied]") {
		t.Error(err)
	}
	e, err := inside.Of(rt).NewEngine(lang.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = e.Run(t.Context(), "first.js", "import { mpi } from 'mpi'\nmpi.rank"); err != nil {
		t.Error(err)
	}
	if _, err := run(t, rt, lang.Options{}, "mpi.rank"); err == nil || !strings.Contains(err.Error(), "another script of this process uses the ranks") {
		t.Error(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if _, err := run(t, rt, lang.Options{}, "mpi.rank"); err != nil {
		t.Error(err)
	}
}
