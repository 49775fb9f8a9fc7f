package offloadjs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl/tests/clang"
)

// TestOpenMPRegions registers an executable with OpenMP target regions, which is never run, and launches each region.
func TestOpenMPRegions(t *testing.T) {
	source, err := os.ReadFile("testdata/regions.c")
	if err != nil {
		t.Fatal(err)
	}
	dir := buildRegions(t, string(source))
	got := runNative(t, dir, `
		import { device, register, f32, f64, i32, i64, u64, struct } from 'offload'
		const lib = await register('regions'), dev = device('cpu'), n = 1000
		const names = lib.kernels.map(name => name.replace(/^__omp_offloading_[0-9a-f]+_[0-9a-f]+_/, ''))
		console.log(names.join())
		const region = (name, ...args) => lib.kernel(names.find(k => k.startsWith(name + '_l')), { args, convention: 'openmp' })
		const x = dev.buffer(f32, n, i => i), y = dev.buffer(f32, n, i => 1)
		await region('saxpy', 'i32', 'buffer', 'f32', 'buffer').launch({}, n, y, 2, x)
		console.log('saxpy', ...await y.read(997))
		const d = dev.buffer(f64, n, i => i), s = dev.buffer(f64, 1)
		await region('sum', 'i32', 'buffer', 'buffer').launch({ size: 1, groupSize: 2 }, n, s, d)
		console.log('sum', ...await s.read())
		const grid = dev.buffer(f32, [6, 5], (i, j) => i * 10 + j), out = dev.buffer(f32, [6, 5])
		await region('stencil', 'i32', 'i32', 'buffer', 'buffer').launch({}, 6, 5, out, grid)
		console.log('stencil', ...(await out.read()).slice(5, 10))
		const counter = lib.global('counter').view(0, 1, i32)
		await region('count', 'i32').launch({ device: dev }, 7)
		console.log('count', ...await counter.read())
		counter.write([100])
		await region('count', 'i32').launch({ device: dev }, 7)
		console.log('count', ...await counter.read())
		const five = dev.buffer(f64, 5)
		await region('scalars', 'buffer', 'i8', 'u16', 'f32', 'f64', 'i64').launch({}, five, -3, 65535, 1.5, 2.25, -(2n ** 40n))
		console.log('scalars', ...await five.read())
		const Params = struct({ a: f32, k: i32, scale: f64 }), three = dev.buffer(f64, 3)
		await region('structs', 'buffer', Params).launch({}, three, { a: 1.5, k: -2, scale: 4 })
		console.log('structs', ...await three.read())
		const cells = dev.buffer(i32, 32)
		await region('nested', 'i32', 'buffer').launch({}, 32, cells)
		console.log('nested', ...(await cells.read()).slice(6, 18))
		await region('distribute', 'i32', 'buffer').launch({}, 32, cells)
		console.log('distribute', ...(await cells.read()).slice(28))
		const wide = dev.buffer(i64, 100)
		await region('dynamic', 'i32', 'buffer').launch({}, 100, wide)
		console.log('dynamic', ...(await wide.read()).slice(97))
		const values = dev.buffer(i32, n, i => (i * 7919) % 1009), most = dev.buffer(i32, 1)
		most.write([-1])
		await region('maximum', 'i32', 'buffer', 'buffer').launch({}, n, values, most)
		console.log('maximum', ...await most.read(), Math.max(...await values.read()))
		const hist = dev.buffer(i32, 4)
		await region('critical', 'i32', 'buffer').launch({}, n, hist)
		console.log('critical', ...await hist.read())
		const big = dev.buffer(i32, 4, i => i + 1)
		await dev.queue.sync()
		lib.global('big_decl_tgt_ref_ptr').view(0, 1, u64).write([big.address])
		await region('linked', 'buffer').launch({}, most)
		console.log('linked', ...await most.read())
		const attempt = async f => { try { await f(); console.log('no error') } catch (e) { console.log(e.code, /SIGSEGV \(invalid address/.test(e.message) || e.message) } }
		const wild = region('wild', 'i32', 'buffer')
		for (let i = 0; i < 3; i++) await attempt(() => wild.launch({}, n, values))
		await attempt(() => region('endless', 'buffer').launch({ timeout: 50 }, values))
		await attempt(() => wild.launch({ size: 2 }, n, values))
		await region('critical', 'i32', 'buffer').launch({}, n, hist)
		console.log('after faults', ...await hist.read())
		try { await lib.unregister() } catch (e) { if (e.code !== 'out-of-resources') throw e } // threads of a parallel region may stay in it
	`)
	want := `
count_l26,critical_l62,distribute_l48,dynamic_l52,endless_l73,linked_l79,maximum_l57,nested_l38,saxpy_l10,scalars_l30,stencil_l20,structs_l34,sum_l15,wild_l69
saxpy 1995 1997 1999
sum 499500
stencil 0 55 60 65 0
count 12
count 107
scalars -3 65535 1.5 2.25 -1099511627776
structs 1.5 -2 12
nested 6 7 100 101 102 103 104 105 106 107 200 201
distribute 784 841 900 961
dynamic 4753n 4851n 4950n
maximum 1008 1008
critical 250 250 250 250
linked 10
backend-failure true
backend-failure true
backend-failure true
timeout launch "endless_l73" on cpu: the kernel ran longer than its time limit of 50ms
invalid-size launch "wild_l69" on cpu: size [2 1 1]: a target region is called once and divides its loops itself
after faults 500 500 500 500
`
	if strings.TrimSpace(want) != strings.TrimSpace(got) {
		t.Errorf("got\n%s\nwant%s", got, want)
	}
}

