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
	packAt  = 32 << 10 // bytes of small messages that are written at once
	maxSent = 16 << 20 // unsent bytes above which a sender that may wait does

	flushTime = 2 * time.Second // for the last messages of a connection
)

// link sends messages on a stream from any goroutine, and packs those that wait while the stream is busy.
type link struct {
	stream io.ReadWriteCloser
	keeps  bool // the bytes of fragments

	mu      sync.Mutex
	changed sync.Cond
	parts   [][]byte // to be written, in order
	packing []byte   // the newest part, if more messages may be added to it
	size    int      // bytes of parts
	queued  int64    // bytes of all messages so far
	done    int64    // of these, bytes that were written
	writing bool     // parts that were taken are being written
	ended   bool
	written sync.WaitGroup // the writer
}

func newLink(stream io.ReadWriteCloser, keeps bool) *link {
	l := &link{stream: stream, keeps: keeps}
	l.changed.L = &l.mu
	l.written.Add(1)
	go l.write()
	return l
}

// send sends a message. It does not wait. It reports false after the end.
func (l *link) send(p packet) bool { return l.sendWith(p, nil) }

// sendWith sends a message whose last field is the bytes in data, which must not change until they were sent.
func (l *link) sendWith(p packet, data []byte) bool {
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
	l.parts[len(l.parts)-1] = l.packing
	l.size += len(l.packing) - before
	l.queued += int64(len(l.packing) - before)
	if len(data) > 0 {
		binary.LittleEndian.PutUint32(l.packing[len(l.packing)-4:], uint32(len(data))) // of the empty byte string
		l.parts = append(l.parts, data)
		l.packing = nil
		l.size += len(data)
		l.queued += int64(len(data))
	}
	l.changed.Broadcast()
	return true
}

// waitForSpace waits until few bytes are unsent, or the end.
func (l *link) waitForSpace() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.size > maxSent && !l.ended {
		l.changed.Wait()
	}
}

// position returns the number of bytes of all messages so far.
func (l *link) position() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queued
}

// waitWritten waits until that many bytes were written, or the end. It reports whether they were.
func (l *link) waitWritten(position int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.done < position && !l.ended {
		l.changed.Wait()
	}
	return l.done >= position
}

// write writes parts until the end.
func (l *link) write() {
	defer l.written.Done()
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		for len(l.parts) == 0 && !l.ended {
			l.changed.Wait()
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
			_ = l.stream.Close() // the reader ends too
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
	_ = l.stream.Close() // what it was used for has ended
	l.written.Wait()
}

// flushed waits until all messages were written, or the end. A peer that does not read is given up after a while.
func (l *link) flushed() {
	giveUp := time.AfterFunc(flushTime, func() { _ = l.stream.Close() }) // the writer ends
	defer giveUp.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for (len(l.parts) > 0 || l.writing) && !l.ended {
		l.changed.Wait()
	}
}

// receive reads frames until the stream ends or handle returns an error. Byte strings of messages are valid during handle;
// those of fragments stay if the link keeps them.
func (l *link) receive(handle func(packet) error) error {
	var buf []byte
	var head [4]byte
	in := bufio.NewReaderSize(l.stream, packAt)
	for {
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return err
		}
		n := binary.LittleEndian.Uint32(head[:])
		if n == 0 || n > maxFrame {
			return fmt.Errorf("a frame of %d bytes", n)
		}
		if uint32(cap(buf)) < n {
			buf = make([]byte, max(n, 4096))
		}
		buf = buf[:n]
		if _, err := io.ReadFull(in, buf); err != nil {
			return err
		}
		p, err := parse(buf)
		if err != nil {
			return err
		}
		if _, data := p.(*fragment); data && l.keeps {
			buf = nil
		}
		if err := handle(p); err != nil {
			return err
		}
	}
}
