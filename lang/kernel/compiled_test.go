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

// TestCompiled compares the compiled kernels of testdata, under several options, with testdata/compiled.golden. It detects
// superfluous operations, changed source positions, and lost debugger marks, which results do not show.
//
// The golden file contains the parameter types of each kernel. For each set of options it has the numbers of instructions and
// sites, the number of instructions after all passes, checksums of the texts, and diagnostics. Kernels are identified by their
// text; kernels missing in the file are not compared.
func TestCompiled(t *testing.T) {
	const golden = "testdata/compiled.golden"
	data, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{} // by title
	for _, part := range strings.Split(string(data), "\n\n") {
		title, lines, _ := strings.Cut(part, "\n")
		want[title] = strings.TrimSpace(lines)
	}
	var all []string
	compared := 0
	for _, folder := range []string{"field", "ir", "run", "diag"} {
		files, _ := filepath.Glob("testdata/" + folder + "/*.js")
		for _, file := range files {
			for _, c := range chunks(t, file) {
				whole := expectation.ReplaceAllString(strings.Join(c.lines, "\n"), "")
				line, _, _ := strings.Cut(c.text, "\n")
				title := fmt.Sprintf("## %s #%08x %.60s", filepath.Base(file), crc32.ChecksumIEEE([]byte(whole)), expectation.ReplaceAllString(line, ""))
				alone := readChunk(t, c.lines, 1) // independent of the position in the file
				got, text := compiled(&alone)
				all = append(all, title+"\n"+got+"\n")
				known, ok := want[title]
				if ok {
					compared++
				}
				if ok && !*update && got != known {
					t.Errorf("%s:%d is compiled to something else (-update writes what is expected anew; -v shows it)\n%s", file, c.line, firstDifference(got, known))
					if testing.Verbose() {
						t.Log(text)
					}
				}
			}
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(strings.Join(all, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if compared < 120 {
		t.Errorf("only %d of %d kernels are in %s: -update writes it anew", compared, len(all), golden)
	}
}

// compiled returns a summary of a kernel compiled in several ways, one per line, and its IR as text.
func compiled(c *chunk) (summary, text string) {
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
			// the diagnostics' texts are in the test files
			summary += way.name + ": refused"
			notes := ""
			for _, d := range list {
				summary += fmt.Sprintf(", %s %d:%d-%d:%d", d.ID, d.Line, d.Column, d.End.Line, d.End.Column)
				notes += fmt.Sprintf("%v %s\n", d.Notes, d.Excerpt)
			}
			return fmt.Sprintf("%s #%08x", summary, crc32.ChecksumIEEE([]byte(notes))), text + err.Error()
		}
		if err != nil {
			return summary + err.Error(), text
		}
		summary += way.name + ":"
		if way.name == "as asked" {
			for _, p := range out.Params {
				if p.Rank == 0 {
					summary += fmt.Sprintf(" %s %v, %s;", p.Name, p.Type, p.Reason)
				}
			}
		}
		before := out.Module.String()
		for _, m := range out.Marks {
			before += fmt.Sprintf("mark %d at %d of %q %q", m.Kind, m.Site, m.Names, m.Text)
			if m.Array != nil {
				before += " " + m.Array.Name
			}
			before += fmt.Sprintf(" %v\n", m.Path)
		}
		for _, w := range out.Warnings {
			before += fmt.Sprintf("%v to %v\n", w, w.End)
		}
		m := out.Module.Clone()
		opt.Run(m, opt.Default, nil)
		after := m.String()
		summary += fmt.Sprintf(" %d instructions, %d sites, %d marks, %d warnings #%08x; optimized %d #%08x\n", count(out.Kernel), len(out.Kernel.Sites),
			len(out.Marks), len(out.Warnings), crc32.ChecksumIEEE([]byte(before)), count(m.Kernels[0]), crc32.ChecksumIEEE([]byte(after)))
		text += way.name + ":\n" + before + "optimized:\n" + after
	}
	return strings.TrimSpace(summary), text
}

func count(k *ir.Kernel) (n int) {
	k.Body.Walk(func(*ir.Instr) { n++ })
	return n
}
