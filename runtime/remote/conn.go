package remote

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	packAt     = 7 << 10 // maximum bytes of small messages in one write: MPI sends them without a handshake
	readAtOnce = 32 << 10
	maxSent    = 16 << 20 // unsent bytes above which senders that may block do

	maxCopied = 4 << 10 // bytes of data that are copied into the packed messages

	flushTime = 2 * time.Second // for the last messages of a connection
)

// Poster is a stream with non-blocking writes. Post takes ownership of the bytes, or returns false and takes none.
type Poster interface{ Post(b []byte) bool }

// Poller is a stream whose input a waiting goroutine can poll itself, which saves waking another one.
type Poller interface {
	// Poll polls the input. It reports whether Read would return at once.
	Poll() bool
	// Drive polls the input until done returns true or a while has passed. It reports whether done did.
	Drive(done func() bool) bool
	// Wait waits until Read would return at once.
	Wait()
}

// link sends messages on a stream from any goroutine, and packs messages that wait while the stream is busy.
type link struct {
	stream io.ReadWriteCloser
	keeps  bool   // handlers keep the bytes of fragments
	poster Poster // the stream, or nil
	poller Poller // the stream, or nil

	reading sync.Mutex // held by the goroutine that handles input
	in      *bufio.Reader
	buf     []byte
	broken  error                         // of the input
	handle  func(packet) error            // handles a message
	land    func(*fragment, int64) []byte // returns the memory for a fragment's bytes, or nil; may be nil
	idle    func()                        // is called when no input is left; may be nil

	mu      sync.Mutex
	changed sync.Cond
	parts   [][]byte // to be written, in order
	packing []byte   // the newest part, if more messages may be added to it
	size    int      // bytes of parts
	queued  int64    // bytes of all messages so far
	done    int64    // of these, bytes that were written
	writing bool     // parts that were taken are being written
	asleep  bool     // the writer waits for parts
	waiters int      // other goroutines that wait for changed
	ended   bool
	written sync.WaitGroup // the writer
}

func newLink(stream io.ReadWriteCloser, keeps bool) *link {
	l := &link{stream: stream, keeps: keeps, in: bufio.NewReaderSize(stream, readAtOnce)}
	l.poster, _ = stream.(Poster)
	l.poller, _ = stream.(Poller)
	l.changed.L = &l.mu
	l.written.Add(1)
	go l.write()
	return l
}

// send sends a message. It does not wait. It reports false after the end.
func (l *link) send(p packet) bool { return l.add(p, nil, true) }

// sendWith sends a message whose last field is the bytes in data, which must not change until they were sent.
func (l *link) sendWith(p packet, data []byte) bool { return l.add(p, data, true) }

// add appends a message to the unsent ones. If flush is set, it also starts sending them.
func (l *link) add(p packet, data []byte, flush bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return false
	}
	before := len(l.packing)
	if l.packing == nil || before > packAt {
		l.packing, before = make([]byte, 0, 512), 0
		l.parts = append(l.parts, nil)
	}
	l.packing = appendFrame(l.packing, p, len(data))
	if len(data) > 0 {
		binary.LittleEndian.PutUint32(l.packing[len(l.packing)-4:], uint32(len(data))) // of the empty byte string
	}
	copied := len(data) <= maxCopied
	if copied {
		l.packing = append(l.packing, data...)
	}
	l.parts[len(l.parts)-1] = l.packing
	l.size += len(l.packing) - before
	l.queued += int64(len(l.packing) - before)
	if !copied {
		l.parts = append(l.parts, data)
		l.packing = nil
		l.size += len(data)
		l.queued += int64(len(data))
	}
	if flush {
		l.flushLocked(true)
	} else if l.size > packAt {
		l.flushLocked(false)
	}
	return true
}

// flush sends messages on this goroutine if now is set and the stream accepts them at once, else on the writer.
func (l *link) flush(now bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flushLocked(now)
}

func (l *link) flushLocked(now bool) {
	if len(l.parts) == 0 || l.ended {
		return
	}
	if now && l.poster != nil && !l.writing && len(l.parts) == 1 && l.packing != nil && l.poster.Post(l.packing) {
		l.done += int64(len(l.packing))
		l.parts[0] = nil
		l.parts, l.packing, l.size = l.parts[:0], nil, 0
		if l.waiters > 0 {
			l.changed.Broadcast()
		}
		return
	}
	if l.asleep {
		l.changed.Broadcast()
	}
}

// waitForSpace waits until few bytes are unsent, or the connection ends.
func (l *link) waitForSpace() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.size > maxSent && !l.ended {
		l.wait()
	}
}

// position returns the number of bytes of all messages so far.
func (l *link) position() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queued
}

// waitWritten waits until the bytes up to a position were written, or the connection ends. It reports whether they were.
func (l *link) waitWritten(position int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.done < position && !l.ended {
		l.wait()
	}
	return l.done >= position
}

