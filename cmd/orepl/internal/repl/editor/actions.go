package editor

import (
	"io"
	"strings"
	"unicode"
)

// handle executes a key. end reports whether the block ends, with an error unless it was entered.
func (e *Editor) handle(k key) (end bool, err error) {
	if e.search != nil {
		return e.searchKey(k)
	}
	if len(e.prefix) > 0 {
		begun := e.prefix[0].r
		e.prefix = nil
		e.second(begun, k)
		return false, nil
	}
	if k.kind != character || k.r != '\t' {
		e.tabs = 0
	}
	if k.kind != up && k.kind != down && (k.kind != character || k.r != ctrl('p') && k.r != ctrl('n')) {
		e.browsing = browsing{}
	}
	switch {
	case k.kind == pasted:
		e.insert(other, k.text)
	case k.kind != character:
		e.navigate(k)
	case k.alt:
		e.altKey(k)
	case k.isText():
		e.insert(typing, e.run(k))
	default:
		return e.controlKey(k)
	}
	return false, nil
}

// run returns a character and those that follow in the same burst, which it removes from e.keys. Inserting them together avoids
// copies of the text.
func (e *Editor) run(k key) string {
	if !k.burst {
		return string(k.r)
	}
	text := []rune{k.r}
	for len(e.keys) > 0 && e.keys[0].isText() {
		text = append(text, e.keys[0].r)
		e.keys = e.keys[1:]
	}
	return string(text)
}

// controlKey executes a control character. Its results are those of handle.
func (e *Editor) controlKey(k key) (end bool, err error) {
	switch k.r {
	case '\r', '\n':
		if k.shift || k.burst && e.brackets.goOn(e.text[:e.at]) || !e.isWhole(e.text) {
			e.insert(other, "\n")
			return false, nil
		}
		return true, nil
	case '\t':
		e.tab(k)
	case ctrl('c'):
		if e.text == "" {
			return true, ErrNothingTyped
		}
		return true, ErrAborted
	case ctrl('d'):
		if e.text == "" {
			return true, io.EOF
		}
		e.remove(erasing, e.at, e.buffer.next())
	case ctrl('h'), backspace:
		e.remove(erasing, e.previous(), e.at)
	case ctrl('a'):
		e.moveTo(e.lineStart(e.at))
	case ctrl('e'):
		e.moveTo(e.lineEnd(e.at))
	case ctrl('b'):
		e.moveTo(e.previous())
	case ctrl('f'):
		e.moveTo(e.buffer.next())
	case ctrl('p'):
		e.vertically(-1)
	case ctrl('n'):
		e.vertically(1)
	case ctrl('k'):
		to := e.lineEnd(e.at)
		if to == e.at {
			to = e.buffer.next()
		}
		e.kill(e.at, to)
	case ctrl('u'):
		e.kill(e.lineStart(e.at), e.at)
	case ctrl('w'):
		e.kill(e.wordStart(func(r rune) bool { return !unicode.IsSpace(r) }), e.at)
	case ctrl('y'):
		e.yank(false)
	case ctrl('t'):
		e.transpose()
	case ctrl('l'):
		e.write("\x1b[H\x1b[2J")
		e.picture = picture{}
	case ctrl('r'):
		e.beginSearch()
	case ctrl('z'):
		e.suspend()
	case ctrl('_'):
		e.undo()
	case ctrl('x'), ctrl('v'):
		e.prefix = []key{k}
	}
	return false, nil
}

// second executes the key after Ctrl-X or Ctrl-V.
func (e *Editor) second(begun rune, k key) {
	switch {
	case begun == ctrl('x') && k.r == ctrl('e'):
		e.external()
	case begun == ctrl('x') && k.r == ctrl('u'):
		e.undo()
	case begun == ctrl('v') && (k.r == '\t' || k.isText()):
		e.insert(typing, string(k.r))
	case begun == ctrl('v') && (k.r == '\r' || k.r == '\n'):
		e.insert(typing, "\n")
	}
}

