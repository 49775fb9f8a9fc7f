package offloadjs_test

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/diag"
)

// prints runs a script and compares the lines that it prints.
func prints(t *testing.T, text string, want ...string) {
	t.Helper()
	got, err := script(t, `const attempt = async f => { try { const v = await f(); console.log(v === undefined ? 'ok' : v) } catch (e) { console.log(e.message + ' | ' + e.hint) } }
`+text)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	lines := strings.Split(strings.TrimSpace(got), "\n")
	for i := range max(len(lines), len(want)) {
		if i >= len(lines) || i >= len(want) || lines[i] != want[i] {
			t.Fatalf("line %d of\n%s\nwant\n%s", i, got, strings.Join(want, "\n"))
		}
	}
}

// TestTypesAreNotCalledOnTheHost checks that a type converts in kernels, under any name, and throws on the host.
func TestTypesAreNotCalledOnTheHost(t *testing.T) {
	prints(t, `import { device, kernel, struct, f32, i32, u8 } from 'offload'
const Pair = struct({ a: f32 }, 'Pair'), alias = i32
await attempt(() => f32(3.7))
await attempt(() => u8(3.7))
await attempt(() => Pair({ a: 1 }))
await attempt(() => kernel(f32))
console.log([f32, Pair], f32.name, f32.size, Object.keys(f32).length)
const x = device('cpu').buffer(f32, 2)
kernel((g, x) => { x[g.x] = alias(3.7) }).launch({ size: 2 }, x)
console.log(await x.read())`,
		"f32 is a type; only in a kernel f32(x) converts | on the host write Math.fround(x)",
		"u8 is a type of elements, not a function | a buffer of it converts what is stored in it",
		"Pair is a type, not a function | a record is an object with the type's fields: write { field: value }",
		"kernel: expected a function, not the type f32 | write kernel((g, x) => { x[g.x] = … })",
		"[ f32, Pair ] f32 4 0",
		"Float32Array(2) [ 3, 3 ]")
}

// TestSignaturesAreInOrder checks that a signature has the order of the parameters, by which the declarations type launches.
func TestSignaturesAreInOrder(t *testing.T) {
	prints(t, `import { kernel, f32, i32, u8 } from 'offload'
await attempt(() => { kernel({ n: i32, x: [f32] }, (g, n, x) => { x[g.x] = n }) })
await attempt(() => { kernel({ x: [f32], n: i32 }, (g, n, x) => { x[g.x] = n }) })
await attempt(() => { kernel({ n: u8, x: [f32] }, (g, n, x) => { x[g.x] = n }) })`,
		"ok",
		"kernel: the signature has the parameters in another order: x, n | write them in the order of the function, which is that of the launch: n, x",
		"kernel: parameter n: values in kernels are never u8: write i32 for a number, [u8] for a buffer | undefined")
}

