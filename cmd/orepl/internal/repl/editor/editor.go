// Package editor edits blocks of code on the process's terminal while other goroutines print.
//
// Package liner sets and restores the terminal's modes. The editor itself reads keys, edits and draws. A block has several
// lines with tabs and any characters; a paste of any size is one block; characters are grapheme clusters; and background
// output appears above the block.
//
// # Design
//
// The editor reads keys itself: liner edits one line, stands still while others print, and has no undo. liner takes the
// terminal and restores it, and uax29 finds grapheme clusters.
//
// A pasted block waits for Enter, so that it can be read before it runs.
package editor

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/peterh/liner"
)

// ErrAborted reports that Ctrl-C discarded the block.
var ErrAborted = errors.New("the block was aborted")

// ErrNothingTyped is returned in place of [ErrAborted] for an empty block.
var ErrNothingTyped = errors.New("the empty block was aborted")

// Completer completes the word before a byte offset of a text. One of the words replaces the text from start to at.
type Completer func(text string, at int) (start int, words []string)

// Editor edits blocks. Write, Editing, Stop and Close are safe for concurrent use; other methods belong to one goroutine.
type Editor struct {
	line     *liner.State
	tty      *tty
	out      *os.File
	paint    painter
	history  *history
	complete Completer

	// State of the current block.
	*buffer
	first, next string // prompts
	isWhole     func(string) bool
	decoder     decoder
	keys        []key
	picture     picture
	width       int // width of the screen when the block was drawn
	browsing    browsing
	brackets    brackets
	search      *search
	tabs        int   // consecutive presses of Tab without effect
	prefix      []key // Ctrl-X or Ctrl-V before its second key

	mu      sync.Mutex
	editing bool
	output
	stopped error
	closed  bool
}

// output is the state of the program's output, guarded by Editor.mu.
type output struct {
	pending bytes.Buffer // output printed during editing
	woken   bool         // the reader was woken for it
	column  bool         // the last output did not end its line
}

// Supported reports whether blocks can be edited on the process's terminal.
func Supported() bool {
	if !canEdit || !liner.TerminalSupported() {
		return false
	}
	for _, f := range []*os.File{os.Stdin, os.Stdout} {
		if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
			return false
		}
	}
	return true
}

// Open opens the process's terminal. An empty historyFile limits the history to this editor. colors enables highlighting.
func Open(historyFile string, colors bool) (*Editor, error) {
	t, err := openTTY()
	if err != nil {
		return nil, err
	}
	line := liner.NewLiner()
	if err := t.taken(); err != nil {
		return nil, errors.Join(err, line.Close())
	}
	return &Editor{line: line, tty: t, out: os.Stdout, paint: painter{colors}, history: openHistory(historyFile), buffer: newBuffer()}, nil
}

// SetCompleter sets the completer of the Tab key, which Read calls on its own goroutine.
func (e *Editor) SetCompleter(c Completer) { e.complete = c }

// Size returns the terminal's size in characters.
func (e *Editor) Size() (columns, rows int) { return size(e.out) }

// gather is the time for which background output is collected before it is printed.
const gather = 15 * time.Millisecond

// escapeTime is the time after which a lone Escape is a key by itself.
const escapeTime = 50 * time.Millisecond

// Read reads a block. first is the prompt of its first line, next that of the other lines. Enter ends a block that is complete
// according to whole, and otherwise starts a line. Errors: [ErrAborted], [ErrNothingTyped], [io.EOF] for Ctrl-D in an empty
// block, the argument of Stop, and those of the terminal.
func (e *Editor) Read(first, next string, whole func(string) bool) (string, error) {
	e.first, e.next, e.isWhole = first, next, whole
	e.buffer = &buffer{goal: -1, kills: e.kills}
	e.picture, e.browsing, e.search, e.prefix, e.tabs = picture{}, browsing{}, nil, nil, 0
	e.width, _ = e.Size()
	if err := e.begin(); err != nil {
		return "", err
	}
	text, err := e.edit()
	e.end()
	return text, err
}

// begin prints pending output and sets the terminal to editing. It returns the argument of Stop, if that was called.
func (e *Editor) begin() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.printPending()
	if e.stopped != nil {
		return e.stopped
	}
	if err := e.tty.edit(); err != nil {
		return err
	}
	if e.column {
		e.print([]byte("\n"))
	}
	_, _ = io.WriteString(e.out, pasteOn)
	e.editing = true
	return nil
}