// altKey executes a character typed with Alt.
func (e *Editor) altKey(k key) {
	switch unicode.ToLower(k.r) {
	case '\r', '\n':
		e.insert(other, "\n")
	case 'b':
		e.moveTo(e.wordStart(isWord))
	case 'f':
		e.moveTo(e.wordEnd())
	case 'd':
		e.kill(e.at, e.wordEnd())
	case ctrl('h'), backspace:
		e.kill(e.wordStart(isWord), e.at)
	case 'y':
		e.yank(true)
	case '_', '/':
		e.redo()
	case '<':
		e.moveTo(0)
	case '>':
		e.moveTo(len(e.text))
	}
}

// navigate executes a named key.
func (e *Editor) navigate(k key) {
	words := k.control || k.alt
	switch k.kind {
	case up:
		e.vertically(-1)
	case down:
		e.vertically(1)
	case left:
		if words {
			e.moveTo(e.wordStart(isWord))
		} else {
			e.moveTo(e.previous())
		}
	case right:
		if words {
			e.moveTo(e.wordEnd())
		} else {
			e.moveTo(e.buffer.next())
		}
	case home:
		if k.control {
			e.moveTo(0)
		} else {
			e.moveTo(e.lineStart(e.at))
		}
	case end:
		if k.control {
			e.moveTo(len(e.text))
		} else {
			e.moveTo(e.lineEnd(e.at))
		}
	case deleteKey:
		e.remove(erasing, e.at, e.buffer.next())
	}
}

// vertically moves the cursor up or down in the block, or through the history from its first or last line. After Up the
// cursor is on the first line of the recalled block, after Down on the last, so repeated presses continue.
func (e *Editor) vertically(step int) {
	if e.vertical(step) {
		return
	}
	entry, ok := e.history.browse(&e.browsing, e.text, e.at, step)
	if !ok {
		return
	}
	e.change(other, entry, len(entry))
	if step < 0 {
		e.moveTo(e.lineEnd(0))
	}
}

// browsing is the position of Up and Down in the history.
type browsing struct {
	active bool
	prefix string // prefix of the entries to show
	typed  string // the block before browsing
	index  int    // index of the entry
}

// browse returns the next entry before (step -1) or after (1) the current one that has the browsed prefix and differs from
// text. The typed text follows the last entry. It returns false if there is no such entry.
func (h *history) browse(b *browsing, text string, at, step int) (entry string, ok bool) {
	if !b.active {
		*b = browsing{active: true, prefix: text[:at], typed: text, index: len(h.entries)}
	}
	shown := text
	for i := b.index + step; i >= 0 && i < len(h.entries); i += step {
		if strings.HasPrefix(h.entries[i], b.prefix) && h.entries[i] != shown {
			b.index = i
			return h.entries[i], true
		}
	}
	if step > 0 && b.index < len(h.entries) {
		b.index = len(h.entries)
		return b.typed, true
	}
	return "", false
}

// brackets counts the open brackets of a growing text. Each scan continues at the end of the last one.
type brackets struct {
	seen string // scanned text: whole lines, outside of templates and comments
	open int    // open brackets in seen
}

// goOn reports whether a text is certainly incomplete: it ends within brackets, a template or a comment of /*. It replaces the
// parser for lines that arrive faster than typing.
func (b *brackets) goOn(text string) bool {
	if !strings.HasPrefix(text, b.seen) {
		*b = brackets{}
	}
	open := b.open
	for i := len(b.seen); i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			b.seen, b.open = text[:i+1], open
		case c == '(' || c == '[' || c == '{':
			open++
		case c == ')' || c == ']' || c == '}':
			open--
		case c == '\'' || c == '"' || c == '`':
			for i++; i < len(text) && text[i] != c && (c == '`' || text[i] != '\n'); i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if i >= len(text) && c == '`' {
				return true
			}
		case strings.HasPrefix(text[i:], "//"):
			n := strings.IndexByte(text[i:], '\n')
			if n < 0 {
				return open > 0
			}
			i += n - 1
		case strings.HasPrefix(text[i:], "/*"):
			n := strings.Index(text[i+2:], "*/")
			if n < 0 {
				return true
			}
			i += n + 3
		}
	}
	return open > 0
}
