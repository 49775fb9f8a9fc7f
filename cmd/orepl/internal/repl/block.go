package repl

import (
	"errors"
	"strings"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/source"
)

// incomplete reports whether a text ends in the middle of something, so that a further line belongs to it.
func incomplete(text string) bool {
	if strings.HasPrefix(strings.TrimSpace(text), "?") {
		return false
	}
	_, err := source.Compile("", text, source.Options{Kind: source.Prompt})
	var d *diag.Diagnostic
	return errors.As(err, &d) && d.ID == "syntax-incomplete"
}

// silent reports whether a block ends with a semicolon, behind which may be a comment.
func silent(block string) bool {
	text := strings.TrimSpace(block)
	for {
		if strings.HasSuffix(text, ";") {
			return true
		}
		at := -1
		if strings.HasSuffix(text, "*/") {
			at = strings.LastIndex(text, "/*")
		} else if line := strings.LastIndexByte(text, '\n') + 1; strings.Contains(text[line:], "//") {
			at = line + strings.LastIndex(text[line:], "//")
		}
		if at < 0 || incomplete(text[:at]) {
			return false
		}
		text = strings.TrimSpace(text[:at])
	}
}
