package stopwatch

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

func TestTotal(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"some avg10=0.00 avg60=1.50 avg300=0.00 total=1500\nfull avg10=0.00 total=7\n": 1500 * time.Microsecond,
		"some total=":                     0,
		"full total=5":                    0,
		"":                                0,
		"some total=99999999999999999999": 0,
	} {
		if got := total([]byte(text)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestElapsed keeps more tasks running than there are processors. Most of that time must not count.
func TestElapsed(t *testing.T) {
	if _, err := os.Stat(pressureFile); err != nil {
		t.Skip(err)
	}
	before, w := time.Now(), Start()
	var stop atomic.Bool
	defer stop.Store(true)
	old := runtime.GOMAXPROCS(4 * runtime.NumCPU())
	defer runtime.GOMAXPROCS(old)
	for range 4 * runtime.NumCPU() {
		go func() {
			for !stop.Load() {
			}
		}()
	}
	for time.Since(before) < 100*time.Millisecond || w.Elapsed() > time.Since(before)/2 {
		if time.Since(before) > time.Minute {
			t.Fatalf("%v of %v counted beside %d busy goroutines", w.Elapsed(), time.Since(before), 4*runtime.NumCPU())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestWithTimeout(t *testing.T) {
	ctx, cancel := WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	<-ctx.Done()
	if !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		t.Errorf("the cause is %v", context.Cause(ctx))
	}
	ctx, cancel = WithTimeout(t.Context(), time.Hour)
	cancel()
	if ctx.Err() == nil || errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		t.Errorf("after cancel: %v, %v", ctx.Err(), context.Cause(ctx))
	}
}
