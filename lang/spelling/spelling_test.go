package spelling

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"global", "local", "group", "size", "x"}
	for name, want := range map[string]string{
		"lokal": "local", "glboal": "global", "siez": "size", "groups": "group", "timeout": "", "y": "", "X": "x",
	} {
		if got := Nearest(name, names); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