// end sets the terminal's modes for running code, and prints pending output.
func (e *Editor) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.editing = false
	_, _ = io.WriteString(e.out, pasteOff)
	_ = e.tty.run() // the next Read reports a lost terminal
	e.column = false
	e.printPending()
}

// edit handles keys until the block ends.
func (e *Editor) edit() (string, error) {
	drawn := false
	for {
		for len(e.keys) > 0 {
			k := e.keys[0]
			e.keys = e.keys[1:]
			if end, err := e.handle(k); end {
				return e.leave(err)
			}
			drawn = false
		}
		if !drawn {
			e.redraw()
			drawn = true
		}
		timeout := time.Duration(-1)
		if e.decoder.pending() {
			timeout = escapeTime
		}
		data, woken, err := e.tty.wait(timeout)
		if err != nil {
			return e.leave(err)
		}
		if woken {
			if err := e.flush(); err != nil {
				return e.leave(err)
			}
			drawn = false
		}
		switch {
		case len(data) > 0:
			e.keys = append(e.keys, e.decoder.feed(data)...)
		case !woken:
			e.keys = append(e.keys, e.decoder.flush()...)
		}
	}
}

// flush prints background output above the block. It returns the argument of Stop, if that was called.
func (e *Editor) flush() error {
	time.Sleep(gather)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.woken = false
	if e.pending.Len() > 0 {
		_, _ = io.WriteString(e.out, erase(e.picture))
		e.picture = picture{top: e.picture.top}
		e.printPending()
		if e.column {
			e.print([]byte("\n"))
		}
	}
	return e.stopped
}

// leave ends the block: it draws the rest and moves the cursor below it. It returns the text, or err if that is not nil.
func (e *Editor) leave(err error) (string, error) {
	e.search = nil
	text := e.text
	e.at = len(e.text)
	e.redraw()
	if errors.Is(err, ErrAborted) || errors.Is(err, ErrNothingTyped) {
		e.write("^C")
	}
	e.write(below(e.picture))
	if err == nil {
		return text, nil
	}
	return "", err
}

// redraw draws the current block, or during a search of the history the search.
func (e *Editor) redraw() {
	width, height := e.Size()
	if width != e.width { // terminals rewrap long lines
		rows := layout(e.text, e.first, e.next, width)
		e.picture.cursor = min(max(cursorRow(rows, e.at)-e.picture.top, 0), height-1, max(len(rows)-1, e.picture.cursor))
		e.width = width
	}
	var out string
	if s := e.search; s != nil {
		out, e.picture = drawSearch(e.picture, s.pattern, s.found, width)
	} else {
		out, e.picture = draw(e.picture, e.text, e.at, e.first, e.next, width, height, e.paint)
	}
	e.write(out)
}

func (e *Editor) write(text string) { _, _ = io.WriteString(e.out, text) }

// Write prints p. During editing, it appears above the block, and errors are not returned.
func (e *Editor) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.editing {
		return len(p), e.print(p)
	}
	e.pending.Write(p)
	e.wake()
	return len(p), nil
}

// Editing reports whether a block is being read.
func (e *Editor) Editing() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.editing
}

// wake makes the reader check for pending output. The caller holds e.mu.
func (e *Editor) wake() {
	if !e.woken {
		e.woken = true
		e.tty.wake()
	}
}

// print writes to the terminal. The caller holds e.mu.
func (e *Editor) print(p []byte) error {
	if len(p) > 0 {
		e.column = p[len(p)-1] != '\n'
	}
	_, err := e.out.Write(p)
	return err
}

func (e *Editor) printPending() {
	if e.pending.Len() > 0 {
		_ = e.print(e.pending.Bytes()) // the next Read reports a lost terminal
		e.pending.Reset()
	}
}

// Stop makes the current Read and all later ones return err.
func (e *Editor) Stop(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stopped = err
	if e.editing {
		e.wake()
	}
}

// Remember adds a block to the history.
func (e *Editor) Remember(block string) { e.history.add(strings.TrimRight(block, "\n")) }

// Close prints pending output and restores the terminal's state. Later calls return nil.
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
