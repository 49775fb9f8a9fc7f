package kernlang

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/advice"
	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
)

// TestCompiledRules compares what the kernels of the rules compile to, and what is said about them, with
// testdata/compiled.golden, so that a pass that stops to optimize shows, or a place in the script that is elsewhere.
//
// The golden file has, for each kernel, why its parameters have their types, the numbers of instructions as the kernel
// is and after all passes with a checksum of either text, its diagnostics, and its accesses and warnings as a script
// can ask for them.
func TestCompiledRules(t *testing.T) {
	t.Parallel()
	const golden = "testdata/compiled.golden"
	var got []string
	texts := map[int]string{} // of kernels, by line
	files, _ := filepath.Glob("testdata/*/*.js")
	for _, file := range files {
		for _, r := range readRules(t, file) {
			lines, text := described(r)
			for _, line := range lines {
				texts[len(got)] = text
				got = append(got, fmt.Sprintf("%s:%d: %s", filepath.Base(file), r.line, line))
			}
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	for i := range got {
		if i >= len(want) || got[i] != want[i] {
			t.Fatalf("%s:%d (-update writes it anew)\n got %s\nwant %s\n%s", golden, i+1, got[i], want[min(i, len(want)-1)], texts[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s has %d lines, expected %d (-update writes it anew)", golden, len(want), len(got))
	}
}

// described says in lines what a kernel compiles to. The text is its IR.
func described(r *rule) (lines []string, text string) {
	c, err := r.program.Compile()
	var list diag.List
	if errors.As(err, &list) {
		for _, d := range list {
			lines = append(lines, fmt.Sprintf("%v (to %d:%d, `%s`)", strings.ReplaceAll(d.Error(), "\n", " /"), d.End.Line, d.End.Col, d.Excerpt))
		}
		return lines, ""
	}
	if err != nil {
		return []string{err.Error()}, ""
	}
	m := c.Module.Clone()
	opt.Run(m, opt.Default, nil)
	before, after := c.Module.String(), m.String()
	lines = append(lines, fmt.Sprintf("%d instructions #%08x, optimized %d #%08x", instructions(c.Module), crc32.ChecksumIEEE([]byte(before)),
		instructions(m), crc32.ChecksumIEEE([]byte(after))))
	for _, p := range c.Params {
		if p.Rank == 0 {
			lines = append(lines, fmt.Sprintf("%s %v, %s", p.Name, p.Type, p.Reason))
		}
	}
	for _, a := range advice.Accesses(c) {
		lines = append(lines, a.String())
	}
	for _, w := range advice.Warnings(c) {
		lines = append(lines, strings.ReplaceAll(w.Error(), "\n", " /"))
	}
	return lines, before + "\noptimized:\n" + after
}

func instructions(m *ir.Module) (n int) {
	m.Kernels[0].Body.Walk(func(*ir.Instr) { n++ })
	return n
}
