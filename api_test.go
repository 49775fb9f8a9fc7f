package orepl_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/plugins/all"
	contract "github.com/orepl/orepl/runtime/offload"
)

// foreign are the types of other packages in the API. docs/embedding.md names their packages; all others are hidden or have a name in
// package orepl.
var foreign = []string{
	"contract.Plugin", "lang.Limits", "lang.Policy", "observe.Hook", "session.Library", "session.Session", "trace.Recorder",
}

// TestAPI checks that the exported declarations of package orepl have no other types of this module's packages.
func TestAPI(t *testing.T) {
	files := token.NewFileSet()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.FileExports(f)
		ours := map[string]bool{}
		for _, i := range f.Imports {
			path := strings.Trim(i.Path.Value, `"`)
			name := path[strings.LastIndex(path, "/")+1:]
			if i.Name != nil {
				name = i.Name.Name
			}
			ours[name] = strings.Contains(strings.Split(path, "/")[0], ".")
		}
		look := func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if p, ok := s.X.(*ast.Ident); ok && ours[p.Name] {
				name := p.Name + "." + s.Sel.Name
				seen = append(seen, name)
				if !slices.Contains(foreign, name) {
					t.Errorf("%s: %s is in the API", files.Position(s.Pos()), name)
				}
			}
			return true
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil || ast.IsExported(receiver(d)) {
					ast.Inspect(d.Type, look)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok && !s.Assign.IsValid() { // an alias is a name
						ast.Inspect(s.Type, look)
					}
				}
			}
		}
	}
	for _, name := range foreign {
		if !slices.Contains(seen, name) {
			t.Errorf("%s is no longer in the API", name)
		}
	}
}

// receiver returns the name of a method's type.
func receiver(d *ast.FuncDecl) (name string) {
	ast.Inspect(d.Recv, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			name = id.Name
		}
		return true
	})
	return name
}

// closer is what everything that ends has.
type closer interface {
	io.Closer
	Shutdown(context.Context) error
}

// TestCloseIsUniform checks that everything that ends does so by the same methods, and that a second call does nothing.
func TestCloseIsUniform(t *testing.T) {
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
	engine, err := rt.Engine(orepl.EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pipeline, err := rt.LoadPipeline(t.Context(), "testdata/scale.js", orepl.PipelineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	watched, err := rt.Watch(t.Context(), "testdata/scale.js", orepl.WatchOptions{Interval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []closer{engine, pipeline, watched, rt} {
		for _, end := range []func() error{func() error { return c.Shutdown(t.Context()) }, c.Close, c.Close} {
			if err := end(); err != nil {
				t.Errorf("%v: %v", reflect.TypeOf(c), err)
			}
		}
	}
	if _, err := rt.Engine(orepl.EngineOptions{}); orepl.CodeOf(err) != orepl.CodeClosed {
		t.Errorf("an engine of a closed runtime: %v", err)
	}
}

// endless is a script that leaves a kernel running.
const endless = `
	import { device, kernel, i32 } from 'offload'
	const dev = device(), x = dev.buffer(i32, 1)
	kernel((g, x) => { while (Atomics.load(x, 0) === 0) {} }).launch({ size: 1 }, x)
	undefined`

// TestCloseStops checks that Close of a runtime ends a kernel that never ends, which Shutdown does when its context ends.
func TestCloseStops(t *testing.T) {
	for _, end := range []func(*orepl.Runtime) error{
		(*orepl.Runtime).Close,
		func(rt *orepl.Runtime) error {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			return rt.Shutdown(ctx)
		},
	} {
		rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
		dev, err := rt.Session().Device(t.Context(), "cpu")
		if err != nil {
			t.Fatal(err)
		}
		engine, err := inside.Of(rt).NewEngine(lang.Options{}) // its queues outlive it
		if err != nil {
			t.Fatal(err)
		}
		if _, err := engine.Eval(t.Context(), "endless.js", endless); err != nil {
			t.Fatal(err)
		}
		q, err := dev.Queue()
		if err != nil {
			t.Fatal(err)
		}
		if q.Idle() {
			t.Fatal("the kernel does not run")
		}
		if err := end(rt); err != nil && orepl.CodeOf(err) != contract.Cancelled {
			t.Error(err)
		}
	}
}

// TestOpenDocumentsNothing bounds the work of Open: the documentation of scripts' names is made when it is first used.
func TestOpenDocumentsNothing(t *testing.T) {
	if n := testing.AllocsPerRun(3, func() { _ = orepl.Open(orepl.Options{}).Close() }); n > 150 {
		t.Errorf("%v allocations", n)
	}
}
