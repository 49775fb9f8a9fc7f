package source

import (
	"github.com/orepl/orepl/lang/nesting"
)

// CheckNesting returns an error if a text's syntax tree may be too deep for the parsers and compilers.
func CheckNesting(name, text string) error {
	p := nesting.Check(text, nesting.Max)
	if p == nil {
		return nil
	}
	return refusal(name, text, p.Offset, p.Message, p.Hint)
}

// needsPlain reports whether a text could nest deeper than limit, or take long to parse, if [nesting.Check] misclassified its tokens.
// Its plain form is then parsed first.
func needsPlain(text string, limit int) bool { return len(text) > limit || nesting.Ambiguous(text) }
