package remote

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/runtime/activity"
	"github.com/orepl/orepl/runtime/remote/protocol"
	"github.com/orepl/orepl/runtime/remote/wire"
)

const (
	packAt     = 7 << 10  // bytes of packed messages above which they are sent, and the next one begins a new part; MPI sends such a part without a handshake
	readAtOnce = 32 << 10 // size of the buffer for input
	maxSent    = 16 << 20 // unsent bytes above which waitForSpace waits

	maxCopied = 4 << 10 // maximum size of data that is copied into the packed messages

	flushTime = 2 * time.Second // time limit for writing the last messages of a connection
)

// Queuer is a stream that keeps unsent messages and sends them while any goroutine uses it, so that no sender has to wait.
type Queuer interface {
	// Queue appends parts to the unsent ones, and returns the number of bytes that were written during the call. The bytes of parts must
	// not change until they are written. Queue does not wait. It takes nothing and returns false while many messages are on their way.
	Queue(parts [][]byte) (written int, ok bool, err error)
	// OnWritten sets the function that reports bytes written after the call of Queue that took them, or the error that ends
	// writing. The stream calls it on any goroutine. OnWritten is called before Queue.
	OnWritten(written func(n int, err error))
}

// Poller is a stream whose input a waiting goroutine can poll itself, which saves waking another one.
type Poller interface {
	// Poll polls the input. It reports whether Read would return at once.
	Poll() bool
	// Drive polls the input until done returns true or a while has passed. It reports whether done did.
	Drive(done func() bool) bool
	// Wait waits until Read would return at once.
	Wait()
	// Driven adds by to the number of goroutines that poll this input in Drive of another stream. Wait returns after they have left.
	Driven(by int)
}

// link sends messages on a stream from any goroutine, and packs messages that wait while the stream is busy.
type link struct {
	stream io.ReadWriteCloser
	keeps  bool   // handlers keep the bytes of fragments
	queuer Queuer // the stream, or nil
	poller Poller // the stream, or nil

	reading sync.Mutex // held by the goroutine that handles input
	in      *bufio.Reader
	input
	handle func(protocol.Message) error           // handles a message
	land   func(*protocol.Fragment, int64) []byte // returns the memory for a fragment's bytes, or nil; may be nil
	idle   func()                                 // is called when no input is left; may be nil
	await  func()                                 // waits for input for a while, before a server's receiving goroutine reads; may be nil

	handling atomic.Bool // a message is being handled

	mu      sync.Mutex
	changed sync.Cond
	parts   [][]byte // to be written, in order
	packing []byte   // the newest part, if more messages may be added to it
	size    int      // bytes of parts
	queued  int64    // bytes of all messages so far
	done    int64    // number of these bytes that were written
	asleep  bool     // the writer waits for work
	late    bool     // the writer is to send the messages; only for a stream that is a Queuer
	waiters int      // number of other goroutines that wait for changed
	outcome
	using  bool // the writer writes bytes of messages, also after ended is set
	writer sync.WaitGroup
}

// outcome says whether a link has ended, and why. It is guarded by link.mu.
type outcome struct {
	ended  bool
	failed error // that ended writing; nil if none did
}

// input is the state of the goroutine that handles input.
type input struct {
	buf      []byte
	broken   error              // error of the input
	arriving *protocol.Fragment // a fragment whose bytes are being read to their destination; nil if there is none
	rest     []byte             // the memory for bytes of arriving that have not been read
}

func newLink(stream io.ReadWriteCloser, keeps bool) *link {
	l := &link{stream: stream, keeps: keeps, in: bufio.NewReaderSize(activity.CountReads(stream), readAtOnce)}
	l.poller, _ = stream.(Poller)
	l.changed.L = &l.mu
	if l.queuer, _ = stream.(Queuer); l.queuer != nil {
		l.queuer.OnWritten(l.wrote)
		l.writer.Go(l.sendLate)
	} else {
		l.writer.Go(l.write)
	}
	return l
}

