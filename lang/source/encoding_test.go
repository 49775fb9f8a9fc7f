package source

import (
	"errors"
	"testing"

	"github.com/orepl/orepl/lang/diag"
)

func TestEncoding(t *testing.T) {
	for text, want := range map[string]string{
		"const s = 'é\ufffd'":                 "",
		"const s = 'caf\xe9'":                 "t.js:1:15 the text is not UTF-8",
		"const a = 'é'\nlet s = '\ufffd\xe9'": "t.js:2:11 the text is not UTF-8",
		"'\u2028'\rlet\r\ns = '\xe9'":         "t.js:4:6 the text is not UTF-8",
		"\xff\xfel\x00e\x00t\x00":             "t.js:1:1 the text is UTF-16, not UTF-8",
	} {
		_, err := Compile("t.js", text, Options{Kind: Module})
		got := ""
		var d *diag.Diagnostic
		if errors.As(err, &d) {
			got = d.Position.String() + " " + d.Message
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
