package repl

import (
	"errors"
	"regexp"
	"strings"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/lang/source"
)

// incomplete reports whether a text needs a further line.
func incomplete(text string) bool {
	if strings.HasPrefix(strings.TrimSpace(text), "?") {
		return false
	}
	if pythonImport.Get().MatchString(text) {
		return false
	}
	_, err := source.Compile("", text, source.Options{Kind: source.Prompt})
	var d *diag.Diagnostic
	return errors.As(err, &d) && d.ID == "syntax-incomplete"
}

// pythonImport matches a statement of Python that JavaScript would continue in the next line.
var pythonImport = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^\s*import\s+[\w.]+(\s+as\s+\w+)?\s*$`) }}

// silent reports whether a block ends with a semicolon, not counting comments.
func silent(block string) bool {
	text := strings.TrimSpace(block)
	for {
		at := lastComment(text)
		if at < 0 {
			return strings.HasSuffix(text, ";")
		}
		text = strings.TrimSpace(text[:at])
	}
}

// lastComment returns the offset of the comment at the end of a text, or -1.
func lastComment(text string) int {
	begins := func(at int) bool {
		before := locate(text[:at])
		return !before.comment && before.quote == 0
	}
	if at := strings.LastIndex(text, "/*"); at >= 0 && strings.HasSuffix(text, "*/") && begins(at) {
		return at
	}
	line := strings.LastIndexByte(text, '\n') + 1
	for at := line; at < len(text); at++ {
		if strings.HasPrefix(text[at:], "//") && begins(at) {
			return at
		}
	}
	return -1
}
