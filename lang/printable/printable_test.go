package printable

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"":                    "",
		"plain":               "plain",
		"日本語, ünder\tlines\n": "日本語, ünder\tlines\n",
		"\x1b[2J":             "�[2J",
		"a\rb\x00c\x7f":       "a�b�c�",
		"\u009b31m":           "�31m",
		"\xff\x9b1m":          "��1m",
		"\u202eabc\u2066":     "�abc�",
	} {
		if got := Text(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	if got := Line("one\ntwo\t\n"); got != "one�two��" {
		t.Errorf("%q", got)
	}
}

// FuzzText checks that no control character remains, and that a second pass changes nothing.
func FuzzText(f *testing.F) {
	f.Add("a\x1b]0;title\x07\xc2")
	f.Fuzz(func(t *testing.T, s string) {
		got := Text(s)
		left := strings.IndexFunc(got, func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) })
		if left >= 0 || !utf8.ValidString(got) || Text(got) != got || strings.ContainsAny(Line(s), "\n\t") {
			t.Errorf("%q became %q", s, got)
		}
	})
}
