package weburl

import (
	"strings"
	"testing"
)

func reader() Reader { return Reader{Normalize: func(s string) string { return s }} }

// TestParse tests results that differ from node's, and methods that scripts cannot call. bindings/std compares the rest
// with node.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"http://h/a^b":  "http://h/a%5Eb",
		"x:/.//p":       "x:/.//p",
		"x:a  ?q":       "x:a  ?q",
		"x://h/a/../..": "x://h/",
	} {
		u, err := reader().Parse(text, nil)
		if err != nil || u.String() != want {
			t.Errorf("%s: got %v, %v", text, u, err)
		}
	}
	for text, reason := range map[string]string{
		"a": "it has no scheme", "http://": "there is no host", "http://h:99999": "above 65535", "http://[1": "not closed",
		"http://[g]": "no IPv6", "http://1.2.3.256": "no IPv4", "http://a b": "may not hold ' '", "http://xn--a-": "no label", "http://u@": "behind the @",
	} {
		if u, err := reader().Parse(text, nil); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: got %v, %v, expected %s", text, u, err, reason)
		}
	}
}

// TestSetHost checks hosts that are set with a port. A port that is too large is ignored, and the host is set.
func TestSetHost(t *testing.T) {
	for _, c := range []struct{ url, host, want string }{
		{"http://a:8080/p", "b:81", "http://b:81/p"}, {"http://a:8080/p", "b:80", "http://b/p"}, {"http://a:8080/p", "b", "http://b:8080/p"},
		{"http://a:8080/p", "b:65536", "http://b:8080/p"}, {"http://a/p", "b:99999999999999999999/y", "http://b/p"},
		{"ns://a:8/p", "[::1]:65536", "ns://[::1]:8/p"}, {"http://a/p", "b:x", "http://b/p"}, {"http://a/p", ":65536", "http://a/p"},
		{"http://a/p", "b c:65536", "http://a/p"},
	} {
		u, err := reader().Parse(c.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if reader().Set(u, "host", c.host); u.String() != c.want {
			t.Errorf("%s with host %s: got %s, want %s", c.url, c.host, u, c.want)
		}
		if reader().Set(u, "port", "65536"); u.String() != c.want {
			t.Errorf("%s with a large port: got %s", c.want, u)
		}
	}
	if u, err := reader().Parse("http://a:65536", nil); err == nil {
		t.Errorf("got %s", u)
	}
}

func TestPunycode(t *testing.T) {
	for label, want := range map[string]string{"münchen": "xn--mnchen-3ya", "☃": "xn--n3h", "日本語": "xn--wgv71a119e", "ü": "xn--tda", "bücher-zahl": "xn--bcher-zahl-9db"} {
		got, ok := toPunycode(label)
		if !ok || got != want || !isPunycode(strings.TrimPrefix(got, "xn--")) {
			t.Errorf("%s: %s %v", label, got, ok)
		}
	}
	if _, ok := toPunycode(strings.Repeat("ü", maxLabel+1)); ok {
		t.Error("a label without end was taken")
	}
	for _, code := range []string{"", "ü", "-", "a-", "99999999", "a!"} {
		if isPunycode(code) {
			t.Errorf("%q means nothing", code)
		}
	}
}

// FuzzURL checks that the text of a URL parses to an equal URL, after any change.
func FuzzURL(f *testing.F) {
	for _, text := range []string{"http://u:p@h:8/a/../b?q#f", "x:a b#c", "file:///C|/a", "http://[::1.2.3.4]/", "http://0x7f.1", "//a", "http://münchen.de", "x:/.//a"} {
		f.Add(text, "http://b/c/d", "host", "z:9")
	}
	f.Fuzz(func(t *testing.T, text, baseText, part, value string) {
		r := reader()
		base, _ := r.Parse(baseText, nil)
		u, err := r.Parse(text, base)
		if err != nil {
			return
		}
		same := func() {
			again, err := r.Parse(u.String(), nil)
			if err != nil || again.String() != u.String() {
				t.Fatalf("%q became %v (%v)", u, again, err)
			}
		}
		same()
		for _, part := range []string{part, "protocol", "username", "host", "hostname", "port", "pathname", "search", "hash"} {
			r.Set(u, part, value)
			_ = u.Origin(r)
		}
		same()
	})
}
