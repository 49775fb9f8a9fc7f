package graphics

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Variable is the environment variable that names the protocol.
const Variable = "OREPL_GRAPHICS"

// patience bounds the wait for a terminal's answer. Almost all terminals answer within milliseconds; later answers would be read as keys.
const patience = time.Second

// Screen is how a terminal shows pictures.
type Screen struct {
	Protocol              Protocol
	CellWidth, CellHeight int // of a character, in pixels; 8 and 16 if they are unknown
}

// A Terminal is the output of scripts at a terminal.
type Terminal struct {
	io.Writer
	file *os.File
	env  func(string) string

	mu    sync.Mutex
	known Protocol // "" until it was found out
}

// New returns the terminal on which file is open. Output goes to w. env looks up a variable of the environment.
func New(w io.Writer, file *os.File, env func(string) string) *Terminal {
	return &Terminal{Writer: w, file: file, env: env}
}

// Columns returns the width in characters, or 0 if it is unknown.
func (t *Terminal) Columns() int {
	w := window(t.file)
	return w.columns
}

// Screen returns the protocol by which the terminal shows pictures, and the size of its cells. If the environment names no
// protocol, it asks the terminal, unless quiet is set: a reader of keys would get the answer. The error reports a wrong value of
// [Variable].
func (t *Terminal) Screen(quiet bool) (Screen, error) {
	s := Screen{Text, 8, 16}
	if w := window(t.file); w.columns > 0 && w.rows > 0 && w.width >= w.columns && w.height >= w.rows {
		s.CellWidth, s.CellHeight = w.width/w.columns, w.height/w.rows
	}
	if v := Protocol(t.env(Variable)); v != "" {
		if !slices.Contains(Protocols, v) {
			return s, fmt.Errorf("%s is %q; it must be kitty, iterm2, sixel or text", Variable, v)
		}
		s.Protocol = v
		return s, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == "" {
		t.known = hint(t.env)
	}
	if t.known == "" && !quiet {
		t.known = Text
		if answer, asked := ask(t.file, query, patience); asked {
			t.known = interpret(answer)
		}
	}
	if t.known != "" {
		s.Protocol = t.known
	}
	return s, nil
}

// hint returns the protocol that the environment implies, or "" if it must be asked for. That is so within a multiplexer, since
// the environment then describes another terminal.
func hint(env func(string) string) Protocol {
	term, program := env("TERM"), env("TERM_PROGRAM")
	switch {
	case term == "" || term == "dumb" || term == "linux": // the console of Linux would print the question
		return Text
	case env("TMUX") != "" || env("STY") != "" || strings.HasPrefix(term, "screen") || strings.HasPrefix(term, "tmux"):
		return ""
	case env("KITTY_WINDOW_ID") != "" || strings.Contains(term, "kitty") || strings.Contains(term, "ghostty") || program == "ghostty" || env("KONSOLE_VERSION") != "":
		return Kitty
	case program == "iTerm.app" || program == "WezTerm" || env("LC_TERMINAL") == "iTerm2":
		return ITerm2
	}
	return ""
}

// query asks whether the terminal shows a picture of one pixel by Kitty's protocol, and then for its attributes, which all terminals tell.
const query = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[c"

// attributes matches the answer with the attributes, which ends all answers.
var attributes = regexp.MustCompile(`\x1b\[\?([0-9;]*)c`)

// interpret returns the protocol of a terminal that answered.
func interpret(answer []byte) Protocol {
	if strings.Contains(string(answer), "\x1b_Gi=31;OK\x1b\\") {
		return Kitty
	}
	if m := attributes.FindSubmatch(answer); m != nil && slices.Contains(strings.Split(string(m[1]), ";"), "4") {
		return Sixel
	}
	return Text
}
