package remote

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Heartbeats watch other processes over TCP connections, for streams that do not report the death of a process. A connection
// ends with its process, and heartbeats in both directions detect frozen processes.
type Heartbeats struct {
	ID       int                     // of this process
	Silence  time.Duration           // time after which a silent process is lost
	Leaving  <-chan struct{}         // closed when this process leaves normally
	Accepts  func(id int) bool       // reports whether this process expects a connection of another one
	Lost     func(id int, why error) // is called for each lost process
	Troubled func() bool             // reports whether this process has lost another one

	mu      sync.Mutex
	parting bool // Part has been called
	conns   map[net.Conn]int
	beating sync.WaitGroup // goroutines that write to connections
}

// Bytes sent on a connection.
const (
	beat     = 1 // a heartbeat; the first one accepts the connection
	farewell = 2 // the process leaves normally
	broken   = 3 // the process leaves after the loss of another
	report   = 4 // a third process is lost; its number follows as reportDigits hexadecimal digits
)

const reportDigits = 8

// Report tells the other processes that one is lost: streams do not end for them.
func (h *Heartbeats) Report(id int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for conn, other := range h.conns {
		if other != id {
			_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
			_, _ = conn.Write(fmt.Appendf([]byte{report}, "%0*x", reportDigits, id)) // fails if that process is lost, too
		}
	}
}

// beats is the number of heartbeats per silence time. A reader counts missed beats, since one long timeout would also expire
// while this process is suspended.
const beats = 5

// HeartbeatSilence returns the time without messages after which a process is lost, or 0 for no limit.
func HeartbeatSilence() (time.Duration, error) { return silenceAfter(distantSilence) }

// Listen accepts connections of other processes until this one leaves, on the loopback interface only if near is set. It
// returns the port, and the token that the others need.
func (h *Heartbeats) Listen(near bool) (port uint16, token string, err error) {
	place := ":0"
	if near {
		place = "127.0.0.1:0"
	}
	l, err := Listen(Address{Network: "tcp", Place: place})
	if err != nil {
		return 0, "", err
	}
	go func() {
		<-h.Leaving
		_ = l.listener.Close()
	}()
	go func() {
		for {
			conn, err := l.listener.Accept()
			switch {
			case errors.Is(err, net.ErrClosed):
				return
			case err != nil: // for instance without free file descriptors
				time.Sleep(acceptPause)
			default:
				go h.admit(conn, l.address)
			}
		}
	}()
	return l.listener.Addr().(*net.TCPAddr).AddrPort().Port(), l.address.Token, nil
}

// admit watches the process at the other end of a connection to this address, if it knows the token and is expected.
func (h *Heartbeats) admit(conn net.Conn, address Address) {
	var id [4]byte
	err := address.greetClient(conn)
	if err == nil {
		_ = conn.SetDeadline(time.Now().Add(greetTime))
		_, err = io.ReadFull(conn, id[:])
	}
	other := int(binary.LittleEndian.Uint32(id[:]))
	if err != nil || !h.Accepts(other) {
		_ = conn.Close()
		return
	}
	if !h.enter() { // this process has left
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = conn.Write([]byte{farewell})
		_ = conn.Close()
		return
	}
	if _, err = conn.Write([]byte{beat}); err != nil {
		h.beating.Done()
		_ = conn.Close()
		return
	}
	h.watch(conn, other)
}

