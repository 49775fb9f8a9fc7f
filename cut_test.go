package orepl_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

// cause is the cause of a context's end: an error of other work, with a code.
type cause struct{ code string }

func (c cause) Error() string { return "other work failed" }
func (c cause) Code() string  { return c.code }

// cancelWhileRunning cancels a context with a cause, once a run of the pipeline has an instance.
func cancelWhileRunning(p *orepl.Pipeline, why error) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		for p.Stats().Running == 0 && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(20 * time.Millisecond)
		cancel(why)
	}()
	return ctx, cancel
}

// TestCutRunIsNotRecorded cancels a run that only launches, with the exception of another pipeline as the cause, as package errgroup
// does. Later runs with the same shapes must not fail with that exception.
func TestCutRunIsNotRecorded(t *testing.T) {
	rt := open(t)
	p := load(t, rt, `import { pipeline, kernel, f32, i32 } from 'offload'
		const k = kernel((g, n, x, y) => { let s = x[g.x]; for (let i = 0; i < n; i++) s = Math.sin(s) + x[g.x]; y[g.x] = s })
		export default pipeline({ device: 'cpu', inputs: { x: [f32], n: i32 }, outputs: { y: [f32, ({ x }) => x.shape] },
			async run({ x, n, y }) { await k.launch({ size: x.length }, n, x, y) } })`, orepl.PipelineOptions{Instances: 1})
	bad := load(t, rt, `import { pipeline, f32 } from 'offload'
		export default pipeline({ device: 'cpu', inputs: { x: [f32] }, outputs: { y: [f32, ({ x }) => x.shape] }, run() { throw new Error('another') } })`, orepl.PipelineOptions{})
	why := bad.Run(context.Background(), orepl.Data{"x": []float32{1}}, nil)
	if orepl.CodeOf(why) != orepl.CodeException {
		t.Fatal(why)
	}
	x := make([]float32, 64)
	for n := 1 << 12; ; n *= 4 { // until the run is long enough to be cut
		for range 2 { // with a record, and with the buffers
			if err := p.Run(context.Background(), orepl.Data{"x": x, "n": 1}, nil); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := cancelWhileRunning(p, why)
		err := p.Run(ctx, orepl.Data{"x": x, "n": n}, nil)
		cancel(nil)
		if err == nil {
			continue
		}
		if !errors.Is(err, context.Canceled) || !errors.Is(err, why) {
			t.Fatal(err)
		}
		if d := diag.All(err)[0]; strings.Count(err.Error(), "p.js:") > 1 || d.Position.IsValid() {
			t.Errorf("the place of other work: %v", err)
		}
		if err := p.Run(context.Background(), orepl.Data{"x": x, "n": n}, nil); err != nil {
			t.Errorf("after the cut run: %v", err)
		}
		return
	}
}

const halfway = `import { pipeline, kernel, f32, bool } from 'offload'
	const k = kernel((g, x, y) => { y[g.x] = x[g.x] })
	let halfway = false
	export default pipeline({ device: 'cpu', params: { endless: { type: bool, default: false } },
		inputs: { x: [f32] }, outputs: { y: [f32, ({ x }) => x.shape] },
		run({ endless, x, y }) {
			if (halfway) throw new Error('an earlier run was stopped halfway')
			if (endless) { halfway = true; for (;;); }
			k.launch({ size: x.length }, x, y)
		} })`

// TestCutRunReplacesInstance ends runs by contexts whose causes have codes of failures after which an instance goes on.
func TestCutRunReplacesInstance(t *testing.T) {
	p := load(t, open(t), halfway, orepl.PipelineOptions{Instances: 1})
	for i, code := range []string{"exception", "invalid-argument", "refused", "out-of-bounds"} {
		ctx, cancel := cancelWhileRunning(p, cause{code})
		err := p.Run(ctx, orepl.Data{"x": []float32{1}, "endless": true}, nil)
		cancel(nil)
		if diag.Code(err) != code || !errors.Is(err, cause{code}) || !errors.Is(err, context.Canceled) || errors.Is(err, orepl.ErrRefused) {
			t.Errorf("%s: %v", code, err)
		}
		if err := p.Run(context.Background(), orepl.Data{"x": []float32{1}}, nil); err != nil {
			t.Errorf("after the end with %s: %v", code, err)
		}
		if n := p.Stats().Instances; n != uint64(i+2) {
			t.Errorf("%d instances after the end with %s", n, code)
		}
	}
}

// TestStoppedCheckReplacesInstance checks with values for which the script exceeds a limit.
func TestStoppedCheckReplacesInstance(t *testing.T) {
	for name, limits := range map[string]lang.Limits{"timeout": {Time: 200 * time.Millisecond}, "iterations": {Iterations: 1000}} {
		p := load(t, open(t), halfway, orepl.PipelineOptions{Instances: 1, Engine: orepl.EngineOptions{Limits: limits}})
		if err := p.Check(context.Background(), orepl.Data{"endless": true}); diag.Code(err) != name {
			t.Errorf("%s: %v", name, err)
		}
		if err := p.Run(context.Background(), orepl.Data{"x": []float32{1}}, nil); err != nil {
			t.Errorf("after the check with the limit %s: %v", name, err)
		}
	}
}

// TestEndsWithCauses ends calls of an engine by causes that resemble other outcomes.
func TestEndsWithCauses(t *testing.T) {
	e := engine(t, open(t), orepl.EngineOptions{})
	list := diag.List{diag.New("exception", "one"), diag.New("exception", "two")} // cannot be compared
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(20*time.Millisecond, func() { cancel(list) })
	if _, err := e.Run(ctx, "a.js", "for (;;);"); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "one") {
		t.Error(err)
	}
	ctx, cancel = context.WithCancelCause(context.Background())
	cancel(cause{"not-found"})
	if _, err := orepl.Load(ctx, struct{ A int }{}, orepl.FromScript(e, "testdata/settings.ts")); err == nil || strings.Contains(err.Error(), "there is no such file") || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	ctx, cancel = context.WithCancelCause(context.Background())
	cancel(orepl.ErrClosed)
	if err := e.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown: %v", err)
	}
}
