package diag

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxFrames is how many calls of a stack are printed.
const maxFrames = 12

// A painter puts terminal colours around text, or does not.
type painter bool

func (p painter) red(s string) string    { return p.paint("\x1b[1;31m", s) }
func (p painter) bold(s string) string   { return p.paint("\x1b[1m", s) }
func (p painter) dim(s string) string    { return p.paint("\x1b[2m", s) }
func (p painter) green(s string) string  { return p.paint("\x1b[32m", s) }
func (p painter) yellow(s string) string { return p.paint("\x1b[33m", s) }

func (p painter) paint(on, s string) string {
	if !bool(p) || s == "" {
		return s
	}
	return on + s + "\x1b[0m"
}

// Print writes err for a person: a diagnostic with its code frame, notes, stack, hint and causes, any other error as
// one line with its code and hint.
func Print(w io.Writer, err error, colors bool) {
	_, _ = io.WriteString(w, Format(err, colors))
}

// Format is what [Print] writes.
func Format(err error, colors bool) string {
	var b strings.Builder
	p := painter(colors)
	var d *Diagnostic
	if errors.As(err, &d) {
		d.format(&b, p, p.red("error: "))
		return b.String()
	}
	code := Code(err)
	if code != "" {
		code = " [" + code + "]" // which errors of devices have in their text
	}
	b.WriteString(p.red("error: ") + p.bold(strings.TrimSuffix(err.Error(), code)) + p.dim(code))
	b.WriteByte('\n')
	writeHint(&b, p, Hint(err))
	return b.String()
}

// PrintWarning writes a diagnostic of what is only doubtful.
func PrintWarning(w io.Writer, d *Diagnostic, colors bool) {
	var b strings.Builder
	p := painter(colors)
	d.format(&b, p, p.yellow("warning: "))
	_, _ = io.WriteString(w, b.String())
}

func (d *Diagnostic) format(b *strings.Builder, p painter, label string) {
	b.WriteString(label + p.bold(d.headline()) + "\n")
	writePlace(b, p, d.Position, d.Excerpt)
	for _, n := range d.Notes {
		b.WriteString(p.yellow("note: ") + n.Message + "\n")
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
		b.WriteString(p.green("hint: ") + hint + "\n")
	}
}

func writePlace(b *strings.Builder, p painter, pos Position, e *Excerpt) {
	if !pos.IsValid() {
		return
	}
	b.WriteString(p.dim("  --> ") + pos.String() + "\n")
	if e == nil {
		return
	}
	width := len(fmt.Sprint(pos.Line))
	for i, line := range e.Lines {
		n := e.FirstLine + i
		text, column := shorten(line, pos.Column, n == pos.Line)
		b.WriteString(p.dim(fmt.Sprintf("%*d | ", width+2, n)) + text + "\n")
		if n == pos.Line && pos.Column > 0 {
			b.WriteString(p.dim(strings.Repeat(" ", width+2) + " | "))
			b.WriteString(blanks(text, column-1) + p.red(marker(text, column, e.Width)) + "\n")
		}
	}
}

// maxLine is how much of a line is shown; minified code has very long ones.
const maxLine = 160

// shorten cuts a long line down to a window that contains column, and gives the column in the window.
func shorten(line string, column int, marked bool) (string, int) {
	runes := []rune(strings.ReplaceAll(line, "\x1b", "�"))
	if len(runes) <= maxLine {
		return string(runes), column
	}
	start := 0
	if marked && column > maxLine/2 {
		start = min(column-maxLine/2, len(runes)-maxLine)
	}
	return string(runes[start : start+maxLine]), column - start
}

// blanks pads up to a column, keeping tabs, so that the marker stands below its character.
func blanks(line string, n int) string {
	var b strings.Builder
	for _, r := range line {
		if b.Len() >= n {
			break
		}
		if r == '\t' {
			b.WriteByte('\t')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String() + strings.Repeat(" ", max(n-b.Len(), 0))
}

func marker(line string, column, width int) string {
	room := len([]rune(line)) - (column - 1)
	return strings.Repeat("^", max(1, min(width, room)))
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

// String gives "function (file:line:column)".
func (f Frame) String() string {
	if f.Function == "" {
		return f.Position.String()
	}
	return f.Function + " (" + f.Position.String() + ")"
}
