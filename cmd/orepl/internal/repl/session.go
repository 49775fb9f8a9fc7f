package repl

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/orepl/orepl/lang/diag"
)

// savedHead starts a saved session, a script that other engines can run, too. It names the line between two blocks, which
// ends a statement, so that no block continues the previous one. .load evaluates such a file block by block.
const savedHead = "// A session of orepl. The line between its blocks is: "

// blockEnd returns a separator that is not a line of any block.
func blockEnd(blocks []string) string {
	end := ";// --"
	for strings.Contains(strings.Join(blocks, "\n"), end) {
		end += "-"
	}
	return end
}

// saved returns the text of a session.
func saved(blocks []string) string {
	end := blockEnd(blocks)
	return savedHead + end + "\n" + strings.Join(blocks, "\n"+end+"\n") + "\n"
}

// savedBlocks splits a saved session. Each block is preceded by line ends that preserve its line numbers in the file. Any
// other text is a single block.
func savedBlocks(text string) []string {
	head, rest, _ := strings.Cut(text, "\n")
	end, ok := strings.CutPrefix(strings.TrimRight(head, "\r"), savedHead)
	if !ok || end == "" {
		return []string{text}
	}
	var blocks []string
	var block strings.Builder
	block.WriteByte('\n')
	lines := 1
	for line := range strings.Lines(rest) {
		lines++
		if strings.TrimRight(line, "\r\n") != end {
			block.WriteString(line)
			continue
		}
		blocks = append(blocks, block.String())
		block.Reset()
		block.WriteString(strings.Repeat("\n", lines))
	}
	return append(blocks, block.String())
}

func (p *prompt) load(file string) error {
	if file == "" {
		return wrongUse(".load", ".load needs a file")
	}
	path, err := p.engine.ReadPath(home(file))
	if err != nil {
		return err
	}
	text, err := p.readFile(path)
	if errors.Is(err, errInterrupted) {
		return p.failed(err)
	}
	if err != nil {
		return fileError("load", file, err)
	}
	blocks := savedBlocks(string(text))
	for i, block := range blocks {
		v, err := p.eval(home(file), block)
		if err != nil {
			return p.failed(err)
		}
		p.entered = append(p.entered, strings.TrimLeft(strings.TrimRight(block, "\n"), "\n"))
		if err := p.show(v, silent(block) || i+1 < len(blocks)); err != nil {
			return err
		}
	}
	return nil
}

// readFile reads a file. Ctrl-C abandons the read, for example of a pipe without a writer.
func (p *prompt) readFile(path string) (text []byte, err error) {
	type result struct {
		text []byte
		err  error
	}
	p.run(func(ctx context.Context) {
		done := make(chan result, 1)
		go func() {
			text, err := p.engine.ReadFile(ctx, path)
			done <- result{text, err}
		}()
		select {
		case r := <-done:
			text, err = r.text, r.err
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	})
	return text, err
}

func (p *prompt) save(args string) error {
	file, force := strings.CutPrefix(args, "-f ")
	file = strings.TrimSpace(file)
	if file == "" || file == "-f" {
		return wrongUse(".save", ".save needs a file")
	}
	if len(p.entered) == 0 {
		return diag.New("not-found", "there is nothing to save").WithHint("what was evaluated without an error is saved")
	}
	path, err := p.engine.WritePath(home(file))
	if err != nil {
		return err
	}
	if err := writeNew(path, saved(p.entered), force); err != nil {
		return orReplace(fileError("save", file, err), err, ".save -f "+file)
	}
	blocks := "blocks"
	if len(p.entered) == 1 {
		blocks = "block"
	}
	p.printf("saved %d %s to %s\n", len(p.entered), blocks, file)
	return nil
}

// writeNew writes a file. It replaces an existing one only with force.
func writeNew(path, text string, force bool) error {
	mode := os.O_CREATE | os.O_WRONLY | os.O_EXCL
	if force {
		mode = os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	}
	f, err := os.OpenFile(path, mode, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// orReplace adds a hint with the replacing command to the error for an existing file.
func orReplace(d *diag.Diagnostic, cause error, command string) error {
	if errors.Is(cause, os.ErrExist) {
		return d.WithHint("%s replaces it", command)
	}
	return d
}

// home replaces a leading ~ and slash by the user's home folder, if that is known.
func home(file string) string {
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		if dir, err := os.UserHomeDir(); err == nil {
			return filepath.Join(dir, rest)
		}
	}
	return file
}

func fileError(op, file string, err error) *diag.Diagnostic {
	var cause *os.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	d := diag.New("io-error", "cannot %s %s: %v", op, file, err)
	if errors.Is(err, os.ErrNotExist) {
		d.ID = "not-found"
		d.Hint = "Tab behind ./ or / completes paths"
	}
	return d
}
