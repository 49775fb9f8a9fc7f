package amd64

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestTables checks that each row is found by its operation, and that each operation has rows and the right name.
func TestTables(t *testing.T) {
	rows, found := 0, 0
	for _, forms := range families {
		rows += len(forms)
	}
	for op := Op(1); op < numOps; op++ {
		if len(op.forms()) == 0 {
			t.Errorf("%s: no forms", op)
		}
		found += len(op.forms())
		for i := range op.forms() {
			if op.forms()[i].op != op {
				t.Errorf("%s finds the rows of %s", op, op.forms()[i].op)
			}
		}
	}
	if found != rows {
		t.Errorf("%d of %d rows can be found: the rows of an operation must stand together", found, rows)
	}
	op := Op(1)
	for _, file := range []string{"op.go", "op_vector.go"} {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			id := v.Names[0].Name
			if id == "firstVector" || id == "numOps" {
				return true
			}
			if want := strings.ToLower(strings.ReplaceAll(id, "REP_", "REP ")); op.String() != want {
				t.Errorf("%s is named %q", id, op)
			}
			op++
			return true
		})
	}
	if op != numOps {
		t.Errorf("%d operations declared, %d known", op, numOps)
	}
}

// TestUnsizedMemory checks that a memory operand may omit its size only if one size is possible.
func TestUnsizedMemory(t *testing.T) {
	g := generator{stride: 101}
	for op := Op(1); op < numOps; op++ {
		for i := range op.forms() {
			g.samples = g.samples[:0]
			g.form(&op.forms()[i])
			for _, s := range g.samples {
				j := -1
				for k, o := range s.args {
					if _, ok := o.(Mem); ok {
						j = k
					}
				}
				if j < 0 {
					continue
				}
				v := s.args[j].(Mem)
				size := v.Size
				v.Size = 0
				s.args[j] = v
				var in instruction
				if in.set(op, s.args) != "" || !in.match(AllFeatures) {
					continue // the size is required, or the form differs
				}
				unsized := emitted(t, op, s.args)
				v.Size = size
				s.args[j] = v
				sized := emitted(t, op, s.args)
				if unsized != sized {
					t.Fatalf("%s: % x with the size, % x without", in.String(), sized, unsized)
				}
			}
		}
	}
}

func emitted(t *testing.T, op Op, args []Operand) string {
	t.Helper()
	a := New(AllFeatures)
	a.Emit(op, args...)
	code, err := a.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return string(code)
}
