package ir_test

import (
	"os"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/tests/allocs"
)

func readModule(t testing.TB, path string) *ir.Module {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ir.ParseText(path, string(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// allText returns the text of a module that contains every form of the grammar, as printed by the printer.
func allText(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("testdata/all.ir")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTextRoundTrip(t *testing.T) {
	want := allText(t)
	m, err := ir.ParseText("all.ir", want)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.String(); got != want {
		t.Errorf("printing what was parsed differs:\n%s", firstDifference(got, want))
	}
}

// TestAccessed compares the result of Accessed with that of Resolve.
func TestAccessed(t *testing.T) {
	m, err := ir.ParseText("all.ir", allText(t))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, k := range m.Kernels {
		k.Body.Walk(func(in *ir.Instr) {
			if in.Op != ir.Load && in.Op != ir.Store && in.Op != ir.Atomic {
				return
			}
			found++
			r := in.Resolve()
			if got := in.Accessed(); got != r.Scalar || got == ir.Void {
				t.Errorf("%v accesses %v, and by its path %v", in, got, r.Scalar)
			}
			if n := in.NumIndices(); len(r.Strides) != n || len(r.Extents) != n || len(r.Inner) != n {
				t.Errorf("%v: %+v for %d indices", in, r, n)
			}
			wrong := *in
			wrong.Path = append(wrong.Path[:len(wrong.Path):len(wrong.Path)], ir.Step{Kind: ir.StepIndex})
			if wrong.Accessed() != ir.Void || wrong.Resolve().Strides != nil {
				t.Errorf("%v with an index more: %+v", in, wrong.Resolve())
			}
			if n := allocs.PerRun(10, func() { in.Accessed() }); n != 0 {
				t.Errorf("%v: %v allocations", in, n)
			}
		})
	}
	if found == 0 {
		t.Error("no accesses")
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "got  " + g[i] + "\nwant " + w[i]
		}
	}
	return "one is longer"
}

func TestParseErrors(t *testing.T) {
	const head = "orepl-ir 1\nkernel k(a %0: f32, x: f32[*]) {\n"
	for _, c := range []struct{ name, text, want string }{
		{"no header", "kernel k() {}", "t:1:1: expected 'orepl-ir 2'"},
		{"empty", "", "t:1:1: expected 'orepl-ir 2'"},
		{"version", "orepl-ir 3\n", "t:1:10: this program reads the versions 1 to 2, and this is version 3"},
		{"older version", head + "pause\nreturn\n}\n", "t:1:10: the module has operations of version 2, and says that it is version 1"},
		{"fence", head + "fence.sequential.group\nreturn\n}\n", "t:3:7: expected the order of a fence"},
		{"reach of a fence", head + "fence.both.world\nreturn\n}\n", "t:3:12: expected the reach of a fence"},
		{"array by reference", head + "lib.f [y]\nreturn\n}\n", "t:3:8: there is no array y"},
		{"stray", "orepl-ir 1\nfoo", "t:2:1: expected file, record or kernel, found 'foo'"},
		{"unknown op", head + "  frob %0\n", "t:3:3: expected an operation, found 'frob'"},
		{"unknown value", head + "  %1: f32 = neg %9\n", "t:3:17: there is no value %9"},
		{"wrong name", head + "  %1: f32 = neg %a.0\n", "t:3:17: there is no value %a.0"},
		{"twice", head + "  %0: f32 = const 1\n", "t:3:3: the number 0 is already that of %0"},
		{"unknown array", head + "  %1: f32 = load z[%0]\n", "t:3:18: there is no array z"},
		{"unknown type", head + "  %1: f33 = const 1\n", "t:3:7: expected a type, found 'f33'"},
		{"bad constant", head + "  %1: f32 = const 1e99\n", "t:3:19: expected a constant of type f32"},
		{"no field", head + "  %1: f32 = load x[%0].v\n", "t:3:24: f32 has no field v"},
		{"no label", head + "  break @3\n", "t:3:9: there is no label @3 around this"},
		{"unclosed", head + "  return\n", "t:4:1: expected '}', found end of text"},
		{"unclosed string", "orepl-ir 1\nfile 0 \"abc\n", "t:2:8: the string does not end"},
		{"character column", "orepl-ir 1\nfile 0 \"äö\" ;\n", "t:2:13: unexpected character ';'"},
		{"same array", "orepl-ir 1\nkernel k(x: f32[*], x: f32[*]) {", "t:2:21: array x is declared twice"},
		{"same kernel", "orepl-ir 1\nkernel k() {\n}\nkernel k() {\n}\n", "t:4:8: kernel k is declared twice"},
		{"trailing", head + "  return 5\n", "t:3:10: expected the end of the line, found '5'"},
		{"too deep", head + strings.Repeat("if %0 {\n", 300), "blocks nest deeper than 255"},
		{"huge dim", "orepl-ir 1\nkernel k() {\n  shared s: f32[4294967296]\n", "t:3:17: expected an extent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := ir.ParseText("t", c.text)
			if err == nil {
				t.Fatalf("accepted: %v", m)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q, want %q", err, c.want)
			}
		})
	}
}

func FuzzParseText(f *testing.F) {
	f.Add(allText(f))
	f.Add(version2)
	f.Add("orepl-ir 1\nkernel k(a %\"b c\".0: f32) {\n  %1: f32 = neg %\"b c\".0\n}\n")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ir.ParseText("fuzz", text)
		if err != nil {
			return
		}
		printed := m.String()
		again, err := ir.ParseText("printed", printed)
		if err != nil {
			t.Fatalf("the printed module does not parse: %v\n%s", err, printed)
		}
		if got := again.String(); got != printed {
			t.Fatalf("printing is not stable:\n%s", firstDifference(got, printed))
		}
	})
}
