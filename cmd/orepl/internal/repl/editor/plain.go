package editor

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// Plain reads lines without editing.
type Plain struct {
	in     *bufio.Reader
	out    io.Writer
	prompt bool
}

// NewPlain returns a plain reader. prompt tells whether to print prompts.
func NewPlain(in io.Reader, out io.Writer, prompt bool) *Plain {
	return &Plain{in: bufio.NewReader(in), out: out, prompt: prompt}
}

// Read reads lines until the block is complete, and returns the block. The first prompt is first, and those of further lines
// are next. At the end of the input the error is [io.EOF], also within a block.
func (p *Plain) Read(first, next string, whole func(string) bool) (string, error) {
	block := ""
	for prompt := first; ; prompt = next {
		line, err := p.line(prompt)
		if err != nil {
			return "", err
		}
		if block += line; whole(block) {
			return block, nil
		}
		block += "\n"
	}
}

func (p *Plain) line(prompt string) (string, error) {
	if p.prompt {
		if _, err := io.WriteString(p.out, prompt); err != nil {
			return "", err
		}
	}
	line, err := p.in.ReadString('\n')
	if errors.Is(err, io.EOF) && line != "" {
		err = nil
	}
	return strings.TrimRight(line, "\r\n"), err
}

// Write writes to the output.
func (p *Plain) Write(b []byte) (int, error) { return p.out.Write(b) }

// Size returns the default size of a terminal.
func (p *Plain) Size() (columns, rows int) { return defaultColumns, defaultRows }

// Remember does nothing, since plain readers have no history.
func (p *Plain) Remember(string) {}

// SetCompleter does nothing.
func (p *Plain) SetCompleter(Completer) {}

// Stop does nothing, since a started read cannot be interrupted.
func (p *Plain) Stop(error) {}

// Close does nothing.
func (p *Plain) Close() error { return nil }
