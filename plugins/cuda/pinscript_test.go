//go:build linux && (amd64 || arm64) && !nonative

package cuda_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/plugins/cuda"
	"github.com/orepl/orepl/runtime/offload"
)

// TestPinFromScript pins arrays for the CPU, which leaves them as they are, and for the stand-in.
func TestPinFromScript(t *testing.T) {
	s := newStandIn(t)
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{}), cuda.New(s.options())}})
	var out strings.Builder
	e, err := inside.Of(rt).NewEngine(lang.Options{Stdout: &out, Stderr: &out})
	if err != nil {
		t.Fatal(err)
	}
	s.calls()
	_, err = e.Run(t.Context(), "pin.js", `
		import { device, f32 } from 'offload'
		const data = Float32Array.from({ length: 100000 }, (_, i) => i)
		const fails = f => { try { f(); console.log('accepted') } catch (e) { console.log(e.code, e.message) } }
		for (const id of ['cpu', 'cuda']) {
			const dev = device(id), pin = dev.pin(data), x = dev.buffer(f32, data.length)
			console.log(dev.id, pin.pinned, pin.size === data.byteLength, pin.device === dev)
			x.write(data).write(data.subarray(7, 9), 1)
			fails(() => dev.pin(data.subarray(5)))
			fails(() => dev.pin(data.buffer))
			await pin.release()
			data[3] = 42 // the writes have run
			console.log(...await x.read(0, 5))
			data[3] = 3
			try { await pin.release() } catch (e) { console.log(e.code, e.message) }
			for (const wrong of [[1, 2], new Float32Array(0), 'text', undefined, x]) fails(() => dev.pin(wrong))
			{ await using again = dev.pin(data.buffer); console.log(again.pinned) }
			await dev.pin(data.subarray(1)).release()
			dev.pin(new Uint8Array(5000)) // is left to the end of the session
		}
	`)
	if err != nil {
		t.Error(err)
	}
	calls := s.calls()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if err := rt.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	s.checkLive(t)
	for id, pinned := range map[string]string{"cpu": "false", "cuda:0": "true"} {
		text := "ID PINNED true true\n" +
			"invalid-argument pin on ID: part of the memory is pinned already\ninvalid-argument pin on ID: part of the memory is pinned already\n" +
			"0 7 8 3 4\nclosed release on ID: the pinned memory was released before\n" +
			"invalid-argument pin on ID: expected a typed array or an ArrayBuffer, not an array\ninvalid-size pin on ID: there are no bytes to pin\n" +
			"invalid-argument pin on ID: expected a typed array or an ArrayBuffer, not the string \"text\"\ninvalid-argument pin on ID: expected a typed array or an ArrayBuffer, not undefined\n" +
			"invalid-argument pin on ID: expected a typed array or an ArrayBuffer, not an object\nPINNED\n"
		text = strings.NewReplacer("ID", id, "PINNED", pinned).Replace(text)
		if !strings.Contains(out.String(), text) {
			t.Errorf("missing in the output:\n%s", text)
		}
	}
	if t.Failed() {
		t.Log(out.String())
	}
	if n := len(slices.DeleteFunc(calls, func(c string) bool { return c != "cuMemHostRegister" })); n != 4 {
		t.Errorf("%d registrations", n)
	}
}
