package kernlang

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/advice"
	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/overflow"
	"github.com/orepl/orepl/lang/kernel/races"
)

var update = flag.Bool("update", false, "write docs/diagnostics.md and testdata/compiled.golden")

// example demonstrates a diagnostic by a kernel that has it at the mark, and one without it.
type example struct {
	id      diag.ID
	text    string // without the mark
	at      int    // the mark's column, from 1
	instead string
}

// parameters has the types of the examples' parameters by name.
var parameters = map[string]kernel.Arg{
	"x":  {Kind: kernel.Buffer, Elem: ir.Elem{Scalar: ir.F32}, Rank: 1},
	"k":  {Kind: kernel.Buffer, Elem: ir.Elem{Scalar: ir.I32}, Rank: 1},
	"u":  {Kind: kernel.Buffer, Elem: ir.Elem{Scalar: ir.U32}, Rank: 1},
	"n":  {Kind: kernel.Buffer, Elem: ir.Elem{Scalar: ir.I64}, Rank: 1},
	"b":  {Kind: kernel.Buffer, Elem: ir.Elem{Scalar: ir.U8}, Rank: 1},
	"ps": {Kind: kernel.Buffer, Elem: ir.Elem{Record: particle}, Rank: 1},
	"m":  {Kind: kernel.Buffer, Elem: ir.Elem{Scalar: ir.F32}, Rank: 2},
}

