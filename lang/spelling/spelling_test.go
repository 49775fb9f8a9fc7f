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

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"1 entry": Count(1, "entry"), "0 entries": Count(0, "entry"), "2 axes": Count(2, "axis"), "1 axis": Count(1, "axis"), "3 elements": Count(int64(3), "element"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestList(t *testing.T) {
	for _, c := range [][2]string{
		{List("lokal", []string{"local", "size"}, "names"), `did you mean "local"? names: local, size`},
		{List("other", []string{"local", "size"}, "names"), "names: local, size"},
		{List("other", nil, "names"), "there are no names"},
	} {
		if c[0] != c[1] {
			t.Errorf("%q, want %q", c[0], c[1])
		}
	}
}

func TestOneEdit(t *testing.T) {
	for name, want := range map[string]string{"abc": "", "abd": "abc", "ab": "abc", "abcd": "abc", "acb": "abc", "a": "", "xyz": "", "": ""} {
		if got := OneEdit(name, []string{"abc"}); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestOr(t *testing.T) {
	for want, list := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := Or(list); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
