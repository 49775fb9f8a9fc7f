package ptx_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/orepl/orepl/kernels"
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/emit/ptx"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/lang/kernel/opt"
)

// peer is a kernel in the kernel language and the same algorithm in CUDA C.
type peer struct {
	name   string
	script string
	args   []kernel.Arg
	c      string
	axes   int
	loop   bool    // the innermost loop counts, not the whole kernel
	most   float64 // instructions, as a multiple of those of clang's code
}

func floats(rank int) kernel.Arg {
	return kernel.Arg{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: ir.F32}, Rank: rank}
}

func scalarOf(t ir.Type) kernel.Arg { return kernel.Arg{Kind: kernel.Scalar, Type: t} }

var peers = []peer{
	{name: "saxpy", script: "(g, a, x, y) => { y[g.x] = a * x[g.x] + y[g.x] }", args: []kernel.Arg{scalarOf(ir.F32), floats(1), floats(1)}, axes: 1, most: 1.07,
		c: "GLOBAL void k(float a, const float *x, float *y, int n) { int i = ID(x); if (i < n) y[i] = a * x[i] + y[i]; }"},
	{name: "triad", script: "(g, s, a, b, c) => { a[g.x] = b[g.x] + s * c[g.x] }", args: []kernel.Arg{scalarOf(ir.F32), floats(1), floats(1), floats(1)}, axes: 1, most: 1.07,
		c: "GLOBAL void k(float s, float *a, const float *b, const float *c, int n) { int i = ID(x); if (i < n) a[i] = b[i] + s * c[i]; }"},
	{name: "mandelbrot", script: `(g, w, out) => {
	const cx = g.x / w * 3 - 2, cy = g.y / w * 3 - 1.5
	let x = 0, y = 0, n = 0
	while (n < 256 && x * x + y * y < 4) { const t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; n++ }
	out[g.y][g.x] = n
}`, args: []kernel.Arg{scalarOf(ir.F32), floats(2)}, axes: 2, loop: true, most: 1,
		c: `GLOBAL void k(float w, float *out, int n0, int n1) { int gx = ID(x), gy = ID(y); if (gx >= n1 || gy >= n0) return;
	float cx = gx / w * 3 - 2, cy = gy / w * 3 - 1.5f, x = 0, y = 0; int n = 0;
	while (n < 256 && x * x + y * y < 4) { float t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; n++; }
	out[gy * n1 + gx] = n; }`},
	{name: "nbody", script: `(g, n, p, a) => {
	const x = p[g.x][0], y = p[g.x][1], z = p[g.x][2]
	let ax = 0, ay = 0, az = 0
	for (let j = 0; j < p.shape[0]; j++) {
		const dx = p[j][0] - x, dy = p[j][1] - y, dz = p[j][2] - z, r = dx * dx + dy * dy + dz * dz + 0.01
		const s = p[j][3] / (r * Math.sqrt(r))
		ax += dx * s; ay += dy * s; az += dz * s
	}
	a[g.x][0] = ax; a[g.x][1] = ay; a[g.x][2] = az
}`, args: []kernel.Arg{scalarOf(ir.I32), floats(2), floats(2)}, axes: 1, loop: true, most: 1.21,
		c: `GLOBAL void k(int n, const float *p, int rows, float *a) { int i = ID(x); if (i >= n) return;
	float x = p[4*i], y = p[4*i+1], z = p[4*i+2], ax = 0, ay = 0, az = 0;
	for (int j = 0; j < rows; j++) { float dx = p[4*j] - x, dy = p[4*j+1] - y, dz = p[4*j+2] - z, r = dx * dx + dy * dy + dz * dz + 0.01f;
		float s = p[4*j+3] / (r * __builtin_sqrtf(r)); ax += dx * s; ay += dy * s; az += dz * s; }
	a[4*i] = ax; a[4*i+1] = ay; a[4*i+2] = az; }`},
}

const cudaHead = `
#define GLOBAL extern "C" __attribute__((global))
#define ID(axis) (__nvvm_read_ptx_sreg_ctaid_##axis() * __nvvm_read_ptx_sreg_ntid_##axis() + __nvvm_read_ptx_sreg_tid_##axis())
`

// toolkit returns the path of a program beside ptxas.
func toolkit(t *testing.T, name string) string {
	t.Helper()
	assembler := os.Getenv("OREPL_PTXAS")
	if assembler == "" {
		assembler = "ptxas"
	}
	path, err := exec.LookPath(assembler)
	if err == nil {
		path, err = exec.LookPath(filepath.Join(filepath.Dir(path), name))
	}
	if err != nil {
		t.Skip(err, "(of the package nvidia-cuda-toolkit; OREPL_PTXAS names another ptxas)")
	}
	return path
}

// code is what the vendor's assembler makes of a kernel.
type code struct {
	instructions int // without those behind the last exit
	registers    int
}

