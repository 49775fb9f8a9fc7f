// Package editor reads lines from the process's terminal while other goroutines print.
//
// It adds to liner what a prompt for programs needs: blocks of several lines as one entry of a persistent history,
// bracketed paste, a reverse search that knows Unicode, and output from the background that neither waits for the line
// being edited nor garbles it. liner offers no hook for any of these, so the editor stands between it and the keyboard:
// liner reads a pipe that the editor fills. To print while a line is edited, the editor presses keys that end the line
// and mark the cursor's place, wipes the line off the screen, prints, and offers the same line again.
package editor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/peterh/liner"
)

// ErrAborted says that the line was given up with Ctrl-C.
var ErrAborted = errors.New("the line was aborted")

// ErrNothingTyped is ErrAborted for a line in which no key was pressed but Ctrl-C.
var ErrNothingTyped = fmt.Errorf("%w before anything was typed", ErrAborted)

// LineEnd stands for a line end in a line that is edited: blocks are recalled, and pasted, as one line. It does so too
// where a person types it.
const LineEnd = "↵"

// A Completer completes the word at a place of a line, counted in characters. head and tail surround it.
type Completer func(line string, pos int) (head string, words []string, tail string)

// Editor is a line editor. Its methods but Write, Stop and Close belong to one goroutine.
type Editor struct {
	line    *liner.State
	keys    *keyboard
	out     *os.File
	history *history

	mu      sync.Mutex
	editing bool // liner owns the screen
	asked   bool // the keys that end the line were pressed
	pending bytes.Buffer
	timer   *time.Timer
	column  bool // the last output did not end its line
	stopped error
	closed  bool
}

// Supported reports whether the process's terminal can edit lines.
func Supported() bool {
	if !liner.TerminalSupported() {
		return false
	}
	for _, f := range []*os.File{os.Stdin, os.Stdout} {
		if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
			return false
		}
	}
	return true
}

// Open takes the process's terminal. historyFile may be empty: then history ends with the editor.
func Open(historyFile string) (*Editor, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("the keyboard's pipe: %w", err)
	}
	keys := newKeyboard(os.Stdin, w)
	// liner takes its input from this variable, once, and the terminal's modes from the descriptors 0 and 1.
	terminal := os.Stdin
	os.Stdin = r
	line := liner.NewLiner()
	os.Stdin = terminal

	line.SetCtrlCAborts(true)
	line.SetMultiLineMode(true)
	line.SetTabCompletionStyle(liner.TabPrints)
	line.SetBeep(false)
	e := &Editor{line: line, keys: keys, out: os.Stdout, history: openHistory(historyFile)}
	for _, entry := range e.history.entries {
		line.AppendHistory(entry)
	}
	e.timer = time.AfterFunc(time.Hour, e.takeLine)
	e.timer.Stop()
	keys.start()
	return e, nil
}

// SetCompleter sets what the Tab key asks. It is called while Read runs, on the same goroutine.
func (e *Editor) SetCompleter(c Completer) { e.line.SetWordCompleter(liner.WordCompleter(c)) }

// Size is the terminal's size in characters.
func (e *Editor) Size() (columns, rows int) { return size(e.out) }

// Read reads a line. It may contain line ends, if it was recalled or pasted. The error is [ErrAborted], [io.EOF] for
// Ctrl-D on an empty line, or what Stop was given.
func (e *Editor) Read(prompt string) (string, error) {
	text, back := "", "" // the line so far, and the keys that put the cursor in its place
	for {
		if err := e.begin(back); err != nil {
			return "", err
		}
		line, err := e.line.PromptWithSuggestion(prompt, text, -1)
		kind, before, after := cutMark(line)
		e.end(kind, prompt, line)
		switch {
		case err == liner.ErrPromptAborted:
			if !e.keys.typedAny() {
				return "", ErrNothingTyped
			}
			return "", ErrAborted
		case err != nil:
			return "", err
		case kind == noMark:
			e.keys.typedAny() // of this line
			return strings.ReplaceAll(line, LineEnd, "\n"), nil
		case kind == searchMark:
			found, run := e.search(before + after)
			text, back = found, ""
			if run {
				back = "\r"
			}
		default:
			text, back = before+after, leftKeys(after)
		}
	}
}

