// Package heartbeat watches processes over TCP connections, for streams that do not report the death of a process, such as those of MPI.
// A connection ends with its process, and heartbeats in both directions detect frozen processes.
package heartbeat

import (
	"bytes"
	"cmp"
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

	"github.com/orepl/orepl/runtime/remote/silence"
	"github.com/orepl/orepl/runtime/remote/socket"
)

// Watch holds the connections of a process to others that it watches, and that watch it.
type Watch struct {
	ID       int                     // number of this process
	Silence  time.Duration           // a process is lost if it is silent for this time and one interval of heartbeats
	Leaving  <-chan struct{}         // closed when this process leaves normally
	Accepts  func(id int) bool       // reports whether this process expects a connection of another one
	Lost     func(id int, why error) // is called for each lost process, perhaps several times
	Troubled func() bool             // reports whether this process has lost another one
	Frozen   func(id int) error      // returns why a process that has missed two heartbeats cannot go on, if it is known; may be nil
	Dozes    func(id int)            // is called when another process dozes; may be nil
	Woken    func()                  // is called when another process has called Wake for this one; may be nil

	// Tests set these fields.
	distant  func(net.Conn) bool // reports whether a network may cut a connection
	interval time.Duration       // time between heartbeats

	mu       sync.Mutex
	parting  bool                  // Part has been called
	conns    map[net.Conn]int      // number of the process at the other end of each connection
	reported []int                 // processes that Report has named
	beating  sync.WaitGroup        // goroutines that write to connections
	rejoin   map[int]chan net.Conn // receives further connections of watched processes; has room for one
}

// Bytes sent on a connection.
const (
	beat     = 1 // a heartbeat; the first one accepts the connection
	farewell = 2 // the process leaves normally
	broken   = 3 // the process leaves after the loss of another
	report   = 4 // a third process is lost; its number follows as reportDigits hexadecimal digits
	doze     = 5 // the process looks for messages at long intervals from now on
	wake     = 6 // the other process is to look for messages
)

const reportDigits = 8

// Report tells the other processes that the process id is lost, also those that connect later. They may not notice the loss, since
// their streams to that process may stay open.
func (h *Watch) Report(id int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reported = append(h.reported, id)
	for conn, other := range h.conns {
		if other != id {
			writeReport(conn, id)
		}
	}
}

// Doze tells the other processes that this one looks for messages at long intervals, until one of them calls Wake.
func (h *Watch) Doze() { h.tell(doze, func(int) bool { return true }) }

// Wake makes the process id call its Woken, if this process is connected to it.
func (h *Watch) Wake(id int) { h.tell(wake, func(other int) bool { return other == id }) }

// tell writes a byte to the connected processes for which chosen returns true.
func (h *Watch) tell(what byte, chosen func(id int) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for conn, other := range h.conns {
		if chosen(other) {
			_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
			_, _ = conn.Write([]byte{what}) // errors are found by the reader
		}
	}
}

// Connected returns the number of connections.
func (h *Watch) Connected() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.conns)
}

func writeReport(conn net.Conn, id int) {
	_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = conn.Write(fmt.Appendf([]byte{report}, "%0*x", reportDigits, id)) // fails if that process is lost, too
}

const (
	greetTime   = 5 * time.Second        // time limit for a process to introduce itself
	acceptPause = 100 * time.Millisecond // delay before a process without free file descriptors accepts again
)

// beats is the number of heartbeats per silence time. A reader counts missed beats, since one long timeout would also expire
// while this process is suspended.
const beats = 5

