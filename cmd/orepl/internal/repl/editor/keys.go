package editor

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/orepl/orepl/lang/later"
)

// Control sequences of bracketed paste, with which terminals mark pasted text. pasteStart is the argument of the one before the text.
const (
	pasteOn    = "\x1b[?2004h"
	pasteOff   = "\x1b[?2004l"
	pasteStart = "200"
	pasteEnd   = "\x1b[201~"
)

// keyKind classifies keys.
type keyKind int

const (
	character keyKind = iota // key.r, which may be a control character
	pasted                   // key.text
	up
	down
	left
	right
	home
	end
	insertKey
	deleteKey
	pageUp
	pageDown
	shiftTab
	unknownKey
)

// key is a pressed key or a paste.
type key struct {
	kind    keyKind
	r       rune
	text    string
	alt     bool
	control bool // Ctrl with a key that is no letter, such as an arrow key
	shift   bool
	burst   bool // received with further input, such as text pasted without brackets
}

// isText reports whether a key is a character of text.
func (k key) isText() bool { return k.kind == character && !k.alt && k.r >= ' ' && k.r != backspace }

func ctrl(letter rune) rune { return letter & 0x1f }

const (
	escape    = 27
	backspace = 127
)

// decoder decodes a terminal's bytes to keys.
type decoder struct {
	rest    []byte
	pasting bool
	paste   []byte
}

// feed adds bytes and returns the complete keys.
func (d *decoder) feed(data []byte) []key {
	d.rest = append(d.rest, data...)
	var keys []key
	for len(d.rest) > 0 {
		if d.pasting {
			if !d.takePaste(&keys) {
				break
			}
			continue
		}
		k, n := d.one(d.rest)
		if n == 0 {
			break
		}
		d.rest = d.rest[n:]
		if k.kind == pasted {
			d.pasting = true
			continue
		}
		k.burst = len(d.rest) > 0
		keys = append(keys, k)
	}
	if len(d.rest) == 0 {
		d.rest = nil
	}
	return keys
}

// takePaste moves bytes into the paste. It returns false until the end of the paste.
func (d *decoder) takePaste(keys *[]key) bool {
	from := max(len(d.paste)-len(pasteEnd), 0)
	d.paste = append(d.paste, d.rest...)
	d.rest = nil
	i := bytes.Index(d.paste[from:], []byte(pasteEnd))
	if i < 0 {
		return false
	}
	d.rest = bytes.Clone(d.paste[from+i+len(pasteEnd):])
	*keys = append(*keys, key{kind: pasted, text: pastedText(string(d.paste[:from+i]))})
	d.pasting, d.paste = false, nil
	return true
}

// pending reports whether there is an incomplete key.
func (d *decoder) pending() bool { return len(d.rest) > 0 && !d.pasting }

// flush returns an incomplete key as separate keys: a lone Escape is the key Escape. It drops the first bytes of an
// incomplete character.
func (d *decoder) flush() []key {
	if !d.pending() {
		return nil
	}
	rest := d.rest[1:]
	first := d.rest[0]
	d.rest = nil
	if first != escape {
		return nil // the first bytes of a character
	}
	return append([]key{{r: escape}}, d.feed(rest)...)
}

// one decodes the first key of data and returns its length in bytes, which is 0 for an incomplete key.
func (d *decoder) one(data []byte) (k key, n int) {
	if data[0] == escape {
		return d.sequence(data)
	}
	if !utf8.FullRune(data) {
		return k, 0
	}
	r, n := utf8.DecodeRune(data)
	if r == utf8.RuneError && n == 1 {
		return key{kind: unknownKey}, 1
	}
	return key{r: r}, n
}

// sequence decodes a key that starts with Escape.
func (d *decoder) sequence(data []byte) (k key, n int) {
	if len(data) == 1 {
		return k, 0
	}
	switch data[1] {
	case '[':
	case 'O':
		if len(data) < 3 {
			return k, 0
		}
		return named(data[2], ""), 3
	case escape: // the first Escape was a key by itself
		return key{r: escape}, 1
	default:
		k, n = d.one(data[1:])
		k.alt = true
		if n > 0 {
			n++
		}
		return k, n
	}
	for i := 2; i < len(data); i++ {
		if c := data[i]; c >= '@' && c <= '~' {
			return named(c, string(data[2:i])), i + 1
		}
		if i > 32 {
			return key{kind: unknownKey}, i
		}
	}
	return k, 0
}

var finals = later.Value[map[byte]keyKind]{Make: func() map[byte]keyKind {
	return map[byte]keyKind{'A': up, 'B': down, 'C': right, 'D': left, 'H': home, 'F': end, 'Z': shiftTab}
}}

var numbered = later.Value[map[string]keyKind]{Make: func() map[string]keyKind {
	return map[string]keyKind{"1": home, "2": insertKey, "3": deleteKey, "4": end, "5": pageUp, "6": pageDown, "7": home, "8": end, pasteStart: pasted}
}}

// named returns the key of a control sequence.
func named(final byte, args string) key {
	parts := strings.Split(args, ";")
	k := key{kind: unknownKey}
	modifier := 0
	if len(parts) > 1 {
		m, _ := strconv.Atoi(parts[1])
		modifier = max(m-1, 0)
	}
	switch {
	case final == '~' && parts[0] == "27" && len(parts) == 3: // xterm's modifyOtherKeys
		code, _ := strconv.Atoi(parts[2])
		k = key{r: rune(code)}
	case final == '~':
		if kind, ok := numbered.Get()[parts[0]]; ok {
			k.kind = kind
		}
	case final == 'u': // kitty's keyboard protocol
		code, _ := strconv.Atoi(parts[0])
		k = key{r: rune(code)}
	default:
		if kind, ok := finals.Get()[final]; ok {
			k.kind = kind
		}
	}
	k.shift, k.alt, k.control = modifier&1 != 0, modifier&2 != 0, modifier&4 != 0
	if k.control && k.kind == character && unicode.IsLetter(k.r) {
		k.r, k.control = ctrl(k.r), false
	}
	return k
}

// pastedText returns a paste without control characters except line ends and tabs, and without line ends and spaces at its end.
// U+FFFD replaces invalid UTF-8.
func pastedText(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	text = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return strings.TrimRight(text, "\n ")
}
