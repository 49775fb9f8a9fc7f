package source

import (
	"github.com/orepl/orepl/lang/nesting"
)

// CheckNesting refuses a text whose tree may be too deep for the parsers and compilers that read it.
func CheckNesting(name, text string) error {
	p := nesting.Check(text, nesting.Max)
	if p == nil {
		return nil
	}
	return refusal(name, text, p.Offset, p.Message, p.Hint)
}

// needsPlain reports whether a text may nest too deep if [nesting.Check] mistook its tokens. Then its plain form is
// parsed first.
func needsPlain(text string, limit int) bool { return len(text) > limit || nesting.Ambiguous(text) }
