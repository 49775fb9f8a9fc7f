package offloadjs_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

// TestHostileArguments passes wrong arguments to all functions. Each call must throw an error with a code, and the engine
// must stay usable.
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
		{"a proxy instead of a buffer", `k.launch({ size: 1 }, new Proxy(b, { get(_, key) { if (key !== Symbol.toStringTag) throw key } }))`, "invalid-argument"},
		{"queue closed while it waits for the script", `const q = dev.createQueue(); q.host(() => {}); q.close()`, "invalid-argument"},
		{"queue disposed while it waits for the script", `{ using q = dev.createQueue(); q.host(() => {}) }`, "invalid-argument"},
		{"queue closed by its own function", `const q = dev.createQueue(); q.host(() => q.close()); await q.sync()`, "backend-failure"},
		{"failure while a queue waits for the script", `dev.queue.host(() => {}); k.launch({}, b)`, "invalid-argument"},
		{"getter that launches", `const o = { get n() { k.launch({ size: 1 }, dev.buffer(f32, 1)); return 2 } }
kernel((g, a, y) => { y[g.x] = a * o.n }).launch({ size: 5 }, 3, dev.buffer(f32, 4)); await dev.queue.sync()`, "out-of-bounds"},
		{"arithmetic on a buffer", `b + 1`, "invalid-argument"},
		{"a buffer compared with a number", `b < 1`, "invalid-argument"},
		{"a buffer as an iterable", `for (const v of b) ;`, "invalid-argument"},
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

// TestErrorsSayAll makes one mistake of each kind with devices. Each error must contain a code, a position in the script and
// advice, and the engine must stay usable.
func TestErrorsSayAll(t *testing.T) {
	const prelude = `import { device, kernel, i32, f32 } from 'offload'
const dev = device('cpu'), x = dev.buffer(i32, 4).write([1, 2, 0, 4]), k = kernel({ x: [i32] }, (g, x) => { x[g.x] = 1 })
`
	for _, c := range []struct{ name, script, code string }{
		{"unknown device", `device('nope:3')`, "not-found"},
		{"wrong type", `k.launch({ size: 1 }, dev.buffer(f32, 4))`, "invalid-argument"},
		{"too few arguments", `k.launch({ size: 1 })`, "invalid-argument"},
		{"too many arguments", `k.launch({ size: 1 }, x, x)`, "invalid-argument"},
		{"a number for a buffer", `k.launch({ size: 1 }, 5)`, "invalid-argument"},
		{"buffer of another device", `k.launch({ size: 1, device: 'cpu:1' }, x)`, "invalid-device"},
		{"size over the limit", `k.launch({ size: 2 ** 31 }, x)`, "invalid-size"},
		{"items over the limit", `k.launch({ size: [2 ** 31 - 1, 2 ** 31 - 1, 2 ** 31 - 1] }, x)`, "invalid-size"},
		{"buffer over the limit", `dev.buffer(f32, [2 ** 31 - 1, 2 ** 31 - 1])`, "invalid-size"},
		{"fractional size", `k.launch({ size: 1.5 }, x)`, "invalid-argument"},
		{"freed buffer read", `x.free(); x.read()`, "closed"},
		{"freed buffer launched with", `x.free(); k.launch({ size: 1 }, x)`, "closed"},
		{"freed buffer's view", `const v = x.view(0, 2); x.free(); v.read()`, "closed"},
		{"write out of bounds", `await k.launch({ size: 5 }, x)`, "out-of-bounds"},
		{"read out of bounds", `await kernel((g, x) => { x[0] = x[g.x + 2] }).launch({ size: 5 }, x)`, "out-of-bounds"},
		{"division by zero", `await kernel((g, x) => { x[g.x] = (7 / x[2]) | 0 }).launch({ size: 1 }, x)`, "division-by-zero"},
		{"endless kernel", `await kernel((g, x) => { while (x[2] === 0) { x[3] = 1 } }).launch({ size: 1, timeout: 50 }, x)`, "timeout"},
		{"kernel that does not compile", `kernel((g, x) => { x[g.x] = foo(1) }).launch({ size: 1 }, x)`, ""},
		{"fraction for an integer", `x.fill(1.5)`, "invalid-argument"},
		{"write past the end", `x.write(new Int32Array(9))`, "invalid-size"},
		{"read past the end", `x.read(2, 9)`, "invalid-size"},
		{"shape beside extents", `dev.buffer(f32, [2, 2], { shape: [4] })`, "invalid-argument"},
		{"closed queue", `const q = dev.createQueue(); q.close(); k.launch({ size: 1, queue: q }, x)`, "closed"},
		{"default queue closed", `dev.queue.close()`, "invalid-queue"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEngine(t)
			_, err := e.Run(context.Background(), "wrong.js", prelude+c.script)
			var d *diag.Diagnostic
			if !errors.As(err, &d) {
				t.Fatalf("got %v", err)
			}
			if c.code != "" && d.ID != c.code {
				t.Errorf("code %q, want %q", d.ID, c.code)
			}
			if d.Hint == "" || d.Line < 2 || d.Column == 0 || d.Excerpt == nil {
				t.Errorf("an error without hint, place or code: %+v", d)
			}
			if _, err := e.Run(context.Background(), "after.js", prelude+`await x.fill(1).read()`); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// TestPrintingTakesNoFailure prints a buffer after a fault, which the next sync still returns, and a busy buffer.
func TestPrintingTakesNoFailure(t *testing.T) {
	var out bytes.Buffer
	e := newEngineWith(t, lang.Options{Stdout: &out})
	exports, err := e.Run(context.Background(), "print.js", `
import { device, kernel, i32 } from 'offload'
const dev = device('cpu'), x = dev.buffer(i32, 4), y = dev.buffer(i32, 4)
kernel((g, x) => { x[g.x + 5] = 1 }).launch({ size: 8 }, x)
console.log(x)
export let code
try { await dev.queue.sync() } catch (e) { code = e.code }
kernel((g, x) => { while (x[0] === 0) { x[1] = 1 } }).launch({ size: 1, timeout: 400 }, y)
console.log(y)
try { await dev.queue.sync() } catch (e) { code += ' ' + e.code }
`)
	if err != nil {
		t.Fatal(err)
	}
	if got := exports.Get("code").String(); got != "out-of-bounds timeout" {
		t.Errorf("the syncs gave %q", got)
	}
	if !strings.Contains(out.String(), "busy") {
		t.Errorf("a buffer that a kernel uses printed as\n%s", &out)
	}
}
