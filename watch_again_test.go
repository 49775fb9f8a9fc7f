package orepl_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl"
)

// scaled is a pipeline that sets y to x times a number, with declarations and code before it.
func scaled(declared, before, by string) string {
	return "import { pipeline, kernel, f32 } from 'offload'\n" + before + "\nconst k = kernel((g, x, y) => { y[g.x] = x[g.x] * " + by + " })\n" +
		"export default pipeline({ device: 'cpu', " + declared + "inputs: { x: [f32] }, outputs: { y: [f32, ({ x }) => x.shape] }, run({ x, y }) { k.launch({ size: x.length }, x, y) } })"
}

// edited is a watched pipeline whose file a test edits.
type edited struct {
	*testing.T
	path    string
	w       *orepl.Watched
	reloads chan error
}

func watchEdited(t *testing.T, rt *orepl.Runtime, text string, opts orepl.WatchOptions) *edited {
	t.Helper()
	e := &edited{T: t, path: write(t, "p.js", text), reloads: make(chan error, 100)}
	if opts.Interval == 0 {
		opts.Interval = 5 * time.Millisecond
	}
	if opts.OnReload == nil {
		opts.OnReload = func(err error) { e.reloads <- err }
	}
	opts.Pipeline.Instances = 1
	var err error
	if e.w, err = rt.Watch(context.Background(), e.path, opts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.w.Close() })
	return e
}

// put replaces the file at once, so that no part of it is loaded.
func (e *edited) put(text string) {
	e.Helper()
	next := filepath.Join(filepath.Dir(e.path), "put")
	if err := os.WriteFile(next, []byte(text), 0o666); err != nil {
		e.Fatal(err)
	}
	if err := os.Rename(next, e.path); err != nil {
		e.Fatal(err)
	}
}

// reload returns the result of the next reload.
func (e *edited) reload() error {
	e.Helper()
	select {
	case err := <-e.reloads:
		return err
	case <-time.After(time.Minute):
		e.Fatal("no reload")
		return nil
	}
}

// multipliesBy fails the test unless the current version multiplies by a number.
func (e *edited) multipliesBy(by float32) {
	e.Helper()
	var y []float32
	if err := e.w.Run(context.Background(), orepl.Data{"x": []float32{1}}, orepl.Data{"y": &y}); err != nil || y[0] != by {
		e.Errorf("%v, want %v: %v", y, by, err)
	}
}

// TestCloseInOnReload closes a watched pipeline in its own callback.
func TestCloseInOnReload(t *testing.T) {
	for name, end := range map[string]func(*orepl.Watched) error{
		"close":    (*orepl.Watched).Close,
		"shutdown": func(w *orepl.Watched) error { return w.Shutdown(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			var w atomic.Pointer[orepl.Watched]
			ended := make(chan error, 10)
			e := watchEdited(t, open(t), scaled("", "", "1"), orepl.WatchOptions{OnReload: func(error) {
				if now := w.Load(); now != nil {
					ended <- end(now)
				}
			}})
			w.Store(e.w)
			e.put(scaled("", "", "2"))
			select {
			case err := <-ended:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(time.Minute):
				t.Fatal("the call did not return")
			}
			if err := e.w.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
			if err := e.w.Run(context.Background(), orepl.Data{"x": []float32{1}}, nil); !errors.Is(err, orepl.ErrClosed) {
				t.Error(err)
			}
		})
	}
}

// TestReloadAgain edits a file to a good version whose first load lasts too long. It is loaded again without another edit.
func TestReloadAgain(t *testing.T) {
	var loads atomic.Int32
	opts := orepl.WatchOptions{Timeout: 100 * time.Millisecond}
	opts.Pipeline.Engine.Modules = []orepl.Module{{Name: "own", Functions: []orepl.Function{{Name: "slow", Func: func(ctx context.Context) {
		if loads.Add(1) == 1 {
			<-ctx.Done()
		}
	}}}}}
	e := watchEdited(t, open(t), scaled("", "", "1"), opts)
	e.put(scaled("", "import { slow } from 'own'\nslow()", "2"))
	if err := e.reload(); orepl.CodeOf(err) != orepl.CodeTimeout {
		t.Fatal(err)
	}
	for tries := 0; ; tries++ { // a slow machine needs more
		if err := e.reload(); err == nil {
			break
		} else if orepl.CodeOf(err) != orepl.CodeTimeout || tries > 3 {
			t.Fatal(err)
		}
	}
	e.multipliesBy(2)
}

