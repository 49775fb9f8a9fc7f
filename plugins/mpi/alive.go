package mpi

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"time"
)

// MPI does not report the death of a process: a send to it never ends. So each host has a TCP connection to each worker. The
// connection ends with the process, and heartbeats in both directions detect frozen processes.

// SilenceVariable is the environment variable with the time, such as 10s, after which a silent process counts as lost; off
// disables it.
const SilenceVariable = "OREPL_MPI_SILENCE"

const defaultSilence = 10 * time.Second

// Bytes sent on a connection between processes.
const (
	beat     = 1 // a heartbeat; the first one accepts a host's connection
	farewell = 2 // the process leaves normally
	broken   = 3 // the process leaves after the loss of another
)

const (
	introTime = 5 * time.Second // timeout for a connection's first bytes
	tokenSize = 16
)

// silence returns the time in [SilenceVariable], 0 for off.
func silence() (time.Duration, error) {
	switch text := os.Getenv(SilenceVariable); text {
	case "":
		return defaultSilence, nil
	case "off":
		return 0, nil
	default:
		d, err := time.ParseDuration(text)
		if err != nil || d < 100*time.Millisecond {
			return 0, fmt.Errorf("%s=%s is no time: write 10s, a time of at least 100ms, or off", SilenceVariable, text)
		}
		return d, nil
	}
}

// identity is the message that processes exchange through MPI when they start.
type identity struct {
	Role    byte
	Watched byte // 0 if the process does not use connections
	Machine [64]byte
	Port    uint16
	Token   [tokenSize]byte
	Places  [8][16]byte // IP addresses; unused ones are zero
}

// meet exchanges identities. It is collective: all processes must call it.
func (w *world) meet(me *identity) ([]identity, error) {
	mine, err := binary.Append(nil, binary.LittleEndian, me)
	if err != nil {
		return nil, err
	}
	data, err := w.lib.Gather(mine)
	if err != nil {
		return nil, err
	}
	all := make([]identity, w.lib.Size)
	_, err = binary.Decode(data, binary.LittleEndian, all)
	return all, err
}

// introduce determines the roles of all processes and connects hosts with workers. It is collective.
func (w *world) introduce() error {
	var err error
	if w.silence, err = silence(); err != nil {
		return err
	}
	me := &identity{Role: w.role, Watched: 1}
	if w.silence == 0 {
		me.Watched = 0
	}
	name, _ := os.Hostname()
	copy(me.Machine[:], name)
	all, err := w.meet(me)
	if err != nil {
		return err
	}
	watched, near := true, true
	for _, p := range all {
		w.roles = append(w.roles, p.Role)
		watched = watched && p.Watched != 0
		near = near && p.Machine == me.Machine
	}
	if !watched {
		w.silence = 0
		return nil
	}
	if w.role == workerRole {
		if err := w.expect(me, near); err != nil {
			return err
		}
	}
	if all, err = w.meet(me); err != nil || w.role != hostRole {
		return err
	}
	for rank, p := range all {
		if p.Role == workerRole {
			if err := w.attach(rank, &p, me); err != nil {
				return err
			}
		}
	}
	return nil
}

// expect accepts connections of hosts, on the loopback interface only if all processes are on this machine.
func (w *world) expect(me *identity, near bool) error {
	place := ":0"
	if near {
		place = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", place)
	if err != nil {
		return err
	}
	_, _ = rand.Read(me.Token[:]) // never fails
	me.Port = l.Addr().(*net.TCPAddr).AddrPort().Port()
	list, err := net.InterfaceAddrs()
	if err != nil {
		_ = l.Close()
		return err
	}
	n := 0
	for _, a := range list {
		ip, ok := a.(*net.IPNet)
		if !ok || n == len(me.Places) || ip.IP.IsLoopback() || ip.IP.IsLinkLocalUnicast() {
			continue
		}
		copy(me.Places[n][:], ip.IP.To16())
		n++
	}
	go func() {
		<-w.finishing
		_ = l.Close()
	}()
	token := me.Token
	go func() {
		for {
			conn, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil { // for example, too many open files
				time.Sleep(10 * time.Millisecond)
				continue
			}
			go w.admit(conn, token)
		}
	}()
	return nil
}

// admit accepts the connection of a host, which sends the token. It closes other connections.
func (w *world) admit(conn net.Conn, token [tokenSize]byte) {
	var intro [tokenSize + 4]byte
	_ = conn.SetDeadline(time.Now().Add(introTime))
	_, err := io.ReadFull(conn, intro[:])
	rank := int(binary.LittleEndian.Uint32(intro[tokenSize:]))
	if err != nil || subtle.ConstantTimeCompare(intro[:tokenSize], token[:]) == 0 || rank >= len(w.roles) || w.roles[rank] != hostRole {
		_ = conn.Close()
		return
	}
	if !w.enter() { // all hosts have left
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = conn.Write([]byte{farewell})
		_ = conn.Close()
		return
	}
	if _, err = conn.Write([]byte{beat}); err != nil {
		w.beating.Done()
		_ = conn.Close()
		return
	}
	w.watch(conn, rank)
}

// enter registers a connection, whose last write wait awaits. It returns false after wait has been called.
func (w *world) enter() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.parting {
		w.beating.Add(1)
	}
	return !w.parting
}

