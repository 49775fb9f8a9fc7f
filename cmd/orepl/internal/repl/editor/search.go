package editor

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// search is the search through the history, backwards. It gives the line to go on with, and whether to run it. (That of
// liner counts bytes for characters, and so breaks lines that are not ASCII.)
func (e *Editor) search(line string) (found string, run bool) {
	defer e.endSearch()
	pattern, at := "", len(e.history.entries)
	found = line
	find := func(from int) {
		for i := min(from, len(e.history.entries)-1); i >= 0 && pattern != ""; i-- {
			if strings.Contains(e.history.entries[i], pattern) {
				found, at = e.history.entries[i], i
				return
			}
		}
	}
	for {
		e.drawSearch(pattern, found)
		keys := e.keys.next()
		if len(keys) == 0 {
			return line, false
		}
		for len(keys) > 0 {
			r, n := utf8.DecodeRune(keys)
			switch {
			case r == '\r' || r == '\n':
				e.keys.unread(keys[n:])
				return found, true
			case r == ctrlC || r == ctrlG || r == escape && len(keys) == 1:
				e.keys.unread(keys[n:])
				return line, false
			case r == ctrlR:
				find(at - 1)
			case r == backspace || r == del:
				_, size := utf8.DecodeLastRuneInString(pattern)
				pattern, found = pattern[:len(pattern)-size], line
				find(len(e.history.entries))
			case r < ' ': // any other key goes on editing what was found
				e.keys.unread(keys)
				return found, false
			default:
				pattern += string(r)
				find(at)
			}
			keys = keys[n:]
		}
	}
}

func (e *Editor) drawSearch(pattern, found string) {
	columns, _ := size(e.out)
	row := []rune(fmt.Sprintf("(search) %s: %s", pattern, found))
	if len(row) >= columns {
		row = append(row[:columns-2], '…')
	}
	fmt.Fprintf(e.out, "\r\x1b[K%s", string(row))
}