// send sends a message. It does not wait. It returns false after the end of the connection.
func (l *link) send(p protocol.Message) bool { return l.add(p, nil, true) }

// sendWith sends a message whose last field is the bytes in data, which must not change until they were sent.
func (l *link) sendWith(p protocol.Message, data []byte) bool { return l.add(p, data, true) }

// add appends a message as sendWith does, and starts sending if flush is set or over packAt bytes wait. It returns false after the end.
func (l *link) add(p protocol.Message, data []byte, flush bool) bool {
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
	l.packing = protocol.Append(l.packing, p, len(data))
	if len(data) > 0 {
		binary.LittleEndian.PutUint32(l.packing[len(l.packing)-4:], uint32(len(data))) // length of the empty byte string
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
	if flush || l.size > packAt {
		l.flushLocked(true)
	}
	return true
}

// flush sends messages on this goroutine if now is set and the stream is a [Queuer], else on the writer. Messages that a Queuer does
// not take yet are sent after it has written earlier ones.
func (l *link) flush(now bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flushLocked(now)
}

func (l *link) flushLocked(now bool) {
	switch {
	case len(l.parts) == 0 || l.ended:
	case l.queuer == nil || !now:
		l.late = true
		if l.asleep {
			l.changed.Broadcast()
		}
	default:
		n, ok, err := l.queuer.Queue(l.parts)
		if ok {
			clear(l.parts)
			l.parts, l.packing, l.size = l.parts[:0], nil, 0
		}
		l.wroteLocked(n, err)
	}
}

// wrote is called by the stream when bytes were written, or an error has ended writing.
func (l *link) wrote(n int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wroteLocked(n, err)
	l.flushLocked(true)
}

func (l *link) wroteLocked(n int, err error) {
	l.done += int64(n)
	activity.Current().Sent.Add(int64(n))
	if err != nil && !l.ended {
		l.ended, l.failed = true, err
		go func() { _ = l.stream.Close() }() // ends the reader too
	}
	if l.waiters > 0 && (n > 0 || err != nil) {
		l.changed.Broadcast()
	}
}

// waitForSpace waits until at most maxSent bytes are unsent, or the connection is over.
func (l *link) waitForSpace() {
	l.wait(func() bool { return l.queued-l.done <= maxSent })
}

// position returns the number of bytes of all messages so far, written or not.
func (l *link) position() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queued
}

// doneBytes returns the number of bytes written.
func (l *link) doneBytes() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.done
}

// isWritten reports whether the bytes up to a position were written.
func (l *link) isWritten(position int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.done >= position
}

// waitWritten waits until the bytes up to a position were written, or the connection has ended. It reports whether they were. The writer
// then no longer uses them.
func (l *link) waitWritten(position int64) bool {
	return l.wait(func() bool { return l.done >= position })
}

// over reports whether the connection has ended and the writer no longer uses bytes of messages. The caller holds l.mu.
func (l *link) over() bool { return l.ended && !l.using }

// wait waits until done returns true, or the connection is over. It reports whether done did. done is called with l.mu held.
func (l *link) wait(done func() bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !done() && !l.over() {
		if l.queuer != nil && l.poller != nil && !l.keeps { // a server's receiving goroutine drives
			l.mu.Unlock()
			over := l.poller.Drive(func() bool {
				l.mu.Lock()
				defer l.mu.Unlock()
				return done() || l.over()
			})
			l.mu.Lock()
			if over || done() || l.over() { // a write may have ended since Drive looked
				continue
			}
		}
		l.waiters++
		l.changed.Wait()
		l.waiters--
	}
	return done()
}

// write writes the parts to a stream that is no [Queuer], until the connection ends.
func (l *link) write() {
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
		l.parts, l.packing, l.size, l.using = nil, nil, 0, true
		l.mu.Unlock()
		var err error
		for _, b := range parts {
			if _, err = l.stream.Write(b); err != nil {
				break
			}
			l.mu.Lock()
			l.done += int64(len(b))
			activity.Current().Sent.Add(int64(len(b)))
			l.changed.Broadcast()
			l.mu.Unlock()
		}
		l.mu.Lock()
		l.using = false
		l.changed.Broadcast()
		if err != nil {
			l.ended, l.failed = true, err
			_ = l.stream.Close() // ends the reader too
			return
		}
	}
}

