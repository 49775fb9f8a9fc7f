package later

import (
	"sync"
	"testing"
)

var made int

var table = Value[map[string]int]{Make: func() map[string]int {
	made++
	return map[string]int{"a": made}
}}

func TestOnce(t *testing.T) {
	if made != 0 {
		t.Fatal("the value was made before its first use")
	}
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			if got := table.Get()["a"]; got != 1 {
				t.Errorf("%d, want 1", got)
			}
		})
	}
	group.Wait()
	if made != 1 {
		t.Errorf("made %d times", made)
	}
}

// TestPanic checks that a value whose making failed is made again.
func TestPanic(t *testing.T) {
	calls := 0
	v := Value[int]{Make: func() int {
		if calls++; calls == 1 {
			panic("first")
		}
		return calls
	}}
	func() {
		defer func() {
			if recover() != "first" {
				t.Error("no panic")
			}
		}()
		v.Get()
	}()
	if got := v.Get(); got != 2 {
		t.Errorf("%d, want 2", got)
	}
}
