package offloadjs_test

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/plugins/cpu"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote"
)

// threeWorkers returns a plugin whose devices far:0/cpu:0 and so on exchange memory.
func threeWorkers() contract.Plugin {
	names := []string{"0", "1", "2"}
	var serve func(name string) (io.ReadWriteCloser, error)
	serve = func(name string) (io.ReadWriteCloser, error) {
		here, there := net.Pipe()
		s := remote.Server{Plugins: []contract.Plugin{cpu.New(cpu.Options{})}, Address: name,
			DialPeer: func(_ context.Context, address string) (io.ReadWriteCloser, error) { return serve(address) }}
		go func() { _ = s.Serve(context.Background(), there) }()
		return here, nil
	}
	return remote.NewCluster("far", func(context.Context) (list []remote.Peer, err error) {
		for _, name := range names {
			list = append(list, remote.Peer{Name: name, Dial: func(context.Context) (io.ReadWriteCloser, error) { return serve(name) }})
		}
		return list, nil
	})
}

const collectiveScript = `
import { collective, device, i32, u32, i64, u64, f32, f64 } from 'offload'
const ids = ['far:0/cpu:0', 'cpu:0', 'far:1/cpu:0', 'far:2/cpu:0', 'cpu:1', 'far:0/cpu:0']
const wrong = (what, got, want) => { if (got.join() !== want.join()) console.log(what, 'got', got.join(), 'want', want.join()) }
const step = { sum: (a, b) => a + b, product: (a, b) => a * b, min: (a, b) => a < b ? a : b, max: (a, b) => a > b ? a : b }
for (const [t, A] of [[i32, Int32Array], [u32, Uint32Array], [i64, BigInt64Array], [u64, BigUint64Array], [f32, Float32Array], [f64, Float64Array]]) {
  for (const operation of Object.keys(step)) {
    for (const n of t === f64 && operation !== 'max' ? [4, 1001, 8209] : [1, 4, 6, 1001]) { // more than 64 KiB are reduced in parts
      const big = t === i64 || t === u64, whole = t === i32 || t === u32
      const value = (b, i) => big ? BigInt((b * 7 + i * 3) % 11 + 1) : whole ? (b * 7 + i * 3) % 11 + 1 : ((b * 7 + i * 3) % 11 + 1) / 3
      const buffers = ids.map((id, b) => device(id).buffer(t, A.from({ length: n }, (_, i) => value(b, i))))
      for (const [order, sequence] of [['array', [0, 1, 2, 3, 4, 5]], ['any', [0, 5, 1, 2, 3, 4]]]) { // the last one is on the device of the first
        if (order === 'any' && n !== 1001) continue
        buffers.forEach((b, k) => b.write(A.from({ length: n }, (_, i) => value(k, i))))
        const want = new A(n)
        for (let i = 0; i < n; i++) {
          want[i] = value(0, i)
          for (const b of sequence.slice(1)) {
            const one = new A(1)
            one[0] = value(b, i)
            want[i] = step[operation](want[i], one[0])
          }
        }
        collective.allReduce(buffers, operation, { order })
        for (const b of buffers) wrong(t.name + ' ' + operation + ' ' + n + ' in order ' + order + ' on ' + b.device.id, await b.read(), want)
      }
      buffers.forEach(b => b.free())
    }
  }
}
const pairs = ['far:0/cpu:0', 'far:1/cpu:0', 'far:1/cpu:0', 'far:0/cpu:0'].map((id, k) => device(id).buffer(f32, 30000).fill(10 ** k))
collective.allReduce(pairs, 'sum', { order: 'any' }) // the workers' sums make a joint launch
for (const b of pairs) wrong('pairs', await b.read(), Array(30000).fill(1111))
const [left, right] = ['far:0/cpu:0', 'far:1/cpu:0'].map(id => device(id).buffer(f32, 1 << 20).fill(1))
for (let i = 0; i < 5; i++) { // the part of a sum that is issued last waits for a copy by the queue of the first
  left.copyTo(right, { queue: left.device.queue })
  collective.allReduce([left, right])
}
wrong('copies and sums', await right.read(0, 1), [32])
const sums = []
for (const order of [undefined, 'any']) { // the order of views that share elements, and of a buffer that is there twice, is that of the array
  const b = device('cpu:0').buffer(f32, 6, i => i + 1), c = device('cpu:1').buffer(f32, 4).fill(100)
  collective.allReduce([b.view(0, 4), c, b.view(2, 4)], 'sum', { order })
  collective.allReduce([c, c, c], 'sum', { order })
  sums.push([...await b.read(), ...await c.read()])
}
wrong('shared elements', sums[1], sums[0])
const changing = [1, 2].map(n => device('cpu:0').buffer(i32, 2).fill(n)), floats = device('cpu:0').buffer(f32, 2)
const [one] = changing
let reads = 0
Object.defineProperty(changing, 0, { get: () => reads++ ? floats : one })
collective.allReduce(changing) // the elements of the array are read once
wrong('changing elements', await one.read(), [3, 3])
const whole = device('far:1/cpu:0').buffer(f32, 100, i => i)
const parts = [10, 0, 50, 40].map((n, i) => device(ids[i]).buffer(f32, n))
collective.scatter(whole, parts)
wrong('scatter', await parts[2].read(), Array.from({ length: 50 }, (_, i) => i + 10))
parts[3].fill(-1)
collective.gather(whole, parts)
wrong('gather', await whole.read(), Array.from({ length: 100 }, (_, i) => i < 60 ? i : -1))
const copies = ids.map(id => device(id).buffer(f32, 100))
collective.broadcast(whole, copies)
for (const c of copies) wrong('broadcast', await c.read(), await whole.read())
console.log('done')
`

