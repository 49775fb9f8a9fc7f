package repl

import (
	"bytes"
	"io"
	"regexp"
	"strings"

	"github.com/orepl/orepl/bindings/plot/graphics"
	"github.com/orepl/orepl/cmd/orepl/internal/repl/editor"
	"github.com/orepl/orepl/lang/columns"
	"github.com/orepl/orepl/lang/later"
)

// flow prints the text that write writes, with lines wrapped between words at the terminal's width. It returns the error of
// write.
func (p *prompt) flow(write func(*bytes.Buffer) error) error {
	var text bytes.Buffer
	err := write(&text)
	room, _ := p.term.Size()
	for line := range strings.Lines(text.String()) {
		p.printf("%s\n", broken(strings.TrimSuffix(line, "\n"), room))
	}
	return err
}

// stdout is the output of scripts, which implements [help.Flowing].
type stdout struct {
	io.Writer
	p *prompt
}

// Flow implements [help.Flowing].
func (s stdout) Flow(write func(io.Writer) error) error {
	return s.p.flow(func(b *bytes.Buffer) error { return write(b) })
}

// Columns returns the width of the terminal.
func (s stdout) Columns() int {
	columns, _ := s.p.term.Size()
	return columns
}

// Screen returns how the terminal shows pictures. While a block is edited, the terminal is not asked, since the editor would
// read its answer.
func (s stdout) Screen(quiet bool) (graphics.Screen, error) {
	e, ok := s.p.term.(*editor.Editor)
	if !ok || s.p.Graphics == nil {
		return graphics.Screen{Protocol: graphics.Text}, nil
	}
	return s.p.Graphics.Screen(quiet || e.Editing())
}

// secondColumn matches the part before the second column of a list entry.
var secondColumn = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^\s*\S+\s{2,}|^\.\S+\s+|^\s+`) }}

// codeLine matches a line of code in an error, which has a marker below it.
var codeLine = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`^\s*\d* \| `) }}

// broken returns a line wrapped between words. Continuations are indented like the line, or to the second column of a list.
// Lines of code are not wrapped.
func broken(line string, room int) string {
	if columns.Of(line) < room || codeLine.Get().MatchString(visible(line)) {
		return line
	}
	indent := columns.Of(secondColumn.Get().FindString(visible(line)))
	if indent > room/2 {
		indent = 0
	}
	var b strings.Builder
	at := 0
	for _, word := range words.Get().FindAllString(line, -1) {
		if n := columns.Of(word); at == 0 || at+n < room {
			b.WriteString(word)
			at += n
			continue
		}
		word = strings.TrimLeft(word, " ")
		b.WriteString("\n" + strings.Repeat(" ", indent) + word)
		at = indent + columns.Of(word)
	}
	return b.String()
}

var (
	words  = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`\s*\S+`) }}
	colors = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`\x1b\[[0-9;]*m`) }}
)

// visible returns a text without color sequences.
func visible(text string) string { return colors.Get().ReplaceAllString(text, "") }