// wait waits for a change. l.mu is held.
func (l *link) wait() {
	l.waiters++
	l.changed.Wait()
	l.waiters--
}

// write writes parts until the end.
func (l *link) write() {
	defer l.written.Done()
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		for len(l.parts) == 0 && !l.ended {
			l.asleep = true
			l.changed.Wait()
			l.asleep = false
		}
		if l.ended {
			return
		}
		parts := l.parts
		l.parts, l.packing, l.size, l.writing = nil, nil, 0, true
		l.mu.Unlock()
		var err error
		for _, b := range parts {
			if _, err = l.stream.Write(b); err != nil {
				break
			}
			l.mu.Lock()
			l.done += int64(len(b))
			l.changed.Broadcast()
			l.mu.Unlock()
		}
		l.mu.Lock()
		l.writing = false
		l.changed.Broadcast()
		if err != nil {
			l.ended = true
			_ = l.stream.Close() // ends the reader too
			return
		}
	}
}

// end ends the stream and waits for the writer, which uses no message's data afterwards.
func (l *link) end() {
	l.mu.Lock()
	l.ended = true
	l.parts, l.packing, l.size = nil, nil, 0
	l.changed.Broadcast()
	l.mu.Unlock()
	_ = l.stream.Close() // ends the stream's user
	l.written.Wait()
}

// flushed waits until all messages were written, or the connection ends. It closes the connection of a peer that does not read
// for flushTime.
func (l *link) flushed() {
	giveUp := time.AfterFunc(flushTime, func() { _ = l.stream.Close() }) // ends the writer
	defer giveUp.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for (len(l.parts) > 0 || l.writing) && !l.ended {
		l.wait()
	}
}

// receive handles messages until the stream ends or handle returns an error. Byte strings of messages are valid during handle;
// those of fragments stay valid if keeps is set.
func (l *link) receive() error {
	for {
		if l.poller != nil && !l.keeps { // a client, whose waiting goroutines poll
			l.poller.Wait()
		}
		l.reading.Lock()
		err := l.broken
		if l.poller == nil || l.keeps || l.poller.Poll() { // else another goroutine has handled the input
			for more := true; err == nil && more; more = l.in.Buffered() > 0 {
				err = l.receiveOne()
			}
		}
		l.broken = err
		l.reading.Unlock()
		if err != nil {
			return err
		}
	}
}

// poll handles the messages that have arrived, unless another goroutine does.
func (l *link) poll() {
	if !l.reading.TryLock() {
		return
	}
	defer l.reading.Unlock()
	for l.broken == nil && (l.in.Buffered() > 0 || l.poller.Poll()) {
		if l.broken = l.receiveOne(); l.broken != nil {
			_ = l.stream.Close() // makes receive return
		}
	}
}

// receiveOne reads a frame and handles its message. l.reading is held.
func (l *link) receiveOne() error {
	var head [4]byte
	if _, err := io.ReadFull(l.in, head[:]); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n == 0 || n > maxFrame {
		return fmt.Errorf("a frame of %d bytes", n)
	}
	if uint32(cap(l.buf)) < n {
		l.buf = make([]byte, max(n, 4096))
	}
	buf := l.buf[:n]
	read := 0
	if n >= landAt && l.land != nil {
		ok, err := l.landFragment(buf)
		if ok || err != nil {
			return err
		}
		read = fragmentHead
	}
	if _, err := io.ReadFull(l.in, buf[read:]); err != nil {
		return err
	}
	p, err := parse(buf)
	if err != nil {
		return err
	}
	if f, ok := p.(*fragment); ok && l.keeps && len(f.Data) > 0 {
		l.buf = nil
	}
	return l.handleOne(p)
}

func (l *link) handleOne(p packet) error {
	if err := l.handle(p); err != nil {
		return err
	}
	if l.idle != nil && l.in.Buffered() == 0 {
		l.idle()
	}
	return nil
}

const (
	landAt       = 64 << 10       // bytes of a fragment that are read to their destination
	fragmentHead = 1 + 16 + 8 + 4 // bytes of a fragment's frame before its data
)

// landFragment reads the head of a frame to buf. If the frame is a fragment with a destination, it reads the data there and handles it.
func (l *link) landFragment(buf []byte) (ok bool, err error) {
	if _, err := io.ReadFull(l.in, buf[:fragmentHead]); err != nil {
		return false, err
	}
	n := len(buf) - fragmentHead
	if buf[0] != byte(typeOf((*fragment)(nil))) || binary.LittleEndian.Uint32(buf[fragmentHead-4:]) != uint32(n) {
		return false, nil
	}
	f := new(fragment)
	c := coder{buf: buf[1 : fragmentHead-4], reading: true}
	f.At.code(&c)
	num(&c, &f.Offset, 8)
	to := l.land(f, int64(n))
	if to == nil {
		return false, nil
	}
	if _, err := io.ReadFull(l.in, to); err != nil {
		return false, err
	}
	f.Data = to
	return true, l.handleOne(&landed{*f})
}
