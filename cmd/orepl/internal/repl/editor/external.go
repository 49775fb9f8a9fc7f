package editor

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// external edits the block in the program that VISUAL or EDITOR names, or in vi. It prints an error and keeps the block if that
// fails.
func (e *Editor) external() {
	text, err := e.inProgram(cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi"))
	if err != nil {
		_, _ = fmt.Fprintf(e, "the editor failed: %v; VISUAL or EDITOR names the one to use\n", err)
		return
	}
	if text != e.text {
		e.change(other, text, len(text))
	}
}

// inProgram runs a command on a file with the block, and returns the file's text afterwards.
func (e *Editor) inProgram(command string) (string, error) {
	f, err := os.CreateTemp("", "orepl-*.js")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	if _, err := io.WriteString(f, e.text+"\n"); err != nil {
		return "", err
	}
	if err := f.Close(); err != nil {
		return "", err
	}
	err = e.away(func() error {
		c := exec.Command("sh", "-c", command+` "$1"`, "sh", f.Name()) // the variables may contain arguments
		c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
		return c.Run()
	})
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(f.Name())
	if err != nil {
		return "", err
	}
	return strings.TrimRight(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n"), nil
}

// suspend stops the process until a shell resumes it.
func (e *Editor) suspend() { _ = e.away(suspend) }

// away releases the terminal while fn runs. Background output waits.
func (e *Editor) away(fn func() error) error {
	e.write(erase(e.picture) + pasteOff)
	e.picture = picture{}
	if err := e.tty.giveBack(); err != nil {
		return err
	}
	failure := fn()
	if err := e.tty.edit(); err != nil {
		return err
	}
	e.write(pasteOn)
	return failure
}
