package rpc

import (
	"encoding/binary"
	"iter"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/orepl/orepl/runtime/offload"
)

// Port is one side of a call in progress. Its methods must not be called concurrently.
type Port struct {
	c      *channel
	index  int
	server bool
	opcode uint32
	flags  uint32
	mask   uint64 // participating lanes, read at the start of the call

	inbox, outbox *uint32
	out           uint32 // value of the outbox
	owned         bool   // the packets belong to this side
	received      bool   // a packet was received and not acknowledged
	broken        bool   // a wait was abandoned

	await func(*Port) error // returns when the packets belong to this side
	sent  func()            // runs after the outbox was inverted; may be nil
}

// Index returns the port's number in its channel, from 0.
func (p *Port) Index() int { return p.index }

// Opcode returns the operation of the call.
func (p *Port) Opcode() uint32 { return p.opcode }

// OneWay reports whether the client marked the call as one without a reply. LLVM's clients never mark calls.
func (p *Port) OneWay() bool { return p.flags&flagMask == flagOurs && p.flags&flagOneWay != 0 }

// Client returns the number that the client states, or 0. A host of several launches identifies the launch by it.
func (p *Port) Client() uint32 { return clientOf(p.flags) }

func clientOf(flags uint32) uint32 {
	if flags&flagMask != flagOurs {
		return 0
	}
	return flags >> clientShift & clientMask
}

// Lanes yields the participating lanes in ascending order.
func (p *Port) Lanes() iter.Seq[int] {
	return func(yield func(int) bool) {
		for m := p.mask; m != 0; m &= m - 1 {
			if !yield(bits.TrailingZeros64(m)) {
				return
			}
		}
	}
}

// Count returns the number of participating lanes.
func (p *Port) Count() int { return bits.OnesCount64(p.mask) }

// available reports whether the packets belong to this side.
func (p *Port) available() bool {
	return atomic.LoadUint32(p.inbox)&1 == p.out&1 != p.server
}

// acquire waits until the packets belong to this side.
func (p *Port) acquire() error {
	if p.owned {
		return nil
	}
	if !p.available() {
		if err := p.await(p); err != nil {
			p.broken = true
			return err
		}
	}
	p.owned = true
	return nil
}

// release passes the ownership of the packets to the other side.
func (p *Port) release() {
	p.out ^= 1
	p.owned, p.received = false, false
	atomic.StoreUint32(p.outbox, p.out)
	if p.sent != nil {
		p.sent()
	}
}

// Send waits until the packets belong to this side, fills that of each participating lane, and releases the packets.
func (p *Port) Send(fill func(lane int, d *Packet)) error {
	if err := p.acquire(); err != nil {
		return err
	}
	packets := p.c.lanes(p.index)
	for lane := range p.Lanes() {
		var d Packet
		fill(lane, &d)
		packets[lane] = d
	}
	p.release()
	return nil
}

// Recv waits for the packets and calls use with a copy of each lane's, which the other side cannot change. If the call before was a Recv,
// too, it first acknowledges the packets of that one.
func (p *Port) Recv(use func(lane int, d *Packet)) error {
	if p.received {
		p.release()
	}
	if err := p.acquire(); err != nil {
		return err
	}
	p.received = true
	packets := p.c.lanes(p.index)
	for lane := range p.Lanes() {
		d := packets[lane]
		use(lane, &d)
	}
	return nil
}

const (
	firstBytes = PacketBytes - 8 // payload of the first packet of a stream
	atOnce     = 1 << 16         // maximum bytes of a stream allocated before they arrive
)

// SendN sends the bytes of every lane: their number and the first 56 bytes in one packet, then 64 bytes per packet.
func (p *Port) SendN(bytes func(lane int) []byte) error {
	var data [MaxLanes][]byte
	most := 0
	for lane := range p.Lanes() {
		data[lane] = bytes(lane)
		most = max(most, len(data[lane]))
	}
	err := p.Send(func(lane int, d *Packet) {
		d[0] = uint64(len(data[lane]))
		copy(bytesOf(d)[8:], data[lane])
	})
	for at := firstBytes; err == nil && at < most; at += PacketBytes {
		err = p.Send(func(lane int, d *Packet) {
			if at < len(data[lane]) {
				copy(bytesOf(d), data[lane][at:])
			}
		})
	}
	return err
}

// RecvN receives the bytes of every lane that the other side sent by SendN, and then calls use for each lane. If a lane has
// more than limit bytes, RecvN calls use for none. It discards the bytes, so that the call can continue, and returns an
// [offload.InvalidSize] error.
func (p *Port) RecvN(limit int, use func(lane int, data []byte)) error {
	var data [MaxLanes][]byte
	var size [MaxLanes]uint64
	most := uint64(0)
	err := p.Recv(func(lane int, d *Packet) {
		size[lane] = d[0]
		most = max(most, d[0])
		if d[0] <= uint64(limit) {
			data[lane] = make([]byte, 0, min(d[0], atOnce)) // a client may claim bytes that it never sends
			data[lane] = append(data[lane], bytesOf(d)[8:8+min(d[0], firstBytes)]...)
		}
	})
	for at := uint64(firstBytes); err == nil && at < most; at += PacketBytes {
		err = p.Recv(func(lane int, d *Packet) {
			if at < size[lane] && size[lane] <= uint64(limit) {
				data[lane] = append(data[lane], bytesOf(d)[:min(size[lane]-at, PacketBytes)]...)
			}
		})
	}
	if err == nil && most > uint64(limit) {
		err = offload.Errorf(offload.InvalidSize, "rpc", "device code sent %d bytes at once; the limit is %d", most, limit)
	}
	if err != nil {
		return err
	}
	for lane := range p.Lanes() {
		use(lane, data[lane])
	}
	return nil
}

// bytesOf returns the bytes of a packet in memory order.
func bytesOf(d *Packet) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(d)), PacketBytes) }

// init detects a big-endian host, on which channels are refused: their words are little-endian.
func init() {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		bigEndian = true
	}
}

var bigEndian bool
