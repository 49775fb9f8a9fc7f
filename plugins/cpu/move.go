package cpu

import (
	"github.com/orepl/orepl/plugins/cpu/internal/sched"
	"github.com/orepl/orepl/runtime/queue"
)

const (
	moveChunk = 1 << 20 // bytes between two looks at the stop flag
	moveAlone = 4 << 20 // bytes up to which one core is as fast as several
	fillBlock = 16 << 10
)

// move copies or fills on several cores.
type move struct {
	dst, src []byte
	pattern  []byte // what is repeated, if src is nil; a block of it
	stop     *queue.Stop
	job      sched.Job
}

// Copy implements [queue.Device].
func (d *device) Copy(dst, src []byte, stop *queue.Stop) {
	if len(dst) <= moveChunk {
		copy(dst, src)
		return
	}
	m := d.moves.Get().(*move)
	m.dst, m.src = dst, src
	d.move(m, stop)
}

// Fill implements [queue.Device].
func (d *device) Fill(dst, pattern []byte, stop *queue.Stop) {
	zero := true
	for _, b := range pattern {
		zero = zero && b == 0
	}
	if zero {
		pattern = nil
	}
	if len(dst) <= fillBlock {
		repeat(dst, pattern)
		return
	}
	m := d.moves.Get().(*move)
	m.dst = dst
	if !zero { // the first block is the pattern of the others
		m.pattern = dst[:fillBlock]
		repeat(m.pattern, pattern)
		m.dst = dst[fillBlock:]
	}
	d.move(m, stop)
}

// move moves on as many cores as are worth it.
func (d *device) move(m *move, stop *queue.Stop) {
	m.stop = stop
	chunks := (len(m.dst)-1)/moveChunk + 1
	helpers := 0
	if len(m.dst) > moveAlone {
		helpers = chunks
	}
	if len(m.dst) > 0 {
		d.pool.Run(&m.job, m, chunks, 1, helpers)
	}
	m.dst, m.src, m.pattern, m.stop = nil, nil, nil, nil
	d.moves.Put(m)
}

// Work implements [sched.Task].
func (m *move) Work(s sched.Share) {
	for first, _, ok := s.Next(); ok; first, _, ok = s.Next() {
		if m.stop.Requested() {
			s.Stop()
			return
		}
		at := first * moveChunk
		dst := m.dst[at:min(at+moveChunk, len(m.dst))]
		switch {
		case m.src != nil:
			copy(dst, m.src[at:])
		case m.pattern != nil:
			for len(dst) > 0 {
				dst = dst[copy(dst, m.pattern):]
			}
		default:
			clear(dst)
		}
	}
}

// repeat fills dst with the pattern, whose length divides dst's; nil is zero.
func repeat(dst, pattern []byte) {
	if pattern == nil {
		clear(dst)
		return
	}
	for n := copy(dst, pattern); n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}
