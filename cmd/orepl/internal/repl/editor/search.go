package editor

import (
	"fmt"
	"strings"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// search is a backward search in the history.
type search struct {
	pattern string
	found   string
	at      int   // index of the found entry
	before  state // the block before the search
}

func (e *Editor) beginSearch() {
	e.search = &search{at: len(e.history.entries), found: e.text, before: state{e.text, e.at}}
}

// find searches backwards from an entry for one that contains the pattern. If there is none, or the pattern is empty, the found
// entry stays.
func (s *search) find(entries []string, from int) {
	for i := min(from, len(entries)-1); i >= 0 && s.pattern != ""; i-- {
		if strings.Contains(entries[i], s.pattern) {
			s.found, s.at = entries[i], i
			return
		}
	}
}

// searchKey handles a key during a search. Text and Backspace change the pattern, and Ctrl-R finds an earlier entry. Ctrl-C,
// Ctrl-G and Escape return to the block as it was. Any other key that is no text ends the search and is applied to the found
// entry.
func (e *Editor) searchKey(k key) (end bool, err error) {
	s := e.search
	entries := e.history.entries
	switch {
	case k.kind == character && !k.alt && k.r == ctrl('r'):
		s.find(entries, s.at-1)
	case k.kind == character && !k.alt && (k.r == backspace || k.r == ctrl('h')):
		b := &buffer{text: s.pattern, at: len(s.pattern)}
		s.pattern, s.found = s.pattern[:b.previous()], s.before.text
		s.find(entries, len(entries))
	case k.kind == character && (k.r == ctrl('c') || k.r == ctrl('g') || k.r == escape):
		e.search = nil
	case k.kind == character && !k.alt && k.r >= ' ':
		s.pattern += string(k.r)
		s.find(entries, s.at)
	case k.kind == pasted:
		s.pattern += k.text
		s.find(entries, s.at)
	default:
		e.search = nil
		if s.found != e.text {
			e.change(other, s.found, len(s.found))
		}
		if k.kind == character && (k.r == '\r' || k.r == '\n') && !k.alt {
			return true, nil
		}
		return e.handle(k)
	}
	return false, nil
}

// drawSearch returns the output that replaces an old picture by one row for the search, in which ↵ represents a line end.
func drawSearch(old picture, pattern, found string, width int) (string, picture) {
	text := fmt.Sprintf("(search) %s: %s", pattern, strings.NewReplacer("\n", "↵", "\t", " ").Replace(found))
	shown, n := 0, 0
	for it := graphemes.FromString(text); it.Next(); {
		w := clusterWidth(it.Value())
		if n+w > width-2 {
			text = text[:shown] + "…"
			break
		}
		shown, n = shown+len(it.Value()), n+w
	}
	return erase(old) + text, picture{rows: 1}
}