// Listen begins to accept connections of other processes, until this one leaves. If near is set, it listens on the loopback interface
// only. It returns the port, and the token that the others need.
func (h *Watch) Listen(near bool) (port uint16, token string, err error) {
	place := ":0"
	if near {
		place = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", place)
	if err != nil {
		return 0, "", err
	}
	address := socket.Address{Network: "tcp", Place: l.Addr().String(), Token: socket.NewToken()}
	go func() {
		<-h.Leaving
		_ = l.Close()
	}()
	go func() {
		for {
			conn, err := l.Accept()
			switch {
			case errors.Is(err, net.ErrClosed):
				return
			case err != nil: // for instance without free file descriptors
				time.Sleep(acceptPause)
			default:
				go h.admit(conn, address)
			}
		}
	}()
	return l.Addr().(*net.TCPAddr).AddrPort().Port(), address.Token, nil
}

// admit watches the process at the other end of a connection to this address, if it knows the token and is expected.
func (h *Watch) admit(conn net.Conn, address socket.Address) {
	var id [4]byte
	err := address.GreetClient(conn)
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
		leave(conn)
		return
	}
	if _, err = conn.Write([]byte{beat}); err != nil {
		h.drop(conn)
		return
	}
	if !h.rejoins(conn, other) {
		h.watch(conn, other, h.awaitRejoin)
	}
}

