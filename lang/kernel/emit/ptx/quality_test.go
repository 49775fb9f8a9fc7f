package ptx_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/orepl/orepl/kernels"
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/emit/ptx"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/lang/kernel/opt"
)

// toolkit returns the path of a program in the directory of ptxas.
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

// code holds figures of the machine code that the vendor's assembler generates for a kernel.
type code struct {
	instructions int // instructions of the hot part, without cold blocks
	work         int // instructions of the hot part that compute with floats
	registers    int
	widest       int // bits of the widest load from global memory
	spills       bool
}

var (
	sassLine  = regexp.MustCompile(`^\s*/\*([0-9a-f]{4,})\*/\s+(.*?);`)
	sassLabel = regexp.MustCompile(`^(\.L_x_\d+):`)
	sassJump  = regexp.MustCompile("BRA.*`\\((\\.L_x_\\d+)\\)")
	sassWork  = regexp.MustCompile(`\b(FFMA|FADD|FMUL)\b`)
	sassLoad  = regexp.MustCompile(`\bLDG\.E(?:\.CONSTANT)?(?:\.(64|128))?\b`)
	usedRegs  = regexp.MustCompile(`Used (\d+) registers`)
	spilled   = regexp.MustCompile(`[1-9]\d* bytes spill`)
)

// sass assembles a text with one kernel for sm_80. It counts the instructions of the kernel, or of its innermost loop that
// computes with floats. Blocks that access memory for the host are cold: those that record a fault, and those that poll the
// stop word every 1024 iterations.
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
	c := code{spills: spilled.Match(log)}
	if m := usedRegs.FindSubmatch(log); m != nil {
		c.registers, _ = strconv.Atoi(string(m[1]))
	}
	var list []string
	labels, starts := map[string]int{}, []int{0}
	for _, line := range strings.Split(string(listing), "\n") {
		if m := sassLabel.FindStringSubmatch(line); m != nil {
			labels[m[1]] = len(list)
			starts = append(starts, len(list))
			continue
		}
		m := sassLine.FindStringSubmatch(line)
		if m == nil || strings.HasPrefix(m[2], "NOP") {
			continue
		}
		list = append(list, m[2])
		if sassJump.MatchString(m[2]) {
			starts = append(starts, len(list))
		}
	}
	hot := slices.Repeat([]bool{true}, len(list))
	for i, start := range starts {
		end := len(list)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		cold := slices.ContainsFunc(list[start:end], func(s string) bool { return strings.Contains(s, "STRONG.SYS") })
		if start > 0 && cold { // includes all code that the jump to it skips
			if j := sassJump.FindStringSubmatch(list[start-1]); j != nil {
				end = max(end, labels[j[1]])
			}
		}
		for at := start; at < end && cold; at++ {
			hot[at] = false
		}
	}
	count := func(first, last int) (n, work int) {
		for at := first; at < last; at++ {
			if hot[at] {
				n++
				if sassWork.MatchString(list[at]) {
					work++
				}
			}
		}
		return n, work
	}
	first, last := 0, len(list)-1 // the last instruction is a jump to itself
	for at, s := range list {
		if m := sassLoad.FindStringSubmatch(s); m != nil && hot[at] {
			bits, _ := strconv.Atoi(m[1])
			c.widest = max(c.widest, 32, bits)
		}
		if j := sassJump.FindStringSubmatch(s); loop && j != nil {
			to, ok := labels[j[1]]
			if _, work := count(to, at+1); ok && to < at && work > 0 && at+1-to < last-first {
				first, last = to, at+1
			}
		}
	}
	if loop && first == 0 {
		t.Fatalf("no loop that computes:\n%s", listing)
	}
	c.instructions, c.work = count(first, last)
	return c
}

// TestQuality compares the machine code of kernels with clang's for the same algorithm in CUDA C.
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
			text, err := exec.Command(clang, "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_80", "-nocudainc", "-nocudalib", "--cuda-feature=+ptx70", "-O3", "-w", "-S", file, "-o", "-").Output()
			if err != nil {
				t.Fatal(err)
			}
			theirs := sass(t, regexp.MustCompile(`(?m)^\.version .*$`).ReplaceAllString(string(text), ".version 7.8"), p.loop)
			mine := sass(t, emitted(t, p), p.loop)
			ratio := float64(mine.instructions) / float64(theirs.instructions)
			if p.loop { // one side may have unrolled the loop
				ratio *= float64(theirs.work) / float64(mine.work)
			}
			t.Logf("%+v; clang: %+v; %.2f", mine, theirs, ratio)
			if ratio > p.most {
				t.Errorf("%.2f times clang's instructions, want at most %.2f", ratio, p.most)
			}
			if limit := max(p.registers, 1.1); float64(mine.registers) > limit*float64(theirs.registers) {
				t.Errorf("%d registers, want at most %.2f times %d", mine.registers, limit, theirs.registers)
			}
			if mine.widest < theirs.widest || mine.spills {
				t.Errorf("loads of %d bits, want %d; spills: %t", mine.widest, theirs.widest, mine.spills)
			}
		})
	}
}

// TestSpills assembles the kernels of [peers] for each processor architecture and checks that no register is spilled.
func TestSpills(t *testing.T) {
	assembler := toolkit(t, "ptxas")
	for _, p := range peers {
		file := filepath.Join(t.TempDir(), "k.ptx")
		if err := os.WriteFile(file, []byte(emitted(t, p)), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, arch := range []string{"sm_70", "sm_80", "sm_90"} {
			log, err := exec.Command(assembler, "-v", "-O3", "-arch="+arch, file, "-o", os.DevNull).CombinedOutput()
			if err != nil || !usedRegs.Match(log) || spilled.Match(log) {
				t.Errorf("%s for %s: %v, %s", p.name, arch, err, log)
			}
		}
	}
}

// emitted returns the PTX of a kernel specialized for a launch.
func emitted(t *testing.T, p peer) string {
	t.Helper()
	text, err := ptx.Options{Axes: p.axes}.Emit(kernelOf(t, p))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// kernelOf returns a kernel specialized and lowered for a launch.
func kernelOf(t *testing.T, p peer) *lower.Kernel {
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
	if err := kernels.New().Expand(m); err != nil {
		t.Fatal(err)
	}
	opt.Run(m, opt.Default, nil)
	facts := opt.Facts{Within: opt.SizeFacts(m.Kernels[0]), GroupSize: p.group, MaxExtent: 1 << 30, MaxSize: 1 << 30}
	facts.Index = opt.IndexFacts(m.Kernels[0], &facts)
	opt.Run(m, opt.Default, &facts)
	target, err := ptx.Target()
	if err != nil {
		t.Fatal(err)
	}
	l, err := lower.Lower(ptx.Unroll(m.Kernels[0]), target, lower.Options{SubgroupSize: 32, MaxGroup: 256, GroupSize: p.group, Whole: true, Unpolled: analysis.FindWork(m.Kernels[0]) != nil})
	if err != nil {
		t.Fatal(err)
	}
	return l
}
