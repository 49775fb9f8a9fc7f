// Package neighbor observes other processes of this machine. On systems other than Linux it observes none.
package neighbor

import (
	"net"
	"time"
)

// Peer returns a process that has the other end of a TCP connection within this machine. It returns 0 if the system shows none or no
// process has accepted the connection, and for other connections.
func Peer(c net.Conn) int {
	mine, ok1 := c.LocalAddr().(*net.TCPAddr)
	theirs, ok2 := c.RemoteAddr().(*net.TCPAddr)
	if !ok1 || !ok2 {
		return 0
	}
	return owner(theirs.AddrPort(), mine.AddrPort())
}

// Stopped reports whether a signal, but no debugger, has stopped a process.
func Stopped(pid int) bool { return stopped(pid) }

// Waits observes whether a process waits for a core or a disk.
type Waits struct {
	pid     int
	at      time.Time         // of the last look
	threads map[string]thread // by number, at the last look
}

// thread is a thread of a process.
type thread struct {
	disk    bool          // it waits for a disk
	ready   bool          // it runs, or waits for a core
	running time.Duration // on a core since the thread's start
	waiting time.Duration // for a core since the thread's start, without a wait that goes on
}

// NewWaits returns the Waits of a process, and looks at it for the first time.
func NewWaits(pid int) *Waits { return &Waits{pid: pid, at: time.Now(), threads: threads(pid)} }

// Look reports whether a thread of the process waits for a disk, or has waited for a core since the last look. Waits for a core of less
// than half of that time do not count. Look returns false if the process has ended.
func (w *Waits) Look() bool {
	now, after := time.Now(), threads(w.pid)
	half := now.Sub(w.at) / 2
	waits := false
	for number, t := range after {
		before, ok := w.threads[number]
		waits = waits || t.disk || ok && (t.waiting-before.waiting >= half || before.ready && t.ready && t.running-before.running < half)
	}
	w.at, w.threads = now, after
	return waits
}
