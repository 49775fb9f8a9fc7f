package ptx

import (
	"fmt"
	"strings"

	"github.com/orepl/orepl/lang/kernel/emit/text"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/lower"
)

// files returns the .file directives for the source files of kernels. A file without a name is called kernel.
func files(list []*lower.Kernel, names []string) string {
	count := 0
	for _, k := range list {
		for i := range k.IR.Sites {
			if s := &k.IR.Sites[i]; s.Line > 0 {
				count = max(count, s.File+1)
			}
		}
	}
	var b strings.Builder
	for i := range count {
		name := "kernel"
		if i < len(names) && names[i] != "" {
			name = strings.ReplaceAll(text.Comment(names[i]), `"`, "_")
		}
		fmt.Fprintf(&b, ".file %d \"%s\"\n", i+1, name)
	}
	return b.String()
}

// location returns the operands of .loc for a site, or "" if the site has no line. File numbers start at 1.
func location(s *ir.Site) string {
	if s.Line <= 0 || s.File < 0 {
		return ""
	}
	return fmt.Sprintf("%d %d %d", s.File+1, s.Line, s.Col)
}

// locate prints .loc if an instruction's source position is known and differs from that of the last .loc. It ignores constants.
func (e *emitter) locate(in *ir.Instr) {
	if in.Site <= 0 || in.Site >= len(e.kernel.IR.Sites) || in.Op == ir.Const {
		return
	}
	s := &e.kernel.IR.Sites[in.Site]
	at := location(s)
	if at == "" || at == e.here {
		return
	}
	e.here = at
	fmt.Fprintf(&e.b, "\t.loc %s", at)
	if s.Text != "" {
		fmt.Fprintf(&e.b, " // %s", text.Comment(s.Text))
	}
	e.b.WriteByte('\n')
}

// locateFirst prints .loc with a kernel's first known source position.
func (e *emitter) locateFirst() {
	e.kernel.IR.Body.Walk(func(in *ir.Instr) {
		if e.here == "" {
			e.locate(in)
		}
	})
}

// SiteOf returns the kernel's site for which line n of a text, counted from 1, was printed. Of several sites at one position it
// returns the first. It returns false if there is none.
func SiteOf(k *ir.Kernel, text string, n int) (site int, ok bool) {
	lines := strings.Split(text, "\n")
	for i := min(n, len(lines)) - 1; i >= 0 && !strings.HasPrefix(lines[i], "{"); i-- {
		at, found := strings.CutPrefix(lines[i], "\t.loc ")
		if !found {
			continue
		}
		at, _, _ = strings.Cut(at, " //")
		for site := range k.Sites {
			if location(&k.Sites[site]) == at {
				return site, true
			}
		}
	}
	return 0, false
}
