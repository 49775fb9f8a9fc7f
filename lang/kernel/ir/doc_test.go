package ir_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
)

const manual = "../../../docs/kernel-ir.md"

// TestManual compares the generated tables of the manual, operations and limits, with the package.
func TestManual(t *testing.T) {
	data, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, part := range []struct{ after, before, want string }{
		{"| limit | value | of |\n|---|---|---|\n", "\n## Operations\n", limits(t)},
		{"| operation | operands → results | meaning |\n|---|---|---|\n", "", operations(t)},
	} {
		head, rest, ok := strings.Cut(text, part.after)
		if !ok {
			t.Fatalf("the manual has no %q", part.after)
		}
		got, tail := rest, ""
		if part.before != "" {
			got, tail, _ = strings.Cut(rest, part.before)
		}
		if got != part.want {
			if !*update {
				t.Errorf("the manual differs after %q:\n%s", part.after, firstDifference(got, part.want))
			}
			text = head + part.after + part.want + part.before + tail
		}
	}
	if *update {
		if err := os.WriteFile(manual, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// operations returns the rows of the table of operations.
func operations(t *testing.T) string {
	var b strings.Builder
	for op := ir.Invalid + 1; !strings.HasPrefix(op.String(), "op("); op++ {
		form, meaning := op.Doc()
		if form == "" || meaning == "" {
			t.Errorf("%v is not documented", op)
		}
		fmt.Fprintf(&b, "| `%v` | %s | %s |\n", op, form, meaning)
	}
	return b.String()
}

// limits returns the rows of the table of the constants in limits.go with their comments.
func limits(t *testing.T) string {
	file, err := parser.ParseFile(token.NewFileSet(), "limits.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	source, err := os.ReadFile("limits.go")
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if ok {
			value := source[spec.Values[0].Pos()-1 : spec.Values[0].End()-1]
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", spec.Names[0].Name, value, strings.TrimSpace(spec.Comment.Text()))
		}
		return true
	})
	return b.String()
}
