package isolate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/runtime/stopwatch"
)

// TestNoEngineAfterFailure starts a child with a configuration that cannot be sent. There is an error, and no engine whose child
// would go on.
func TestNoEngineAfterFailure(t *testing.T) {
	e, err := StartWith(context.Background(), Config{Environ: os.Environ(), Program: json.RawMessage("{")}, lang.Options{})
	if e != nil || err == nil || !strings.Contains(err.Error(), "unexpected end of JSON") {
		t.Errorf("an engine: %t, error: %v", e != nil, err)
	}
}

// TestMain also runs as the child process, with a module that prints and one that crashes.
func TestMain(m *testing.M) {
	Serve(func(s Setup) (Served, error) {
		o := s.Options
		o.Modules = []lang.Module{{
			Name: "host", Globals: []string{"print", "open", "crash", "spawn"},
			Instantiate: func(e *lang.Engine) (*goja.Object, error) {
				x := e.VM().NewObject()
				_ = x.Set("print", e.Func("print", func(c goja.FunctionCall) (goja.Value, error) {
					_, err := e.Options().Stdout.Write([]byte(c.Argument(0).String() + "\n"))
					return nil, err
				}))
				_ = x.Set("open", e.Func("open", func(c goja.FunctionCall) (goja.Value, error) {
					_, err := e.ReadPath(c.Argument(0).String())
					return nil, err
				}))
				_ = x.Set("spawn", e.Func("spawn", func(c goja.FunctionCall) (goja.Value, error) {
					out, err := exec.Command("/bin/sh", "-c", c.Argument(0).String()).Output()
					return e.VM().ToValue(string(out)), err
				}))
				return x, x.Set("crash", e.Func("crash", func(goja.FunctionCall) (goja.Value, error) {
					go func() { panic("a goroutine of a plugin") }()
					time.Sleep(time.Minute) // the panic ends the process before
					return nil, nil
				}))
			},
		}}
		e, err := lang.New(o)
		return Served{Engine: e}, err
	})
	os.Exit(m.Run())
}

