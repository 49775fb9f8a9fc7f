package editor

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/orepl/orepl/lang/columns"
)

// indent is the text that Tab inserts at the start of a line.
const indent = "  "

// tab completes the word before the cursor; a second Tab lists the completions. At the start of a line it inserts indent. A Tab
// within a burst of input other than tabs is pasted text.
func (e *Editor) tab(k key) {
	switch {
	case k.burst && !e.onlyTabsFollow():
		e.insert(typing, "\t")
		return
	case strings.TrimSpace(e.text[e.lineStart(e.at):e.at]) == "":
		e.insert(typing, indent)
		return
	case e.complete == nil:
		return
	}
	start, words := e.complete(e.text, e.at)
	if len(words) == 0 {
		return
	}
	word := e.text[start:e.at]
	common := commonPrefix(words)
	if len(common) > len(word) || len(words) == 1 && common != word {
		e.change(other, e.text[:start]+common+e.text[e.at:], start+len(common))
		e.tabs = 0
		if len(words) > 1 {
			e.tabs = 1
		}
		return
	}
	if e.tabs++; e.tabs > 1 && len(words) > 1 {
		e.list(words)
	}
}

// onlyTabsFollow reports whether all pending keys are tabs.
func (e *Editor) onlyTabsFollow() bool {
	return !slices.ContainsFunc(e.keys, func(k key) bool { return k.kind != character || k.r != '\t' })
}

func commonPrefix(words []string) string {
	prefix := words[0]
	for _, w := range words[1:] {
		for !strings.HasPrefix(w, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	for !utf8.ValidString(prefix) {
		prefix = prefix[:len(prefix)-1]
	}
	return prefix
}

// list prints words in columns below the block. The next redraw draws the block again, below the words.
func (e *Editor) list(words []string) {
	width, height := e.Size()
	e.write(below(e.picture) + table(words, width, max(height-4, 1)))
	e.picture = picture{top: e.picture.top}
}

// table returns words in columns, ordered down and then right. It reports the number of words that do not fit.
func table(words []string, width, height int) string {
	most := 0
	for _, w := range words {
		most = max(most, columns.Of(w))
	}
	across := max((width+1)/(most+2), 1)
	left := 0
	if fit := across * height; len(words) > fit {
		left, words = len(words)-fit, words[:fit]
	}
	down := (len(words) + across - 1) / across
	var b strings.Builder
	for i := range down {
		line := ""
		for j := i; j < len(words); j += down {
			line += columns.Pad(words[j], most+2)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if left > 0 {
		fmt.Fprintf(&b, "… and %d more\n", left)
	}
	return b.String()
}
