package diag

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/orepl/orepl/lang/columns"
	"github.com/orepl/orepl/lang/printable"
)

// maxFrames is the maximum number of stack frames printed.
const maxFrames = 12

// A painter formats text with or without terminal colours, for a terminal of some width.
type painter struct {
	colors  bool
	columns int
}

func (p painter) red(s string) string    { return p.paint("\x1b[1;31m", s) }
func (p painter) bold(s string) string   { return p.paint("\x1b[1m", s) }
func (p painter) dim(s string) string    { return p.paint("\x1b[2m", s) }
func (p painter) green(s string) string  { return p.paint("\x1b[32m", s) }
func (p painter) yellow(s string) string { return p.paint("\x1b[33m", s) }

func (p painter) paint(on, s string) string {
	s = printable.Text(s) // messages quote names and texts of files, devices and scripts
	if !p.colors || s == "" {
		return s
	}
	return on + s + "\x1b[0m"
}

// Print writes err for display: a diagnostic with its excerpt, notes, stack, hint and cause; any other error as one line with
// its code, and its hint. It writes each of joined errors, and nothing for nil. It ignores errors of w.
func Print(w io.Writer, err error, colors bool) {
	_, _ = io.WriteString(w, Format(err, colors))
}

// Format returns the text that [Print] writes.
func Format(err error, colors bool) string { return FormatFor(err, colors, maxColumns) }

// FormatFor is Format for a terminal with a number of columns. Longer lines of code are cut around the position, so that
// the marker stays aligned. It returns "" for nil.
func FormatFor(err error, colors bool, columns int) string {
	if err == nil {
		return ""
	}
	var b strings.Builder
	if parts := joined(err); parts != nil {
		for _, one := range parts {
			b.WriteString(FormatFor(one, colors, columns))
		}
		return b.String()
	}
	p := painter{colors, columns}
	var d *Diagnostic
	if errors.As(err, &d) {
		d.format(&b, p, p.red("error: "))
		return b.String()
	}
	code := Code(err)
	if code != "" {
		code = " [" + code + "]" // errors of devices already contain the code
	}
	b.WriteString(p.red("error: ") + p.bold(strings.TrimSuffix(err.Error(), code)) + p.dim(code))
	b.WriteByte('\n')
	writeHint(&b, p, Hint(err))
	return b.String()
}

// PrintWarning writes a diagnostic as a warning.
func PrintWarning(w io.Writer, d *Diagnostic, colors bool) {
	_, _ = io.WriteString(w, FormatWarning(d, colors, maxColumns))
}

// FormatWarning returns the text that [PrintWarning] writes, for a terminal with a number of columns.
func FormatWarning(d *Diagnostic, colors bool, columns int) string {
	var b strings.Builder
	p := painter{colors, columns}
	d.format(&b, p, p.yellow("warning: "))
	return b.String()
}

func (d *Diagnostic) format(b *strings.Builder, p painter, label string) {
	b.WriteString(label + p.bold(d.headline()) + "\n")
	writePlace(b, p, d.Position, d.Excerpt)
	for _, n := range d.Notes {
		b.WriteString(p.yellow("note: ") + printable.Text(n.Message) + "\n")
		writePlace(b, p, n.Position, n.Excerpt)
	}
	writeHint(b, p, d.Hint)
	writeStack(b, p, d.Stack, d.Position)
	var cause *Diagnostic
	if errors.As(d.Cause, &cause) && cause.Message != d.Message {
		b.WriteString(p.dim("caused by ") + p.bold(cause.headline()) + "\n")
		writePlace(b, p, cause.Position, cause.Excerpt)
		writeHint(b, p, cause.Hint)
	}
}

func writeHint(b *strings.Builder, p painter, hint string) {
	if hint != "" {
		b.WriteString(p.green("hint: ") + printable.Text(hint) + "\n")
	}
}

