package editor

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"unicode"
)

// Control sequences of bracketed paste: the terminal puts marks around what is pasted.
const (
	pasteOn    = "\x1b[?2004h"
	pasteOff   = "\x1b[?2004l"
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// Keys. F5 does nothing in liner but leave its modes; the mark then lands in the line, and the line ends behind its end.
const (
	ctrlC     = 3
	ctrlG     = 7
	backspace = 8
	ctrlR     = 18
	escape    = 27
	del       = 127
	leaveMode = "\x1b[15~"
	endKey    = "\x1b[F"
)

var (
	takeKeys   = leaveMode + string(takeMark) + endKey + "\r"
	searchKeys = leaveMode + string(searchMark) + endKey + "\r"
)

// keyboard passes what the terminal sends on to liner. While it holds, keys wait: the editor has ended the line, and
// what is typed now belongs behind what it does next.
type keyboard struct {
	in  *os.File
	out *os.File // liner reads the other end

	mu      sync.Mutex
	changed *sync.Cond
	held    bool
	waiting [][]byte // chunks that the terminal sent, not yet translated
	ready   []byte   // keys for liner
	typed   bool     // keys other than Ctrl-C came since somebody asked
	pasting bool
	paste   []byte
	ended   bool
}

func newKeyboard(in, out *os.File) *keyboard {
	k := &keyboard{in: in, out: out}
	k.changed = sync.NewCond(&k.mu)
	return k
}

// start begins to pass keys on. Both goroutines end with the terminal, or with the process.
func (k *keyboard) start() {
	go k.receive()
	go k.send()
}

func (k *keyboard) receive() {
	buffer := make([]byte, 4096)
	for {
		n, err := k.in.Read(buffer)
		k.mu.Lock()
		if n > 0 {
			k.waiting = append(k.waiting, bytes.Clone(buffer[:n]))
			k.translate()
		}
		if n == 0 || err != nil {
			k.ended = true
		}
		k.changed.Broadcast()
		ended := k.ended
		k.mu.Unlock()
		if ended {
			return
		}
	}
}

// send writes ready keys. It is a goroutine of its own because a pipe may be full.
func (k *keyboard) send() {
	defer k.out.Close()
	for {
		k.mu.Lock()
		for len(k.ready) == 0 {
			if k.ended && (k.held || len(k.waiting) == 0) {
				k.mu.Unlock()
				return
			}
			k.changed.Wait()
		}
		keys := k.ready
		k.ready = nil
		k.mu.Unlock()
		if _, err := k.out.Write(keys); err != nil {
			return
		}
	}
}

// take presses the keys that end the line, unless keys are held already.
func (k *keyboard) take() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held {
		return false
	}
	k.press(takeKeys)
	k.held = true
	return true
}

// release presses keys and lets go of those that wait.
func (k *keyboard) release(keys string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.press(keys)
	k.held = false
	k.translate()
}

// next gives what is typed while keys are held. It is empty when the terminal is gone.
func (k *keyboard) next() []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.waiting) == 0 {
		if k.ended {
			return nil
		}
		k.changed.Wait()
	}
	chunk := k.waiting[0]
	k.waiting = k.waiting[1:]
	return chunk
}

// typedAny reports whether keys other than Ctrl-C came since the last call.
func (k *keyboard) typedAny() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	any := k.typed
	k.typed = false
	return any
}

// unread puts keys back in front of those that wait.
func (k *keyboard) unread(keys []byte) {
	if len(keys) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.waiting = append([][]byte{keys}, k.waiting...)
}

// press queues keys for liner. The caller holds the lock.
func (k *keyboard) press(keys string) {
	k.ready = append(k.ready, keys...)
	k.changed.Broadcast()
}

// translate turns waiting chunks into keys for liner: pastes become text, and Ctrl-R begins the editor's own search.
func (k *keyboard) translate() {
	for !k.held && len(k.waiting) > 0 {
		chunk := k.waiting[0]
		k.waiting = k.waiting[1:]
		if rest := k.chunk(chunk); len(rest) > 0 {
			k.waiting = append([][]byte{rest}, k.waiting...)
			if !k.held { // the beginning of a mark, which needs what follows
				if len(k.waiting) < 2 {
					return
				}
				k.waiting[1] = append(rest, k.waiting[1]...)
				k.waiting = k.waiting[1:]
			}
		}
	}
}

// chunk translates one chunk and gives what it cannot translate yet.
func (k *keyboard) chunk(chunk []byte) (rest []byte) {
	for len(chunk) > 0 {
		k.typed = k.typed || len(bytes.Trim(chunk, string(rune(ctrlC)))) > 0
		if k.pasting {
			k.paste = append(k.paste, chunk...)
			text, after, whole := bytes.Cut(k.paste, []byte(pasteEnd))
			if !whole {
				return nil
			}
			chunk = bytes.Clone(after)
			k.press(pasted(string(text)))
			k.pasting, k.paste = false, nil
			continue
		}
		typed, after, begins := bytes.Cut(chunk, []byte(pasteStart))
		if at := bytes.IndexByte(typed, ctrlR); at >= 0 {
			k.press(typedKeys(typed[:at]) + searchKeys)
			k.held = true
			return chunk[at+1:]
		}
		if !begins {
			n := partialMark(typed)
			k.press(typedKeys(typed[:len(typed)-n]))
			return typed[len(typed)-n:]
		}
		k.press(typedKeys(typed))
		k.pasting, chunk = true, after
	}
	return nil
}

// partialMark is the length of a beginning of pasteStart at the end of a chunk, if it is too long to be a key.
func partialMark(chunk []byte) int {
	for n := len(pasteStart) - 1; n > 2; n-- {
		if bytes.HasSuffix(chunk, []byte(pasteStart[:n])) {
			return n
		}
	}
	return 0
}

// typedKeys are keys as typed, without the editor's own marks. Nobody types on behind a Tab within one chunk: there it
// is part of what a terminal without bracketed paste has pasted, and stands for blanks.
func typedKeys(keys []byte) string {
	text := dropMarks(string(keys))
	before := strings.TrimRight(text, "\t")
	return strings.ReplaceAll(before, "\t", indent) + text[len(before):]
}

const indent = "  "

// pasted is what a paste becomes: text without control characters, in one line if that fits the screen, else line by
// line, as if it had been typed.
func pasted(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", indent, LineEnd, "\n").Replace(text)
	text = strings.TrimRight(strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, dropMarks(text)), "\n ")
	if columns, rows := size(os.Stdout); width(text) < columns*(rows-2) {
		return strings.ReplaceAll(text, "\n", LineEnd)
	}
	return strings.ReplaceAll(text, "\n", "\r")
}

func dropMarks(text string) string {
	return strings.Map(func(r rune) rune {
		if isMark(r) {
			return -1
		}
		return r
	}, text)
}
