package graphics

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// size is the size of a window in characters and in pixels. Unknown numbers are 0.
type size struct{ columns, rows, width, height int }

// window returns the size of the window of a terminal.
func window(f *os.File) size {
	w, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return size{}
	}
	return size{int(w.Col), int(w.Row), int(w.Xpixel), int(w.Ypixel)}
}

// mostAnswer bounds an answer in bytes.
const mostAnswer = 4 << 10

// ask writes a question to a terminal and returns what it answers until its attributes are complete or the time has passed. It
// returns false if keys wait to be read, if the process is in the background, and after an error. Signals of keys stay enabled.
func ask(f *os.File, question string, limit time.Duration) (answer []byte, asked bool) {
	t, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, false
	}
	defer t.Close()
	fd := int(t.Fd())
	if group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
		return nil, false
	}
	if n, err := unix.IoctlGetInt(fd, unix.TIOCINQ); err != nil || n > 0 {
		return nil, false
	}
	before, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil, false
	}
	raw := *before
	raw.Lflag &^= unix.ICANON | unix.ECHO
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 0, 0
	if unix.IoctlSetTermios(fd, unix.TCSETS, &raw) != nil {
		return nil, false
	}
	defer func() { _ = unix.IoctlSetTermios(fd, unix.TCSETS, before) }()
	if _, err := t.WriteString(question); err != nil {
		return nil, false
	}
	end := time.Now().Add(limit)
	buffer := make([]byte, 256)
	for len(answer) < mostAnswer && !attributes.Match(answer) {
		left := time.Until(end)
		if left <= 0 {
			break
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(left.Milliseconds())+1)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			break
		}
		if n, err = unix.Read(fd, buffer); err != nil && err != unix.EINTR || err == nil && n == 0 {
			break
		}
		answer = append(answer, buffer[:max(n, 0)]...)
	}
	return answer, true
}