// Connect begins to watch the process id, which listens at one of the hosts. In another network, a host may belong to other processes.
// Connect returns nil, also if this process leaves meanwhile, or the reasons if it reaches the process at none of the hosts.
func (h *Watch) Connect(id int, hosts []string, port uint16, token string) error {
	var failures []error
	for _, host := range hosts {
		address := socket.Address{Network: "tcp", Place: net.JoinHostPort(host, fmt.Sprint(port)), Token: token}
		conn, err := h.knock(address)
		if err == nil && h.enter() {
			go h.watch(conn, id, func(int) net.Conn { return h.knockAgain(address) })
			return nil
		}
		if err == nil { // this process leaves
			leave(conn)
			return nil
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// leave closes a connection after this process has left, so that the other one does not count it as lost.
func leave(conn net.Conn) {
	_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = conn.Write([]byte{farewell})
	_ = conn.Close()
}

// knock connects to a process and checks its answer.
func (h *Watch) knock(address socket.Address) (net.Conn, error) {
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
func (h *Watch) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.parting {
		h.beating.Add(1)
	}
	return !h.parting
}

// Part ends the taking of connections, and waits until the last message of each has been written. The caller must have closed
// Leaving: otherwise Part waits until the other processes leave. Lost processes get no last message.
func (h *Watch) Part() {
	h.mu.Lock()
	h.parting = true
	h.mu.Unlock()
	h.beating.Wait()
}

// drop closes a connection for which enter was called, and which is not watched.
func (h *Watch) drop(conn net.Conn) {
	_ = conn.Close()
	h.beating.Done()
}

// watch watches the process id until either process leaves, or the other one is lost, which watch reports by Lost. again returns a
// connection in place of one that a network has cut, or nil. The caller has called enter for conn, and again does for its result.
func (h *Watch) watch(conn net.Conn, id int, again func(id int) net.Conn) {
	h.mu.Lock()
	if h.conns == nil {
		h.conns, h.rejoin = map[net.Conn]int{}, map[int]chan net.Conn{}
	}
	h.rejoin[id] = make(chan net.Conn, 1)
	h.mu.Unlock()
	var why error
	for conn != nil {
		var cut bool
		distant := h.isDistant(conn)
		if cut, why = h.attend(conn, id); !cut || !distant {
			break
		}
		if conn = again(id); conn == nil && h.leaves() {
			why = nil
		}
	}
	h.mu.Lock()
	next := h.rejoin[id]
	delete(h.rejoin, id)
	h.mu.Unlock()
	select {
	case late := <-next:
		h.drop(late)
	default:
	}
	if why != nil {
		h.Lost(id, why)
	}
}

// leaves reports whether this process leaves.
func (h *Watch) leaves() bool {
	select {
	case <-h.Leaving:
		return true
	default:
		return false
	}
}

// isDistant reports whether a network may cut a connection while both processes go on.
func (h *Watch) isDistant(conn net.Conn) bool {
	if h.distant != nil {
		return h.distant(conn)
	}
	return silence.IsDistant(conn)
}

// attend sends heartbeats on a connection and reads those of the other process. It returns the results of listen when the other process
// leaves or is lost, or the connection is cut. If this process leaves, the other one answers by a farewell, which ends attend, too.
func (h *Watch) attend(conn net.Conn, id int) (cut bool, why error) {
	_ = conn.SetDeadline(time.Time{})
	h.mu.Lock()
	h.conns[conn] = id
	for _, lost := range h.reported {
		writeReport(conn, lost)
	}
	h.mu.Unlock()
	inOrder := make(chan bool, 1)
	beating := make(chan struct{})
	go func() {
		defer h.beating.Done()
		defer close(beating)
		h.beat(conn, inOrder)
	}()
	cut, why = h.listen(conn, id)
	inOrder <- why == nil
	h.mu.Lock()
	delete(h.conns, conn)
	h.mu.Unlock()
	<-beating
	_ = conn.Close()
	return cut, why
}

// rejoinTime is the time in which a process whose connection was cut may connect again.
const rejoinTime = 4 * time.Second

// knockAgain connects to a process whose connection was cut. It returns nil if none listens any more, if the network stays cut for
// rejoinTime, or if this process leaves.
func (h *Watch) knockAgain(address socket.Address) net.Conn {
	for start := time.Now(); time.Since(start) < rejoinTime && !h.leaves(); time.Sleep(rejoinTime / 40) {
		conn, err := h.knock(address)
		switch {
		case err == nil && h.enter():
			return conn
		case err == nil: // this process leaves
			leave(conn)
			return nil
		case errors.Is(err, syscall.ECONNREFUSED):
			return nil
		}
	}
	return nil
}

// rejoins passes conn to the goroutine that watches the process id, to replace its connection. It returns false if no goroutine
// watches that process.
func (h *Watch) rejoins(conn net.Conn, id int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	next := h.rejoin[id]
	if next == nil {
		return false
	}
	select {
	case old := <-next:
		h.drop(old)
	default:
	}
	next <- conn
	for old, of := range h.conns {
		if of == id {
			_ = old.Close()
		}
	}
	return true
}

// awaitRejoin waits for a process whose connection was cut to connect again. It returns nil if the process does not within rejoinTime,
// or this process leaves.
func (h *Watch) awaitRejoin(id int) net.Conn {
	h.mu.Lock()
	next := h.rejoin[id]
	h.mu.Unlock()
	select {
	case conn := <-next:
		return conn
	case <-h.Leaving:
	case <-time.After(rejoinTime):
	}
	return nil
}

// beat sends heartbeats on a connection until either process leaves, or inOrder yields false: the other process is lost, or the
// connection was cut. In these two cases it sends nothing more. Otherwise it ends with farewell, or with broken if this process has lost
// another one.
func (h *Watch) beat(conn net.Conn, inOrder <-chan bool) {
	ticker := time.NewTicker(cmp.Or(h.interval, h.Silence/beats))
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

// listen reads until a process has left normally, and returns nil then, or until it is lost, and returns the reason. The result cut
// is set if the connection ended, with its process or without.
func (h *Watch) listen(conn net.Conn, id int) (cut bool, why error) {
	buf := make([]byte, 64)
	var number []byte // of a report that has not ended
	for missing := 0; missing <= beats; missing++ {
		_ = conn.SetReadDeadline(time.Now().Add(h.Silence / beats))
		n, err := conn.Read(buf)
		number = h.reports(number, buf[:n])
		if h.Dozes != nil && bytes.IndexByte(buf[:n], doze) >= 0 {
			h.Dozes(id)
		}
		if h.Woken != nil && bytes.IndexByte(buf[:n], wake) >= 0 {
			h.Woken()
		}
		switch {
		case bytes.IndexByte(buf[:n], broken) >= 0:
			return false, io.EOF // the process may not end for this one either
		case bytes.IndexByte(buf[:n], farewell) >= 0:
			return false, nil
		case n > 0:
			missing = -1
		case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
			return true, endOf(id, err)
		case h.Frozen != nil && missing > 0:
			if why := h.Frozen(id); why != nil {
				return false, why
			}
		}
	}
	return false, fmt.Errorf("the process of rank %d has been silent for %v", id, h.Silence)
}

// reports calls Lost for each report in data, which was just read. number is the incomplete report at the end of the bytes
// before, or nil. The result is the incomplete report at the end of data, or nil.
func (h *Watch) reports(number, data []byte) []byte {
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
