package kernel

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
)

// TestCompiled compares what all the kernels of testdata compile to, under several options, with
// testdata/compiled.golden: their results alone do not show an operation too many, a place in the script that is
// elsewhere, or a mark for the debugger that is lost.
//
// The golden file has, for each kernel, how its parameters are typed, and for each way to compile it the numbers of
// instructions and sites, the number of instructions after all passes, a checksum of the IR's text, and diagnostics.
// Where one is not as expected, the test shows the IR as it is now: the IR as it was comes from the version before.
func TestCompiled(t *testing.T) {
	const golden = "testdata/compiled.golden"
	var got strings.Builder
	var texts []string // of the kernels, by line of the golden file
	for _, folder := range []string{"field", "ir", "run", "diag"} {
		files, _ := filepath.Glob("testdata/" + folder + "/*.js")
		if len(files) == 0 {
			t.Fatalf("no files in testdata/%s", folder)
		}
		for _, file := range files {
			for _, c := range chunks(t, file) {
				for _, line := range compiled(&c) {
					fmt.Fprintf(&got, "%s:%d: %s\n", filepath.Base(file), c.line, line.summary)
					texts = append(texts, line.text)
				}
			}
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	for i := range texts {
		if i >= len(w) || g[i] != w[i] {
			t.Fatalf("%s:%d (-update writes it anew)\n got %s\nwant %s\n%s", golden, i+1, g[i], w[min(i, len(w)-1)], texts[i])
		}
	}
	if len(g) != len(w) {
		t.Errorf("%s has %d lines, expected %d (-update writes it anew)", golden, len(w), len(g))
	}
}

type compiledLine struct{ summary, text string }

// compiled is what a kernel is compiled to, in several ways.
func compiled(c *chunk) (lines []compiledLine) {
	for _, way := range []struct {
		name string
		set  func(*Options)
	}{
		{"as asked", func(*Options) {}},
		{"traced", func(o *Options) { o.Trace = true }},
		{"real f64, warnings", func(o *Options) { o.Real, o.Warnings = ir.F64, true }},
		{"no fusing", func(o *Options) { o.NoContract = true }},
	} {
		with := *c
		way.set(&with.options)
		out, err := with.compile()
		var list diag.List
		if errors.As(err, &list) {
			// Their texts are in the files themselves, beside the lines.
			summary := fmt.Sprintf("%s: refused", way.name)
			text := err.Error()
			for _, d := range list {
				summary += fmt.Sprintf(", %s %d:%d-%d:%d", d.ID, d.Line, d.Col, d.End.Line, d.End.Col)
				text += "\n" + d.Excerpt
			}
			summary += fmt.Sprintf(" #%08x", crc32.ChecksumIEEE([]byte(text)))
			return append(lines, compiledLine{summary, text})
		}
		if err != nil {
			return append(lines, compiledLine{err.Error(), ""})
		}
		summary := way.name + ":"
		if way.name == "as asked" {
			for _, p := range out.Params {
				if p.Rank == 0 {
					summary += fmt.Sprintf(" %s %v, %s;", p.Name, p.Type, p.Reason)
				}
			}
		}
		text := out.Module.String()
		for _, m := range out.Marks {
			text += fmt.Sprintf("mark %d at %d of %q %q", m.Kind, m.Site, m.Names, m.Text)
			if m.Array != nil {
				text += " " + m.Array.Name
			}
			text += fmt.Sprintf(" %v\n", m.Path)
		}
		for _, w := range out.Warnings {
			text += fmt.Sprintf("%v to %v\n", w, w.End)
		}
		summary += fmt.Sprintf(" %d instructions, %d sites, %d marks, %d warnings", count(out.Kernel), len(out.Kernel.Sites), len(out.Marks), len(out.Warnings))
		m := out.Module.Clone()
		opt.Run(m, opt.Default, nil)
		optimized := m.String()
		summary += fmt.Sprintf(" #%08x; optimized %d #%08x", crc32.ChecksumIEEE([]byte(text)), count(m.Kernels[0]), crc32.ChecksumIEEE([]byte(optimized)))
		lines = append(lines, compiledLine{summary, text + "\noptimized:\n" + optimized})
	}
	return lines
}

func count(k *ir.Kernel) (n int) {
	k.Body.Walk(func(*ir.Instr) { n++ })
	return n
}