var (
	sassLine  = regexp.MustCompile(`^\s*/\*([0-9a-f]{4,})\*/\s+(.*?);`)
	sassLabel = regexp.MustCompile(`^(\.L_x_\d+):`)
	sassJump  = regexp.MustCompile("BRA.*`\\((\\.L_x_\\d+)\\)")
	usedRegs  = regexp.MustCompile(`Used (\d+) registers`)
)

// sass assembles a text of one kernel for sm_80 and counts the instructions of its shortest path: those outside of the branches that
// record faults, or of its innermost loop.
func sass(t *testing.T, text string, loop bool) code {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "k.ptx"), filepath.Join(dir, "k.cubin")
	if err := os.WriteFile(in, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := exec.Command(toolkit(t, "ptxas"), "-v", "-O3", "-arch=sm_80", in, "-o", out).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, log, text)
	}
	listing, err := exec.Command(toolkit(t, "nvdisasm"), "-c", out).Output()
	if err != nil {
		t.Fatal(err)
	}
	if keep := os.Getenv("OREPL_KEEP_SASS"); keep != "" {
		_ = os.WriteFile(filepath.Join(keep, strings.ReplaceAll(t.Name(), "/", "_")+fmt.Sprint(strings.Contains(text, "k_k"))), listing, 0o600)
	}
	var c code
	if m := usedRegs.FindSubmatch(log); m != nil {
		c.registers, _ = strconv.Atoi(string(m[1]))
	}
	labels, first, last, count := map[string]int{}, 0, 0, 0
	fault := 0 // instructions of blocks that record faults
	block, recording := 0, false
	for _, line := range bytes.Split(listing, []byte("\n")) {
		if m := sassLabel.FindSubmatch(line); m != nil {
			labels[string(m[1])] = count
			if recording {
				fault += count - block
			}
			block, recording = count, false
			continue
		}
		m := sassLine.FindSubmatch(line)
		if m == nil || bytes.HasPrefix(m[2], []byte("NOP")) {
			continue
		}
		count++
		if bytes.Contains(m[2], []byte("CAS.STRONG.SYS")) {
			recording = true
		}
		if j := sassJump.FindSubmatch(m[2]); j != nil {
			to, ok := labels[string(j[1])]
			if ok && to < count-1 && (first == 0 || count-to < last-first) {
				first, last = to, count
			}
			if !recording {
				block = count // a branch around a record begins a block
			}
		}
	}
	if c.instructions = count - fault - 1; loop { // the last is a jump to itself
		c.instructions = last - first
	}
	return c
}

// TestQuality compares the machine code of kernels with that of clang for the same algorithm in CUDA C.
func TestQuality(t *testing.T) {
	toolkit(t, "nvdisasm")
	clang, err := exec.LookPath("clang-19")
	if err != nil {
		t.Skip(err)
	}
	for _, p := range peers {
		t.Run(p.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "k.cu")
			if err := os.WriteFile(file, []byte(cudaHead+p.c), 0o600); err != nil {
				t.Fatal(err)
			}
			text, err := exec.Command(clang, "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_80", "-nocudainc", "-nocudalib", "-O3", "-w", "-S", file, "-o", "-").Output()
			if err != nil {
				t.Fatal(err)
			}
			theirs := sass(t, regexp.MustCompile(`(?m)^\.version .*$`).ReplaceAllString(string(text), ".version 7.8"), p.loop)
			mine := sass(t, emitted(t, p), p.loop)
			ratio := float64(mine.instructions) / float64(theirs.instructions)
			t.Logf("%d instructions and %d registers; clang: %d and %d; %.2f", mine.instructions, mine.registers, theirs.instructions, theirs.registers, ratio)
			if ratio > p.most {
				t.Errorf("%.2f times clang's instructions, want at most %.2f", ratio, p.most)
			}
			if float64(mine.registers) > 1.15*float64(theirs.registers) {
				t.Error("too many registers")
			}
		})
	}
}

// emitted returns the PTX of a kernel for a launch whose facts prove what they can.
func emitted(t *testing.T, p peer) string {
	t.Helper()
	f, err := kernel.Parse(&kernel.Source{Text: p.script})
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.Compile(p.args, kernel.Options{Name: "k"})
	if err != nil {
		t.Fatal(err)
	}
	m := c.Module
	if kernels.Needed(m) {
		library, err := kernels.New()
		if err != nil {
			t.Fatal(err)
		}
		if err := library.Expand(m); err != nil {
			t.Fatal(err)
		}
	}
	opt.Run(m, opt.Default, nil)
	facts := opt.Facts{Within: opt.SizeFacts(m.Kernels[0])}
	facts.Index = opt.IndexFacts(m.Kernels[0], &facts)
	opt.Run(m, opt.Default, &facts)
	target, err := ptx.Target()
	if err != nil {
		t.Fatal(err)
	}
	l, err := lower.Lower(m.Kernels[0], target, lower.Options{SubgroupSize: 32, MaxGroup: 256})
	if err != nil {
		t.Fatal(err)
	}
	text, err := ptx.EmitFor(p.axes, l)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
