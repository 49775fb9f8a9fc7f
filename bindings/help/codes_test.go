package help_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/orepl/orepl/bindings/help"
	kerneldiag "github.com/orepl/orepl/lang/kernel/diag"
)

// TestErrorsPageIsCurrent checks the page of error codes, which OREPL_UPDATE=1 writes.
func TestErrorsPageIsCurrent(t *testing.T) {
	const path = "../../docs/errors.md"
	if os.Getenv("OREPL_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(help.ErrorsPage()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != help.ErrorsPage() {
		t.Errorf("%s is not what the table says: run OREPL_UPDATE=1 go test ./bindings/help (%v)", path, err)
	}
}

// TestCodesAreDocumented checks that the documented error codes are those in the sources.
func TestCodesAreDocumented(t *testing.T) {
	used := map[string]string{} // to the file
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel("../..", path)
		top, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "../.." || d.Name() == "testdata" || slices.Contains([]string{"tests", "examples", "docs"}, top)) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, code := range codesOf(file) {
			used[code] = rel
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(used) < 40 {
		t.Fatalf("only %d codes found", len(used))
	}
	documented := map[string]bool{}
	for _, c := range help.Codes() {
		if documented[c.ID] || c.Meaning == "" || c.Do == "" {
			t.Errorf("%s is documented twice or in part", c.ID)
		}
		documented[c.ID] = true
		if used[c.ID] == "" {
			t.Errorf("%s is documented, and no error has it", c.ID)
		}
	}
	for code, file := range used {
		if _, ok := kerneldiag.Lookup(kerneldiag.ID(code)); !ok && !documented[code] {
			t.Errorf("errors of %s have the code %q, which bindings/help/codes.go does not document", file, code)
		}
	}
}

var codeText = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)

// codesOf returns the error codes in a file: first arguments of diag.New, values of a diagnostic's field ID, results of
// methods Code, and constants of type Code.
func codesOf(file *ast.File) []string {
	var list []string
	add := func(e ast.Expr) {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil && codeText.MatchString(text) {
				list = append(list, text)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) > 1 && (f.Sel.Name == "New" && isName(f.X, "diag") || f.Sel.Name == "fail" && isName(f.X, "b")) {
				add(n.Args[0])
			}
		case *ast.CompositeLit:
			if s, ok := n.Type.(*ast.SelectorExpr); ok && s.Sel.Name == "Diagnostic" {
				for _, element := range n.Elts {
					if kv, ok := element.(*ast.KeyValueExpr); ok && isName(kv.Key, "ID") {
						add(kv.Value)
					}
				}
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if s, ok := left.(*ast.SelectorExpr); ok && s.Sel.Name == "ID" && i < len(n.Rhs) {
					add(n.Rhs[i])
				}
			}
		case *ast.FuncDecl:
			if n.Name.Name == "Code" && n.Recv != nil && n.Body != nil {
				for _, s := range n.Body.List {
					if r, ok := s.(*ast.ReturnStmt); ok && len(r.Results) == 1 {
						add(r.Results[0])
					}
				}
			}
		case *ast.ValueSpec:
			if isName(n.Type, "Code") {
				for _, v := range n.Values {
					add(v)
				}
			}
		}
		return true
	})
	return list
}

func isName(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}