// sendLate sends the messages that flush leaves to the writer of a [Queuer], until the connection ends.
func (l *link) sendLate() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.ended {
		if l.late {
			l.late = false
			l.flushLocked(true)
			continue
		}
		l.asleep = true
		l.changed.Wait()
		l.asleep = false
	}
}

// end drops unsent messages and closes the stream. When it returns, no data of messages is used any more.
func (l *link) end() {
	l.mu.Lock()
	l.ended = true
	l.parts, l.packing, l.size = nil, nil, 0
	l.changed.Broadcast()
	l.mu.Unlock()
	_ = l.stream.Close() // ends the stream's user
	l.writer.Wait()
}

// cause returns the reason for err, an error of receive. If err says that the stream is closed, and a write has failed before, that is
// the error of the write, otherwise err itself.
func (l *link) cause(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil && (errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrClosed)) {
		return l.failed
	}
	return err
}

// flushed waits until all messages were written, or the connection is over. After flushTime it closes the stream.
func (l *link) flushed() {
	giveUp := time.AfterFunc(flushTime, func() { _ = l.stream.Close() }) // ends the writer
	defer giveUp.Stop()
	l.wait(func() bool { return l.done >= l.queued })
}

// receive handles messages until the stream ends or handle returns an error. Byte strings of messages are valid during handle;
// those of fragments stay valid if keeps is set.
func (l *link) receive() error {
	for {
		if l.poller != nil && !l.keeps { // a client, whose waiting goroutines poll
			l.poller.Wait()
		}
		if l.await != nil && l.in.Buffered() == 0 {
			l.await()
		}
		l.reading.Lock()
		err := l.broken
		if l.poller == nil || l.keeps || l.poller.Poll() { // otherwise another goroutine has handled the input
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

// poll handles the messages that have arrived, unless another goroutine does. It waits for the rest of one that has arrived in part.
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

// pollWhole handles the messages that have arrived as a whole, unless another goroutine handles messages. It does not wait for
// the rest of one. It returns false if the next one is too large for the buffer and has no destination: then receive must read it.
func (l *link) pollWhole() bool {
	if !l.reading.TryLock() {
		return true
	}
	defer l.reading.Unlock()
	for l.broken == nil && (l.in.Buffered() > 0 || l.poller.Poll()) {
		read := l.receiveOne
		if l.arriving == nil {
			whole, fits := l.nextWhole()
			if !whole && (fits || !l.landNext()) {
				return fits
			}
		}
		if l.arriving != nil {
			read = func() error { return l.landRest(false) }
		}
		if l.broken = read(); l.broken != nil {
			_ = l.stream.Close() // makes receive return
		}
	}
	return true
}

// nextWhole reports whether receiveOne would not wait, and whether the buffer has room for the next frame.
func (l *link) nextWhole() (whole, fits bool) {
	const head = 4
	for need := head; ; {
		switch n := l.in.Buffered(); {
		case n >= head && need == head:
			size, _ := l.in.Peek(head)
			need += int(binary.LittleEndian.Uint32(size))
			if need <= head { // receiveOne refuses it
				return true, true
			}
		case n >= need:
			return true, true
		case need > l.in.Size():
			return false, false
		case !l.poller.Poll():
			return false, true
		default:
			if _, err := l.in.Peek(n + 1); err != nil {
				return true, true // receiveOne returns the error
			}
		}
	}
}

// driveWith polls the stream until done returns true or a while has passed. Meanwhile it handles the messages of other links, whose
// goroutines sleep. It reports whether done did.
func (l *link) driveWith(others []*link, done func() bool) bool {
	for _, o := range others {
		o.poller.Driven(1)
	}
	ok := l.poller.Drive(func() bool {
		others = slices.DeleteFunc(others, func(o *link) bool {
			if o.pollWhole() {
				return false
			}
			o.poller.Driven(-1) // its goroutine reads the rest of the message
			return true
		})
		return done()
	})
	for _, o := range others {
		o.poller.Driven(-1)
	}
	return ok
}

// receiveOne reads a frame, or the rest of the arriving fragment, and handles the message. The caller holds l.reading.
func (l *link) receiveOne() error {
	if l.arriving != nil {
		return l.landRest(true)
	}
	var head [4]byte
	if _, err := io.ReadFull(l.in, head[:]); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n == 0 || n > protocol.MaxFrame {
		return fmt.Errorf("a frame of %d bytes", n)
	}
	if uint32(cap(l.buf)) < n {
		l.buf = make([]byte, max(n, 4096))
	}
	buf := l.buf[:n]
	read := 0
	if n >= landAt && l.land != nil {
		if err := protocol.ReadRest(l.in, buf[:fragmentHead]); err != nil {
			return err
		}
		if l.lands(buf[:fragmentHead], n) {
			return l.landRest(true)
		}
		read = fragmentHead
	}
	if err := protocol.ReadRest(l.in, buf[read:]); err != nil {
		return err
	}
	p, err := protocol.Parse(buf)
	if err != nil {
		return err
	}
	if f, ok := p.(*protocol.Fragment); ok && l.keeps && len(f.Data) > 0 {
		l.buf = nil
	}
	return l.handleOne(p)
}

func (l *link) handleOne(p protocol.Message) error {
	l.handling.Store(true)
	defer l.handling.Store(false)
	if err := l.handle(p); err != nil {
		return err
	}
	if l.idle != nil && l.in.Buffered() == 0 {
		l.idle()
	}
	return nil
}

const (
	landAt       = 64 << 10       // minimum size of a fragment that is read directly to its destination
	fragmentHead = 1 + 16 + 8 + 4 // bytes of a fragment's frame before its data
)

// lands prepares to read the bytes of a frame with n bytes to their destination. It returns false if the frame is no fragment, or
// has no destination. The argument head holds the frame's first bytes.
func (l *link) lands(head []byte, n uint32) bool {
	n -= fragmentHead
	if head[0] != byte(protocol.TypeOf((*protocol.Fragment)(nil))) || binary.LittleEndian.Uint32(head[fragmentHead-4:]) != n {
		return false
	}
	f := new(protocol.Fragment)
	c := wire.Coder{Buf: head[1 : fragmentHead-4], Reading: true}
	f.At.Code(&c)
	wire.Num(&c, &f.Offset, 8)
	if f.Data = l.land(f, int64(n)); f.Data == nil {
		return false
	}
	l.arriving, l.rest = f, f.Data
	return true
}

// landed is a fragment whose bytes were read directly to their destination. It exists only in the receiving process.
type landed struct{ protocol.Fragment }

// landNext calls lands for the next frame, and skips the frame's head. It returns false if the head is not in the buffer, if the
// frame is smaller than landAt or too large, or if lands does.
func (l *link) landNext() bool {
	const need = 4 + fragmentHead
	if l.land == nil || l.in.Buffered() < need {
		return false
	}
	head, _ := l.in.Peek(need)
	n := binary.LittleEndian.Uint32(head)
	if n < landAt || n > protocol.MaxFrame || !l.lands(head[4:], n) {
		return false
	}
	_, _ = l.in.Discard(need) // they are in the buffer
	return true
}

// landRest reads the rest of the arriving fragment, and handles the fragment. If waits is not set and bytes are missing, it returns
// nil without waiting for them.
func (l *link) landRest(waits bool) error {
	for len(l.rest) > 0 {
		if !waits && l.in.Buffered() == 0 && !l.poller.Poll() {
			return nil
		}
		n, err := l.in.Read(l.rest)
		if l.rest = l.rest[n:]; err == io.EOF {
			return io.ErrUnexpectedEOF
		} else if err != nil {
			return err
		}
	}
	f := l.arriving
	l.arriving, l.rest = nil, nil
	return l.handleOne(&landed{*f})
}