// Connect watches the process that listens at one of the hosts, which may belong to other processes in another network.
func (h *Heartbeats) Connect(id int, hosts []string, port uint16, token string) error {
	var failures []error
	for _, host := range hosts {
		conn, err := h.knock(Address{"tcp", net.JoinHostPort(host, fmt.Sprint(port)), token})
		if err == nil && h.enter() {
			go h.watch(conn, id)
			return nil
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// knock connects to a process and checks its answer.
func (h *Heartbeats) knock(address Address) (net.Conn, error) {
	stream, err := address.Dial(context.Background())
	if err != nil {
		return nil, err
	}
	conn := stream.(net.Conn)
	var answer [1]byte
	_ = conn.SetDeadline(time.Now().Add(greetTime))
	if _, err = conn.Write(binary.LittleEndian.AppendUint32(nil, uint32(h.ID))); err == nil {
		_, err = io.ReadFull(conn, answer[:])
	}
	if err == nil && answer[0] != beat && answer[0] != farewell {
		err = fmt.Errorf("%s answers with a byte %d, which no process of the job sends", address, answer[0])
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// enter registers a connection, whose last write Part awaits. It returns false after the call of Part.
func (h *Heartbeats) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.parting {
		h.beating.Add(1)
	}
	return !h.parting
}

// Part waits until this process, which leaves, has said farewell on all connections.
func (h *Heartbeats) Part() {
	h.mu.Lock()
	h.parting = true
	h.mu.Unlock()
	h.beating.Wait()
}

// watch reads from a connection until the other process leaves or is lost. The caller has called enter.
func (h *Heartbeats) watch(conn net.Conn, id int) {
	_ = conn.SetDeadline(time.Time{})
	h.mu.Lock()
	if h.conns == nil {
		h.conns = map[net.Conn]int{}
	}
	h.conns[conn] = id
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.conns, conn)
	}()
	inOrder := make(chan bool, 1)
	beating := make(chan struct{})
	go func() {
		defer h.beating.Done()
		defer close(beating)
		h.beat(conn, inOrder)
	}()
	why := h.listen(conn, id)
	inOrder <- why == nil
	if why != nil {
		h.Lost(id, why)
	}
	<-beating
	_ = conn.Close()
}

// beat sends heartbeats on a connection until either process leaves.
func (h *Heartbeats) beat(conn net.Conn, inOrder <-chan bool) {
	ticker := time.NewTicker(h.Silence / beats)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			_ = conn.SetWriteDeadline(time.Now().Add(h.Silence / beats))
			_, _ = conn.Write([]byte{beat}) // errors are found by the reader
			continue
		case <-h.Leaving:
		case ok := <-inOrder:
			if !ok {
				return // no farewell: the other process may be frozen
			}
		}
		last := byte(farewell)
		if h.Troubled() {
			last = broken
		}
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = conn.Write([]byte{last})
		return
	}
}

// listen returns nil after a process has left normally, otherwise the reason why it is lost.
func (h *Heartbeats) listen(conn net.Conn, id int) error {
	buf := make([]byte, 64)
	var number []byte // of a report that has not ended
	for missing := 0; missing <= beats; missing++ {
		_ = conn.SetReadDeadline(time.Now().Add(h.Silence / beats))
		n, err := conn.Read(buf)
		number = h.reports(number, buf[:n])
		switch {
		case bytes.IndexByte(buf[:n], broken) >= 0:
			return io.EOF // the process may not end for this one either
		case bytes.IndexByte(buf[:n], farewell) >= 0:
			return nil
		case n > 0:
			missing = -1
		case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
			return endOf(id, err)
		}
	}
	return fmt.Errorf("the process of rank %d has been silent for %v", id, h.Silence)
}

// reports handles the reports among bytes that were read. number is the beginning of an incomplete one, which it returns again.
func (h *Heartbeats) reports(number, data []byte) []byte {
	for _, b := range data {
		switch {
		case b == report:
			number = []byte{b}
		case len(number) > 0 && b >= '0':
			number = append(number, b)
		}
		if len(number) == 1+reportDigits {
			if id, err := strconv.ParseUint(string(number[1:]), 16, 32); err == nil {
				h.Lost(int(id), fmt.Errorf("the script has lost the process of rank %d", id))
			}
			number = nil
		}
	}
	return number
}

// endOf returns the reason of a loss for the error of a connection. A reset may be that of a process that ended with unread bytes.
func endOf(id int, err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("the process of rank %d ended", id)
	case errors.Is(err, syscall.ECONNRESET):
		return fmt.Errorf("the connection to the process of rank %d was reset: it ended, or the network cut the connection", id)
	}
	return fmt.Errorf("the network cut the connection to the process of rank %d", id)
}
