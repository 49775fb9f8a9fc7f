// Package notice writes a line to a terminal if an operation takes long.
package notice

import (
	"fmt"
	"io"
	"os"
	"time"
)

// After writes a line if stop is not called within a time. It writes nothing to a file or a pipe.
func After(w io.Writer, wait time.Duration, line string) (stop func()) {
	if !isTerminal(w) {
		return func() {}
	}
	timer := time.AfterFunc(wait, func() { fmt.Fprintln(w, line) })
	return func() { timer.Stop() }
}

// isTerminal reports whether a writer is a terminal: a character device, or one that knows its width.
func isTerminal(w io.Writer) bool {
	switch w := w.(type) {
	case interface{ Size() (columns, rows int) }:
		columns, _ := w.Size()
		return columns > 0
	case *os.File:
		info, err := w.Stat()
		return err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return false
}
