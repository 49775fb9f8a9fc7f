package esm_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/inspect"
)

// testEngine returns an engine with the globals print and sleep, and what scripts print.
func testEngine(t *testing.T, o lang.Options) (*lang.Engine, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	o.Modules = []lang.Module{{Name: "host", Globals: []string{"print", "sleep"}, Instantiate: func(e *lang.Engine) (*goja.Object, error) {
		x := e.VM().NewObject()
		_ = x.Set("print", e.Func("print", func(c goja.FunctionCall) (goja.Value, error) {
			for i, v := range c.Arguments {
				if i > 0 {
					out.WriteByte(' ')
				}
				out.WriteString(e.Inspect(v, inspect.Options{}))
			}
			out.WriteByte('\n')
			return nil, nil
		}))
		_ = x.Set("sleep", e.Func("sleep", func(c goja.FunctionCall) (goja.Value, error) {
			d := time.Duration(c.Argument(0).ToInteger()) * time.Millisecond
			return e.Async("sleep", func(ctx context.Context) (func() (goja.Value, error), error) {
				select {
				case <-time.After(d):
					return nil, nil
				case <-ctx.Done():
					return nil, context.Cause(ctx)
				}
			}), nil
		}))
		return x, nil
	}}}
	e, err := lang.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e, &out
}

// files writes a tree of files and returns its directory.
func files(t *testing.T, tree map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range tree {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
