package repl

import (
	"strings"

	"github.com/dop251/goja/parser"
)

// incomplete reports whether a text ends in the middle of something, so that a further line belongs to it.
func incomplete(text string) bool {
	_, err := parser.ParseFile(nil, "", text, 0, parser.WithDisableSourceMaps)
	return err != nil && strings.Contains(err.Error(), "Unexpected end of input")
}
