package editor

import (
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/peterh/liner"
)

// history is the list of entered blocks and their file. Each block is appended to the file immediately, so sessions can
// share it and a crash loses none.
type history struct {
	file    string
	entries []string
}

// openHistory reads the latest entries of a file, at most liner.HistoryLimit. If it cannot be read, the history is empty. It
// shortens a file with more entries.
func openHistory(file string) *history {
	h := &history{file: file}
	if file == "" {
		return h
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return h
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && utf8.ValidString(line) {
			h.entries = append(h.entries, decode(line))
		}
	}
	if extra := len(h.entries) - liner.HistoryLimit; extra > 0 {
		h.entries = h.entries[extra:]
		h.rewrite()
	}
	return h
}

// rewrite replaces the file's contents by the entries.
func (h *history) rewrite() {
	temporary := h.file + ".new"
	var text strings.Builder
	for _, entry := range h.entries {
		text.WriteString(encode(entry) + "\n")
	}
	if os.WriteFile(temporary, []byte(text.String()), 0o600) == nil {
		_ = os.Rename(temporary, h.file) // on failure the file only stays too long
	}
}

// add appends an entry to the list and the file, unless it is blank or equals the last one. Beyond liner.HistoryLimit it drops the
// oldest entries of the list. It ignores errors of the file.
func (h *history) add(entry string) {
	if strings.TrimSpace(entry) == "" || len(h.entries) > 0 && h.entries[len(h.entries)-1] == entry {
		return
	}
	h.entries = append(h.entries, entry)
	if extra := len(h.entries) - liner.HistoryLimit; extra > 0 {
		h.entries = slices.Delete(h.entries, 0, extra)
	}
	if h.file == "" {
		return
	}
	f, err := os.OpenFile(h.file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return // a read-only home folder must not fail the session
	}
	defer f.Close()
	_, _ = f.WriteString(encode(entry) + "\n")
}

// In the file, ↵ represents a line end, and ␛ escapes itself and a ↵ of the text.
const (
	lineEnd = "↵"
	quote   = "␛"
)

// encode returns a block as one line, without carriage returns.
func encode(block string) string {
	return strings.NewReplacer("\r", "", quote, quote+quote, lineEnd, quote+lineEnd, "\n", lineEnd).Replace(block)
}

// decode returns the block that encode made a line of.
func decode(line string) string {
	return strings.NewReplacer(quote+quote, quote, quote+lineEnd, lineEnd, lineEnd, "\n").Replace(line)
}
