package esm_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
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

// TestImportTypes checks that imports of one file with different types do not share a module, in any order.
func TestImportTypes(t *testing.T) {
	dir := files(t, map[string]string{
		"code.js": "export default 42", "data.json": `{"a":1}`,
		"main.js": `
const load = async (file, type) => {
  try { return (await import(file, type && { with: { type } })).default } catch (e) { return e.message }
}
for (const type of ['', 'text', 'json', 'css', '']) print(type, await load('./code.js', type), await load('./data.json', type))
print(await load('host', 'json'))`,
	})
	e, out := testEngine(t, lang.Options{Dir: dir})
	if _, err := e.RunFile(context.Background(), "main.js"); err != nil {
		t.Fatal(err)
	}
	want := ` 42 { a: 1 }
text export default 42 {"a":1}
json this is no JSON: Unexpected character 'e' in JSON at position 0 { a: 1 }
css import of code.js: there is no import type "css" import of data.json: there is no import type "css"
 42 { a: 1 }
import of host: a builtin module is not of type "json"
`
	if got := out.String(); got != want {
		t.Errorf("printed\n%swant\n%s", got, want)
	}
}

// TestByteOrderMark checks that a byte order mark is no part of scripts and JSON, but of text.
func TestByteOrderMark(t *testing.T) {
	const mark = "\ufeff"
	dir := files(t, map[string]string{
		"data.json": mark + "[1]", "note.txt": mark + "n", "other.ts": mark + "#!/usr/bin/env orepl\nexport const x: number = 2", "wrong.js": mark + "nothing()",
		"main.js": mark + `#!/usr/bin/env orepl
import data from './data.json'
import note from './note.txt'
import { x } from './other.ts'
print(data, note.length, x)
await import('./wrong.js')`,
	})
	e, out := testEngine(t, lang.Options{Dir: dir})
	_, err := e.RunFile(context.Background(), "main.js")
	var d *diag.Diagnostic
	if !errors.As(err, &d) || d.Position.String() != "wrong.js:1:1" {
		t.Errorf("failed with %v", err)
	}
	if got := out.String(); got != "[ 1 ] 2 2\n" {
		t.Errorf("printed %q", got)
	}
	if _, err := e.Run(context.Background(), "call.js", mark+"#!x\nprint(3)"); err != nil {
		t.Error(err)
	}
}