func writePlace(b *strings.Builder, p painter, pos Position, e *Excerpt) {
	if !pos.IsValid() {
		return
	}
	b.WriteString(p.dim("  --> ") + printable.Line(pos.String()) + "\n")
	if e == nil {
		return
	}
	width := len(fmt.Sprint(pos.Line))
	room := max(min(p.columns, maxColumns)-width-len("   | ")-1, minColumns)
	for i, line := range e.Lines {
		n := e.FirstLine + i
		marked := n == pos.Line && pos.Column > 0
		at := 0
		if marked {
			at = pos.Column - 1
		}
		text, from, upTo := window([]rune(line), at, e.Width, room)
		b.WriteString(p.dim(fmt.Sprintf("%*d | ", width+2, n)) + string(text) + "\n")
		if marked {
			b.WriteString(p.dim(strings.Repeat(" ", width+2) + " | "))
			b.WriteString(blanks(text[:from]) + p.red(strings.Repeat("^", max(1, columnsOf(text[from:upTo])))) + "\n")
		}
	}
}

// Maximum and minimum columns of a source line with its number.
const (
	maxColumns = 120
	minColumns = 8
)

// window cuts a line of more than room columns to a part around its count marked characters, the first of which has the index at. It
// returns the part and the range of the marked characters in it. An ellipsis replaces each cut part, and a replacement character each
// control character except tabs, and each that changes the direction of text.
func window(line []rune, at, count, room int) (text []rune, from, upTo int) {
	line = slices.Clone(line)
	for i, r := range line {
		if r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) { // would disturb the terminal
			line[i] = unicode.ReplacementChar
		}
	}
	at = min(at, len(line))
	if columnsOf(line) <= room {
		return line, at, min(at+count, len(line))
	}
	start, end := at, at
	for used := 2; used < room && (start > 0 || end < len(line)); { // grows to both sides; 2 columns are reserved for ellipses
		if end < len(line) {
			used += columnsOf(line[end : end+1])
			end++
		}
		if start > 0 && (end == len(line) || at-start < room/2) {
			start--
			used += columnsOf(line[start : start+1])
		}
	}
	text, from = line[start:end], at-start
	if start > 0 {
		text, from = append([]rune("…"), text...), from+1
	}
	upTo = min(from+count, len(text))
	if end < len(line) {
		text = append(slices.Clip(text), '…')
	}
	return text, from, upTo
}

// tabWidth is the number of columns per tab in a cut line.
const tabWidth = 8

// columnsOf returns the number of columns that a text takes in a terminal.
func columnsOf(text []rune) int {
	n := 0
	for _, r := range text {
		if r == '\t' {
			n += tabWidth
		} else {
			n += columns.Rune(r)
		}
	}
	return n
}

// blanks returns blanks as wide as a text and keeps its tabs, so that the marker aligns with its character.
func blanks(text []rune) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\t' {
			b.WriteByte('\t')
		} else {
			b.WriteString(strings.Repeat(" ", columns.Rune(r)))
		}
	}
	return b.String()
}

func writeStack(b *strings.Builder, p painter, stack []Frame, at Position) {
	if len(stack) == 0 || (len(stack) == 1 && stack[0].Position == at) {
		return
	}
	for i, f := range stack {
		if i == maxFrames {
			b.WriteString(p.dim(fmt.Sprintf("    … %d more", len(stack)-i)) + "\n")
			return
		}
		b.WriteString(p.dim("    at "+f.String()) + "\n")
	}
}

// String returns "function (file:line:column)", or the position alone if the function has no name.
func (f Frame) String() string {
	if f.Function == "" {
		return f.Position.String()
	}
	return f.Function + " (" + f.Position.String() + ")"
}

// Calls returns a stack as in the property stack of errors: a line for each call, each with a line break before it.
func Calls(stack []Frame) string {
	var b strings.Builder
	for _, f := range stack {
		b.WriteString("\n    at " + f.String())
	}
	return b.String()
}
