package editor

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// Plain reads lines where they cannot be edited.
type Plain struct {
	in     *bufio.Reader
	out    io.Writer
	prompt bool
}

// NewPlain makes a plain reader; prompt says whether prompts are printed.
func NewPlain(in io.Reader, out io.Writer, prompt bool) *Plain {
	return &Plain{in: bufio.NewReader(in), out: out, prompt: prompt}
}

// Read reads lines until they are a whole block.
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

// Write prints.
func (p *Plain) Write(b []byte) (int, error) { return p.out.Write(b) }

// Size returns a terminal's default size.
func (p *Plain) Size() (columns, rows int) { return defaultColumns, defaultRows }

// Remember does nothing: there are no keys to recall a line with.
func (p *Plain) Remember(string) {}

// SetCompleter does nothing.
func (p *Plain) SetCompleter(Completer) {}

// Stop does nothing: a read that has begun cannot be ended.
func (p *Plain) Stop(error) {}

// Close does nothing.
func (p *Plain) Close() error { return nil }