// TestReloadOvertaken edits a file to one that never ends, and then to a good one, which takes over without the end of the first.
func TestReloadOvertaken(t *testing.T) {
	begun := make(chan bool, 10)
	opts := orepl.WatchOptions{Timeout: time.Hour}
	opts.Pipeline.Engine.Modules = []orepl.Module{{Name: "own", Functions: []orepl.Function{{Name: "begun", Func: func() { begun <- true }}}}}
	e := watchEdited(t, open(t), scaled("", "", "1"), opts)
	e.put(scaled("", "import { begun } from 'own'\nbegun()\nfor (;;);", "2"))
	select {
	case <-begun:
	case <-time.After(time.Minute):
		t.Fatal("the edit is not loaded")
	}
	e.put(scaled("", "", "3"))
	if err := e.reload(); err != nil {
		t.Fatal(err)
	}
	e.multipliesBy(3)
}

// TestReloadUndone adds a parameter, changes its type and takes it back. A parameter of the first version must stay.
func TestReloadUndone(t *testing.T) {
	first := "params: { a: { type: f32, default: 1 } }, "
	e := watchEdited(t, open(t), scaled(first, "", "1"), orepl.WatchOptions{})
	for i, declared := range []string{"params: { a: { type: f32, default: 1 }, b: { type: f32, default: 1 } }, ", "params: { a: { type: f32, default: 1 }, b: { values: ['x'], default: 'x' } }, ", first} {
		e.put(scaled(declared, "", "2 + "+string(rune('0'+i))))
		if err := e.reload(); err != nil {
			t.Errorf("edit %d: %v", i, err)
		}
	}
	e.put(scaled("", "", "9"))
	if err := e.reload(); err == nil || !strings.Contains(err.Error(), "the parameter a: f32 = 1 is missing") {
		t.Error(err)
	}
}

// TestTrialRun watches with inputs of a trial run that do not fit, and edits a pipeline without such inputs to a kernel that does not
// compile, and to one that throws on made-up inputs.
func TestTrialRun(t *testing.T) {
	rt := open(t)
	for want, canary := range map[string]orepl.Data{"there is no input \"q\"": {"x": []float32{1}, "q": 1}, "is missing": {}} {
		w, err := rt.Watch(context.Background(), write(t, "p.js", scaled("", "", "1")), orepl.WatchOptions{Canary: canary})
		if err == nil {
			w.Close()
		}
		if !errors.Is(err, orepl.ErrRefused) || !strings.Contains(err.Error(), "Canary") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", canary, err)
		}
	}
	tried := watchEdited(t, rt, scaled("", "", "1"), orepl.WatchOptions{Canary: orepl.Data{"x": []float32{1}}})
	tried.put(scaled("", "", "2"))
	if err := tried.reload(); err != nil {
		t.Error(err)
	}
	if s := tried.w.Pipeline().Stats(); s.Runs != 0 || s.Running != 0 {
		t.Errorf("trial runs are counted: %+v", s)
	}
	e := watchEdited(t, rt, scaled("", "", "1"), orepl.WatchOptions{})
	e.put(scaled("", "", "foo"))
	if err := e.reload(); err == nil || !strings.Contains(err.Error(), "foo") {
		t.Error(err)
	}
	e.multipliesBy(1)
	e.put(strings.Replace(scaled("", "", "2"), "run({ x, y }) {", "run({ x, y }) { if (x.length > 1) throw new RangeError('one element only');", 1))
	if err := e.reload(); err != nil {
		t.Error(err)
	}
	e.multipliesBy(2)
}

// TestReplacedAlike replaces a file by another one with the same size and time of modification.
func TestReplacedAlike(t *testing.T) {
	e := watchEdited(t, open(t), scaled("", "", "1"), orepl.WatchOptions{})
	info, err := os.Stat(e.path)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(filepath.Dir(e.path), "next")
	for _, err := range []error{
		os.WriteFile(other, []byte(scaled("", "", "2")), 0o666), os.Chtimes(other, info.ModTime(), info.ModTime()), os.Rename(other, e.path),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := e.reload(); err != nil {
		t.Fatal(err)
	}
	e.multipliesBy(2)
}
