package mutation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
)

// Fault is a mutant planted beside the original code. It is active in a process with its number in [FaultVariable].
type Fault struct {
	*Mutant
	Number int
	typ    string // type of the expression; "" for a statement
}

// Environment variables of a program with planted faults.
const (
	FaultVariable   = "OREPL_FAULT"   // number of the active fault
	ReachedVariable = "OREPL_REACHED" // file that collects the numbers of reached faults
)

// guarded returns code that executes the fault if it is active, and text otherwise. text may contain other faults.
func (f *Fault) guarded(text string) string {
	if f.typ == "" {
		return fmt.Sprintf("if !planted(%d) { %s }", f.Number, text)
	}
	return fmt.Sprintf("(func() %s { if planted(%d) { return %s }; return %s }())", f.typ, f.Number, f.New, text)
}

// Checker determines which faults of a folder compile.
type Checker struct {
	folder string
	name   string // name of the package
	files  *token.FileSet
	trees  map[string]*ast.File
	texts  map[string][]byte
	config types.Config
	types  map[place]string // types of expressions
}

type place struct {
	file     string
	from, to int
}

// NewChecker parses and type-checks the package in a folder below root.
func NewChecker(root, folder string) (*Checker, error) {
	exports, own, err := goList(root, folder)
	if err != nil {
		return nil, err
	}
	c := &Checker{folder: folder, name: own.Name, files: token.NewFileSet(), trees: map[string]*ast.File{}, texts: map[string][]byte{}, types: map[place]string{}}
	c.config = types.Config{Importer: importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	for _, name := range own.GoFiles {
		file := folder + "/" + name
		text, err := os.ReadFile(filepath.Join(own.Dir, name))
		if err != nil {
			return nil, err
		}
		c.texts[file] = text
		if c.trees[file], err = parser.ParseFile(c.files, file, text, parser.SkipObjectResolution); err != nil {
			return nil, err
		}
	}
	helper, err := parser.ParseFile(c.files, folder+"/planted.go", c.helper(), parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	c.trees[folder+"/planted.go"] = helper
	return c, c.readTypes()
}

type listedPackage struct {
	Dir, ImportPath, Name, Export string
	GoFiles                       []string
	DepOnly                       bool
}

// goList returns the names of the export files of the package in a folder, of its dependencies and of the packages that the
// helper imports. They are by import path. It also returns the package itself.
func goList(root, folder string) (exports map[string]string, own listedPackage, err error) {
	cmd := exec.Command("go", "list", "-deps", "-export", "-json=Dir,ImportPath,Name,Export,GoFiles,DepOnly", "./"+folder, "os", "strconv", "sync")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		return nil, own, fmt.Errorf("go list %s: %w", folder, err)
	}
	exports = map[string]string{}
	for lines := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		if err := lines.Decode(&p); errors.Is(err, io.EOF) {
			return exports, own, nil
		} else if err != nil {
			return nil, own, err
		}
		exports[p.ImportPath] = p.Export
		if strings.HasSuffix(p.ImportPath, "/"+folder) {
			own = p
		}
	}
}

func (c *Checker) readTypes() error {
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	p, err := c.check(c.trees, &info)
	if err != nil {
		return err
	}
	for x, t := range info.Types {
		if t.Type != nil {
			from, to := c.files.Position(x.Pos()), c.files.Position(x.End())
			c.types[place{from.Filename, from.Offset, to.Offset}] = types.TypeString(types.Default(t.Type), types.RelativeTo(p))
		}
	}
	return nil
}

func (c *Checker) check(trees map[string]*ast.File, info *types.Info) (*types.Package, error) {
	var list []*ast.File
	for _, f := range trees {
		list = append(list, f)
	}
	return c.config.Check(c.folder, c.files, list, info)
}

// compiles reports whether the package compiles with this text of a file.
func (c *Checker) compiles(file string, text []byte) bool {
	tree, err := parser.ParseFile(c.files, file, text, parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	trees := map[string]*ast.File{file: tree}
	for name, f := range c.trees {
		if name != file {
			trees[name] = f
		}
	}
	_, err = c.check(trees, nil)
	return err == nil
}

// Fault returns the fault of a mutant. It returns false if the mutant does not compile. Examples are an expression where a
// constant is required, and the removal of a variable's only use. It also returns false for a mutant with a call of recover.
func (c *Checker) Fault(m *Mutant, number int) (Fault, bool) {
	f := Fault{Mutant: m, Number: number}
	text, ok := c.texts[m.File]
	if !ok || strings.Contains(m.Old, "recover()") { // recover has no effect inside the inserted function
		return f, false
	}
	if m.Kind == "statement" {
		return f, c.compiles(m.File, m.Apply(text))
	}
	f.typ = c.types[place{m.File, m.From, m.To}]
	return f, f.typ != "" && c.compiles(m.File, c.planted(m.File, []Fault{f}))
}

// planted returns a file's text with its faults.
func (c *Checker) planted(file string, faults []Fault) []byte {
	var in []Fault
	for _, f := range faults {
		if f.File == file {
			in = append(in, f)
		}
	}
	sort.SliceStable(in, func(i, j int) bool {
		return in[i].From < in[j].From || in[i].From == in[j].From && in[i].To > in[j].To
	})
	return []byte(nest(string(c.texts[file]), 0, len(c.texts[file]), in))
}

// nest returns the text between two offsets with the faults. They are in order, each before those in the text that it
// replaces.
func nest(text string, from, to int, faults []Fault) string {
	var out strings.Builder
	for len(faults) > 0 {
		f := faults[0]
		n := 1
		for n < len(faults) && faults[n].To <= f.To {
			n++
		}
		out.WriteString(text[from:f.From])
		out.WriteString(f.guarded(nest(text, f.From, f.To, faults[1:n])))
		from, faults = f.To, faults[n:]
	}
	out.WriteString(text[from:to])
	return out.String()
}

// Plant writes the folder's files with the faults to a copy of the tree.
func (c *Checker) Plant(dir string, faults []Fault) error {
	files := map[string][]byte{c.folder + "/planted.go": c.helper()}
	for _, f := range faults {
		if files[f.File] == nil && c.texts[f.File] != nil {
			files[f.File] = c.planted(f.File, faults)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// helper returns the source of the function that reports whether a fault is active.
func (c *Checker) helper() []byte {
	return fmt.Appendf(nil, `package %s

import (
	"os"
	"strconv"
	"sync"
)

var (
	plantedFault, _ = strconv.Atoi(os.Getenv(%q))
	reachedFile     = os.Getenv(%q)
	reachedFaults   sync.Map
)

func planted(number int) bool {
	if reachedFile != "" {
		reached(number)
	}
	return number == plantedFault
}

func reached(number int) {
	if _, was := reachedFaults.LoadOrStore(number, true); was {
		return
	}
	f, err := os.OpenFile(reachedFile, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		panic(err)
	}
	if _, err := f.WriteString(strconv.Itoa(number) + "\n"); err != nil {
		panic(err)
	}
	if err := f.Close(); err != nil {
		panic(err)
	}
}
`, c.name, FaultVariable, ReachedVariable)
}
