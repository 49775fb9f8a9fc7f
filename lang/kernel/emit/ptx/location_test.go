package ptx_test

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/emit/ptx"
	"github.com/orepl/orepl/lang/kernel/emit/ptx/ptxrun"
)

// TestLocations checks that every instruction has a source position inside the kernel, and that the loop's lines and the
// statements after it have instructions.
func TestLocations(t *testing.T) {
	for _, p := range peers {
		text := emitted(t, p)
		m, err := ptxrun.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		lines := map[int]bool{}
		for i, at := range m.Kernels()[0].Places() {
			if at.File != "kernel" || at.Line < 1 || at.Line > strings.Count(p.script, "\n")+1 || at.Column < 1 {
				t.Fatalf("%s: instruction %d is at %+v", p.name, i, at)
			}
			lines[at.Line] = true
		}
		for n, line := range strings.Split(p.script, "\n") {
			if strings.ContainsAny(line, "*+[") && !lines[n+1] {
				t.Errorf("%s: line %d has no instruction: %s", p.name, n+1, line)
			}
		}
		assemble(t, text)
	}
}

// TestFiles checks the .file directives of source files with special names.
func TestFiles(t *testing.T) {
	k := kernelOf(t, peers[0])
	text, err := ptx.Options{Files: []string{"a \"b\"\\\n.js"}}.Emit(k)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ptxrun.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if at := m.Kernels()[0].Places()[0]; at.File != "a _b___.js" {
		t.Errorf("%+v", at)
	}
	assemble(t, text)
}
