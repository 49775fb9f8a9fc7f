//go:build linux

package repl_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestLoadOfEndlessFiles checks that Ctrl-C ends .load of an endless file and of a pipe without a writer.
func TestLoadOfEndlessFiles(t *testing.T) {
	u := sit(t, 120, 40)
	u.prompted(0)
	if err := syscall.Mkfifo(filepath.Join(u.dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"pipe", "/dev/zero"} {
		row := u.row()
		u.types(".load " + file)
		u.press("\r")
		u.interrupt(row)
		if got := u.all(row); !strings.Contains(got, "stopped with Ctrl-C") {
			t.Errorf("%s: %s", file, got)
		}
	}
}

// TestCommandsOverLines checks that a command's name ends at any white space, such as a line end.
func TestCommandsOverLines(t *testing.T) {
	u := sit(t, 120, 40)
	u.prompted(0)
	u.types(".time")
	u.press("\x1b\r")
	u.types("6 * 7")
	u.press("\r")
	u.sees(1, "42")
}
