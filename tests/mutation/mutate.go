package mutation

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Mutant is a fault: a replacement of a piece of a file's text.
type Mutant struct {
	File     string // path below the root, with slashes
	Func     string // enclosing function
	Line     int
	From, To int // offsets in the file
	Old, New string
	Kind     string // operator, negation, constant, condition or statement
	Source   string // text of its line
}

// Key identifies a mutant by its change rather than its line, such as "lang/kernel/flow.go merge: a == b → a != b".
func (m *Mutant) Key() string {
	return fmt.Sprintf("%s %s: %s → %s", m.File, m.Func, oneLine(m.Old), oneLine(m.New))
}

// Keys returns three identifications of a mutant: its key; its key with the text of its line, since a function may have
// several equal changes; its function.
func (m *Mutant) Keys() (own, inLine, inFunc string) {
	return m.Key(), m.Key() + " in " + m.Source, m.File + " " + m.Func + ": any"
}

func (m *Mutant) String() string {
	return fmt.Sprintf("%s:%d (%s, %s): %s → %s", m.File, m.Line, m.Func, m.Kind, oneLine(m.Old), oneLine(m.New))
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" {
		return "nothing"
	}
	return s
}

// Apply returns the file's text with the fault.
func (m *Mutant) Apply(text []byte) []byte {
	return []byte(string(text[:m.From]) + m.New + string(text[m.To:]))
}

// swaps maps operators to their replacements.
var swaps = map[token.Token]token.Token{
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.ADD, token.QUO: token.MUL, token.REM: token.MUL,
	token.AND: token.OR, token.OR: token.AND, token.XOR: token.OR, token.AND_NOT: token.AND,
	token.SHL: token.SHR, token.SHR: token.SHL,
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
}

// Find returns the faults that can be planted in the Go files of a folder below root, except tests.
func Find(root, folder string) ([]Mutant, error) {
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), "*.go"))
	if err != nil {
		return nil, err
	}
	var out []Mutant
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		f := finder{name: folder + "/" + filepath.Base(file), text: text, files: token.NewFileSet()}
		tree, err := parser.ParseFile(f.files, file, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range tree.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				f.fn = fn.Name.Name
				ast.Inspect(fn.Body, f.visit)
			}
		}
		out = append(out, f.out...)
	}
	return out, nil
}

type finder struct {
	name  string
	fn    string
	text  []byte
	files *token.FileSet
	out   []Mutant
}

func (f *finder) add(kind string, from, to token.Pos, text string) {
	a, b := f.files.Position(from), f.files.Position(to)
	f.out = append(f.out, Mutant{File: f.name, Func: f.fn, Line: a.Line, From: a.Offset, To: b.Offset,
		Old: string(f.text[a.Offset:b.Offset]), New: text, Kind: kind, Source: f.lineOf(a.Offset)})
}

func (f *finder) lineOf(at int) string {
	line := f.text[bytes.LastIndexByte(f.text[:at], '\n')+1:]
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	return strings.TrimSpace(string(line))
}

func (f *finder) textOf(n ast.Node) string {
	return string(f.text[f.files.Position(n.Pos()).Offset:f.files.Position(n.End()).Offset])
}

func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if op, ok := swaps[n.Op]; ok {
			f.add("operator", n.Pos(), n.End(), f.textOf(n.X)+" "+op.String()+" "+f.textOf(n.Y))
		}
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			f.add("negation", n.Pos(), n.End(), f.textOf(n.X))
		}
	case *ast.BasicLit:
		if i, err := strconv.ParseInt(n.Value, 10, 64); n.Kind == token.INT && err == nil {
			f.add("constant", n.Pos(), n.End(), strconv.FormatInt(i+1, 10))
		}
	case *ast.Ident:
		if n.Name == "true" || n.Name == "false" {
			f.add("constant", n.Pos(), n.End(), strconv.FormatBool(n.Name == "false"))
		}
	case *ast.IfStmt:
		f.add("condition", n.Cond.Pos(), n.Cond.End(), "!("+f.textOf(n.Cond)+")")
	case *ast.BlockStmt:
		f.dropped(n.List)
	case *ast.CaseClause:
		f.dropped(n.Body)
	}
	return true
}

// dropped adds the statements of a list that can be removed.
func (f *finder) dropped(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt, *ast.IncDecStmt:
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
		default:
			continue
		}
		f.add("statement", s.Pos(), s.End(), "")
	}
}
