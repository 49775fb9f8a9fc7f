package editor

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// buffer is the edited text with its cursor, killed text and undo history. Its units are grapheme clusters.
type buffer struct {
	text string
	at   int // byte offset of the cursor, between two clusters

	goal    int // column that Up and Down keep; -1: the cursor's
	undone  []state
	done    []state
	last    action
	kills   []string // killed texts, latest last
	yanked  int      // number of bytes that the last yank inserted
	yankAge int      // index of its kill, from the latest
}

// state is the part of a buffer that undo restores.
type state struct {
	text string
	at   int
}

// action is a kind of change. Changes of some kinds are merged into one undo step.
type action int

const (
	moving action = iota
	typing
	erasing
	killing
	yanking
	other
)

const (
	mostUndo  = 1000
	mostKills = 60
)

func newBuffer() *buffer { return &buffer{goal: -1} }

// change replaces the text and the cursor as one undo step. Adjacent steps of typing or erasing are merged.
func (b *buffer) change(kind action, text string, at int) {
	if joined := kind == b.last && (kind == typing || kind == erasing); !joined {
		b.done = append(b.done, state{b.text, b.at})
		if len(b.done) > mostUndo {
			b.done = slices.Delete(b.done, 0, len(b.done)-mostUndo)
		}
	}
	b.undone = nil
	b.text, b.at, b.last, b.goal = text, at, kind, -1
}

// moveTo moves the cursor to a byte offset. The next change is then an undo step of its own.
func (b *buffer) moveTo(at int) { b.at, b.goal, b.last = at, -1, moving }

// insert inserts a text before the cursor.
func (b *buffer) insert(kind action, text string) {
	if kind == typing && text == " " {
		b.last = other // each word is an undo step
	}
	b.change(kind, b.text[:b.at]+text+b.text[b.at:], b.at+len(text))
}

// remove deletes the bytes in a range and moves the cursor there.
func (b *buffer) remove(kind action, from, to int) {
	if from < to {
		b.change(kind, b.text[:from]+b.text[to:], from)
	}
}

// kill deletes bytes and keeps them for yank. Consecutive kills are merged.
func (b *buffer) kill(from, to int) {
	if from >= to {
		return
	}
	cut := b.text[from:to]
	if n := len(b.kills); b.last == killing && n > 0 {
		if from < b.at {
			b.kills[n-1] = cut + b.kills[n-1]
		} else {
			b.kills[n-1] += cut
		}
	} else {
		b.kills = append(b.kills, cut)
		b.kills = b.kills[max(0, len(b.kills)-mostKills):]
	}
	b.remove(killing, from, to)
}

// yank inserts the last killed text. With again, directly after a yank, it replaces that text by the previous kill.
func (b *buffer) yank(again bool) {
	if len(b.kills) == 0 || again && b.last != yanking {
		return
	}
	text, at := b.text, b.at
	if again {
		b.yankAge = (b.yankAge + 1) % len(b.kills)
		text, at = text[:at-b.yanked]+text[at:], at-b.yanked
	} else {
		b.yankAge = 0
	}
	cut := b.kills[len(b.kills)-1-b.yankAge]
	b.change(other, text[:at]+cut+text[at:], at+len(cut))
	b.yanked, b.last = len(cut), yanking
}

func (b *buffer) undo() { b.restore(&b.done, &b.undone) }
func (b *buffer) redo() { b.restore(&b.undone, &b.done) }

func (b *buffer) restore(from, to *[]state) {
	n := len(*from)
	if n == 0 {
		return
	}
	s := (*from)[n-1]
	*from = (*from)[:n-1]
	*to = append(*to, state{b.text, b.at})
	b.text, b.at, b.last, b.goal = s.text, s.at, other, -1
}

// lineStart returns the start of the line that contains an offset, lineEnd its end.
func (b *buffer) lineStart(at int) int { return strings.LastIndexByte(b.text[:at], '\n') + 1 }
func (b *buffer) lineEnd(at int) int {
	if n := strings.IndexByte(b.text[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(b.text)
}

// next returns the offset after the cluster at the cursor.
func (b *buffer) next() int {
	if b.at == len(b.text) || b.text[b.at] == '\n' {
		return min(b.at+1, len(b.text))
	}
	it := graphemes.FromString(b.text[b.at:b.lineEnd(b.at)])
	it.Next()
	return b.at + len(it.Value())
}

// previous returns the offset of the cluster before the cursor.
func (b *buffer) previous() int {
	start := b.lineStart(b.at)
	if start == b.at {
		return max(b.at-1, 0)
	}
	for it := graphemes.FromString(b.text[start:b.at]); it.Next(); {
		if start+len(it.Value()) >= b.at {
			break
		}
		start += len(it.Value())
	}
	return start
}

// vertical moves the cursor one line up (-1) or down (1). It returns false if there is no such line.
func (b *buffer) vertical(step int) bool {
	start, end := b.lineStart(b.at), b.lineEnd(b.at)
	if step < 0 && start == 0 || step > 0 && end == len(b.text) {
		return false
	}
	goal := b.goal
	if goal < 0 {
		goal = shownWidth(b.text[start:b.at])
	}
	if step < 0 {
		end = start - 1
		start = b.lineStart(end)
	} else {
		start = end + 1
		end = b.lineEnd(start)
	}
	at, column := start, 0
	for it := graphemes.FromString(b.text[start:end]); it.Next(); {
		n := clusterWidth(it.Value())
		if column+n > goal {
			break
		}
		at, column = at+len(it.Value()), column+n
	}
	b.moveTo(at)
	b.goal = goal
	return true
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '$' }

// wordEnd returns the end of the word at or after the cursor.
func (b *buffer) wordEnd() int {
	at := b.at
	for _, in := range []bool{false, true} {
		for at < len(b.text) {
			r, n := utf8.DecodeRuneInString(b.text[at:])
			if isWord(r) != in {
				break
			}
			at += n
		}
	}
	return at
}

// wordStart returns the start of the word before the cursor. Words consist of the characters for which inWord returns true.
func (b *buffer) wordStart(inWord func(rune) bool) int {
	at := b.at
	for _, in := range []bool{false, true} {
		for at > 0 {
			r, n := utf8.DecodeLastRuneInString(b.text[:at])
			if inWord(r) != in {
				break
			}
			at -= n
		}
	}
	return at
}

// transpose swaps the clusters around the cursor, or the last two at the end of a line. At the start of a line, or in a line of one cluster, it does nothing.
func (b *buffer) transpose() {
	at, start := b.at, b.lineStart(b.at)
	if at == b.lineEnd(at) && at > start {
		b.at = b.previous()
	}
	if b.at == start || b.at == len(b.text) {
		b.at = at
		return
	}
	before, after := b.previous(), b.next()
	b.change(other, b.text[:before]+b.text[b.at:after]+b.text[before:b.at]+b.text[after:], after)
}
