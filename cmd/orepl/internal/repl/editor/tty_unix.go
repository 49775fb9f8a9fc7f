//go:build unix

package editor

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const canEdit = true

// tty is the process's terminal: its modes, its input, and a pipe that wakes the reader.
type tty struct {
	in                     int
	wakeRead, wakeWrite    *os.File
	original, runs, edited unix.Termios
	buffer                 [1 << 16]byte
}

// openTTY records the current modes of the terminal, and wakes the reader when its size changes.
func openTTY() (*tty, error) {
	t := &tty{in: int(os.Stdin.Fd())}
	modes, err := unix.IoctlGetTermios(t.in, getModes)
	if err != nil {
		return nil, err
	}
	t.original = *modes
	if t.wakeRead, t.wakeWrite, err = os.Pipe(); err != nil {
		return nil, err
	}
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	go func() {
		for range resized {
			t.wake()
		}
	}()
	return t, nil
}

// taken records the modes that liner set as those for running code: keys are not echoed. In the modes for editing, keys raise
// no signals either.
func (t *tty) taken() error {
	modes, err := unix.IoctlGetTermios(t.in, getModes)
	if err != nil {
		return err
	}
	t.runs, t.edited = *modes, *modes
	t.edited.Lflag &^= unix.ISIG
	return nil
}

func (t *tty) edit() error     { return unix.IoctlSetTermios(t.in, setModes, &t.edited) }
func (t *tty) run() error      { return unix.IoctlSetTermios(t.in, setModes, &t.runs) }
func (t *tty) giveBack() error { return unix.IoctlSetTermios(t.in, setModes, &t.original) }

// wake makes wait return.
func (t *tty) wake() { _, _ = t.wakeWrite.Write([]byte{0}) }

// wait waits for input, for wake, or for a timeout; a negative one is infinite. It returns [io.EOF] if the terminal is
// closed.
func (t *tty) wait(timeout time.Duration) (data []byte, woken bool, err error) {
	fds := []unix.PollFd{{Fd: int32(t.in), Events: unix.POLLIN}, {Fd: int32(t.wakeRead.Fd()), Events: unix.POLLIN}}
	milliseconds := -1
	if timeout >= 0 {
		milliseconds = int(timeout.Milliseconds())
	}
	_, err = unix.Poll(fds, milliseconds)
	for errors.Is(err, unix.EINTR) { // the Go runtime signals its threads
		_, err = unix.Poll(fds, milliseconds)
	}
	if err != nil {
		return nil, false, err
	}
	if fds[1].Revents != 0 {
		_, _ = unix.Read(int(fds[1].Fd), t.buffer[:])
		woken = true
	}
	if fds[0].Revents == 0 {
		return nil, woken, nil
	}
	n, err := unix.Read(t.in, t.buffer[:])
	switch {
	case errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN):
		return nil, true, nil
	case err != nil || n == 0:
		return nil, woken, io.EOF
	}
	return t.buffer[:n], woken, nil
}

// stopTime bounds the wait for the stop, which does not happen if no shell could resume the process.
const stopTime = time.Second

// suspend stops the process group, as a shell does for Ctrl-Z, and returns when it is resumed, or after stopTime if it goes on.
func suspend() error {
	goesOn := make(chan os.Signal, 1)
	signal.Notify(goesOn, syscall.SIGCONT)
	defer signal.Stop(goesOn)
	if err := unix.Kill(0, unix.SIGTSTP); err != nil {
		return err
	}
	select {
	case <-goesOn:
	case <-time.After(stopTime):
	}
	return nil
}

// size returns the terminal's size in characters, or the default size if it is unknown.
func size(f *os.File) (columns, rows int) {
	w, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil || w.Col == 0 || w.Row == 0 {
		return defaultColumns, defaultRows
	}
	return int(w.Col), int(w.Row)
}
