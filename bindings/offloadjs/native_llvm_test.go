package offloadjs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl/tests/clang"
)

// TestLLVMClient serves an image with LLVM's own client object, built by two compilers.
func TestLLVMClient(t *testing.T) {
	source, err := os.ReadFile("testdata/llvm_client.cpp")
	if err != nil {
		t.Fatal(err)
	}
	for _, compiler := range [][]string{{"clang-19", "-x", "c++", "-std=c++20", "-fno-exceptions"}, {"gcc", "-x", "c++", "-std=c++20", "-fno-exceptions"}} {
		t.Run(compiler[0], func(t *testing.T) {
			dir := t.TempDir()
			buildNative(t, dir, string(source), compiler...)
			got := runNative(t, dir, `
				import { device, register, i64 } from 'offload'
				const lib = await register('lib.so'), dev = device('cpu'), o = dev.buffer(i64, 8)
				console.log(lib.kernels.join())
				const sig = (name, ...args) => lib.kernel(name, { args, convention: 'item' })
				const attempt = async p => { try { await p(); console.log('no error') } catch (e) { console.log(e.code + ': ' + e.message) } }
				await sig('print', [i64]).launch({ size: 1 }, o)
				console.log(...await o.read(0, 2))
				await sig('allocate', [i64]).launch({ size: 1 }, o)
				console.log(...await o.read(0, 1))
				await sig('files', [i64]).launch({ size: 1 }, o)
				console.log(...await o.read(0, 6))
				await attempt(() => sig('leave', 'i32').launch({ size: 1 }, 0))
				await attempt(() => sig('leave', 'i32').launch({ size: 1 }, 7))
				await attempt(() => sig('format').launch({ size: 1 }))
				await sig('allocate', [i64]).launch({ size: 1 }, o)
				console.log(...await o.read(0, 1))
				await lib.unregister()
			`)
			want := `
allocate,files,format,leave,print
half a line, and the rest
no end
13n 13n
1n
200n 200n 200n 1n 0n 0n
no error
backend-failure: launch "leave" on cpu: the kernel called exit(7)
unsupported: launch "format" on cpu: printf of LLVM's libc passes its arguments as GPUs lay them out, which this device does not
1n
`
			if strings.TrimSpace(want) != strings.TrimSpace(got) {
				t.Errorf("got\n%s\nwant%s", got, want)
			}
		})
	}
}

// TestChannelSymbols refuses images whose symbols are not those of a client that the device serves.
func TestChannelSymbols(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"void *__llvm_libc_rpc_client; void f(long i) { (void)i; }", "the client of LLVM 19 and before"},
		{"char __llvm_rpc_client[544]; void f(long i) { (void)i; }", "has 544 bytes; the client of LLVM 20 and later has 552"},
		{"long __llvm_rpc_client[69]; void *orepl_rpc_channel; void f(long i) { (void)i; }", "is served through one of them"},
		{"int orepl_rpc_channel; void f(long i) { (void)i; }", "orepl_rpc_channel is not a pointer"},
		{"void *const orepl_rpc_channel = 0; void f(long i) { (void)i; }", "in memory that cannot be written"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "lib.so"), clang.SharedObject(t, c.source), 0o644); err != nil {
			t.Fatal(err)
		}
		got := runNative(t, dir, `
			import { register } from 'offload'
			const lib = await register('lib.so')
			try { await lib.kernel('f', { args: [], convention: 'item' }).launch({ size: 1 }) } catch (e) { console.log(e.code + ': ' + e.message) }
		`)
		if !strings.HasPrefix(got, "unsupported: ") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q in it", c.source, got, c.want)
		}
	}
}
