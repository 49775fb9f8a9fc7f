package texts

import (
	"fmt"
	"strings"
	"testing"
)

// TestBounds checks the bounds of the texts of calls.
func TestBounds(t *testing.T) {
	x := New()
	x.Set("file", "f", false)
	for i := range 3 * Most {
		x.Set(fmt.Sprint(i), "12345", true)
		x.Set("again", fmt.Sprint(i), true)
	}
	if _, ok := x.Get("0"); ok || len(x.calls) != Most || len(x.byName) != Most+1 {
		t.Errorf("%d texts are kept", len(x.byName))
	}
	if _, ok := x.Get("file"); !ok {
		t.Error("a file's text is gone")
	}
	large := strings.Repeat("x", MostSize)
	for _, name := range []string{"a", "b"} {
		x.Set(name, large, true)
	}
	if text, ok := x.Get("b"); !ok || text != large || len(x.calls) != 1 || x.size != MostSize {
		t.Errorf("%d texts of %d bytes are kept", len(x.calls), x.size)
	}
	x.Set("c", "c", true) // "b" goes
	x.Set("d", "d", true)
	x.Set("c", large+"c", true)
	if text, ok := x.Get("c"); !ok || text != large+"c" || len(x.calls) != 1 || x.size != len(text) {
		t.Errorf("after a longer text: %d texts of %d bytes are kept", len(x.calls), x.size)
	}
}
