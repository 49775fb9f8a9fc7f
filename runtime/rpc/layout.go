package rpc

import (
	"unsafe"

	"github.com/orepl/orepl/runtime/offload"
)

const (
	// MaxPorts is the maximum number of ports of a channel.
	MaxPorts = 4096
	// MaxLanes is the maximum number of lanes of a port, the work-items that call together.
	MaxLanes = 64
	// MaxClient is the maximum number of a client.
	MaxClient = 1<<14 - 1
	// PacketBytes is the size of a lane's packet in bytes.
	PacketBytes = 64

	headerBytes  = 16
	controlBytes = 64 + MaxPorts/8 // control, then the lock bits
)

// Version is the version of the shared memory's layout. A client refuses a channel of another version.
const Version = 1

const magic = 0x4350_526f // "oRPC" in little-endian order

// Packet is the data of one lane in one transfer.
type Packet [PacketBytes / 8]uint64

// header describes the call on a port.
type header struct {
	mask   uint64 // participating lanes
	opcode uint32
	flags  uint32 // flags of this project's clients; undefined for LLVM's
}

const (
	flagOurs      = 0x4f52_0000 // the flags are defined
	flagOneWay    = 1           // the call has no reply
	flagAbandoned = 2           // the client has abandoned the call and sends no packet
	clientShift   = 2           // the client's number lies above the flags
	clientMask    = MaxClient
	flagMask      = 0xffff_0000
)

// control is the start of a channel's memory. A client reads the first four words once. Later it sets and clears locks, rings the
// bell, and reads closed.
type control struct {
	magic, version uint32
	ports, lanes   uint32
	bell           uint32 // futex: 1 while the server sleeps
	closed         uint32
	_              [40]byte
	locks          [MaxPorts / 32]uint32
}

// Layout is the shape of a channel.
type Layout struct {
	Ports int // 1 … MaxPorts
	Lanes int // 1 … MaxLanes
}

func (l Layout) check() error {
	if l.Ports < 1 || l.Ports > MaxPorts || l.Lanes < 1 || l.Lanes > MaxLanes {
		return offload.Errorf(offload.InvalidArgument, "rpc", "a channel of %d ports with %d lanes; there may be 1 to %d ports and 1 to %d lanes", l.Ports, l.Lanes, MaxPorts, MaxLanes)
	}
	return nil
}

// headers returns the offset of the headers, counted from the end of the control block. Order and alignment of the parts follow
// LLVM's rpc::Process.
func (l Layout) headers() int { return align(2*4*l.Ports, 8) }

// packets returns the offset of the packets, counted from the end of the control block.
func (l Layout) packets() int { return align(l.headers()+headerBytes*l.Ports, 8) }

// Size returns the number of bytes of a channel's memory.
func (l Layout) Size() int {
	return controlBytes + l.packets() + l.Ports*l.Lanes*PacketBytes
}

func align(n, to int) int { return (n + to - 1) / to * to }

// channel is a view of a channel's memory.
type channel struct {
	layout  Layout
	control *control
	first   []uint32 // the client's inbox
	second  []uint32 // the client's outbox
	headers []header
	packets []Packet
	memory  []byte
}

// view returns a view of memory as a channel of layout l. It returns an error if the layout is not valid, or the memory is too
// small or not aligned to 8 bytes.
func view(memory []byte, l Layout) (*channel, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	if len(memory) < l.Size() {
		return nil, offload.Errorf(offload.InvalidSize, "rpc", "%d bytes of memory for a channel that needs %d", len(memory), l.Size())
	}
	base := unsafe.Pointer(unsafe.SliceData(memory))
	if uintptr(base)%8 != 0 {
		return nil, offload.Errorf(offload.InvalidArgument, "rpc", "memory of a channel at address %#x; it must be aligned to 8 bytes", uintptr(base))
	}
	boxes := unsafe.Add(base, controlBytes)
	return &channel{
		layout:  l,
		control: (*control)(base),
		first:   unsafe.Slice((*uint32)(boxes), l.Ports),
		second:  unsafe.Slice((*uint32)(unsafe.Add(boxes, 4*l.Ports)), l.Ports),
		headers: unsafe.Slice((*header)(unsafe.Add(boxes, l.headers())), l.Ports),
		packets: unsafe.Slice((*Packet)(unsafe.Add(boxes, l.packets())), l.Ports*l.Lanes),
		memory:  memory,
	}, nil
}

// open returns a view of a channel that a server has initialized, with the layout in its control block.
func open(memory []byte) (*channel, error) {
	if len(memory) < controlBytes {
		return nil, offload.Errorf(offload.InvalidSize, "rpc", "%d bytes hold no channel", len(memory))
	}
	c := (*control)(unsafe.Pointer(unsafe.SliceData(memory)))
	if c.magic != magic {
		return nil, offload.Errorf(offload.InvalidBinary, "rpc", "the memory holds no channel: it begins with %#x", c.magic)
	}
	if c.version != Version {
		return nil, offload.Errorf(offload.Unsupported, "rpc", "the channel has version %d, the client version %d", c.version, Version).WithHint("build both with the same release of orepl")
	}
	return view(memory, Layout{int(c.ports), int(c.lanes)})
}

// lanes returns the packets of a port.
func (c *channel) lanes(port int) []Packet {
	n := c.layout.Lanes
	return c.packets[port*n : port*n+n]
}

// allLanes returns the mask of all lanes.
func (c *channel) allLanes() uint64 { return ^uint64(0) >> (64 - c.layout.Lanes) }
