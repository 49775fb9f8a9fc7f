package offload_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/diag"
)

// What a script may give by mistake or on purpose: each is an error of the script with a code, and the engine lives on.
func TestHostileArguments(t *testing.T) {
	const prelude = `import { device, kernel, struct, f32, u8 } from 'offload'
const dev = device('cpu'), b = dev.buffer(f32, [4, 4], { label: 'b' }), k = kernel((g, x) => { x[g.x] = 1 })
`
	for _, c := range []struct{ name, script, code string }{
		{"tag of a typed array without its parts", `dev.buffer({ [Symbol.toStringTag]: 'Float32Array' })`, "invalid-argument"},
		{"tag of a typed array with absurd parts",
			`dev.buffer({ [Symbol.toStringTag]: 'Float32Array', buffer: new ArrayBuffer(8), byteOffset: 2 ** 53, byteLength: 2 ** 53 })`, "invalid-argument"},
		{"length that no memory has", `b.write({ length: 1e15 })`, "invalid-argument"},
		{"length that the machine might have", `b.write({ length: 4e10 })`, "invalid-argument"},
		{"negative length", `b.write({ length: -1, 0: 1 }, 17)`, "invalid-size"},
		{"box that overflows", `b.readRect({ extent: [2 ** 53, 256] })`, "invalid-size"},
		{"box of nowhere", `b.readRect({ origin: [5, 0] })`, "invalid-size"},
		{"groups that overflow", `k.launch({ groups: 2 ** 53, groupSize: 2048 }, b)`, "invalid-argument"},
		{"unknown option", `dev.queue.record({ lable: 'x' })`, "invalid-argument"},
		{"option of another type", `dev.queue.record({ label: 5 })`, "invalid-argument"},
		{"symbol for a string", `dev.buffer(f32, 1, { label: Symbol('x') })`, "invalid-argument"},
		{"initialiser without a length", `const f = i => i; delete f.length; dev.buffer(f32, 4, f)`, "call-arguments"},
		{"nothing written to a freed buffer", `b.free(); b.write([])`, "closed"},
		{"queue closed while it waits for the script", `const q = dev.createQueue(); q.host(() => {}); q.close()`, "invalid-argument"},
		{"queue disposed while it waits for the script", `{ using q = dev.createQueue(); q.host(() => {}) }`, "invalid-argument"},
		{"queue closed by its own function", `const q = dev.createQueue(); q.host(() => q.close()); await q.sync()`, "backend-failure"},
		{"failure while a queue waits for the script", `dev.queue.host(() => {}); k.launch({}, b)`, "invalid-argument"},
		{"getter that launches", `const o = { get n() { k.launch({ size: 1 }, dev.buffer(f32, 1)); return 2 } }
kernel((g, a, y) => { y[g.x] = a * o.n }).launch({ size: 5 }, 3, dev.buffer(f32, 4)); await dev.queue.sync()`, "out-of-bounds"},
		{"length of a large record", `dev.buffer(struct({ a: [u8, 2 ** 20] }), { length: 1e12 })`, "invalid-argument"},
		{"array of holes in a kernel", `const a = new Array(4e9); kernel((g, x) => { x[0] = a[0] }).launch({ size: 1 }, dev.buffer(f32, 1))`, ""},
		{"buffer of another device", `kernel((g, x, y) => { x[0] = y[0] }).launch({ size: 1 }, dev.buffer(f32, 1), device('cpu:1').buffer(f32, 1))`, "invalid-device"},
		{"queue of another device", `kernel((g, x) => { x[0] = 1 }).launch({ size: 1, queue: device('cpu:1').queue }, dev.buffer(f32, 1))`, "invalid-device"},
		{"time limit that overflows", `k.launch({ size: 1, timeout: 1e300 }, dev.buffer(f32, 4))`, "invalid-argument"},
		{"time limit that is no number", `k.launch({ size: 1, timeout: NaN }, dev.buffer(f32, 4))`, "invalid-argument"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEngine(t)
			_, err := e.Run(context.Background(), "hostile.js", prelude+c.script)
			var d *diag.Diagnostic
			if !errors.As(err, &d) {
				t.Fatalf("got %v", err)
			}
			if d.ID == "internal" || c.code != "" && d.ID != c.code {
				t.Errorf("code %q, want %q: %v", d.ID, c.code, err)
			}
			if strings.Contains(err.Error(), "runtime error") {
				t.Errorf("the program's own trouble: %v", err)
			}
			if _, err := e.Run(context.Background(), "after.js", prelude+`await b.fill(1).read()`); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}
