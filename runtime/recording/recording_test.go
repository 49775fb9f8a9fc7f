package recording_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/conform/far"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/recording"
	"github.com/orepl/orepl/tests/archive"
)

// open returns a runtime with a device of the host and one with memory of its own.
func open(t *testing.T) *orepl.Runtime {
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{}), far.Wrap("remote", cpu.New(cpu.Options{}))}})
	t.Cleanup(func() { _ = rt.Close() })
	return rt
}

// record runs a script between the beginning and the end of a recording.
func record(t *testing.T, script string) ([]byte, error) {
	t.Helper()
	rt := open(t)
	e, err := inside.Of(rt).NewEngine(lang.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	r, err := recording.Begin(t.Context(), rt.Session(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), "record.js", "import { device, kernel, struct, rpc, f32, f64, i32, u8 } from 'offload'\n"+script); err != nil {
		t.Fatal(diag.Format(err, false))
	}
	var out bytes.Buffer
	_, err = r.Finish(t.Context(), &out)
	return out.Bytes(), err
}

// replay runs a recording, and returns its differences.
func replay(t *testing.T, data []byte, opts recording.Options) ([]recording.Difference, int, error) {
	t.Helper()
	f, err := recording.Read(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, 0, err
	}
	r, err := f.Open(t.Context(), open(t).Session(), opts)
	if err != nil {
		return nil, 0, err
	}
	defer r.Close(t.Context())
	for range 2 { // the second run begins with the contents that the first one began with
		if err := r.Restore(t.Context()); err != nil {
			return nil, 0, err
		}
		if _, err := r.Run(t.Context()); err != nil {
			return nil, 0, err
		}
	}
	checked, list, err := r.Verify(t.Context())
	return list, checked, err
}

const pipeline = `
const d = device('cpu'), r = device('remote'), n = 1000
const P = struct({ a: f32, b: [i32, 3] })
const x = d.buffer(f32, n, i => i * 0.37), y = d.buffer(f32, n, i => i), m = d.buffer(f64, [32, 32], (i, j) => i / (j + 1))
const ps = d.buffer(P, 10), z = r.buffer(f32, n)
const saxpy = kernel((g, a, x, y) => { y[g.x] = a * x[g.x] + y[g.x] })
const fillP = kernel((g, flag, wide, ps) => { if (flag) ps[g.x].b[1] = i32(wide) + g.x; ps[g.x].a = g.x / 3 }, { real: f32 })
saxpy.launch({ size: n }, 2.5, x, y)
await y.sum()
const square = m.matmul(m)
const t = d.buffer(f32, n)
t.fill(3)
y.view(0, 10).copyTo(t.view(5, 10))
t.view(0, 4).write(new Float32Array([1, 2, 3, 4]))
fillP.launch({ size: 10, groupSize: 5 }, true, 7n, ps)
y.copyTo(z)
const q = r.createQueue({ label: 'other' })
const ev = saxpy.launch({ size: 10 }, -1, z, z.view(100, 50))
q.wait(ev)
saxpy.launch({ size: 50, queue: q }, 0.5, z.view(100, 50), z)
const gone = d.buffer(f32, n)
saxpy.launch({ size: n }, 1, y, gone)
gone.free()
globalThis.kept = [x, y, m, square, ps, t, z] // else they may be collected, and freed, before the recording ends`

// TestReplay records commands of all kinds on two devices, and replays them on the same devices and on each of them.
func TestReplay(t *testing.T) {
	data, err := record(t, pipeline)
	if err != nil {
		t.Fatal(err)
	}
	again, err := record(t, pipeline)
	if err != nil || len(again) != len(data) {
		t.Errorf("two recordings of a program have %d and %d bytes, %v", len(data), len(again), err)
	}
	for _, device := range []string{"", "cpu", "remote"} {
		differ, checked, err := replay(t, data, recording.Options{Device: device})
		if err != nil || len(differ) > 0 || checked < 7 {
			t.Errorf("device %q: %v, %v of %d buffers", device, err, differ, checked)
		}
	}
}

// TestDifferences changes an argument in a recording, and expects the elements that then differ.
func TestDifferences(t *testing.T) {
	data, err := record(t, `
const y = device('cpu').buffer(f32, 4, i => i)
const k = kernel({ a: i32, y: [f32] }, (g, a, y) => { y[g.x] += g.x === 3 ? a : 1 })
k.launch({ size: 4 }, 5, y)`)
	if err != nil {
		t.Fatal(err)
	}
	changed := archive.Edit(t, data, func(name string, text []byte) []byte {
		return bytes.Replace(text, []byte(`"bits": "5"`), []byte(`"bits": "7"`), 1)
	})
	differ, _, err := replay(t, changed, recording.Options{})
	const want = `buffer "y": 1 of 4 elements differ; element 3 is 10 (0x41200000), recorded 8 (0x41000000)`
	if err != nil || len(differ) != 1 || differ[0].String() != want {
		t.Errorf("%v %v", err, differ)
	}
}

// TestDamage replays recordings with damage of many kinds: each is an error that says so.
func TestDamage(t *testing.T) {
	data, err := record(t, pipeline)
	if err != nil {
		t.Fatal(err)
	}
	replaced := func(old, fresh string) []byte {
		return archive.Edit(t, data, func(name string, text []byte) []byte {
			if name != "recording.json" {
				return text
			}
			if !bytes.Contains(text, []byte(old)) {
				t.Errorf("the manifest has no %s", old)
			}
			return bytes.Replace(text, []byte(old), []byte(fresh), 1)
		})
	}
	for name, bad := range map[string][]byte{
		"no archive": []byte("text"), "cut": data[:len(data)/2], "empty": nil,
		"no manifest": archive.Edit(t, data, func(name string, text []byte) []byte {
			if name == "recording.json" {
				return nil
			}
			return text
		}),
		"no contents": archive.Edit(t, data, func(name string, text []byte) []byte {
			if strings.HasPrefix(name, "data/") {
				return nil
			}
			return text
		}),
		"changed contents": archive.Edit(t, data, func(name string, text []byte) []byte {
			if strings.HasPrefix(name, "data/") {
				text[0]++
			}
			return text
		}),
		"syntax":       replaced("{", "{{"),
		"newer":        replaced(`"version": 1`, `"version": 9`),
		"queue":        replaced(`"queue": 0`, `"queue": 99`),
		"memory":       replaced(`"memory": 1`, `"memory": -1`),
		"library":      replaced(`"library": 0`, `"library": 77`),
		"kind":         replaced(`"kind": "launch"`, `"kind": "jump"`),
		"no launch":    replaced(`"kind": "fill"`, `"kind": "launch"`),
		"size":         replaced(`"size": 4000`, `"size": -5`),
		"huge":         replaced(`"size": 4000`, `"size": 9223372036854775807`),
		"small":        replaced(`"size": 4000`, `"size": 3`),
		"offset":       replaced(`"offset": 20`, `"offset": 1000000`),
		"far offset":   replaced(`"offset": 20`, `"offset": 9223372036854775807`),
		"type":         replaced(`"type": "bool"`, `"type": "bol"`),
		"bits":         replaced(`"bits": "`, `"bits": "zz`),
		"native image": replaced(`"kind": "ir"`, `"kind": "elf"`),
		"kernel":       replaced(`"kernel": "saxpy"`, `"kernel": "nothing"`),
	} {
		_, _, err := replay(t, bad, recording.Options{})
		if err == nil {
			t.Errorf("%s: no error", name)
		} else if text := err.Error(); strings.Contains(text, "zip:") || strings.Contains(text, "json") && !strings.Contains(text, "recording.json") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestUnrecordable checks the errors of commands that a file cannot hold.
func TestUnrecordable(t *testing.T) {
	for script, want := range map[string]string{
		"await device('cpu').createQueue().host(() => {})": "a function of the host cannot be recorded",
		`rpc.on('price', { args: [i32], result: i32 }, i => i)
const x = device('cpu').buffer(i32, 8)
await kernel((g, x) => { x[g.x] = g.call('price', 1) }).launch({ size: 8 }, x)`: "calls services",
	} {
		if _, err := record(t, script); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %q", err, want)
		}
	}
}
