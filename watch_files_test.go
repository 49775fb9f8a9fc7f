package orepl_test

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/observe"
	"github.com/orepl/orepl/runtime/offload"
)

// TestWatchNewFiles edits a pipeline to import a file that is broken, and one that does not exist. The mended and the created file are
// loaded without another edit.
func TestWatchNewFiles(t *testing.T) {
	opts := orepl.WatchOptions{}
	opts.Pipeline.Engine.Policy = lang.AllowAll
	e := watchEdited(t, open(t), scaled("", "", "1"), opts)
	beside := func(name, text string) {
		path := filepath.Join(filepath.Dir(e.path), name)
		if err := os.WriteFile(path+".new", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range []struct{ file, broken, imported string }{
		{"two.js", "export const factor = (", "./two.js"}, {"three.js", "throw new Error('not yet')", "./three"}, {"four.js", "", "./four.js"}, {"five.js", "", "./five"},
	} {
		if c.broken != "" {
			beside(c.file, c.broken)
		}
		e.put(scaled("", "import { factor } from '"+c.imported+"'", "factor"))
		if err := e.reload(); err == nil {
			t.Fatalf("%s: no error", c.file)
		}
		e.multipliesBy(float32(i + 1))
		beside(c.file, "export const factor = "+string(rune('2'+i)))
		if err := e.reload(); err != nil {
			t.Fatalf("%s: %v", c.file, err)
		}
		e.multipliesBy(float32(i + 2))
	}
}

// TestWatchedDeclaration asks a watched pipeline for what its current version declares.
func TestWatchedDeclaration(t *testing.T) {
	e := watchEdited(t, open(t), scaled("params: { a: { type: f32, default: 1 } }, ", "", "1"), orepl.WatchOptions{})
	if in := e.w.Parse(url.Values{"a": {"0.5"}}, orepl.Data{"x": []float32{1}}); in["a"] != 0.5 || len(in) != 2 {
		t.Error(in)
	}
	e.multipliesBy(1)
	if s := e.w.Stats(); s.Runs != 1 || len(e.w.Params()) != 1 || e.w.Params()[0].Name != "a" {
		t.Errorf("%+v", s)
	}
	var none orepl.Watched
	if err := attempt(func() error { none.Params(); none.Stats(); none.Parse(nil, nil); return nil }); err != nil {
		t.Error(err)
	}
}

// TestCloseInHook closes a watched pipeline, and shuts it down, in a hook that gets the load of an instance: one that replaces
// another one, one that a run needs and one of a reload.
func TestCloseInHook(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(*orepl.Watched) error
	}{{"close", (*orepl.Watched).Close}, {"shutdown", func(w *orepl.Watched) error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		return w.Shutdown(ctx)
	}}} {
		for _, when := range []string{"replaced", "needed", "reloaded"} {
			t.Run(c.name+" "+when, func(t *testing.T) {
				var w atomic.Pointer[orepl.Watched]
				ended := make(chan error, 10)
				rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}, Observe: func(s observe.Span) {
					if now := w.Load(); s.Kind == observe.Instance && now != nil {
						ended <- c.end(now)
					}
				}})
				defer rt.Close()
				path := write(t, "p.js", scaled("params: { loop: { type: f32, default: 0 } }, ", "", "1")+"\n")
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				looping := strings.Replace(strings.Replace(string(text), "run({ x, y }) {", "run({ x, y, loop }) { while (loop > 0);", 1), "loop: { type", "loop: { type", 1)
				if err := os.WriteFile(path, []byte(looping), 0o666); err != nil {
					t.Fatal(err)
				}
				opts := orepl.WatchOptions{Interval: 5 * time.Millisecond}
				opts.Pipeline.Instances = 2
				watched, err := rt.Watch(context.Background(), path, opts)
				if err != nil {
					t.Fatal(err)
				}
				defer watched.Close()
				w.Store(watched)
				x := orepl.Data{"x": []float32{1}}
				ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
				defer cancel()
				looped := orepl.Data{"x": []float32{1}, "loop": 1}
				switch when {
				case "replaced":
					_ = watched.Run(ctx, looped, nil)
				case "needed":
					go func() { _ = watched.Run(ctx, looped, nil) }()
					for watched.Stats().Running == 0 {
						time.Sleep(time.Millisecond)
					}
					_ = watched.Run(context.Background(), x, nil)
				case "reloaded":
					if err := os.WriteFile(path, []byte(looping+"// edited"), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				select {
				case err := <-ended:
					if err != nil && orepl.CodeOf(err) != orepl.CodeInvalidArgument {
						t.Error(err)
					}
				case <-time.After(time.Minute):
					t.Fatal("the call in the hook did not return")
				}
				closed := make(chan error, 1)
				go func() { closed <- watched.Close() }()
				select {
				case err := <-closed:
					if err != nil {
						t.Error(err)
					}
				case <-time.After(time.Minute):
					t.Fatal("Close did not return")
				}
				if err := watched.Run(context.Background(), x, nil); !errors.Is(err, orepl.ErrClosed) {
					t.Error(err)
				}
			})
		}
	}
}

// TestThrownRefusal runs a pipeline whose script says of an error that it is the caller's fault. Its span says so, too.
func TestThrownRefusal(t *testing.T) {
	var spans []observe.Span
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}, Observe: func(s observe.Span) {
		if s.Kind == observe.Run {
			spans = append(spans, s)
		}
	}})
	defer rt.Close()
	p := load(t, rt, strings.Replace(scaled("", "", "1"), "{ k.launch", "{ if (x.length > 4096) throw Object.assign(new RangeError('at most 4096 elements'), { code: 'refused' }); if (x.length === 0) throw new Error('empty'); k.launch", 1), orepl.PipelineOptions{})
	for _, c := range []struct {
		in     orepl.Data
		refuse bool
		want   string
	}{{orepl.Data{"x": make([]float32, 4097)}, true, "at most 4096 elements"}, {orepl.Data{"x": 1}, true, "is an array of f32"}, {orepl.Data{"x": []float32{}}, false, "empty"}} {
		err := p.Run(context.Background(), c.in, nil)
		if errors.Is(err, orepl.ErrRefused) != c.refuse || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
		if last := spans[len(spans)-1]; last.Refused != c.refuse || (last.Code() == "refused") != c.refuse {
			t.Errorf("%s: %+v", c.want, last)
		}
	}
	if s := p.Stats(); s.Instances != 1 {
		t.Errorf("%+v", s)
	}
}
