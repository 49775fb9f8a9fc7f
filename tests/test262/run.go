package test262

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/dop251/goja"
	"github.com/evanw/esbuild/pkg/api"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/runtime/stopwatch"
)

const (
	limit = 10 * time.Second // of one test, by a stopwatch
	grace = 10 * time.Second // after which a test that ignores the limit is ended
)

// A result is the outcome of one test.
type result struct {
	Path   string
	Reason string // why it failed; empty if it passed
	Ended  bool   // the test ended its process, or did not end
}

// A host runs tests, each in an engine of its own.
type host struct {
	root    string
	runtime *orepl.Runtime
	harness map[string]*goja.Program
}

// serve runs the tests whose paths it reads, line by line, and writes a result for each. After a test that does not end, it
// exits.
func serve(root string, in io.Reader, out io.Writer) error {
	debug.SetMaxStack(512 << 20)
	h := &host{root: root, runtime: orepl.Open(orepl.Options{}), harness: map[string]*goja.Program{}}
	defer h.runtime.Close()
	lines := bufio.NewScanner(in)
	enc := json.NewEncoder(out)
	for lines.Scan() {
		r := h.bounded(lines.Text())
		if err := enc.Encode(r); err != nil {
			return err
		}
		if r.Ended {
			os.Exit(3) // the engine still runs
		}
	}
	return lines.Err()
}

// bounded runs a test for no longer than limit and grace.
func (h *host) bounded(path string) result {
	ctx, stop := stopwatch.WithTimeout(context.Background(), limit+grace)
	defer stop()
	done := make(chan string, 1)
	go func() { done <- h.test(path) }()
	select {
	case reason := <-done:
		return result{Path: path, Reason: reason}
	case <-ctx.Done():
		return result{Path: path, Reason: "does not end", Ended: true}
	}
}

// test runs a test and returns why it fails. Many tests leave rejected promises behind without a handler, for which a script
// here fails; such a test runs again without the tracker of rejections.
func (h *host) test(path string) string {
	data, err := os.ReadFile(filepath.Join(h.root, filepath.FromSlash(path)))
	if err != nil {
		return err.Error()
	}
	t := parse(path, string(data))
	reason, unhandled := h.once(t, string(data), true)
	if unhandled {
		reason, _ = h.once(t, string(data), false)
	}
	return strings.ReplaceAll(reason, h.root+string(filepath.Separator), "")
}

func (h *host) once(t *test, text string, track bool) (reason string, unhandled bool) {
	ctx, stop := stopwatch.WithTimeout(context.Background(), limit)
	defer stop()
	var background []error
	e, err := h.runtime.Engine(orepl.EngineOptions{
		Policy: lang.AllowAll,
		Stdout: io.Discard, Stderr: io.Discard, OnError: func(err error) { background = append(background, err) },
	})
	if err != nil {
		return err.Error(), false
	}
	defer e.Close()
	var printed []string
	err = inside.Lang(e).Do(ctx, func(vm *goja.Runtime) error {
		if !track {
			vm.SetPromiseRejectionTracker(nil)
		}
		return h.prepare(vm, t, func(s string) { printed = append(printed, s) })
	})
	if err != nil {
		return err.Error(), false
	}
	_, err = e.Run(ctx, filepath.Join(h.root, filepath.FromSlash(t.path)), text)
	f := failure{err: err}
	var d *diag.Diagnostic
	if errors.As(err, &d) {
		f.class, f.early = d.Name, d.Thrown == nil || strings.HasPrefix(d.ID, "syntax")
		if v, ok := d.Thrown.(goja.Value); ok {
			// The class of an error that the test throws is the name of its constructor.
			_ = inside.Lang(e).Do(context.Background(), func(*goja.Runtime) error { f.class = className(v); return nil })
		}
		for _, n := range d.Notes {
			unhandled = unhandled || strings.Contains(n.Message, "nothing handled it")
		}
	}
	reason = t.judge(f, printed)
	if reason == "" {
		return "", false
	}
	for _, b := range background {
		reason += " | " + b.Error()
	}
	return reason, unhandled || strings.Contains(reason, "unhandled") || strings.HasPrefix(reason, "completes, but")
}

