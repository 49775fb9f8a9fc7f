//go:build !unix

package editor

import (
	"errors"
	"os"
	"time"
)

// canEdit is false on this platform, where blocks are read line by line.
const canEdit = false

type tty struct{}

var errNoTerminal = errors.New("blocks cannot be edited on this system")

func openTTY() (*tty, error)   { return nil, errNoTerminal }
func (*tty) taken() error      { return errNoTerminal }
func (*tty) edit() error       { return errNoTerminal }
func (*tty) run() error        { return errNoTerminal }
func (*tty) giveBack() error   { return errNoTerminal }
func (*tty) wake()             {}
func suspend() error           { return errNoTerminal }
func size(*os.File) (int, int) { return defaultColumns, defaultRows }
func (*tty) wait(time.Duration) (data []byte, woken bool, err error) {
	return nil, false, errNoTerminal
}
