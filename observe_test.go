package orepl_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/plugins/all"
	"github.com/orepl/orepl/runtime/observe"
)

// TestObserve checks the spans of runs that succeed, are refused and fail in a kernel, and of an engine with a name.
func TestObserve(t *testing.T) {
	var mu sync.Mutex
	var spans []observe.Span
	rt := orepl.Open(orepl.Options{Plugins: all.Plugins(), Observe: observe.All(nil, func(s observe.Span) {
		mu.Lock()
		defer mu.Unlock()
		spans = append(spans, s)
	})})
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "caller")
	p, err := rt.LoadPipeline(ctx, write(t, "twice.js", `import { pipeline, kernel, i32, f32 } from 'offload'
const twice = kernel((g, shift, x, y) => { y[g.x] = x[g.x + shift] * 2 }, { name: 'twice' })
export default pipeline({ device: 'cpu', inputs: { shift: i32, x: [f32] }, outputs: { y: [f32, ({ x }) => x.shape] },
  run({ shift, x, y }) { twice.launch({ size: x.length }, shift, x, y) } })`), orepl.PipelineOptions{Instances: 1})
	if err != nil {
		t.Fatal(err)
	}
	var y []float32
	for _, shift := range []any{0, 0, 1000, "x"} {
		err := p.Run(ctx, orepl.Data{"shift": shift, "x": make([]float32, 100)}, orepl.Data{"y": &y})
		if (err == nil) != (shift == 0) {
			t.Errorf("shift %v: %v", shift, err)
		}
	}
	e, err := rt.Engine(orepl.EngineOptions{Name: "tenant"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(ctx, "t.js", "import { device, f32 } from 'offload'\nconst b = device('cpu').buffer(f32, 10)\nb.write(new Float32Array(10))\nawait b.read()"); err != nil {
		t.Fatal(err)
	}
	for _, close := range []func() error{e.Close, p.Close, func() error { return rt.Shutdown(t.Context()) }} {
		if err := close(); err != nil {
			t.Fatal(err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	count := func(s observe.Span, code string) (n int) {
		for _, at := range spans {
			if at.Kind == s.Kind && (s.Name == "" || at.Name == s.Name) && at.Owner == s.Owner && at.Device == "cpu" && at.Code() == code {
				n++
			}
			if at.Duration < 0 || at.Start.IsZero() {
				t.Errorf("%+v", at)
			}
		}
		return n
	}
	for _, c := range []struct {
		span       observe.Span
		code       string
		least, all int
	}{
		{observe.Span{Kind: observe.Run, Name: "twice.js", Owner: "twice.js"}, "", 2, 2},
		{observe.Span{Kind: observe.Run, Name: "twice.js", Owner: "twice.js"}, "out-of-bounds", 1, 1},
		{observe.Span{Kind: observe.Run, Name: "twice.js", Owner: "twice.js"}, "refused", 1, 1},
		{observe.Span{Kind: observe.Launch, Name: "twice", Owner: "twice.js"}, "", 2, 3}, // the third one fails
		{observe.Span{Kind: observe.Load}, "", 1, 10},
		{observe.Span{Kind: observe.Failure, Owner: "twice.js"}, "out-of-bounds", 1, 1},
		{observe.Span{Kind: observe.Copy, Name: "write", Owner: "tenant"}, "", 1, 1},
		{observe.Span{Kind: observe.Copy, Name: "read", Owner: "tenant"}, "", 1, 1},
		{observe.Span{Kind: observe.Copy, Name: "zero", Owner: "tenant"}, "", 1, 1},
	} {
		if n := count(c.span, c.code); n < c.least || n > c.all {
			t.Errorf("%d spans %s of %s %s [%s], want %d to %d", n, c.span.Kind, c.span.Owner, c.span.Name, c.code, c.least, c.all)
		}
	}
	i := slices.IndexFunc(spans, func(s observe.Span) bool { return s.Refused })
	if i < 0 || !errors.Is(spans[i].Err, orepl.ErrRefused) || orepl.CodeOf(spans[i].Err) != orepl.CodeInvalidArgument {
		t.Errorf("a run refused for its shift has no span with that error: %v", spans)
	}
	i = slices.IndexFunc(spans, func(s observe.Span) bool { return s.Kind == observe.Run })
	if i < 0 || spans[i].Context.Value(key{}) != "caller" {
		t.Error("a run's span lacks its context")
	}
	i = slices.IndexFunc(spans, func(s observe.Span) bool { return s.Kind == observe.Copy && s.Owner == "tenant" && s.Name == "write" })
	if i >= 0 && spans[i].Bytes != 40 {
		t.Errorf("a copy of %d bytes, want 40", spans[i].Bytes)
	}
}
