package service

import (
	"errors"
	"testing"
	"time"

	contract "github.com/orepl/orepl/runtime/offload"
)

// TestInspectServices checks the printed services and their counters. Only some calls of a Go function are timed.
func TestInspectServices(t *testing.T) {
	s, err := Host{Name: "next", Func: func(int32) error { time.Sleep(2 * time.Millisecond); return errors.New("no") }}.service()
	if err != nil {
		t.Fatal(err)
	}
	r := &Registry{services: map[string]*service{"next": s}}
	if got, want := r.inspect(), "RPC { next(i32): void, 0 calls; }"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for range timeEvery + 1 {
		if _, err := r.serve(t.Context(), nil, &contract.Request{Name: "next", Args: []contract.Scalar{{Type: contract.I32}}}); err == nil {
			t.Fatal("no error")
		}
	}
	if n := s.timed.Load(); n != 2 || s.meanTime() < 2*time.Millisecond {
		t.Errorf("%d calls were timed, %v on average", n, s.meanTime())
	}
	s.timed.Store(2)
	s.spent.Store(5000)
	if got, want := r.inspect(), "RPC { next(i32): void, 17 calls, 17 failed, 2.5µs each; }"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
