package portable

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

func image(text string) *offload.Image { return &offload.Image{Label: text, Data: []byte(text)} }

// counting returns a cache that counts its compilations.
func counting() (c *Cache[string], compiled *int) {
	compiled = new(int)
	return NewCache(func(_ context.Context, img *offload.Image) (string, error) {
		*compiled++
		if img.Label == "bad" {
			return "", errors.New("bad image")
		}
		return img.Label + "!", nil
	}), compiled
}

func TestCacheCompilesOnce(t *testing.T) {
	c, compiled := counting()
	var last *Cached[string]
	for range 3 {
		e, err := c.Get(t.Context(), image("a"))
		if err != nil || e.Value != "a!" || last != nil && e != last {
			t.Fatalf("%v, %v", e, err)
		}
		last = e
	}
	for range 3 {
		c.Put(last)
	}
	if _, err := c.Get(t.Context(), image("a")); err != nil || *compiled != 1 {
		t.Errorf("%d compilations, %v", *compiled, err)
	}
}

func TestCacheTriesAgain(t *testing.T) {
	c, compiled := counting()
	for n := 1; n <= 2; n++ {
		if _, err := c.Get(t.Context(), image("bad")); err == nil || *compiled != n {
			t.Errorf("%d compilations, %v", *compiled, err)
		}
	}
}

func TestCacheForgetsTheOldest(t *testing.T) {
	c, compiled := counting()
	for n := range keptUnused + 2 {
		e, err := c.Get(t.Context(), image(fmt.Sprint(n)))
		if err != nil {
			t.Fatal(err)
		}
		if n > 0 { // the first one stays in use
			c.Put(e)
		}
	}
	if len(c.entries) != keptUnused+1 {
		t.Errorf("%d entries", len(c.entries))
	}
	before := *compiled
	for n, want := range map[int]int{0: 0, 2: 0, 1: 1} {
		*compiled = before
		if _, err := c.Get(t.Context(), image(fmt.Sprint(n))); err != nil || *compiled != before+want {
			t.Errorf("image %d: %d compilations, want %d; %v", n, *compiled-before, want, err)
		}
	}
}

// TestCacheWaitEnds cancels a wait for another user's compilation.
func TestCacheWaitEnds(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	c := NewCache(func(context.Context, *offload.Image) (int, error) {
		close(begun)
		<-end
		return 7, nil
	})
	first := make(chan *Cached[int])
	go func() {
		e, _ := c.Get(context.Background(), image("a"))
		first <- e
	}()
	<-begun
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if _, err := c.Get(ctx, image("a")); offload.CodeOf(err) != offload.Cancelled {
		t.Error(err)
	}
	close(end)
	if e := <-first; e.Value != 7 || e.users != 1 {
		t.Errorf("%d with %d users", e.Value, e.users)
	}
}