// TestCollectives runs them on buffers of this process and of three others, and compares all bits with the same in script.
func TestCollectives(t *testing.T) {
	run := func(script string) (string, error) {
		rt := orepl.Open(orepl.Options{Plugins: []contract.Plugin{threeWorkers(), cpu.New(cpu.Options{Devices: 2})}})
		defer rt.Close()
		var out strings.Builder
		e, err := inside.Of(rt).NewEngine(lang.Options{Stdout: &out, Stderr: &out})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		_, err = e.Run(t.Context(), "collective.js", script)
		return out.String(), err
	}
	if out, err := run(collectiveScript); err != nil || out != "done\n" {
		t.Errorf("%v\n%s", err, out)
	}
	for call, want := range map[string]string{
		"allReduce([b, c])":                          "buffer 1 has another type or number of elements",
		"allReduce([b, b], 'mean')":                  "the operation is",
		"allReduce(b)":                               "expected an array of buffers",
		"allReduce([b, 3])":                          "element 1 must be a buffer",
		"allReduce([b, b], 'sum', { order: 'all' })": "order must be 'array' or 'any', not the string \"all\"",
		"allReduce([b, b], 'sum', { mode: 'any' })":  "mode",
		"allReduce([b, b], 'sum', {}, 1)":            "argument 4 is one too many",
		"broadcast(b, [b], { order: 'any' })":        "argument 3 is one too many",
		"allReduce([h, h])":                          "buffers of u8 cannot be reduced",
		"broadcast(b, [c])":                          "destination 0 has",
		"broadcast(3, [c])":                          "the source must be a buffer",
		"scatter(b, [c])":                            "the parts have 5 elements together, the whole has 4",
		"gather(b, [h])":                             "part 0 has elements of another type",
	} {
		_, err := run("import { collective, device, f32, u8 } from 'offload'\nconst b = device('cpu:0').buffer(f32, 4), c = device('cpu:1').buffer(f32, 5), h = device('cpu:0').buffer(u8, 4)\ncollective." + call)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", call, err, want)
		}
	}
}