func readExamples(t *testing.T) map[diag.ID]example {
	t.Helper()
	data, err := os.ReadFile("testdata/diagnostics/examples.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := map[diag.ID]example{}
	for _, chunk := range strings.Split(strings.TrimSpace(string(data)), "\n\n") {
		lines := strings.Split(chunk, "\n")
		if len(lines) != 3 {
			t.Fatalf("an example has an ID and two kernels: %q", chunk)
		}
		before, after, marked := strings.Cut(lines[1], "▶")
		if !marked {
			t.Fatalf("%s: no mark", lines[0])
		}
		out[diag.ID(lines[0])] = example{diag.ID(lines[0]), before + after, utf8.RuneCountInString(before) + 1, lines[2]}
	}
	return out
}

// diagnose compiles an example's kernel and returns its errors, or its warnings of this kind.
func diagnose(text string, id diag.ID) (diag.List, error) {
	var list diag.List
	f, err := kernel.Parse(&kernel.Source{Text: text})
	if errors.As(err, &list) {
		return list, nil
	}
	if err != nil {
		return nil, err
	}
	var args []kernel.Arg
	for _, p := range f.Params() {
		args = append(args, parameters[p])
	}
	c, err := f.Compile(args, kernel.Options{Warnings: true})
	if errors.As(err, &list) {
		return list, nil
	}
	if err != nil {
		return nil, err
	}
	list = append(advice.Warnings(c), overflow.Warnings(c, overflow.Assumed(c))...)
	list = append(list, races.Warnings(c, races.Assumed(c))...)
	return slices.DeleteFunc(list, func(d *diag.Diagnostic) bool { return d.ID != id }), nil
}

// without explains diagnostics that no kernel text alone can demonstrate.
var without = map[diag.ID]string{
	diag.TextTooLong:    "Move tables into typed arrays, which the kernel captures, and move parts of the kernel to helper functions of the script.",
	diag.NotCapturable:  "`let n = 1; n = 2; kernel((g, x) => { x[0] = n })`: declare it with `const`, or pass it as an argument.",
	diag.ArgumentCount:  "Only Go programs that compile kernels see it; in scripts `launch` reports the error.",
	diag.ArgumentType:   "Only Go programs that compile kernels see it; in scripts `launch` and `kernel` report the error.",
	diag.FractionForInt: "`kernel((g, x, n) => { x[n] = 1 }).launch({ size: 1 }, x, 0.5)`: pass an integer, or give the kernel a signature with `n: f32`.",
	diag.BadOption:      "`kernel(fn, { real: i32 })`: write `{ real: f32 }` or `{ real: f64 }`.",
	diag.TooDeep:        "A chain of hundreds of `else if`: use a table, a `switch` or a loop.",
	diag.NarrowGroups: "`const s = g.reduce.add(x[g.y][g.x]); …`, launched with `{ size: [1024, 1024] }`: launch with " +
		"`{ size: [1024, 1024], groupSize: [256, 1] }` where the sums may be of rows",
	diag.RaggedTile: "`const t = g.shared(f32, 256); t[g.local.x] = x[g.x]; g.barrier(); …`, launched with `{ size: 1000 }`: " +
		"launch with `{ groups, groupSize }`, and compare with the length at the edge.",
	diag.Internal: "The kernel may be correct, and the compiler is at fault: please report the kernel.",
}

// TestDiagnosticsPage checks each diagnostic's example and its corrected kernel, and docs/diagnostics.md.
func TestDiagnosticsPage(t *testing.T) {
	examples := readExamples(t)
	var page strings.Builder
	page.WriteString(`# Diagnostics

The diagnostics of the kernel compiler, by ID. Each has a position in the script, which a caret marks in the examples. In these, ` + "`x`" + ` is a
buffer of f32, ` + "`k`" + ` of i32, ` + "`u`" + ` of u32, ` + "`n`" + ` of i64, ` + "`b`" + ` of u8, ` + "`m`" + ` of f32 with two dimensions, and ` + "`ps`" + ` of
` + "`struct({x: f32, v: [f32, 3], id: u32})`" + `. A kernel with warnings runs nevertheless.

This page is written by a test (` + "`go test ./tests/kernlang -run DiagnosticsPage -update`" + `), which compiles the examples.
`)
	for _, e := range diag.Table() {
		x, ok := examples[e.ID]
		delete(examples, e.ID)
		if reason := without[e.ID]; ok == (reason != "") {
			t.Errorf("%s needs either an example or a word on how it is reached", e.ID)
			continue
		}
		kind := ""
		if e.Warning {
			kind = " (warning)"
		}
		fmt.Fprintf(&page, "\n## %s%s\n\n%s\n", e.ID, kind, e.Meaning)
		if !ok {
			fmt.Fprintf(&page, "\n%s\n", without[e.ID])
			continue
		}
		d := x.check(t)
		if d == nil {
			continue
		}
		fmt.Fprintf(&page, "\n```\n%s\n%s^ %s\n```\n", x.text, strings.Repeat(" ", x.at-1), d.Message)
		if d.Rewrite != "" {
			fmt.Fprintf(&page, "\nWhat to do: %s. ", strings.TrimSuffix(d.Rewrite, "."))
		} else {
			page.WriteString("\n")
		}
		fmt.Fprintf(&page, "Instead:\n\n```js\n%s\n```\n", x.instead)
	}
	for id := range examples {
		t.Errorf("there is no diagnostic %s", id)
	}
	const file = "../../docs/diagnostics.md"
	if *update {
		if err := os.WriteFile(file, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != page.String() {
		t.Errorf("%s is stale: go test ./tests/kernlang -run DiagnosticsPage -update", file)
	}
}

// check compiles the example and returns its diagnostic.
func (x *example) check(t *testing.T) *diag.Diagnostic {
	t.Helper()
	list, err := diagnose(x.text, x.id)
	if err != nil {
		t.Errorf("%s: %v", x.id, err)
		return nil
	}
	if instead, err := diagnose(x.instead, x.id); err != nil || len(instead) > 0 {
		t.Errorf("%s: what is written instead has %v %v", x.id, instead, err)
	}
	// Positions of diagnostics without a file count from the start of the text.
	if len(list) == 0 || list[0].ID != x.id || list[0].Line != 1 || list[0].Column != x.at {
		t.Errorf("%s: expected at column %d, got %v", x.id, x.at, list)
		return nil
	}
	return list[0]
}