func begin(t *testing.T, o lang.Options) *Engine {
	t.Helper()
	e, err := Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func TestResultsCrossTheBorder(t *testing.T) {
	var out, errs strings.Builder
	e := begin(t, lang.Options{Stdout: &out, Stderr: &errs})
	got, err := e.Run(t.Context(), "m.js", `print('hello'); export const a = 1, b = new Float32Array([0.5, 2]), c = { d: [null, 5n] }, f = () => 1`)
	if want := `{"a":1,"b":[0.5,2],"c":{"d":[null,"5"]}}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := e.Eval(t.Context(), "p", "let x = 20"); err != nil {
		t.Error(err)
	}
	if got, err := e.Eval(t.Context(), "p", "x + await Promise.resolve(1)"); err != nil || string(got) != "21" {
		t.Errorf("got %s, %v", got, err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if out.String() != "hello\n" {
		t.Errorf("printed %q", out.String())
	}
	if _, err := e.Eval(t.Context(), "p", "1"); diag.Code(err) != "closed" {
		t.Errorf("got %v", err)
	}
}

func TestErrorsCrossTheBorder(t *testing.T) {
	e := begin(t, lang.Options{})
	_, err := e.Run(t.Context(), "m.js", "const a = 1\n  throw new TypeError('no', { cause: new Error('why') })")
	var d *diag.Diagnostic
	if !errors.As(err, &d) || d.Name != "TypeError" || d.Message != "no" || d.Position.String() != "m.js:2:9" || d.Excerpt == nil {
		t.Fatalf("got %#v", err)
	}
	if !strings.Contains(diag.Format(err, false), "why") {
		t.Error(diag.Format(err, false))
	}
}

func TestPolicyIsAskedHere(t *testing.T) {
	asked := ""
	dir := t.TempDir()
	e := begin(t, lang.Options{Dir: dir, Policy: lang.Policy{Read: func(path string) error {
		asked = path
		return errors.New("never")
	}}})
	_, err := e.Run(t.Context(), "m.js", "open('secret')")
	if asked != filepath.Join(dir, "secret") || diag.Code(err) != "permission-denied" || !strings.Contains(err.Error(), "never") {
		t.Errorf("asked %q, %v", asked, err)
	}
}

func TestCrashIsAnError(t *testing.T) {
	e := begin(t, lang.Options{})
	_, err := e.Run(t.Context(), "m.js", "crash()")
	if diag.Code(err) != "crashed" || !strings.Contains(diag.Format(err, false), "a goroutine of a plugin") {
		t.Errorf("got %s", diag.Format(err, false))
	}
	if _, again := e.Eval(t.Context(), "p", "1"); again != err {
		t.Errorf("got %v", again)
	}
}

// endless is an uninterruptible expression, which requires the process to be killed.
const endless = `(({ a, ...b }) => b)('x'.repeat(4e6))`

func TestTimeBoundsWhatCannotBeInterrupted(t *testing.T) {
	e := begin(t, lang.Options{Limits: lang.Limits{Time: 100 * time.Millisecond}})
	began := stopwatch.Start()
	_, err := e.Run(t.Context(), "m.js", endless)
	if diag.Code(err) != "timeout" || began.Elapsed() > time.Minute {
		t.Errorf("after %v: %v", began.Elapsed(), err)
	}
}

func TestCancelEndsTheCallOrTheProcess(t *testing.T) {
	e := begin(t, lang.Options{})
	cancelled := func(text string, after time.Duration) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), after)
		defer cancel()
		if _, err := e.Run(ctx, "m.js", text); !errors.Is(err, context.DeadlineExceeded) && diag.Code(err) != "cancelled" {
			t.Errorf("%s: %v", text, err)
		}
	}
	cancelled("for (;;) {}", 100*time.Millisecond)
	for after := 100 * time.Millisecond; after < 20*time.Second; after *= 2 { // increases until the call ends in the native function
		cancelled(endless, after)
		if _, err := e.Eval(t.Context(), "p", "1"); err != nil {
			return
		}
	}
	t.Error("the process lives")
}

func TestExitCrossesTheBorder(t *testing.T) {
	f := NewFailure(&lang.ExitError{Code: 3})
	var exit *lang.ExitError
	if !errors.As(f.Err(), &exit) || exit.Code != 3 {
		t.Error(f.Err())
	}
}

// within fails if fn hangs.
func within(t *testing.T, fn func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn()
	}()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Fatal("it hangs")
	}
}

func TestCloseEndsWhatRuns(t *testing.T) {
	for _, text := range []string{"for (;;) {}", endless} {
		e := begin(t, lang.Options{})
		failed := make(chan error)
		go func() {
			_, err := e.Run(context.Background(), "m.js", text)
			failed <- err
		}()
		for len(e.turn) == 0 { // waits for the call to run
			time.Sleep(time.Millisecond)
		}
		within(t, func() {
			_ = e.Close() // the error was returned to the caller of the killed process
			if err := <-failed; diag.Code(err) != "closed" {
				t.Errorf("%s: %v", text, err)
			}
		})
	}
}

// TestCancelAtOnce checks that a call is cancelled before it has started in the child, and that the engine remains usable.
func TestCancelAtOnce(t *testing.T) {
	e := begin(t, lang.Options{})
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() {
			_, err := e.Eval(ctx, "p", "for (;;) {}")
			failed <- err
		}()
		time.AfterFunc(time.Millisecond, cancel)
		if err := <-failed; diag.Code(err) != "cancelled" {
			t.Errorf("got %v", err)
		}
	}
	if got, err := e.Eval(t.Context(), "p", "1"); err != nil || string(got) != "1" {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestWaitingForTheTurnEndsWithTheContext(t *testing.T) {
	e := begin(t, lang.Options{})
	busy, stop := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := e.Eval(busy, "p", "for (;;) {}")
		failed <- err
	}()
	for len(e.turn) == 0 {
		time.Sleep(time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	within(t, func() {
		if _, err := e.Eval(ctx, "p", "1"); diag.Code(err) != "timeout" || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
	stop()
	if err := <-failed; diag.Code(err) != "cancelled" {
		t.Errorf("got %v", err)
	}
}

func TestResultsAreBounded(t *testing.T) {
	e, err := start(t.Context(), Config{Environ: os.Environ()}, lang.Options{}, bound{bytes: 1 << 16, values: 1000})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for text, want := range map[string]string{
		"'x'.repeat(1 << 16)":                    "more than the 65536 bytes",
		"Array.from({ length: 1000 }, () => 0)":  "more than the 1000 values",
		"Array.from({ length: 500 }, () => [0])": "more than the 1000 values",
	} {
		_, err := e.Eval(t.Context(), "p", text)
		if diag.Code(err) != "out-of-resources" || !strings.Contains(err.Error(), want) || diag.Hint(err) == "" {
			t.Errorf("%s: %v", text, err)
		}
	}
	if got, err := e.Eval(t.Context(), "p", "'a,[\\\\'"); err != nil || string(got) != `"a,[\\"` {
		t.Errorf("afterwards: %s, %v", got, err)
	}
	if got := resultBound(lang.Limits{}); got != (bound{64 << 20, 4 << 20}) {
		t.Errorf("without a limit results have %v", got)
	}
	if n := countValues([]byte(`{"a,[":[1,2,"\\\",["],"b":{}}`)); n != 7 { // the empty object counts twice
		t.Errorf("%d values", n)
	}
}

// TestFramesAreBounded checks that no memory is allocated for an announced frame size.
func TestFramesAreBounded(t *testing.T) {
	var in bytes.Buffer
	in.Write([]byte{0xff, 0xff, 0xff, 0xff})
	w := newWire(&in, nil, 100)
	if err := w.receive(new(reply)); err == nil || !strings.Contains(err.Error(), "100 are allowed") {
		t.Errorf("got %v", err)
	}
}
