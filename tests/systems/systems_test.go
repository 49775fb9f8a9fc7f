// Package systems type-checks the packages of this module for the systems other than the one that runs the tests.
package systems

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// source is a package as go list describes it.
type source struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	SFiles     []string
	ImportMap  map[string]string
	Module     *struct{ Main bool }
}

// list returns the packages of this module and all their dependencies for a system, dependencies first.
func list(t *testing.T, system, processor, pattern string) []source {
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,SFiles,ImportMap,Module", pattern)
	cmd.Env = append(cmd.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0")
	var message strings.Builder
	cmd.Stderr = &message
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, message.String())
	}
	var all []source
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var s source
		if err := decoder.Decode(&s); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
}

// checked holds the packages of one system that are type-checked so far, by import path.
type checked map[string]*types.Package

// check type-checks a package, and the bodies of its functions if it is part of this module.
func (c checked) check(s source, sizes types.Sizes) (problems []string) {
	files := token.NewFileSet()
	own := s.Module != nil && s.Module.Main
	var syntax []*ast.File
	for _, name := range s.GoFiles {
		file, err := parser.ParseFile(files, filepath.Join(s.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return append(problems, err.Error())
		}
		syntax = append(syntax, file)
		if own && len(s.SFiles) == 0 {
			problems = append(problems, bodiless(files, file)...)
		}
	}
	config := types.Config{
		Importer:         importer{c, s.ImportMap},
		IgnoreFuncBodies: !own,
		FakeImportC:      true,
		Sizes:            sizes,
		Error: func(err error) {
			if own {
				problems = append(problems, err.Error())
			}
		},
	}
	c[s.ImportPath], _ = config.Check(s.ImportPath, files, syntax, nil)
	return problems
}

// bodiless returns the functions of a file that have no body.
func bodiless(files *token.FileSet, file *ast.File) (problems []string) {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if ok && f.Body == nil {
			problems = append(problems, fmt.Sprintf("%s: %s has no body, and the package has no assembly", files.Position(f.Pos()), f.Name.Name))
		}
	}
	return problems
}

// importer finds the imports of one package among the checked packages.
type importer struct {
	checked checked
	renamed map[string]string
}

func (i importer) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if other, ok := i.renamed[path]; ok {
		path = other
	}
	if p := i.checked[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("the package %s is not listed", path)
}

// TestTypes checks every package on the systems that the other tests do not build for. tests/run --long builds, too.
func TestTypes(t *testing.T) {
	for _, target := range []string{"linux/arm64", "darwin/arm64", "windows/amd64"} {
		system, processor, _ := strings.Cut(target, "/")
		t.Run(system+"-"+processor, func(t *testing.T) {
			t.Parallel()
			done, own := checked{}, 0
			for _, s := range list(t, system, processor, "github.com/orepl/orepl/cmd/orepl") {
				if s.ImportPath == "unsafe" {
					continue
				}
				for _, problem := range done.check(s, types.SizesFor("gc", processor)) {
					t.Error(problem)
				}
				if s.Module != nil && s.Module.Main {
					own++
				}
			}
			if own < 100 {
				t.Errorf("%d packages of this module were checked", own)
			}
		})
	}
}

// TestCheckFindsFaults checks that a wrong type and a function without a body are found.
func TestCheckFindsFaults(t *testing.T) {
	const text = "package wrong\n\nfunc missing()\n\nvar number int = `text`\n"
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "wrong.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	own := &struct{ Main bool }{true}
	problems := checked{}.check(source{ImportPath: "wrong", Dir: dir, GoFiles: []string{"wrong.go"}, Module: own}, types.SizesFor("gc", "amd64"))
	if len(problems) != 2 || !strings.Contains(problems[0], "missing has no body") || !strings.Contains(problems[1], "cannot use") {
		t.Errorf("problems: %q", problems)
	}
}
