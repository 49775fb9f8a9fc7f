package bundler

import (
	"bytes"
	"fmt"
)

const (
	startMark = " " + Magic + "__START__ "
	endMark   = " " + Magic + "__END__ "
)

// comments are the signs that begin a comment in the languages of text bundles: assembly, LLVM IR, and C.
var comments = []string{"#", ";", "//"}

// commentOf returns the comment sign of a text bundle, or "" if data is none.
func commentOf(data []byte) string {
	head := bytes.TrimLeft(data[:min(len(data), 64)], "\r\n")
	for _, c := range comments {
		if rest, ok := bytes.CutPrefix(head, []byte(c)); ok && bytes.HasPrefix(rest, []byte(startMark)) {
			return c
		}
	}
	return ""
}

// IsText reports whether data begins with a text bundle's mark.
func IsText(data []byte) bool { return commentOf(data) != "" }

// TextEntry is an entry of a text bundle with its range of bytes, which includes its marks.
type TextEntry struct {
	Entry
	Start, End int
}

// ReadText reads a text bundle. The entries share memory with data.
func ReadText(data []byte) ([]TextEntry, error) {
	comment := commentOf(data)
	if comment == "" {
		return nil, fmt.Errorf("no mark of a bundle")
	}
	start, end := []byte("\n"+comment+startMark), []byte("\n"+comment+endMark)
	var list []TextEntry
	at := 0
	if i := bytes.Index(data, start[1:]); i >= 0 && len(bytes.TrimLeft(data[:i], "\r\n")) == 0 { // the first line
		at = max(i-1, 0)
	}
	for {
		mark := bytes.Index(data[at:], start)
		skip := len(start)
		if at == 0 && bytes.HasPrefix(data, start[1:]) {
			mark, skip = 0, len(start)-1
		}
		if mark < 0 {
			return list, nil
		}
		if len(list) == maxEntries {
			return nil, fmt.Errorf("more than %d entries", maxEntries)
		}
		first := at + mark
		from := first // without the end of the line that belongs to the entry before
		if len(list) > 0 {
			from = max(first, list[len(list)-1].End)
		}
		id, body, ok := line(data, first+skip)
		if !ok || len(id) > maxIDBytes {
			return nil, fmt.Errorf("entry %d: the mark at byte %d has no identifier", len(list), first)
		}
		// An empty entry's end mark follows the identifier's line at once.
		n := bytes.Index(data[body-1:], end)
		if n < 0 {
			return nil, fmt.Errorf("entry %d, %q: it has no end", len(list), id)
		}
		stop := body - 1 + n
		last, next, ok := line(data, stop+len(end))
		if !ok {
			next = len(data)
		}
		if last != id {
			return nil, fmt.Errorf("entry %d, %q: its end is marked %q", len(list), id, last)
		}
		e := TextEntry{Entry{ID: id, Offset: uint64(body)}, from, next}
		if stop >= body {
			e.Data = data[body:stop:stop]
		}
		list = append(list, e)
		at = max(next-1, first+1)
	}
}

// line returns the text from position at to the end of its line, and the position of the next line. It returns false if no
// line break follows within the maximum length of an identifier.
func line(data []byte, at int) (text string, next int, ok bool) {
	n := bytes.IndexByte(data[at:min(len(data), at+maxIDBytes+2)], '\n')
	if n < 0 {
		return string(bytes.TrimRight(data[at:min(len(data), at+maxIDBytes+2)], "\r")), len(data), false
	}
	return string(bytes.TrimRight(data[at:at+n], "\r")), at + n + 1, true
}