// buildRegions compiles a program with target regions to the file regions of a new folder.
func buildRegions(t *testing.T, source string) (dir string) {
	t.Helper()
	if _, err := os.Stat("/usr/lib/llvm-19/lib/libomp.so"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("libomp-19-dev is not installed")
		}
		t.Skip("libomp-19-dev is not installed")
	}
	dir = t.TempDir()
	program := clang.Build(t, "regions.c", source, "-O2", "-w", "-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu")
	if err := os.Rename(program, filepath.Join(dir, "regions")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestPlainRegionFault catches faults and time limits of regions outside of parallel constructs. The regions must then run as before,
// more often than threads may be abandoned, and the library must unload.
func TestPlainRegionFault(t *testing.T) {
	dir := buildRegions(t, `
int main(int argc, char **argv) {
  int *p = 0, o[4] = {0};
#pragma omp target map(tofrom: o)
  { *(volatile int *)p = 1; o[0] = 1; }
#pragma omp target map(tofrom: o)
  { for (volatile int i = 0;; i++); o[0] = 2; }
#pragma omp target parallel for map(tofrom: o)
  for (int i = 0; i < 4; i++) o[i] = i + 7;
  return o[0];
}`)
	got := runNative(t, dir, `
		import { device, register, i32 } from 'offload'
		const lib = await register('regions'), o = device('cpu').buffer(i32, 4)
		const region = (name, ...args) => lib.kernel(name, { args, convention: 'openmp' })
		const codes = {}
		const attempt = async launch => { try { await launch } catch (e) { codes[e.code] = (codes[e.code] ?? 0) + 1 } }
		for (let i = 0; i < 70; i++) await attempt(region('main_l4', 'i64', 'buffer').launch({}, 0n, o))
		for (let i = 0; i < 3; i++) await attempt(region('main_l6', 'buffer').launch({ timeout: 20 }, o))
		await region('main_l8', 'buffer').launch({}, o)
		console.log(codes['backend-failure'], codes.timeout, ...await o.read())
		await lib.unregister()
		console.log('unregistered')
	`)
	if want := "70 3 7 8 9 10\nunregistered\n"; strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant %s", got, want)
	}
}
