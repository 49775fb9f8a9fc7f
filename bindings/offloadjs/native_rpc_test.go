package offloadjs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
)

const headers = "../../kernels/include"

// buildNative compiles a source that includes orepl_rpc.h into lib.so of a folder. Without the compiler the test fails on CI
// and is skipped elsewhere.
func buildNative(t testing.TB, dir, source string, compiler ...string) {
	t.Helper()
	path, err := exec.LookPath(compiler[0])
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	in := filepath.Join(dir, "source.c")
	if err := os.WriteFile(in, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append(compiler[1:], "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I", headers, "-o", filepath.Join(dir, "lib.so"), in)
	if out, err := exec.Command(path, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

const rpcSource = `
#include "orepl_rpc.h"
static struct orepl_rpc_service twice = {"twice(i32): i32", 0, 0}, all = {"all(bool, i32, u32, i64, u64, f32, f64, f64): f64", 0, 0},
  add = {"add(i32)", 0, 0}, missing = {"twise(i32): i32", 0, 0}, wrong = {"twice(i33): i32", 0, 0};

#ifdef __cplusplus
extern "C" {
#endif
void ask(int64_t i, int32_t *o) {
  union orepl_rpc_value v, r;
  v.i32 = o[i];
  if (orepl_rpc_ask(&twice, i, &v, &r)) return;
  o[i] = r.i32;
}
void every(int64_t i, double *o) {
  union orepl_rpc_value v[8], r;
  v[0].boolean = 1; v[1].i32 = -7; v[2].u32 = 4000000000u; v[3].i64 = -5; v[4].u64 = 1ull << 63; v[5].f32 = 0.5f; v[6].f64 = 0.1; v[7].f64 = 8;
  if (!orepl_rpc_ask(&all, i, v, &r)) o[i] = r.f64;
}
void tell(int64_t i, int32_t n) {
  for (int32_t k = 0; k < n; k++) {
    union orepl_rpc_value v;
    v.i32 = (int32_t)i * n + k;
    orepl_rpc_tell(&add, i, &v);
  }
}
void unknown(int64_t i, int32_t *o) {
  union orepl_rpc_value v;
  v.i32 = 1;
  o[i] = orepl_rpc_ask(&missing, i, &v, 0);
}
void malformed(int64_t i, int32_t *o) {
  union orepl_rpc_value v;
  v.i32 = 1;
  o[i] = orepl_rpc_ask(&wrong, i, &v, 0);
}
void other(int64_t i) {
  union orepl_rpc_packet p = {{(uint64_t)i}};
  orepl_rpc_call(0x6f00ffff, &p);
}
#ifdef __cplusplus
}
#endif
`

// TestNativeServices runs C and C++ kernels of two compilers that call services of the script.
func TestNativeServices(t *testing.T) {
	each := 100 // one-way calls of a work-item
	if os.Getenv(overMPI) != "" {
		each = 10 // since processes of a job that wait for messages use the cores
	}
	for _, compiler := range compilersOf([][]string{{"clang-19"}, {"gcc"}, {"clang-19", "-x", "c++", "-std=c++20"}, {"gcc", "-std=c99"}}) {
		t.Run(strings.Join(compiler, " "), func(t *testing.T) {
			dir := t.TempDir()
			buildNative(t, dir, rpcSource, compiler...)
			got := runNative(t, dir, `
				import { device, register, rpc, bool, i32, u32, i64, u64, f32, f64 } from 'offload'
				const lib = await register('lib.so'), dev = device('cpu')
				console.log(lib.kernels.join())
				const attempt = async p => { try { await p(); console.log('no error') } catch (e) { console.log(e.code + ': ' + e.message) } }
				const sig = (name, ...args) => lib.kernel(name, { args, convention: 'item' })
				const o = dev.buffer(i32, 1000, i => i), d = dev.buffer(f64, 1)
				const ask = sig('ask', [i32])
				await attempt(() => ask.launch({ size: 1 }, o))
				let at = []
				rpc.on('twice', { args: [i32], result: i32 }, (x, call) => { if (x == 999) at = [call.kernel, call.device, call.item, call.at.split('/').pop()]; return 2 * x })
				await ask.launch({ size: 1000 }, o)
				const got = await o.read()
				console.log(got.every((v, i) => v === 2 * i), ...at.flat())
				await ask.launch({ size: 10 }, o)
				console.log(o.readSync()[9], rpc.services[0].calls)

				rpc.on('all', { args: [bool, i32, u32, i64, u64, f32, f64, f64], result: f64 }, (...v) => { console.log(...v); return v[6] })
				await sig('every', [f64]).launch({ size: 1 }, d)
				console.log((await d.read())[0])

				const seen = new Map()
				const each = `+fmt.Sprint(each)+`
				let ordered = true, sum = 0
				rpc.on('add', { args: [i32], oneWay: true }, x => { const i = Math.floor(x / each); ordered &&= x % each == (seen.get(i) ?? 0); seen.set(i, x % each + 1); sum += x })
				await sig('tell', 'i32').launch({ size: 200 }, each)
				console.log(ordered, sum)

				await attempt(() => sig('unknown', [i32]).launch({ size: 1 }, o))
				await attempt(() => sig('malformed', [i32]).launch({ size: 1 }, o))
				await attempt(() => sig('other').launch({ size: 1 }))
				rpc.on('twice', { args: [i32], result: i32 }, () => { throw new RangeError('too far') })
				await attempt(() => ask.launch({ size: 1 }, o))
				rpc.on('twice', { args: [i32], result: i32 }, (x, call) => { call.stop('enough') })
				await attempt(() => ask.launch({ size: 1 }, o))
				rpc.on('twice', { args: [i32], result: i32, deadline: 20 }, () => new Promise(() => {}))
				await attempt(() => ask.launch({ size: 1 }, o))
				rpc.on('twice', { args: [i32, i32], result: i32 }, () => 1)
				await attempt(() => ask.launch({ size: 1 }, o))

				rpc.on('twice', { args: [i32], result: i32 }, async x => { await new Promise(r => setTimeout(r, 20)); return 5 })
				const last = ask.launch({ size: 1 }, o)
				await lib.unregister()
				await last
				console.log((await o.read())[0])
			`)
			want := `
ask,every,malformed,other,tell,unknown
not-found: launch "ask" on cpu: no service is named "twice"
true ask cpu 999 0 0 script.js:12:21
36 1010
true -7 4000000000 -5n 9223372036854775808n 0.5 0.1 8
0.1
true ` + fmt.Sprint(200*each*(200*each-1)/2) + `
not-found: launch "unknown" on cpu: no service is named "twise"
invalid-argument: launch "malformed" on cpu: the signature "twice(i33): i32" has no type "i33"
not-found: launch "other" on cpu: device code called operation o:65535, which no service has
backend-failure: launch "ask" on cpu: the service twice threw RangeError: too far, kernel ask, work-item [0, 0, 0]
cancelled: launch "ask" on cpu: enough, kernel ask, work-item [0, 0, 0]
timeout: launch "ask" on cpu: the service twice did not answer within 20ms, kernel ask, work-item [0, 0, 0]
invalid-argument: launch "ask" on cpu: g.call('twice'): the kernel passes 1 value, and the service takes 2, kernel ask, work-item [0, 0, 0]
5
`
			if strings.TrimSpace(want) != strings.TrimSpace(got) {
				t.Errorf("got\n%s\nwant%s", got, want)
			}
		})
	}
}

// TestNativeServicesCut ends launches in the middle of calls, more of them than the channel has ports. The launches after
// them are served.
func TestNativeServicesCut(t *testing.T) {
	dir := t.TempDir()
	buildNative(t, dir, `
#include "orepl_rpc.h"
static struct orepl_rpc_service wait = {"wait(i32): i32", 0, 0};
void ask(int64_t i, int32_t *o, int32_t crash) {
  union orepl_rpc_value v = {0}, r;
  v.i32 = crash;
  if (orepl_rpc_ask(&wait, i, &v, &r)) return;
  if (crash) *(volatile int *)8 = 0;
  o[i] = r.i32;
}
void stubborn(int64_t i) {
  union orepl_rpc_value v = {0}, r;
  for (;;) orepl_rpc_ask(&wait, i, &v, &r);
}`, "clang-19")
	got := runNative(t, dir, `
		import { device, register, rpc, i32 } from 'offload'
		const lib = await register('lib.so'), dev = device('cpu'), o = dev.buffer(i32, 4)
		const ask = lib.kernel('ask', { args: [[i32], 'i32'], convention: 'item' })
		const codes = new Set()
		let answer = () => new Promise(() => {})
		rpc.on('wait', { args: [i32], result: i32 }, () => answer())
		for (let k = 0; k < 40; k++) await ask.launch({ size: 1, timeout: 10 }, o, 0).then(undefined, e => codes.add(e.code))
		answer = () => 3
		for (let k = 0; k < 40; k++) await ask.launch({ size: 1 }, o, 1).then(undefined, e => codes.add(e.code))
		await ask.launch({ size: 4 }, o, 0)
		console.log(...codes, ...await o.read())
		// Two launches of one library at the same time: the second one passes the first.
		let release
		rpc.on('wait', { args: [i32], result: i32 }, async (_, call) => {
			if (release) return 20 + call.item[0]
			await new Promise(r => { release = r })
			return 10
		})
		const a = dev.createQueue(), b = dev.createQueue()
		const first = ask.launch({ size: 1, queue: a }, o.view(0, 1), 0)
		while (!release) await new Promise(r => setTimeout(r, 1))
		await ask.launch({ size: 2, queue: b }, o.view(2, 2), 0)
		release()
		await first
		console.log(...await o.read())
		// The function continues after its service has failed.
		rpc.on('wait', { args: [i32], result: i32 }, (_, call) => { call.stop('enough') })
		await lib.kernel('stubborn', { args: [], convention: 'item' }).launch({ size: 1 }).then(undefined, e => console.log(e.code))
	`)
	if want := "timeout backend-failure 3 3 3 3\n10 3 20 21\ncancelled\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

const builtinSource = `
#include "orepl_rpc_std.h"
struct node { struct node *next; int64_t value; };
static struct node *head;

#ifdef __cplusplus
extern "C" {
#endif
void lines(int64_t i, int32_t n) {
  for (int32_t k = 0; k < n; k++) orepl_rpc_printf(i, "%d/%d %s", (int)i, k, k == 1 ? "a text that is longer than the first packet of a line" : "");
}
void build(int64_t i) {
  struct node *n = (struct node *)orepl_rpc_malloc(sizeof *n);
  if (!n) return;
  n->value = i;
  n->next = __atomic_load_n(&head, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&head, &n->next, n, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {}
}
void sum(int64_t i, int64_t *o, int32_t left) {
  int64_t s = 0, count = 0;
  for (struct node *n = head, *next; n; n = next) {
    next = n->next;
    s += n->value;
    if (++count > left) orepl_rpc_free(n);
  }
  o[i] = s;
}
void big(int64_t i, int64_t *o, int64_t size) {
  char *p = (char *)orepl_rpc_malloc((uint64_t)size);
  if (p) p[0] = p[size - 1] = 1;
  o[i] = p != 0;
  orepl_rpc_free(p);
}
void wrong(int64_t i) { orepl_rpc_free((void *)(i + 64)); }
void check(int64_t i, int64_t bound) { orepl_rpc_assert(i, i < bound); }
void leave(int64_t i, int64_t *o, int32_t code) {
  o[i] = 5;
  orepl_rpc_exit(code);
}
void chance(int64_t i, int64_t *o) { o[i] = (int64_t)(orepl_rpc_seed() >> 1); o[i + 1] = (int64_t)orepl_rpc_clock(); }
void copy(int64_t i, int64_t *o) {
  char buf[300], line[100];
  orepl_rpc_file in = orepl_rpc_fopen("in.txt", "r"), out = orepl_rpc_fopen("out.txt", "w+");
  if (!in || !out) return;
  if (!orepl_rpc_fgets(line, sizeof line, in)) return;
  orepl_rpc_fwrite(line, strlen(line), out);
  uint64_t n = orepl_rpc_fread(buf, sizeof buf, in);
  o[i] = (int64_t)n;
  o[i + 1] = orepl_rpc_feof(in);
  orepl_rpc_fwrite(buf, n, out);
  o[i + 2] = orepl_rpc_ftell(out);
  orepl_rpc_fseek(out, 2, SEEK_SET);
  o[i + 3] = orepl_rpc_fgets(line, 4, out) ? line[0] : 0;
  o[i + 4] = orepl_rpc_fclose(out);
  o[i + 5] = orepl_rpc_fclose(out);
  orepl_rpc_fclose(in);
  o[i + 6] = orepl_rpc_fopen("none.txt", "r") != 0;
  o[i + 7] = orepl_rpc_remove("in.txt");
}
#ifdef __cplusplus
}
#endif
`

// TestNativeBuiltins runs C and C++ kernels that print, allocate, assert, exit and use files.
func TestNativeBuiltins(t *testing.T) {
	for _, compiler := range compilersOf([][]string{{"clang-19"}, {"gcc", "-std=c99", "-D_DEFAULT_SOURCE"}, {"clang-19", "-x", "c++", "-std=c++20"}}) {
		t.Run(strings.Join(compiler, " "), func(t *testing.T) {
			dir := t.TempDir()
			buildNative(t, dir, builtinSource, compiler...)
			if err := os.WriteFile(filepath.Join(dir, "in.txt"), []byte("first line\n"+strings.Repeat("x", 200)), 0o644); err != nil {
				t.Fatal(err)
			}
			got := runNative(t, dir, `
				import { device, register, i64 } from 'offload'
				import { readTextSync } from 'fs'
				const lib = await register('lib.so'), dev = device('cpu'), o = dev.buffer(i64, 8)
				const attempt = async p => { try { await p(); console.log('no error') } catch (e) { console.log(e.code + ': ' + e.message) } }
				const sig = (name, ...args) => lib.kernel(name, { args, convention: 'item' })
				await sig('lines', 'i32').launch({ size: 1 }, 3)
				const n = 10000
				await sig('build').launch({ size: n })
				await sig('sum', [i64], 'i32').launch({ size: 1 }, o, 2)
				console.log((await o.read())[0])
				const big = sig('big', [i64], 'i64')
				await big.launch({ size: 1 }, o, 1 << 20)
				console.log((await o.read())[0])
				await big.launch({ size: 1 }, o, 1 << 30)
				console.log((await o.read())[0])
				await attempt(() => sig('wrong').launch({ size: 1 }))
				await attempt(() => sig('check', 'i64').launch({ size: 8 }, 5))
				await sig('leave', [i64], 'i32').launch({ size: 1 }, o, 0)
				console.log((await o.read())[0])
				await attempt(() => sig('leave', [i64], 'i32').launch({ size: 1 }, o, 3))
				await sig('chance', [i64]).launch({ size: 1 }, o)
				const [seed, clock] = await o.read(0, 2)
				console.log(seed != 0n, Math.abs(Number(clock / 1000000n) - Date.now()) < 10000)
				await sig('copy', [i64]).launch({ size: 1 }, o)
				console.log(...await o.read(), readTextSync('out.txt').length)
				await lib.unregister()
			`)
			want := `
0/0 
0/1 a text that is longer than the first packet of a line
0/2 
49995000n
1n
0n
invalid-argument: launch "wrong" on cpu: free of 0x40, which malloc did not return or which was freed before
assertion: launch "check" on cpu: assertion failed: i < bound, source.c:35, kernel check, work-item [5, 0, 0]
5n
backend-failure: launch "leave" on cpu: the kernel called exit(3)
true true
200n 1n 211n 114n 0n -1n 0n 0n 211
warning: 2 blocks of the device heap with 32 bytes were not freed: 2 of kernel build
`
			got = strings.ReplaceAll(got, dir+"/", "")
			if strings.TrimSpace(want) != strings.TrimSpace(got) {
				t.Errorf("got\n%s\nwant%s", got, want)
			}
		})
	}
}

// TestNativeFilePolicy checks that the files of a native kernel obey the script's policy.
func TestNativeFilePolicy(t *testing.T) {
	dir := t.TempDir()
	buildNative(t, dir, `
#include "orepl_rpc_std.h"
void use(int64_t i, int64_t *o, int32_t what) {
  const char *modes[] = {"r", "w", "r+", "a", "q"};
  o[i] = what < 5 ? orepl_rpc_fopen("lib.so", modes[what]) != 0 : what == 5 ? orepl_rpc_remove("lib.so") : orepl_rpc_fopen("../x", "r") != 0;
}`, "clang-19")
	var out strings.Builder
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	e, err := inside.Of(newRuntime(t)).NewEngine(lang.Options{Dir: dir, Stdout: &out, Policy: lang.Policy{
		Native: func(string) error { return nil },
		Write:  func(string) error { return os.ErrPermission },
		Read: func(path string) error {
			if strings.HasPrefix(path, real) {
				return nil
			}
			return os.ErrPermission
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	_, err = e.Run(t.Context(), "policy.js", `
		import { device, register, i64 } from 'offload'
		const lib = await register('lib.so'), o = device('cpu').buffer(i64, 1)
		const use = lib.kernel('use', { args: [[i64], 'i32'], convention: 'item' })
		for (let what = 0; what < 7; what++) await use.launch({ size: 1 }, o, what).then(() => console.log('done'), e => console.log(e.code))
		console.log((await o.read())[0])
	`)
	if err != nil {
		t.Error(err)
	}
	want := "done\n" + strings.Repeat("permission-denied\n", 3) + "invalid-argument\n" + strings.Repeat("permission-denied\n", 2) + "0n\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	if _, err := os.Stat(filepath.Join(dir, "lib.so")); err != nil {
		t.Error(err)
	}
}

// TestImagesOfDeniedDevices checks that a library shows a script no device that its policy denies, though another script has opened it.
func TestImagesOfDeniedDevices(t *testing.T) {
	dir := t.TempDir()
	buildNative(t, dir, "void use(long *i) { *i = 1; }", "clang-19")
	rt := newRuntime(t)
	allow := func(string) error { return nil }
	shown := func(devices func(id string) error) string {
		var out strings.Builder
		e, err := inside.Of(rt).NewEngine(lang.Options{Dir: dir, Stdout: &out, Policy: lang.Policy{Native: allow, Read: allow, Device: devices}})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if _, err = e.Run(t.Context(), "images.js", `
			import { devices, register } from 'offload'
			devices()
			const lib = await register('lib.so')
			console.log(lib.images[0].decisions.map(d => d.device), lib.images[0].devices, lib)
		`); err != nil {
			t.Error(err)
		}
		return out.String()
	}
	if all := shown(allow); !strings.Contains(all, "cpu: chosen") {
		t.Errorf("no device in %s", all)
	}
	if none := shown(func(string) error { return os.ErrPermission }); strings.Contains(none, "cpu") {
		t.Errorf("a device that is denied in %s", none)
	}
}

// TestNativePorts checks rpc.ports during a call, and the numbers of calls afterwards.
func TestNativePorts(t *testing.T) {
	dir := t.TempDir()
	buildNative(t, dir, `
#include "orepl_rpc.h"
static struct orepl_rpc_service wait = {"wait(i32): i32", 0, 0};
void ask(int64_t i, int32_t *o) {
  union orepl_rpc_value v = {0}, r;
  v.i32 = (int32_t)i;
  if (!orepl_rpc_ask(&wait, i, &v, &r)) o[i] = r.i32;
}`, "clang-19")
	got := runNative(t, dir, `
		import { device, register, rpc, i32 } from 'offload'
		const lib = await register('lib.so'), dev = device('cpu'), o = dev.buffer(i32, 4)
		console.log(rpc.ports.length)
		const ask = lib.kernel('ask', { args: [[i32]], convention: 'item' })
		let during
		rpc.on('wait', { args: [i32], result: i32 }, async i => { during = rpc.ports; return i })
		await ask.launch({ size: 4 }, o)
		const { device: id, library, ports, busy, calls } = rpc.ports[0]
		console.log(id, library, ports >= 4, during[0].busy.some(p => p.operation === 'wait' && !p.waits && p.port < ports), calls.call, calls.declare)
		while (rpc.ports[0].busy.length > 0) await new Promise(r => setTimeout(r, 1)) // the replies are acknowledged
		await lib.unregister()
		console.log(rpc.ports.length)`)
	if want := "0\ncpu lib.so true true 4 1\n0\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}
