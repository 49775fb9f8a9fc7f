package ptx_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl/kernels"
	"github.com/orepl/orepl/lang/kernel/emit/ptx"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/lower"
)

var update = flag.Bool("update", false, "write the golden files")

// TestGolden compares the PTX of every operation of the IR with testdata/operations.ptx, the operations on values, and with
// testdata/others.ptx, the PTX of the kernels in testdata/others.ir.
func TestGolden(t *testing.T) {
	found := map[ir.Op]bool{}
	var values strings.Builder
	for _, o := range irgen.Operations() {
		found[o.Op] = true
		fmt.Fprintf(&values, "// %v %v -> %v %v\n%s\n", o.Op, o.Args, o.To, o.Elem, core(emitPlain(t, irgen.OperationCase(o).Kernel)))
	}
	checkGolden(t, "operations.ptx", values.String())

	text, err := os.ReadFile(filepath.Join("testdata", "others.ir"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := ir.ParseText("others.ir", string(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Verify(); err != nil {
		t.Fatal(err)
	}
	for _, k := range m.Kernels {
		k.Body.Walk(func(in *ir.Instr) { found[in.Op] = true })
	}
	for op := ir.Invalid + 1; !strings.HasPrefix(op.String(), "op("); op++ {
		if !found[op] {
			t.Errorf("no golden file has the operation %s", op)
		}
	}
	if err := kernels.New().Expand(m); err != nil {
		t.Fatal(err)
	}
	target, err := ptx.Target()
	if err != nil {
		t.Fatal(err)
	}
	var list []*lower.Kernel
	for _, k := range m.Kernels {
		l, err := lower.Lower(k, target, lower.Options{MaxGroup: 256, GroupSize: [3]int{64, 1, 1}, Whole: true, Unchecked: k.Name != "faults"})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, l)
	}
	others, err := ptx.Options{Axes: 1, Files: m.Files}.Emit(list...)
	if err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "others.ptx", others)
	assemble(t, others)
}

// emitPlain returns the PTX of a kernel for launches of whole groups without checks.
func emitPlain(t *testing.T, k *ir.Kernel) string {
	t.Helper()
	target, err := ptx.Target()
	if err != nil {
		t.Fatal(err)
	}
	l, err := lower.Lower(k, target, lower.Options{MaxGroup: 256, GroupSize: [3]int{64, 1, 1}, Whole: true, Unchecked: true})
	if err != nil {
		t.Fatal(err)
	}
	text, err := ptx.Options{Axes: 1}.Emit(l)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// core returns the lines of a kernel after the last load of an operand and before the first store of a result.
func core(text string) string {
	body, _, _ := strings.Cut(text, "\tst.global")
	if at := strings.LastIndex(body, "\tld.global"); at >= 0 {
		_, body, _ = strings.Cut(body[at:], "\n")
	}
	var out []string
	for _, line := range strings.Split(body, "\n") {
		if line != "" && !strings.HasPrefix(line, "\t.loc") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// checkGolden compares a text with a file of testdata.
func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines, wanted := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(lines), len(wanted)) {
		if lines[i] != wanted[i] {
			t.Fatalf("%s:%d: %q, want %q; -update writes it", path, i+1, lines[i], wanted[i])
		}
	}
	if len(lines) != len(wanted) {
		t.Fatalf("%d lines, want %d; -update writes %s", len(lines), len(wanted), path)
	}
}
