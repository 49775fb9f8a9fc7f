package cpu

import (
	"context"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

// Who waits for somebody else's compilation of the same image stops when its context ends.
func TestTheWaitForACompilationEnds(t *testing.T) {
	f := open(t, Options{})
	img := image(t, "orepl-ir 1\n\nkernel k() real f32 {\n  return\n}\n")
	c := f.dev.(*device).modules
	m, err := c.get(background, img)
	must(t, err)
	m.turn <- struct{}{} // as while it is compiled
	ctx, cancel := context.WithTimeout(background, 5*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() { _, err := f.dev.Load(ctx, img); done <- err }()
	select {
	case err := <-done:
		if offload.CodeOf(err) != offload.Cancelled {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the second loader waits for the first")
	}
	<-m.turn
	if m.users != 1 {
		t.Errorf("%d users are counted", m.users)
	}
	c.put(m)
}
