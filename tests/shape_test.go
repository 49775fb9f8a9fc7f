package tests

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Limits for files, structs and functions in shapedRooms.
const (
	mostLines         = 800
	mostFields        = 25
	mostFunctionLines = 100
)

// shapedRooms are the folders to which the limits apply.
var shapedRooms = []string{"../bindings", "../cmd", "../examples", "../kernels", "../lang", "../plugins", "../runtime"}

// TestShape limits the lines of files, the fields of structs and the lines of functions. Tables are exempt, since they are
// variables; an embedded struct counts as one field. Generated files are exempt.
func TestShape(t *testing.T) {
	for _, room := range shapedRooms {
		err := filepath.WalkDir(room, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			for _, complaint := range shapeOf(t, path) {
				t.Error(complaint)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// shapeOf returns the complaints about the sizes of a file and its declarations.
func shapeOf(t *testing.T, path string) (complaints []string) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	if ast.IsGenerated(f) {
		return nil
	}
	complain := func(n ast.Node, format string, args ...any) {
		complaints = append(complaints, fmt.Sprintf("%s: %s", files.Position(n.Pos()), fmt.Sprintf(format, args...)))
	}
	lines := func(n ast.Node) int { return files.Position(n.End()).Line - files.Position(n.Pos()).Line + 1 }
	if n := files.File(f.Pos()).LineCount(); n > mostLines {
		complain(f, "the file has %d lines, more than %d", n, mostLines)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if lines := lines(n); lines > mostFunctionLines {
				complain(n, "%s has %d lines, more than %d", n.Name.Name, lines, mostFunctionLines)
			}
		case *ast.TypeSpec:
			if s, ok := n.Type.(*ast.StructType); ok {
				fields := 0
				for _, f := range s.Fields.List {
					fields += max(len(f.Names), 1)
				}
				if fields > mostFields {
					complain(n, "%s has %d fields, more than %d", n.Name.Name, fields, mostFields)
				}
			}
		}
		return true
	})
	return complaints
}

func TestShapeComplains(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bad.go")
	text := "package bad\n\ntype wide struct {\n" + strings.Repeat("\t_ int\n", 26) + "}\n\nfunc long() {\n" + strings.Repeat("\t_ = 0\n", 99) + "}\n" +
		strings.Repeat("\n// more\n", 340)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := shapeOf(t, path); len(got) != 3 {
		t.Errorf("%d complaints: %q", len(got), got)
	}
}