// A failure is how a test ended.
type failure struct {
	err   error
	class string // of the error
	early bool   // nothing was evaluated
}

// judge returns the reason why a test failed, from its end and the lines that it printed, or "" if it passed.
func (t *test) judge(f failure, printed []string) string {
	text := ""
	if f.err != nil {
		text = f.err.Error()
	}
	switch {
	case t.phase != "":
		switch {
		case f.err == nil:
			return fmt.Sprintf("no error, but %s expected (%s)", t.class, t.phase)
		case t.phase != "runtime" && (!f.early || strings.Contains(text, "This statement should not be evaluated")):
			return fmt.Sprintf("evaluated, but %s expected (%s): %s", t.class, t.phase, text)
		case f.class != t.class:
			return fmt.Sprintf("%s instead of %s (%s): %s", f.class, t.class, t.phase, text)
		}
		return ""
	case !t.has("async"):
		return text
	}
	complete := false
	for _, p := range printed {
		if strings.HasPrefix(p, "Test262:AsyncTestFailure") {
			return p
		}
		complete = complete || p == "Test262:AsyncTestComplete"
	}
	switch {
	case complete && f.err == nil:
		return ""
	case complete:
		return "completes, but " + text
	case f.err == nil:
		return "never says that it is done"
	}
	return text
}

func className(v goja.Value) string {
	if o, ok := v.(*goja.Object); ok {
		if c, ok := o.Get("constructor").(*goja.Object); ok {
			return c.Get("name").String()
		}
	}
	return ""
}

// prepare defines print, $262 and the harness's functions.
func (h *host) prepare(vm *goja.Runtime, t *test, print func(string)) error {
	vm.Set("print", func(c goja.FunctionCall) goja.Value {
		print(c.Argument(0).String())
		return goja.Undefined()
	})
	host := vm.NewObject()
	host.Set("global", vm.GlobalObject())
	host.Set("gc", func() {})
	host.Set("evalScript", func(c goja.FunctionCall) goja.Value {
		v, err := vm.RunScript("evalScript", c.Argument(0).String())
		var ex *goja.Exception
		switch {
		case errors.As(err, &ex):
			panic(ex.Value())
		case err != nil:
			o, _ := vm.New(vm.Get("SyntaxError"), vm.ToValue(err.Error()))
			panic(o)
		}
		return v
	})
	host.Set("detachArrayBuffer", func(c goja.FunctionCall) goja.Value {
		b, ok := c.Argument(0).Export().(goja.ArrayBuffer)
		if !ok {
			panic(vm.NewTypeError("not an ArrayBuffer"))
		}
		b.Detach()
		return goja.Null()
	})
	vm.Set("$262", host)
	files := []string{"assert.js", "sta.js"}
	if t.has("async") {
		files = append(files, "doneprintHandle.js")
	}
	for _, name := range append(files, t.includes...) {
		p, err := h.program(name)
		if err != nil {
			return fmt.Errorf("harness: %s: %w", name, err)
		}
		if _, err := vm.RunProgram(p); err != nil {
			return fmt.Errorf("harness: %s: %w", name, err)
		}
	}
	return nil
}

// program compiles a file of the harness as sloppy global code. It lowers the file to ECMAScript 2017 if the interpreter does
// not know its syntax.
func (h *host) program(name string) (*goja.Program, error) {
	if p := h.harness[name]; p != nil {
		return p, nil
	}
	data, err := os.ReadFile(filepath.Join(h.root, "harness", filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	p, err := goja.Compile("harness/"+name, string(data), false)
	if err != nil {
		r := api.Transform(string(data), api.TransformOptions{
			Target: api.ES2017, Charset: api.CharsetUTF8,
			Supported: map[string]bool{"async-generator": false, "for-await": false},
		})
		if len(r.Errors) > 0 {
			return nil, err
		}
		if p, err = goja.Compile("harness/"+name, string(r.Code), false); err != nil {
			return nil, err
		}
	}
	h.harness[name] = p
	return p, nil
}
