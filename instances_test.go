package orepl_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang/diag"
)

// replaceable is a pipeline with two instances whose loads call begin with their number, from 1 on.
func replaceable(t *testing.T, begin func(ctx context.Context, n int) error) (p *orepl.Pipeline, visits, leave chan string) {
	visits, leave = make(chan string), make(chan string)
	var loads atomic.Int64
	opts := orepl.PipelineOptions{Instances: 2, Engine: orepl.EngineOptions{Modules: []orepl.Module{{Name: "gate", Functions: []orepl.Function{
		{Name: "load", Async: true, Func: func(ctx context.Context) error { return begin(ctx, int(loads.Add(1))) }},
		{Name: "visit", Async: true, Func: func() { visits <- ""; <-leave }},
	}}}}}
	p = load(t, open(t), `import { pipeline, i32, f32 } from 'offload'
import { load, visit } from 'gate'
await load()
let runs = 0
export default pipeline({ device: 'cpu', inputs: { mode: i32 }, outputs: { y: [f32, 1] },
  async run({ mode, y }) { runs++; if (mode === 1) for (;;); if (mode === 2) await visit(); y.write(Float32Array.of(runs)) } })`, opts)
	return p, visits, leave
}

// runOf runs a pipeline once and returns which run of its instance it was.
func runOf(p *orepl.Pipeline, mode int, limit time.Duration) (float32, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var y []float32
	if err := p.Run(ctx, orepl.Data{"mode": mode}, orepl.Data{"y": &y}); err != nil {
		return 0, err
	}
	return y[0], nil
}

// both makes both instances.
func both(t *testing.T, p *orepl.Pipeline, visits, leave chan string) {
	var runs sync.WaitGroup
	for range 2 {
		runs.Go(func() {
			if _, err := runOf(p, 2, time.Minute); err != nil {
				t.Error(err)
			}
		})
		<-visits
	}
	leave <- ""
	leave <- ""
	runs.Wait()
}

// TestReplacedInBackground ends an instance: runs use the other one while the replacement loads, and a run that needs both waits for it.
func TestReplacedInBackground(t *testing.T) {
	began, gate := make(chan bool), make(chan bool)
	p, visits, leave := replaceable(t, func(_ context.Context, n int) error {
		if n > 2 {
			began <- true
			<-gate
		}
		return nil
	})
	both(t, p, visits, leave)
	if _, err := runOf(p, 1, 50*time.Millisecond); diag.Code(err) != "timeout" {
		t.Fatal(err)
	}
	<-began // the replacement loads
	for i := range 5 {
		if n, err := runOf(p, 0, time.Minute); err != nil || n != float32(i+2) {
			t.Errorf("run %d of the other instance: %v, %v", i, n, err)
		}
	}
	held := make(chan error, 1)
	go func() { _, err := runOf(p, 2, time.Minute); held <- err }()
	<-visits
	if _, err := runOf(p, 0, 50*time.Millisecond); diag.Code(err) != "timeout" || p.Stats().Instances != 3 {
		t.Errorf("a run without an instance: %v; %d instances", err, p.Stats().Instances)
	}
	waits := make(chan error, 1)
	go func() {
		n, err := runOf(p, 0, time.Minute)
		if err == nil && n != 1 {
			err = errors.New("it is not the new instance's first run")
		}
		waits <- err
	}()
	select {
	case err := <-waits:
		t.Fatalf("a run without an instance ended: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	gate <- true
	if err := <-waits; err != nil {
		t.Error(err)
	}
	leave <- ""
	if err := <-held; err != nil {
		t.Error(err)
	}
	if n := p.Stats().Instances; n != 3 {
		t.Errorf("%d instances", n)
	}
}

// TestReplacementFails lets the load of a replacement fail: runs use the other instance, and a run that needs one loads again.
func TestReplacementFails(t *testing.T) {
	failed := make(chan bool, 1)
	p, visits, leave := replaceable(t, func(_ context.Context, n int) error {
		if n == 3 {
			defer func() { failed <- true }()
			return errors.New("no room")
		}
		if n == 4 {
			return errors.New("still no room")
		}
		return nil
	})
	both(t, p, visits, leave)
	if _, err := runOf(p, 1, 50*time.Millisecond); diag.Code(err) != "timeout" {
		t.Fatal(err)
	}
	<-failed
	if _, err := runOf(p, 0, time.Minute); err != nil {
		t.Error(err)
	}
	var held sync.WaitGroup
	held.Go(func() {
		if _, err := runOf(p, 2, time.Minute); err != nil {
			t.Error(err)
		}
	})
	<-visits
	if _, err := runOf(p, 0, time.Minute); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("a run whose instance cannot load: %v", err)
	}
	if n, err := runOf(p, 0, time.Minute); err != nil || n != 1 {
		t.Errorf("the next one: %v, %v", n, err)
	}
	leave <- ""
	held.Wait()
}

// TestCloseEndsReplacements closes a pipeline while a replacement loads: its load is cancelled.
func TestCloseEndsReplacements(t *testing.T) {
	began, ended := make(chan bool), make(chan error, 1)
	p, visits, leave := replaceable(t, func(ctx context.Context, n int) error {
		if n > 2 {
			began <- true
			<-ctx.Done()
			ended <- ctx.Err()
		}
		return nil
	})
	both(t, p, visits, leave)
	if _, err := runOf(p, 1, 50*time.Millisecond); diag.Code(err) != "timeout" {
		t.Fatal(err)
	}
	<-began
	held := make(chan error, 1)
	go func() { _, err := runOf(p, 2, time.Minute); held <- err }()
	<-visits
	waits := make(chan error, 1)
	go func() { _, err := runOf(p, 0, time.Minute); waits <- err }()
	time.Sleep(20 * time.Millisecond) // in most runs it waits by then
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil {
		t.Error("the load went on")
	}
	if err := <-waits; !errors.Is(err, orepl.ErrClosed) {
		t.Errorf("a run that waited: %v", err)
	}
	leave <- ""
	if err := <-held; err != nil {
		t.Errorf("a run that had begun: %v", err)
	}
	if err := p.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestReplacedUnderLoad cancels runs on all instances while others succeed.
func TestReplacedUnderLoad(t *testing.T) {
	p, _, _ := replaceable(t, func(context.Context, int) error { return nil })
	var callers sync.WaitGroup
	for i := range 6 {
		callers.Go(func() {
			for j := range 20 {
				if (i+j)%4 == 0 {
					if _, err := runOf(p, 1, 2*time.Millisecond); diag.Code(err) != "timeout" {
						t.Errorf("an endless run: %v", err)
					}
				} else if _, err := runOf(p, 0, time.Minute); err != nil {
					t.Error(err)
				}
			}
		})
	}
	callers.Wait()
	if s := p.Stats(); s.Runs != 120 || s.Running != 0 || s.Waiting != 0 {
		t.Errorf("%+v", s)
	}
}
