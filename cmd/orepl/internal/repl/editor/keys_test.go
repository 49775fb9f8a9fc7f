package editor

import (
	"fmt"
	"strings"
	"testing"
)

// names returns keys as text for comparisons.
func names(keys []key) string {
	var b strings.Builder
	for _, k := range keys {
		switch {
		case k.kind == pasted:
			fmt.Fprintf(&b, "<%s>", k.text)
		case k.kind == character && k.alt:
			fmt.Fprintf(&b, "alt(%s)", string(k.r))
		case k.kind == character:
			b.WriteString(string(k.r))
		default:
			fmt.Fprintf(&b, "[%d]", k.kind)
		}
	}
	return b.String()
}

func TestDecoder(t *testing.T) {
	for _, c := range []struct {
		name   string
		chunks []string
		want   string
	}{
		{"plain", []string{"a", "b\r"}, "ab\r"},
		{"a character in pieces", []string{"\xe2\x86", "\xb5x"}, "↵x"},
		{"bytes that are no text", []string{"a\xffb"}, fmt.Sprintf("a[%d]b", unknownKey)},
		{"paste", []string{"x\x1b[200~a\r\n\tb\n\x1b[201~y"}, "x<a\n\tb>y"},
		{"paste in pieces", []string{"\x1b[2", "00~a", "\nb\x1b[20", "1~c"}, "<a\nb>c"},
		{"control characters in a paste", []string{"\x1b[200~a\x03\x1b[Ab\x12↵\x1b[201~"}, "<a[Ab↵>"},
		{"two pastes", []string{"\x1b[200~a\x1b[201~\x1b[200~b\x1b[201~"}, "<a><b>"},
		{"arrows", []string{"\x1b[A\x1bOB\x1b", "[C"}, fmt.Sprintf("[%d][%d][%d]", up, down, right)},
		{"alt", []string{"\x1bb\x1b\r\x1bé"}, "alt(b)alt(\r)alt(é)"},
		{"enter with shift, kitty and xterm", []string{"\x1b[13;2u\x1b[27;2;13~"}, "\r\r"},
		{"an unknown key", []string{"\x1b[24~a"}, fmt.Sprintf("[%d]a", unknownKey)},
	} {
		var d decoder
		var keys []key
		for _, chunk := range c.chunks {
			keys = append(keys, d.feed([]byte(chunk))...)
		}
		if got := names(keys); got != c.want || d.pending() {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	var d decoder
	if keys := d.feed([]byte("\x1b")); len(keys) != 0 || !d.pending() {
		t.Error("a lone Escape did not wait")
	}
	if got := names(d.flush()); got != "\x1b" || d.pending() {
		t.Errorf("a lone Escape became %q", got)
	}
	k := d.feed([]byte("\x1b[1;5C\x1b[13;2u"))
	if !k[0].control || !k[1].shift {
		t.Errorf("modifiers are lost: %+v", k)
	}
}

// FuzzDecoder checks that the decoded keys do not depend on how input is split into chunks.
func FuzzDecoder(f *testing.F) {
	f.Add("a\x1b[200~b\x1b[201~\x12c", 3)
	f.Add("\x1b[1;5C\xe2\x86\xb5", 9)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		cut = max(0, min(cut, len(text)))
		var whole, parts decoder
		a := whole.feed([]byte(text))
		b := append(parts.feed([]byte(text[:cut])), parts.feed([]byte(text[cut:]))...)
		if names(a) != names(b) {
			t.Errorf("%q and %q", names(a), names(b))
		}
	})
}
