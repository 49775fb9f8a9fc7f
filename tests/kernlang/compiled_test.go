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

// TestCompiledRules compares the compiled kernels of the rules, and their diagnostics, with testdata/compiled.golden. It
// reveals passes that no longer optimize, and moved source positions.
//
// For each kernel, the golden file has instruction counts and checksums before and after all passes, the reasons for
// parameter types, diagnostics, accesses and warnings. Kernels are identified by their text; kernels missing from the file
// are not compared.
func TestCompiledRules(t *testing.T) {
	t.Parallel()
	const golden = "testdata/compiled.golden"
	data, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{} // descriptions by title
	for _, part := range strings.Split(string(data), "\n\n") {
		title, lines, _ := strings.Cut(part, "\n")
		want[title] = strings.TrimSpace(lines)
	}
	var all []string
	compared := 0
	files, _ := filepath.Glob("testdata/*/*.js")
	for _, file := range files {
		for _, r := range readRules(t, file) {
			line, _, _ := strings.Cut(r.program.Text, "\n")
			title := fmt.Sprintf("## %s #%08x %.60s", filepath.Base(file), crc32.ChecksumIEEE([]byte(r.whole)), line)
			lines, text := described(r)
			got := strings.Join(lines, "\n")
			all = append(all, title+"\n"+got+"\n")
			known, ok := want[title]
			if ok {
				compared++
			}
			if ok && !*update && got != known {
				g, w := strings.Split(got, "\n"), strings.Split(known, "\n")
				i := 0
				for i < min(len(g), len(w))-1 && g[i] == w[i] {
					i++
				}
				t.Errorf("%s:%d is compiled to something else (-update writes what is expected anew; -v shows it)\n got %s\nwant %s", r.file, r.line, g[i], w[i])
				if testing.Verbose() {
					t.Log(text)
				}
			}
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(strings.Join(all, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if compared < 150 {
		t.Errorf("only %d of %d kernels are in %s: -update writes it anew", compared, len(all), golden)
	}
}

// described returns a description of the compiled kernel in lines, and its IR as text.
func described(r *rule) (lines []string, text string) {
	c, err := r.program.Compile()
	var list diag.List
	if errors.As(err, &list) {
		for _, d := range list {
			lines = append(lines, fmt.Sprintf("%v (to %d:%d, `%s`)", strings.ReplaceAll(d.Error(), "\n", " /"), d.End.Line, d.End.Column, d.Excerpt))
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
