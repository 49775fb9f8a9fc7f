package tests

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Limits for files, structs and functions in shapedRooms.
const (
	mostLines         = 800
	mostFields        = 25
	mostFunctionLines = 100
)

// Limits for packages and types in shapedRooms.
const (
	mostFiles   = 25
	mostPackage = 5000 // lines
	mostMethods = 60
)

// larger are the bounds of packages and types that exceed the limits. A bound is to be lowered with its package or type, and its
// line is to go when the limit holds.
var larger = map[string]int{
	"files of lang/kernel":            28,
	"lines of lang/kernel":            7200,
	"methods of bindings/array.Run":   150,
	"methods of lang.Engine":          152,
	"methods of lang/ecma.parser":     127,
	"methods of lang/kernel.compiler": 238,
	"methods of runtime/queue.Queue":  102,
}

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

// sizes counts, for "files of PACKAGE", "lines of PACKAGE" and "methods of PACKAGE.TYPE". Generated files do not count.
type sizes map[string]int

func (s sizes) add(room, text string) error {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, room, text, parser.ParseComments)
	if err != nil || ast.IsGenerated(f) {
		return err
	}
	s["files of "+room]++
	s["lines of "+room] += files.File(f.Pos()).LineCount()
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv == nil {
			continue
		}
		of := fn.Recv.List[0].Type
		for {
			switch t := of.(type) {
			case *ast.StarExpr:
				of = t.X
				continue
			case *ast.IndexExpr:
				of = t.X
				continue
			case *ast.IndexListExpr:
				of = t.X
				continue
			}
			break
		}
		s[fmt.Sprintf("methods of %s.%v", room, of)]++
	}
	return nil
}

// complaints returns those about sizes beyond their bounds, and about bounds that are no longer needed.
func (s sizes) complaints(larger map[string]int) (list []string) {
	limit := map[string]int{"files": mostFiles, "lines": mostPackage, "methods": mostMethods}
	for what, n := range s {
		kind, _, _ := strings.Cut(what, " ")
		bound, listed := larger[what]
		switch {
		case !listed && n > limit[kind]:
			list = append(list, fmt.Sprintf("%d %s, more than %d", n, what, limit[kind]))
		case listed && n > bound:
			list = append(list, fmt.Sprintf("%d %s, more than the bound of %d in the table larger: put new code into a package of its own", n, what, bound))
		case listed && n <= limit[kind]:
			list = append(list, fmt.Sprintf("%d %s: drop the bound from the table larger", n, what))
		}
	}
	for what := range larger {
		if s[what] == 0 {
			list = append(list, fmt.Sprintf("the table larger bounds the %s, which do not exist", what))
		}
	}
	slices.Sort(list)
	return list
}

// TestSizes limits the files and lines of packages and the methods of types.
func TestSizes(t *testing.T) {
	s := sizes{}
	for _, room := range shapedRooms {
		err := filepath.WalkDir(room, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			return s.add(strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../"), readText(t, path))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, complaint := range s.complaints(larger) {
		t.Error(complaint)
	}
}

func TestSizesComplain(t *testing.T) {
	s := sizes{}
	text := "package a\n\ntype t struct{}\n" + strings.Repeat("func (t *t) f() {}\n", mostMethods+1)
	if err := s.add("a", text); err != nil {
		t.Fatal(err)
	}
	if got := s.complaints(nil); len(got) != 1 || !strings.Contains(got[0], "61 methods of a.t") {
		t.Errorf("%q", got)
	}
	if got := s.complaints(map[string]int{"methods of a.t": 61}); len(got) != 0 {
		t.Errorf("%q", got)
	}
	if got := s.complaints(map[string]int{"methods of a.t": 60, "files of a": 30, "lines of b": 9}); len(got) != 3 {
		t.Errorf("%q", got)
	}
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
