// Package editor edits blocks of code on the process's terminal while other goroutines print.
//
// liner takes the terminal and restores it. Reading keys, the text with its cursor, and drawing are the editor's own: a
// block has several lines, with tabs and any character in them; a paste of any size is one block; characters are grapheme
// clusters; and output from the background goes above the block while it is edited.
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

// ErrNothingTyped is [ErrAborted] of an empty block.
var ErrNothingTyped = errors.New("the empty block was aborted")

// A Completer completes the word before a byte offset of a text: one of the words replaces the text from start to at.
type Completer func(text string, at int) (start int, words []string)

// Editor edits blocks. Its methods but Write, Stop and Close belong to one goroutine.
type Editor struct {
	line     *liner.State
	tty      *tty
	out      *os.File
	paint    painter
	history  *history
	complete Completer

	// Of the block that is edited.
	*buffer
	first, next string // prompts
	isWhole     func(string) bool
	decoder     decoder
	keys        []key
	picture     picture
	width       int // of the screen when it was drawn
	browsing    browsing
	brackets    brackets
	search      *search
	tabs        int   // presses of Tab in a row that changed nothing
	prefix      []key // Ctrl-X or Ctrl-V, which the next key completes

	mu      sync.Mutex
	editing bool
	output
	stopped error
	closed  bool
}

// output is the program's output; under Editor.mu.
type output struct {
	pending bytes.Buffer // printed while a block is edited
	woken   bool         // the reader was told of it
	column  bool         // the last output did not end its line
}

// Supported reports whether the process's terminal can edit blocks.
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

// Open takes the process's terminal. historyFile may be empty: then history ends with the editor. colors says whether code is
// coloured.
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

// SetCompleter sets the completer of the Tab key. It is called while Read runs, on the same goroutine.
func (e *Editor) SetCompleter(c Completer) { e.complete = c }

// Size returns the terminal's size in characters.
func (e *Editor) Size() (columns, rows int) { return size(e.out) }

// gather is the time for which output is gathered before it is printed above the block.
const gather = 15 * time.Millisecond

// escapeTime is the time after which a lone Escape is no longer the beginning of a key.
const escapeTime = 50 * time.Millisecond

// Read reads a block. The prompts stand before its first and its other lines. Enter ends it if whole says that it is
// complete, and begins a line otherwise. The error is [ErrAborted], [ErrNothingTyped], [io.EOF] for Ctrl-D in an empty block,
// or what Stop was given.
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

// begin takes the screen.
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

// end leaves the screen to what runs.
func (e *Editor) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.editing = false
	_, _ = io.WriteString(e.out, pasteOff)
	_ = e.tty.run() // a terminal that is gone shows in the next Read
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

// flush prints above the block what came from the background.
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

// leave ends the block: all of it is drawn, and the cursor goes below it.
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

// redraw shows the block as it is.
func (e *Editor) redraw() {
	width, height := e.Size()
	if width != e.width { // terminals break long lines anew
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

// Write prints. While a block is edited, the output goes above it.
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

// wake makes the reader look at what is pending. The caller holds the lock.
func (e *Editor) wake() {
	if !e.woken {
		e.woken = true
		e.tty.wake()
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
	if e.editing {
		e.wake()
	}
}

// Remember adds a block to the history.
func (e *Editor) Remember(block string) { e.history.add(strings.TrimRight(block, "\n")) }

// Close restores the terminal's state.
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