// begin gives the screen to liner. keys are pressed first.
func (e *Editor) begin(keys string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.printPending()
	if e.column {
		e.print([]byte("\n"))
	}
	if e.stopped != nil {
		return e.stopped
	}
	e.keys.release(keys)
	e.editing = true
	_, _ = io.WriteString(e.out, pasteOn)
	return nil
}

// end takes the screen back. A line that was ended by the editor itself is wiped.
func (e *Editor) end(kind rune, prompt, line string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.editing = kind == searchMark // the search owns the screen as liner does, but is not interrupted
	e.asked = e.asked && kind != takeMark || kind == searchMark
	_, _ = io.WriteString(e.out, pasteOff)
	if kind != noMark {
		columns, _ := size(e.out)
		rows := (width(prompt)+width(line))/columns + 1
		fmt.Fprintf(e.out, "\x1b[%dA\r\x1b[J", rows)
	}
	if kind != searchMark {
		e.printPending()
	}
}

// endSearch takes the screen back from the search.
func (e *Editor) endSearch() {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, _ = io.WriteString(e.out, "\r\x1b[K")
	e.editing, e.asked = false, false
}

// Write prints. While a line is edited, the output goes above it.
func (e *Editor) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.editing {
		return len(p), e.print(p)
	}
	e.pending.Write(p)
	if !e.asked {
		e.timer.Reset(gather)
	}
	return len(p), nil
}

// gather is how long output is gathered before it interrupts the line.
const gather = 15 * time.Millisecond

// takeLine ends the line being edited, because output is pending.
func (e *Editor) takeLine() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.editing || e.asked {
		return
	}
	if e.asked = e.keys.take(); !e.asked {
		e.timer.Reset(gather)
	}
}

// print writes to the terminal. The caller holds the lock.
func (e *Editor) print(p []byte) error {
	if len(p) > 0 {
		e.column = p[len(p)-1] != '\n'
	}
	_, err := e.out.Write(p)
	return err
}

func (e *Editor) printPending() {
	if e.pending.Len() > 0 {
		_ = e.print(e.pending.Bytes()) // a terminal that is gone shows in the next Read
		e.pending.Reset()
	}
}

// Stop makes the running Read, or the next, return err.
func (e *Editor) Stop(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stopped = err
	if e.editing && !e.asked {
		e.timer.Reset(gather)
	}
}

// Remember adds a block to the history.
func (e *Editor) Remember(block string) {
	if entry := encode(block); e.history.add(entry) {
		e.line.AppendHistory(entry)
	}
}

// Close gives the terminal back in the state in which it was.
func (e *Editor) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	e.closed = true
	if e.editing {
		_, _ = io.WriteString(e.out, pasteOff+"\n")
		e.editing = false
	}
	e.printPending()
	return e.line.Close()
}

// Marks are characters for private use that the editor types into a line before it ends it.
const (
	noMark     rune = 0
	takeMark   rune = '\uE000' // to print
	searchMark rune = '\uE001' // to search
)

// cutMark splits a line where the editor typed a mark.
func cutMark(line string) (kind rune, before, after string) {
	at := strings.IndexFunc(line, isMark)
	if at < 0 {
		return noMark, line, ""
	}
	kind, n := utf8.DecodeRuneInString(line[at:])
	return kind, line[:at], line[at+n:]
}

func isMark(r rune) bool { return r == takeMark || r == searchMark }

// leftKeys are the keys that move the cursor from the end to before a text.
func leftKeys(text string) string { return strings.Repeat("\x02", width(text)) }

// width counts the characters that a cursor stops at. Wide ones count once: where that matters, too little is wiped.
func width(text string) int {
	n := 0
	for _, r := range text {
		if r < utf8.RuneSelf || !unicode.In(r, unicode.Mn, unicode.Me, unicode.Cc, unicode.Cf) {
			n++
		}
	}
	return n
}
