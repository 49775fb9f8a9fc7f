//go:build unix

package editor

import (
	"os"

	"golang.org/x/sys/unix"
)

// size asks the terminal for its size.
func size(f *os.File) (columns, rows int) {
	w, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil || w.Col == 0 || w.Row == 0 {
		return defaultColumns, defaultRows
	}
	return int(w.Col), int(w.Row)
}