// TestSizesGoXFirst checks that sizes start with x. The shape of a buffer is an error as the size of a kernel that indexes
// it by rows, even if guards would only skip a part of the work. A buffer as the size means one item per element.
func TestSizesGoXFirst(t *testing.T) {
	prints(t, `import { device, kernel, f32 } from 'offload'
const dev = device('cpu'), m = dev.buffer(f32, [100, 200], { label: 'm' }), v = dev.buffer(f32, [2, 3, 4])
const one = (await m.read()).length
const plain = kernel((g, m) => { m[g.y][g.x] = 1 })
const guarded = kernel((g, m) => { const { x, y } = g; if (x < m.shape[1] && y < m.shape[0]) m[y][x] += 1 })
const sum = async b => (await b.read()).reduce((a, b) => a + b, 0)
await attempt(() => plain.launch({ size: m.shape }, m))
await attempt(() => guarded.launch({ size: m.shape }, m))
await attempt(async () => { plain.launch({ size: m }, m); guarded.launch({ size: m }, m); return await sum(m) })
await attempt(async () => { plain.launch({ size: [200, 100] }, m); return await sum(m) })
await attempt(async () => { kernel((g, m) => { m[g.x][g.y] = 2 }).launch({ size: m.shape }, m); return await sum(m) })
await attempt(async () => { kernel((g, v) => { v[g.z][g.y][g.x] = 1 }).launch({ size: v }, v); return await sum(v) })
await attempt(() => kernel((g, v) => { v[g.z][g.y][g.x] = 1 }).launch({ size: v.shape }, v))
await attempt(() => kernel((g, m) => { const i = Math.max(g.y, 0); m[i][g.x * 1] = 1 }).launch({ size: m.shape }, m))
await attempt(() => { plain.launch({ size: dev.buffer(f32, [5, 5]) }, dev.buffer(f32, [5, 5])) })
await attempt(() => plain.launch({ size: { x: 3 } }, m))
`,
		`launch "plain": the size is the shape of m, [100, 200], but sizes go x first, and shapes outermost first | write size: m, or size: [m.shape[1], m.shape[0]]`,
		`launch "guarded": the size is the shape of m, [100, 200], but sizes go x first, and shapes outermost first | write size: m, or size: [m.shape[1], m.shape[0]]`,
		"40000", "20000", "40000", "24",
		`launch "kernel": the size is the shape of v, [2, 3, 4], but sizes go x first, and shapes outermost first | write size: v, or size: [v.shape[2], v.shape[1], v.shape[0]]`,
		"launch \"kernel\" on cpu: index 100 is outside m, whose shape[0] is 100 in `m[i][g.x * 1]`, kernel kernel, work-item [0, 100, 0] | the launch's size is the shape of m, but sizes go x first, and shapes outermost first: write size: m, which means an item for each element",
		"ok",
		"launch \"plain\": size: expected an integer from 0 on, not an object | write size: n, size: [n, m] or size: [n, m, k]")
}

// TestDefaultOfImportedModules checks that modules returned by import() have their default export.
func TestDefaultOfImportedModules(t *testing.T) {
	prints(t, `import fs from 'fs'
const dynamic = await import('fs'), { console: c, default: d } = await import('console')
console.log(dynamic.default === fs, Object.keys(dynamic).includes('default'), c === d)`,
		"true false true")
}

// TestNamesThatTheHostLacks checks the errors for names of kernels, and of later versions of JavaScript, in scripts.
func TestNamesThatTheHostLacks(t *testing.T) {
	for code, hint := range map[string]string{
		"bits(1)": "kernels only", "Atomics.add(x, 0, 1)": "kernels only", "Intl.NumberFormat": "no Intl",
	} {
		_, err := script(t, "const x = []\n"+code)
		if err == nil || !strings.Contains(err.Error()+diag.Hint(err), hint) {
			t.Errorf("%s: %v, hint %q", code, err, diag.Hint(err))
		}
	}
}

// TestRecordArraysOfAnotherLength checks that an array of the wrong length in a record is refused with both lengths,
// and that no element is written.
func TestRecordArraysOfAnotherLength(t *testing.T) {
	prints(t, `import { device, struct, f32 } from 'offload'
const P = struct({ pos: [f32, 3], m: [f32, 2, 2] }, 'P'), p = device('cpu').buffer(P, 1, { label: 'p' })
const m = [[1, 2], [3, 4]]
await attempt(() => { p.write([{ pos: [1, 2], m }]) })
await attempt(() => { p.write([{ pos: 3, m }]) })
await attempt(() => { p.write([{ pos: [1, 2, 3], m: [[1, 2]] }]) })
await attempt(() => { p.write([{ pos: [1, 2, 3], m: [[1, 2], [3]] }]) })
await attempt(() => { p.write([{ pos: [1, 2, 3], m }]) })`,
		"write \"p\" on cpu: element 0: field pos: expected an array of 3 numbers, not of 2 | give objects with a property for each field",
		"write \"p\" on cpu: element 0: field pos: expected an array of 3 numbers, not 3 | give objects with a property for each field",
		"write \"p\" on cpu: element 0: field m: expected an array of 2 arrays, not of 1 | give objects with a property for each field",
		"write \"p\" on cpu: element 0: field m: [1]: expected an array of 2 numbers, not of 1 | give objects with a property for each field",
		"ok")
}
