package source

import (
	"fmt"
	"strings"

	"github.com/orepl/orepl/lang/diag"
)

// maxNesting bounds how deep the tree of a text can be. Parsers recurse, and Go ends a process whose stack is exhausted.
const maxNesting = 20000

// CheckNesting refuses a text whose tree may be too deep: brackets in brackets, and long chains of operators, prefixes
// or arrows without a comma or the end of a statement between them.
func CheckNesting(name, text string) error {
	if len(text) <= maxNesting {
		return nil
	}
	s := &scanner{src: text}
	var outer []int // the chains that the open brackets interrupt
	total, run := 0, 0
	for {
		before := s.prev
		controlled := s.control
		t := s.next()
		if t.kind == lexEnd {
			return nil
		}
		if s.endsStatement(before, controlled, t) {
			total -= run
			run = 0
		}
		run++
		total++
		if total > maxNesting {
			pos := diag.PositionAt(name, text, t.start)
			return &diag.Diagnostic{
				ID: "syntax", Name: "SyntaxError", Message: fmt.Sprintf("the code is nested more than %d deep", maxNesting),
				Hint: "split the expression; load large data from a JSON file", Position: pos, Excerpt: diag.Excerpted(text, pos, 1),
			}
		}
		word := s.text(t)
		template := t.kind == lexTemplate
		if len(outer) > 0 && (template && word[0] == '}' || t.kind == lexPunct && strings.Contains(")]}", word)) {
			total -= run
			run = outer[len(outer)-1]
			outer = outer[:len(outer)-1]
		}
		switch {
		case template && strings.HasSuffix(word, "${"), t.kind == lexPunct && strings.Contains("([{", word):
			outer = append(outer, run)
			run = 0
		case t.kind == lexPunct && (word == "," || word == ";"):
			total -= run
			run = 0
		}
	}
}

// endsStatement reports whether a statement ends between two tokens without a semicolon.
func (s *scanner) endsStatement(before lexeme, controlled bool, t lexeme) bool {
	if before.kind == lexEnd || t.kind == lexPunct || t.kind == lexTemplate {
		return false
	}
	if t.kind == lexWord {
		switch s.text(t) {
		case "else", "in", "of", "instanceof", "catch", "finally", "while":
			return false
		}
	}
	if before.kind == lexPunct && s.text(before) == "}" {
		return true
	}
	if !strings.Contains(s.src[before.end:t.start], "\n") {
		return false
	}
	switch before.kind {
	case lexPunct:
		return s.text(before) == "]" || s.text(before) == ")" && !controlled
	case lexWord:
		switch s.text(before) {
		case "else", "do", "new", "typeof", "void", "delete", "await", "in", "of", "instanceof", "case", "extends":
			return false
		}
	}
	return true
}
