package offloadjs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/tests/clang"
)

const nativeSource = `
#include <stdint.h>
float bias = 1;
int32_t calls;
void saxpy(int64_t first, int64_t last, int64_t n, float a, const float *x, float *y) {
  for (int64_t i = first; i < last; i++) y[i] = a * x[i] + y[i] + bias;
  __atomic_fetch_add(&calls, 1, 5);
}
void scale(int64_t i, float a, float *x) { x[i] *= a; }
void grid(int64_t x, int64_t y, int64_t z, int32_t *o, int32_t w, int32_t h) { o[(z * h + y) * w + x] = x + 100 * y + 10000 * z; }
typedef struct { float a, b; double c; } One;
typedef struct { int64_t a; double b; } Two;
typedef struct { double m[4]; int32_t k; } Three;
void structs(int64_t first, int64_t last, One p, Two q, Three r, double *o, int a, int b, int c, int d, short e) {
  double v[] = {p.a, p.b, p.c, q.a, q.b, r.m[3], r.k, a, b, c, d, e};
  for (int i = 0; i < 12; i++) o[i] = v[i];
}
`

// TestNativeKernels runs a script against a C library: conventions, structs by value, globals, and mistakes.
func TestNativeKernels(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "lib.so"), clang.SharedObject(t, nativeSource), 0o644); err != nil {
		t.Fatal(err)
	}
	got := runNative(t, dir, `
		import { device, register, f32, i32, f64, i64, struct } from 'offload'
		const lib = await register('lib.so')
		console.log(lib.kernels.join(), lib.images[0].kind, lib.images[0].devices.join())
		const dev = device('cpu'), n = 1 << 16
		const x = dev.buffer(f32, n, i => i), y = dev.buffer(f32, n)
		const saxpy = lib.kernel('saxpy', { args: ['i64', f32, 'buffer', [f32]], convention: 'range' })
		await saxpy.launch({ size: n }, n, 2, x, y)
		console.log(...await y.read(0, 3), ...await y.read(n - 2))
		const bias = lib.global('bias').view(0, 1, f32), calls = lib.global('calls').view(0, 1, i32)
		bias.write([10]); calls.write([0])
		await saxpy.launch({ size: n, groupSize: 1000 }, n, 2, x, y)
		console.log(...await y.read(0, 2), ...await calls.read())
		const scale = lib.kernel('scale', { args: { a: f32, x: [f32] }, convention: 'item' })
		await scale.launch({ size: n }, 3, x)
		console.log(...await x.read(n - 2))
		const o = dev.buffer(i32, [2, 3, 4])
		await lib.kernel('grid', { args: [[i32, 3], 'i32', 'i32'], convention: 'item', axes: 3 }).launch({ size: [4, 3, 2] }, o, 4, 3)
		console.log(...await o.read(0, 2), ...await o.read(22))
		const One = struct({ a: f32, b: f32, c: f64 }), Two = struct({ a: i64, b: f64 }), Three = struct({ m: [f64, 4], k: i32 })
		const r = dev.buffer(f64, 12)
		lib.kernel('structs', { args: [One, Two, Three, 'buffer', 'i32', 'i32', 'i32', 'i32', 'i16'], convention: 'range' })
			.launch({ size: 1 }, { a: 1, b: 2, c: 3 }, { a: 4n, b: 5 }, { m: [0, 0, 0, 6], k: 7 }, r, -8, 9, 10, 11, -12)
		console.log(...await r.read())
		x.write([3, 4])
		await lib.kernel('scale', { args: ['i64', 'f32', [f32]], convention: 'call' }).launch({}, 1n, 5, x)
		console.log(...await x.read(0, 2))
		const wrong = async f => { try { await f(); console.log('no error') } catch (e) { console.log(e.code + ': ' + e.message) } }
		await wrong(() => scale.launch({ size: n }, 3, 1))
		await wrong(() => scale.launch({ size: n }, 3))
		await wrong(() => scale.launch({ size: [2, 2] }, 1, x))
		await wrong(() => scale.launch({ size: 1, sharedBytes: 64 }, 1, x))
		await wrong(() => scale.launch({ size: 1, cooperative: true }, 1, x))
		await wrong(() => scale.launch({ size: 1, checks: 'races' }, 1, x))
		await wrong(() => lib.kernel('scael', { args: [], convention: 'item' }).launch({ size: 1 }))
		await wrong(() => lib.kernel('bias', { args: [], convention: 'item' }).launch({ size: 1 }))
		await wrong(() => lib.kernel('scale'))
		await wrong(() => lib.kernel('scale', { a: f32, x: [f32] }).launch({ size: 1 }, 1, x))
		await wrong(() => lib.kernel('scale', { args: ['f33'], convention: 'item' }))
		await wrong(() => lib.kernel('scale', { args: ['f32'], convention: 'items' }))
		await wrong(() => lib.kernel('scale', { args: ['f32'], convention: 'range', axes: 2 }))
		await wrong(() => lib.kernel('scale', { convention: 'item' }))
		await lib.unregister()
		await wrong(() => scale.launch({ size: 1 }, 1, x))
		await wrong(() => bias.read())
	`)
	want := `
grid,saxpy,scale,structs elf cpu
1 3 5 131069 131071
11 15 66
196602 196605
0 1 10202 10203
1 2 3 4 5 6 7 -8 9 10 11 -12
3 20
invalid-argument: launch "scale": argument x: must be a buffer of f32 of rank 1, not 1
invalid-argument: launch "scale": the kernel takes 2 arguments (a, x), but 1 was given
invalid-size: launch "scale" on cpu: size [2 2 1] has more axes than the 1 that the kernel's signature states
unsupported: launch "scale" on cpu: the kernel takes no shared memory from the launch
unsupported: launch "scale" on cpu: the device cannot run all groups of the kernel at the same time
unsupported: launch "scale" on cpu: the checks of a native kernel are its own, so that races cannot be found
not-found: kernel "scael" on cpu: the image exports no function of this name
symbol-kind: kernel "bias" on cpu: this is a variable
invalid-argument: kernel "scale" on cpu: the image does not describe the kernel's parameters
invalid-argument: kernel "scale" on cpu: the image does not describe its functions, so that the signature needs a convention
invalid-argument: kernel "scale": argument 1: there is no type "f33": a number has one such as 'f32' or 'i64', memory is 'buffer'
invalid-argument: kernel "scale": there is no convention "items"
invalid-argument: kernel "scale": axes is for the convention 'item', not 'range'
invalid-argument: kernel "scale": the signature lacks args
closed: load "lib.so": the library has been unregistered
closed: read "lib.so" on cpu: the library has been closed
`
	if strings.TrimSpace(want) != strings.TrimSpace(got) {
		t.Errorf("got\n%s\nwant%s", got, want)
	}
}