// attach connects this host to a worker.
func (w *world) attach(rank int, p, me *identity) error {
	var places []string
	if p.Machine == me.Machine {
		places = append(places, "127.0.0.1")
	}
	for _, b := range p.Places {
		if b != [16]byte{} {
			places = append(places, netip.AddrFrom16(b).Unmap().String())
		}
	}
	var failures []error
	for _, place := range places {
		conn, err := w.knock(net.JoinHostPort(place, strconv.Itoa(int(p.Port))), p.Token)
		if err == nil && w.enter() {
			go w.watch(conn, rank)
			return nil
		}
		failures = append(failures, err)
	}
	name, _, _ := bytes.Cut(p.Machine[:], []byte{0})
	return fmt.Errorf("rank %d on %s cannot be reached over TCP, which finds processes that died; allow it, or set %s=off: %w",
		rank, name, SilenceVariable, errors.Join(failures...))
}

// knock connects to a worker and checks its answer, since the address may belong to another process in another network.
func (w *world) knock(place string, token [tokenSize]byte) (net.Conn, error) {
	conn, err := net.DialTimeout("tcp", place, introTime)
	if err != nil {
		return nil, err
	}
	var answer [1]byte
	_ = conn.SetDeadline(time.Now().Add(introTime))
	if _, err = conn.Write(binary.LittleEndian.AppendUint32(token[:], uint32(w.lib.Rank))); err == nil {
		_, err = io.ReadFull(conn, answer[:])
	}
	if err == nil && answer[0] != beat && answer[0] != farewell {
		err = fmt.Errorf("%s answers with a byte %d, which no worker sends", place, answer[0])
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// beats is the number of heartbeats per silence time. The listener counts missed beats, since one long timeout would also
// expire while this process is suspended.
const beats = 5

// watch reads from the connection to a process until the process leaves or is lost. The caller has called enter.
func (w *world) watch(conn net.Conn, rank int) {
	_ = conn.SetDeadline(time.Time{})
	inOrder := make(chan bool, 1)
	beating := make(chan struct{})
	go func() {
		defer w.beating.Done()
		defer close(beating)
		w.beat(conn, inOrder)
	}()
	why := w.listen(conn, rank)
	inOrder <- why == nil
	if why != nil {
		w.lose(rank, why)
	}
	<-beating
	_ = conn.Close()
}

// beat sends heartbeats on a connection until either process leaves.
func (w *world) beat(conn net.Conn, inOrder <-chan bool) {
	ticker := time.NewTicker(w.silence / beats)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			_ = conn.SetWriteDeadline(time.Now().Add(w.silence / beats))
			_, _ = conn.Write([]byte{beat}) // errors are found by the reader
			continue
		case <-w.finishing:
		case ok := <-inOrder:
			if !ok {
				return // no farewell: the other process may be frozen
			}
		}
		last := byte(farewell)
		if w.losses.Load() > 0 {
			last = broken
		}
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = conn.Write([]byte{last})
		return
	}
}

// listen returns nil after a process has left normally, otherwise the reason why it is lost.
func (w *world) listen(conn net.Conn, rank int) error {
	buf := make([]byte, 64)
	for missing := 0; missing <= beats; missing++ {
		_ = conn.SetReadDeadline(time.Now().Add(w.silence / beats))
		n, err := conn.Read(buf)
		switch {
		case bytes.IndexByte(buf[:n], broken) >= 0:
			return io.EOF // MPI may not end for this process either
		case bytes.IndexByte(buf[:n], farewell) >= 0:
			return nil
		case n > 0:
			missing = -1
		case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
			return fmt.Errorf("the process of rank %d ended", rank)
		}
	}
	return fmt.Errorf("the process of rank %d has been silent for %v", rank, w.silence)
}

// lose marks a process as lost and ends all waits for it.
func (w *world) lose(rank int, why error) {
	w.mu.Lock()
	if w.lost[rank] != nil {
		w.mu.Unlock()
		return
	}
	w.lost[rank] = why
	w.left[rank] = true
	w.losses.Add(1)
	var streams []*stream
	for at, s := range w.streams {
		if at.rank == rank {
			streams = append(streams, s)
		}
	}
	w.mu.Unlock()
	for _, s := range streams {
		s.lose(why)
	}
}

// lostError returns the reason why a process is lost, nil if it is not.
func (w *world) lostError(rank int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost[rank]
}

// Finalizing MPI waits for all processes: endTime bounds it after a loss, slowTime otherwise.
const (
	endTime  = time.Second
	slowTime = time.Minute
)

// wait waits until this process has left the job, and returns its error.
func (w *world) wait() error {
	<-w.finishing
	w.mu.Lock()
	w.parting = true
	w.mu.Unlock()
	w.beating.Wait()
	start := time.Now()
	var since time.Time
	for {
		select {
		case <-w.ended:
			return w.err
		case <-time.After(100 * time.Millisecond):
		}
		if since.IsZero() && w.losses.Load() > 0 {
			since = time.Now()
		}
		if !since.IsZero() && time.Since(since) > endTime || time.Since(start) > slowTime {
			return nil
		}
	}
}
