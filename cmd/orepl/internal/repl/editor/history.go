package editor

import (
	"os"
	"strings"
	"unicode/utf8"

	"github.com/peterh/liner"
)

// history is what was entered, in a file that is appended to at once: several sessions may share it, and none loses
// its lines by a crash.
type history struct {
	file    string
	entries []string
}

// openHistory reads a file. A file that cannot be read is no reason not to start.
func openHistory(file string) *history {
	h := &history{file: file}
	if file == "" {
		return h
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return h
	}
	lines := strings.Split(string(data), "\n")
	for _, line := range lines {
		if line != "" && utf8.ValidString(line) {
			h.entries = append(h.entries, line)
		}
	}
	if extra := len(h.entries) - liner.HistoryLimit; extra > 0 {
		h.entries = h.entries[extra:]
		h.rewrite()
	}
	return h
}

// rewrite replaces the file by the entries.
func (h *history) rewrite() {
	temporary := h.file + ".new"
	text := strings.Join(h.entries, "\n") + "\n"
	if os.WriteFile(temporary, []byte(text), 0o600) == nil {
		_ = os.Rename(temporary, h.file) // it stays too long otherwise, no more
	}
}

// add appends an entry, unless it repeats the last one.
func (h *history) add(entry string) bool {
	if entry == "" || len(h.entries) > 0 && h.entries[len(h.entries)-1] == entry {
		return false
	}
	h.entries = append(h.entries, entry)
	if h.file == "" {
		return true
	}
	f, err := os.OpenFile(h.file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return true // a home that is read-only is no failure of the session
	}
	defer f.Close()
	_, _ = f.WriteString(entry + "\n")
	return true
}

// encode makes one line of a block.
func encode(block string) string {
	block = strings.TrimRight(block, "\n")
	return strings.NewReplacer("\r", "", "\n", LineEnd, "\t", indent).Replace(block)
}