// runNative runs a script in a folder and returns its output.
func runNative(t *testing.T, dir, script string) string {
	t.Helper()
	rt := orepl.Open(orepl.Options{Plugins: []contract.Plugin{cpuPlugin(t)}})
	defer rt.Close()
	var out strings.Builder
	e, err := inside.Of(rt).NewEngine(lang.Options{Dir: dir, Stdout: &out, Stderr: &out})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "script.js")
	if err := os.WriteFile(path, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := e.RunFile(t.Context(), path); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	return plainIDs(out.String())
}

// TestNativePointers passes addresses of buffers, of a variable and of a function in a struct.
func TestNativePointers(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "lib.so"), clang.SharedObject(t, `
#include <stdint.h>
double factor = 3;
double twice(double x) { return 2 * x; }
struct env { const double *x; double *y; double *factor; double (*f)(double); };
void apply(int64_t i, struct env e) { e.y[i] = e.f(e.x[i]) * *e.factor; }`), 0o644); err != nil {
		t.Fatal(err)
	}
	got := runNative(t, dir, `
		import { device, register, f64, u64, struct } from 'offload'
		const lib = await register('lib.so'), dev = device('cpu')
		const x = dev.buffer(f64, 8, i => i, { label: 'x' }), y = dev.buffer(f64, 8)
		const Env = struct({ x: u64, y: u64, factor: u64, f: u64 })
		const apply = lib.kernel('apply', { args: [Env], convention: 'item' })
		await dev.queue.sync()
		await apply.launch({ size: 4 }, { x: x.view(4).address, y: y.address, factor: lib.address('factor'), f: lib.address('twice') })
		console.log(...await y.read(), typeof x.address, lib.global('factor').address === lib.address('factor'))
		console.log(lib.address('factor', 'cpu') === lib.address('factor', dev))
		for (const f of [() => lib.address('factor', 3), () => lib.global('factor', 'cpu:7'), () => lib.global('factor', null), () => apply.occupancy({ device: {} })]) {
			try { f() } catch (e) { console.log(e.code + ': ' + e.message) }
		}
		try { lib.address('thrice') } catch (e) { console.log(e.code + ': ' + e.message) }
		x.free()
		try { x.address } catch (e) { console.log(e.code + ': ' + e.message) }
	`)
	want := `24 30 36 42 0 0 0 0 bigint true
true
invalid-argument: address "lib.so": device must be a device or its id, not 3
not-found: find device: there is no device "cpu:7"
invalid-argument: global "lib.so": device must be a device or its id, not null
invalid-argument: occupancy "apply": device must be a device or its id, not an object
not-found: address "thrice" on cpu: the image exports no variable of this name
closed: address "x" on cpu: the buffer has been freed
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestNativePolicy checks that scripts which may touch some files only run no native code unless they are allowed to.
func TestNativePolicy(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "lib.so"), clang.SharedObject(t, "int x;"), 0o644); err != nil {
		t.Fatal(err)
	}
	const script = `
		import { device, register, f32 } from 'offload'
		import { readBytes } from 'fs'
		const attempt = async f => { try { await f(); console.log('done') } catch (e) { console.log(e.code) } }
		await attempt(() => register('lib.so'))
		await attempt(async () => register(await readBytes('lib.so')))
		await attempt(() => device('cpu').buffer(f32, 1).address)
	`
	allow := func(string) error { return nil }
	for _, c := range []struct {
		policy lang.Policy
		want   string
	}{
		{lang.Policy{}, "done"},
		{lang.Policy{Read: allow}, "permission-denied"},
		{lang.Policy{Write: allow}, "permission-denied"},
		{lang.Policy{Read: allow, Native: allow}, "done"},
		{lang.Policy{Native: func(string) error { return os.ErrPermission }}, "permission-denied"},
	} {
		var out strings.Builder
		e, err := inside.Of(newRuntime(t)).NewEngine(lang.Options{Dir: dir, Stdout: &out, Policy: c.policy})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(t.Context(), "policy.js", script); err != nil {
			t.Error(err)
		}
		if want := strings.Repeat(c.want+"\n", 3); out.String() != want {
			t.Errorf("%+v: %q, want %q", c.policy, out.String(), want)
		}
		_ = e.Close()
	}
}
