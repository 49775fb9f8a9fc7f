package offloadjs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDescribedRegions launches regions that debug information describes, and regions of an old compiler, which take other
// arguments.
func TestDescribedRegions(t *testing.T) {
	const lib = "/usr/lib/llvm-19/lib"
	if _, err := os.Stat(lib + "/libomp.so"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("libomp-19-dev is not installed")
		}
		t.Skip("libomp-19-dev is not installed")
	}
	dir := t.TempDir()
	source := `
void saxpy(int n, float a, float *x, float *y) {
#pragma omp target teams distribute parallel for map(to: x[0:n]) map(tofrom: y[0:n])
  for (int i = 0; i < n; i++) y[i] += a * x[i];
}
int main(void) { return 0; }
`
	if err := os.WriteFile(filepath.Join(dir, "r.c"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	for out, args := range map[string][]string{"described": {"clang-19", "-g"}, "plain": {"clang-19"}, "old": {"clang-14"}, "old-described": {"clang-14", "-g"}} {
		wrapper := map[string]string{"clang-19": "clang-linker-wrapper-19", "clang-14": "clang-offload-wrapper-14"}[args[0]]
		for _, tool := range []string{args[0], wrapper} {
			if _, err := exec.LookPath(tool); err != nil {
				if os.Getenv("CI") == "true" {
					t.Fatalf("%s is not installed", tool)
				}
				t.Skipf("%s is not installed", tool)
			}
		}
		cmd := exec.Command(args[0], append(args[1:], "-O1", "-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu", "r.c", "-o", out)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "LIBRARY_PATH="+lib)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", out, err, text)
		}
	}
	got := runNative(t, dir, `
		import { device, register, f32 } from 'offload'
		const n = 100, dev = device('cpu'), x = dev.buffer(f32, n, i => i)
		for (const file of ['described', 'old-described', 'plain', 'old']) {
			const lib = await register(file), y = dev.buffer(f32, n, i => 1)
			let k
			try {
				k = lib.kernel('saxpy_l3')
				console.log(k)
				try { await k.launch({}, n, 2, x, y) } catch (e) { console.log(e.message) }
			} catch (e) {
				console.log(e.code, e.hint)
				k = lib.kernel('saxpy_l3', { args: ['i32', 'buffer', 'f32', 'buffer'], convention: 'openmp' })
			}
			await k.launch({}, n, y, 2, x)
			console.log(file, ...await y.read(97))
			await lib.unregister()
		}
	`)
	const undescribed = `invalid-argument compile with -g, or give the signature, as in lib.kernel("saxpy_l3", { args: ['i32', 'buffer'], convention: 'openmp' }); ` +
		`the arguments are the variables that the region uses, in the order of their first use in it: see docs/images.md` + "\n"
	const signature = `Kernel saxpy_l3(n: i32, y: buffer, a: f32, x: buffer) of library `
	const wrong = `launch "saxpy_l3": argument y: must be a buffer, not 2` + "\n"
	want := signature + "\"described\"\n" + wrong + "described 195 197 199\n" + signature + "\"old-described\"\n" + wrong + "old-described 195 197 199\n" +
		undescribed + "plain 195 197 199\n" + undescribed + "old 195 197 199"
	if strings.TrimSpace(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
