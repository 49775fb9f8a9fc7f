// Package silence decides when a process that sends nothing counts as lost.
package silence

import (
	"io"
	"net"
	"os"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/neighbor"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

const (
	Tick    = 200 * time.Millisecond  // interval between messages of an idle server, and between looks of a [Meter]
	Near    = 1800 * time.Millisecond // time limit for silence of a server on this machine
	Distant = 10 * time.Second        // for a server on another machine, and for heartbeats
	least   = time.Second
)

// Variable is the environment variable with the time without messages after which a process counts as lost, and its devices with
// it. The value is a duration of at least one second, such as 5s, or off for no limit.
const Variable = "OREPL_REMOTE_SILENCE"

// Limit returns the time in [Variable], 0 for off, usual if it is not set, or an error for a text or time not allowed.
func Limit(usual time.Duration) (time.Duration, error) {
	text := os.Getenv(Variable)
	switch text {
	case "":
		return usual, nil
	case "off":
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < least {
		return 0, offload.Errorf(offload.InvalidArgument, "open", "%s is %q", Variable, text).
			WithHint("write a time of at least %v, such as 5s, or off", least)
	}
	return d, nil
}

// Of returns the [Limit] of a server that has not named its machine, by the addresses of the stream to it.
func Of(stream io.ReadWriteCloser) (time.Duration, error) {
	if c, ok := stream.(net.Conn); ok && IsDistant(c) {
		return Limit(Distant)
	}
	return Limit(Near)
}

// From is like [Of], but goes by the server's machine unless that is zero. The addresses may be those of a tunnel.
func From(stream io.ReadWriteCloser, machine protocol.MachineID) (time.Duration, error) {
	switch machine {
	case protocol.MachineID{}:
		return Of(stream)
	case protocol.ThisMachine.Get():
		return Limit(Near)
	}
	return Limit(Distant)
}

// IsDistant reports whether a TCP connection leads to another machine, by its addresses. It returns false for other connections.
func IsDistant(c net.Conn) bool {
	l, ok1 := c.LocalAddr().(*net.TCPAddr)
	r, ok2 := c.RemoteAddr().(*net.TCPAddr)
	return ok1 && ok2 && !r.IP.IsLoopback() && !r.IP.Equal(l.IP)
}

// Process is a stream to a process of this machine.
type Process interface {
	// PID returns the number of the process, or 0 if the stream leads elsewhere.
	PID() int
}

// patience is the time for which a process may wait for a core or a disk during one silence, without counting as silent.
const patience = Distant

// Meter measures how long a stream has carried nothing from a server. It counts its own ticks, which exclude times when this process
// was stopped. It also excludes ticks in which a server on this machine waited for a core or a disk, up to ten seconds in a silence.
type Meter struct {
	stream io.ReadWriteCloser
	pid    int // 0 while it is not known
	waits  *neighbor.Waits

	reads  uint64 // number of reads at the last tick
	silent time.Duration
	waited time.Duration // ticks left out of silent
}

// NewMeter returns a Meter of the stream to a server.
func NewMeter(stream io.ReadWriteCloser) *Meter { return &Meter{stream: stream} }

// Tick is to be called whenever the time [Tick] has passed. reads is the number of reads of the stream so far. It returns the time of
// silence, which is 0 if there was a read since the last call.
func (m *Meter) Tick(reads uint64) time.Duration {
	if reads != m.reads {
		m.Reset()
		m.reads = reads
		return 0
	}
	switch {
	case m.waits == nil && m.find() != 0:
		m.waits = neighbor.NewWaits(m.pid)
	case m.waits != nil && m.waited < patience && m.waits.Look():
		m.waited += Tick
		return m.silent
	}
	m.silent += Tick
	return m.silent
}

// Reset ends the silence.
func (m *Meter) Reset() { m.silent, m.waited, m.waits = 0, 0, nil }

// Stopped reports whether a signal has stopped the server's process. It returns false if that process is not known.
func (m *Meter) Stopped() bool { return m.find() != 0 && neighbor.Stopped(m.pid) }

// find returns the server's process, or 0 if the stream does not lead to one of this machine that is shown.
func (m *Meter) find() int {
	if m.pid != 0 {
		return m.pid
	}
	switch s := m.stream.(type) {
	case Process:
		m.pid = s.PID()
	case net.Conn:
		if !IsDistant(s) {
			m.pid = neighbor.Peer(s)
		}
	}
	return m.pid
}
