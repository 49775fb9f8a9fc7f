package remote

import (
	"encoding/binary"
	"fmt"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/wire"
)

// version is the version of the protocol. Any change of a message increments it.
const version = 13

const magic = "orepl\x00\xfe\x01"

const (
	maxFrame    = 2 << 20 // bytes of a frame after its length
	maxFragment = 1 << 20 // bytes of data in one message; larger data is split
)

// packet is a message of the protocol.
type packet interface{ code(c *wire.Coder) }

// packetType is the number of a message type in a frame.
type packetType uint8

// packets lists a constructor for each message type. The index is the type's number in frames.
var packets = []func() packet{
	0:  func() packet { return new(hello) },
	1:  func() packet { return new(welcome) },
	2:  func() packet { return new(reply) },
	3:  func() packet { return new(cancelRequest) },
	4:  func() packet { return new(imageData) },
	5:  func() packet { return new(forgetImages) },
	6:  func() packet { return new(checkImage) },
	7:  func() packet { return new(load) },
	8:  func() packet { return new(findKernel) },
	9:  func() packet { return new(findGlobal) },
	10: func() packet { return new(allocate) },
	11: func() packet { return new(newQueue) },
	12: func() packet { return new(release) },
	13: func() packet { return new(transfer) },
	14: func() packet { return new(fragment) },
	15: func() packet { return new(fill) },
	16: func() packet { return new(launchKernel) },
	17: func() packet { return new(record) },
	18: func() packet { return new(stop) },
	19: func() packet { return new(reached) },
	20: func() packet { return new(printed) },
	21: func() packet { return new(serviceCall) },
	22: func() packet { return new(serviceAnswer) },
	23: func() packet { return new(serviceCancel) },
	24: func() packet { return new(registerLibrary) },
	25: func() packet { return new(unregisterLibrary) },
	26: func() packet { return new(alive) },
	27: func() packet { return new(exchange) },
	28: func() packet { return new(peerHello) },
	29: func() packet { return new(peerCopy) },
	30: func() packet { return new(peerLost) },
	31: func() packet { return new(printsDone) },
	32: func() packet { return new(findAddress) },
	33: func() packet { return new(relaunch) },
	34: func() packet { return new(fileRequest) },
	35: func() packet { return new(fileAnswer) },
	36: func() packet { return new(warning) },
	37: func() packet { return new(unloaded) },
	38: func() packet { return new(jointLaunch) },
	39: func() packet { return new(abandon) },
}

// typeOf returns the number of a message's type.
func typeOf(p packet) packetType {
	switch p.(type) {
	case *hello:
		return 0
	case *welcome:
		return 1
	case *reply:
		return 2
	case *cancelRequest:
		return 3
	case *imageData:
		return 4
	case *forgetImages:
		return 5
	case *checkImage:
		return 6
	case *load:
		return 7
	case *findKernel:
		return 8
	case *findGlobal:
		return 9
	case *allocate:
		return 10
	case *newQueue:
		return 11
	case *release:
		return 12
	case *transfer:
		return 13
	case *fragment:
		return 14
	case *fill:
		return 15
	case *launchKernel:
		return 16
	case *record:
		return 17
	case *stop:
		return 18
	case *reached:
		return 19
	case *printed:
		return 20
	case *serviceCall:
		return 21
	case *serviceAnswer:
		return 22
	case *serviceCancel:
		return 23
	case *registerLibrary:
		return 24
	case *unregisterLibrary:
		return 25
	case *alive:
		return 26
	case *exchange:
		return 27
	case *peerHello:
		return 28
	case *peerCopy:
		return 29
	case *peerLost:
		return 30
	case *printsDone:
		return 31
	case *findAddress:
		return 32
	case *relaunch:
		return 33
	case *fileRequest:
		return 34
	case *fileAnswer:
		return 35
	case *warning:
		return 36
	case *unloaded:
		return 37
	case *jointLaunch:
		return 38
	case *abandon:
		return 39
	}
	panic(fmt.Sprintf("message %T has no number", p))
}

// appendFrame appends a message as a frame. The caller sends the last extra bytes of the frame itself.
func appendFrame(buf []byte, p packet, extra int) []byte {
	at := len(buf)
	buf = append(buf, 0, 0, 0, 0, byte(typeOf(p)))
	c := wire.Coder{Buf: buf}
	p.code(&c)
	binary.LittleEndian.PutUint32(c.Buf[at:], uint32(len(c.Buf)-at-4+extra))
	return c.Buf
}

// parse decodes the message of a frame without its length.
func parse(frame []byte) (packet, error) {
	if len(frame) == 0 || int(frame[0]) >= len(packets) {
		return nil, fmt.Errorf("a frame of %d bytes has no known type", len(frame))
	}
	p := packets[frame[0]]()
	c := wire.Coder{Buf: frame[1:], Reading: true}
	p.code(&c)
	if c.Err == nil && len(c.Buf) > 0 {
		c.Fail("%d bytes follow the message", len(c.Buf))
	}
	if c.Err != nil {
		return nil, fmt.Errorf("message %T: %w", p, c.Err)
	}
	return p, nil
}

// hello is the first message of a client.
type hello struct {
	Magic   [8]byte
	Version uint32
}

func (m *hello) code(c *wire.Coder) {
	c.Array(m.Magic[:])
	wire.Num(c, &m.Version, 4)
}

// welcome is the first message of a server. Error is the reason for offering no device. Address is the address for other
// servers, or empty.
type welcome struct {
	Magic    [8]byte
	Version  uint32
	Error    []byte
	Platform offload.PlatformInfo
	Hooks    bool // a plugin has library hooks
	Address  string
	Session  sessionID
	Machine  machineID
	Devices  []remoteDevice
}

// remoteDevice describes a device of the server.
type remoteDevice struct {
	Name       string
	Platform   offload.PlatformInfo
	Info       offload.DeviceInfo
	Properties []byte // JSON of a list of [offload.Property]
}

func (m *welcome) code(c *wire.Coder) {
	c.Array(m.Magic[:])
	wire.Num(c, &m.Version, 4)
	c.Bytes(&m.Error)
	wire.PlatformInfo(c, &m.Platform)
	c.Flag(&m.Hooks)
	wire.Text(c, &m.Address)
	c.Array(m.Session[:])
	c.Array(m.Machine[:])
	wire.List(c, &m.Devices, func(c *wire.Coder, d *remoteDevice) {
		wire.Text(c, &d.Name)
		wire.PlatformInfo(c, &d.Platform)
		wire.DeviceInfo(c, &d.Info)
		c.Bytes(&d.Properties)
	})
}

// reply answers a request. Fields that the request does not use are empty.
type reply struct {
	Request uint64
	Error   []byte // result of [offload.EncodeError]; empty if the request succeeded
	Value   int64  // fit of an image, size of a global, address
	Kind    offload.MemoryKind
	Symbols []offload.Symbol
	Info    offload.KernelInfo
	Inexact bool // the device has withdrawn [offload.Features].Exact at a load or a kernel
}

func (m *reply) code(c *wire.Coder) {
	wire.Num(c, &m.Request, 8)
	c.Bytes(&m.Error)
	wire.Num(c, &m.Value, 8)
	wire.Num(c, &m.Kind, 1)
	wire.List(c, &m.Symbols, wire.Symbol)
	wire.KernelInfo(c, &m.Info)
	c.Flag(&m.Inexact)
}

// cancelRequest ends the context of a request.
type cancelRequest struct{ Request uint64 }

func (m *cancelRequest) code(c *wire.Coder) { wire.Num(c, &m.Request, 8) }

// imageData is a piece of an image's content. Pieces arrive in order.
type imageData struct {
	Digest digest
	Total  uint64
	Data   []byte
}

func (m *imageData) code(c *wire.Coder) {
	c.Array(m.Digest[:])
	wire.Num(c, &m.Total, 8)
	c.Bytes(&m.Data)
}

// forgetImages drops the contents of all images sent so far.
type forgetImages struct{}

func (m *forgetImages) code(*wire.Coder) {}

// anyDevice, as the device of a [checkImage], asks the platform instead of a device.
const anyDevice = 1<<32 - 1

type checkImage struct {
	Request uint64
	Device  uint32
	Image   imageRef
}

func (m *checkImage) code(c *wire.Coder) {
	wire.Num(c, &m.Request, 8)
	wire.Num(c, &m.Device, 4)
	m.Image.code(c)
}

// registerLibrary calls the library hooks of the server's plugins.
type registerLibrary struct {
	Request  uint64
	Library  uint64
	Label    string
	Images   []imageRef
	Entries  []offload.Entry
	Requires uint32
}

func (m *registerLibrary) code(c *wire.Coder) {
	wire.Num(c, &m.Request, 8)
	wire.Num(c, &m.Library, 8)
	wire.Text(c, &m.Label)
	wire.List(c, &m.Images, func(c *wire.Coder, r *imageRef) { r.code(c) })
	wire.List(c, &m.Entries, func(c *wire.Coder, e *offload.Entry) {
		wire.Text(c, &e.Name)
		wire.Num(c, &e.Kind, 1)
		wire.Num(c, &e.Flags, 4)
		wire.Num(c, &e.Size, 8)
		wire.Num(c, &e.Data, 8)
	})
	wire.Num(c, &m.Requires, 4)
}

// unregisterLibrary calls the hooks of the server's plugins for the end of a library.
type unregisterLibrary struct{ Request, Library uint64 }

func (m *unregisterLibrary) code(c *wire.Coder) {
	wire.Num(c, &m.Request, 8)
	wire.Num(c, &m.Library, 8)
}

type load struct {
	Request uint64
	Device  uint32
	Program uint64
	Image   imageRef
}

func (m *load) code(c *wire.Coder) {
	wire.Num(c, &m.Request, 8)
	wire.Num(c, &m.Device, 4)
	wire.Num(c, &m.Program, 8)
	m.Image.code(c)
}

// findKernel looks up a kernel. Signed is set if the message has a signature.
type findKernel struct {
	Request         uint64
	Program, Kernel uint64
	Name            string
	Signed          bool
	Signature       offload.Signature
}

func (m *findKernel) code(c *wire.Coder) {
	wire.Num(c, &m.Request, 8)
	wire.Num(c, &m.Program, 8)
	wire.Num(c, &m.Kernel, 8)
	wire.Text(c, &m.Name)
	c.Flag(&m.Signed)
	wire.Signature(c, &m.Signature)
}

type findGlobal struct {
	Request         uint64
	Program, Memory uint64
	Name            string
}

func (m *findGlobal) code(c *wire.Coder) {
	wire.Num(c, &m.Request, 8)
	wire.Num(c, &m.Program, 8)
	wire.Num(c, &m.Memory, 8)
	wire.Text(c, &m.Name)
}

// findAddress looks up the address of memory, or that of a symbol if Memory is 0.
type findAddress struct {
	Request         uint64
	Memory, Program uint64
	Name            string
}

func (m *findAddress) code(c *wire.Coder) {
	wire.Num(c, &m.Request, 8)
	wire.Num(c, &m.Memory, 8)
	wire.Num(c, &m.Program, 8)
	wire.Text(c, &m.Name)
}

type allocate struct {
	Request uint64
	Device  uint32
	Memory  uint64
	Size    int64
	Kind    offload.MemoryKind
}

func (m *allocate) code(c *wire.Coder) {
	wire.Num(c, &m.Request, 8)
	wire.Num(c, &m.Device, 4)
	wire.Num(c, &m.Memory, 8)
	wire.Num(c, &m.Size, 8)
	wire.Num(c, &m.Kind, 1)
}

type newQueue struct {
	Request uint64
	Device  uint32
	Queue   uint64
	Label   string
}

func (m *newQueue) code(c *wire.Coder) {
	wire.Num(c, &m.Request, 8)
	wire.Num(c, &m.Device, 4)
	wire.Num(c, &m.Queue, 8)
	wire.Text(c, &m.Label)
}

// objectKind is the kind of a released object.
type objectKind uint8

const (
	memoryObject objectKind = iota
	programObject
	queueObject
)

// release ends an object.
type release struct {
	Kind   objectKind
	Object uint64
}

func (m *release) code(c *wire.Coder) {
	wire.Num(c, &m.Kind, 1)
	wire.Num(c, &m.Object, 8)
}

// at identifies a command by its queue and number.
type at struct{ Queue, Number uint64 }

func (m *at) code(c *wire.Coder) {
	wire.Num(c, &m.Queue, 8)
	wire.Num(c, &m.Number, 8)
}

// wirePlace is an operand of a copy: a box in memory, or host memory if Memory is 0, whose bytes are transferred packed.
type wirePlace struct {
	Memory               uint64
	Offset               int64
	RowPitch, SlicePitch int64
}

func (p *wirePlace) code(c *wire.Coder) {
	wire.Num(c, &p.Memory, 8)
	wire.Num(c, &p.Offset, 8)
	wire.Num(c, &p.RowPitch, 8)
	wire.Num(c, &p.SlicePitch, 8)
}

// transfer copies a box, whose extent is bytes per row, rows, and slices. Fragments before or after the copy transfer the bytes
// of a host operand.
type transfer struct {
	At       at
	Dst, Src wirePlace
	Extent   [3]int64
}

func (m *transfer) code(c *wire.Coder) {
	m.At.code(c)
	m.Dst.code(c)
	m.Src.code(c)
	wire.Three(c, &m.Extent, 8)
}

// fragment is a piece of the host's bytes of a transfer, or of an operand that one server sends another. Pieces arrive in order.
type fragment struct {
	At     at
	Offset int64
	Data   []byte
}

// landed is a fragment whose bytes were read directly to their destination. It exists only in the receiving process.
type landed struct{ fragment }

func (m *fragment) code(c *wire.Coder) {
	m.At.code(c)
	wire.Num(c, &m.Offset, 8)
	c.Bytes(&m.Data)
}

type fill struct {
	At           at
	Memory       uint64
	Offset, Size int64
	Pattern      []byte
}

func (m *fill) code(c *wire.Coder) {
	m.At.code(c)
	wire.Num(c, &m.Memory, 8)
	wire.Num(c, &m.Offset, 8)
	wire.Num(c, &m.Size, 8)
	c.Bytes(&m.Pattern)
}

type launchKernel struct {
	At          at
	Kernel      uint64
	Size        [3]int
	GroupSize   [3]int
	Args        []wireArg
	Checks      offload.Checks
	Pos         offload.Position
	Services    bool
	SharedBytes int
	Cooperative bool
	Teams       int
	ThreadLimit int
}

// wireArg is an argument. Memory is 0 for a scalar and for a struct.
type wireArg struct {
	Type   offload.Type
	Bits   uint64
	Struct bool
	Data   []byte
	Memory uint64
	Offset int64
	Dims   [3]int32
	Label  string
}

func (m *launchKernel) code(c *wire.Coder) {
	m.At.code(c)
	wire.Num(c, &m.Kernel, 8)
	wire.Three(c, &m.Size, 8)
	wire.Three(c, &m.GroupSize, 8)
	wire.List(c, &m.Args, func(c *wire.Coder, a *wireArg) {
		wire.Num(c, &a.Type, 1)
		wire.Num(c, &a.Bits, 8)
		c.Flag(&a.Struct)
		c.Bytes(&a.Data)
		wire.Num(c, &a.Memory, 8)
		wire.Num(c, &a.Offset, 8)
		wire.Three(c, &a.Dims, 4)
		wire.Text(c, &a.Label)
	})
	wire.Num(c, &m.Checks, 1)
	c.Position(&m.Pos)
	c.Flag(&m.Services)
	wire.Num(c, &m.SharedBytes, 8)
	c.Flag(&m.Cooperative)
	wire.Num(c, &m.Teams, 8)
	wire.Num(c, &m.ThreadLimit, 8)
}

type record struct{ At at }

func (m *record) code(c *wire.Coder) { m.At.code(c) }

// stop requests that the commands up to At end early.
type stop struct{ At at }

func (m *stop) code(c *wire.Coder) { m.At.code(c) }

// outcome is the result of a command.
type outcome uint8

const (
	succeeded outcome = iota
	stopped
	failed
)

// reached reports that the commands up to At have ended. Those before At succeeded.
type reached struct {
	At      at
	Outcome outcome
	Error   []byte // error of failed
	Timed   bool   // Time is known
	Time    int64  // time of a record in nanoseconds on the device's clock
}

func (m *reached) code(c *wire.Coder) {
	m.At.code(c)
	wire.Num(c, &m.Outcome, 1)
	c.Bytes(&m.Error)
	c.Flag(&m.Timed)
	wire.Num(c, &m.Time, 8)
}

// printed is a line that a work-item printed.
type printed struct {
	At      at
	Message offload.Message
}

func (m *printed) code(c *wire.Coder) {
	m.At.code(c)
	wire.Message(c, &m.Message)
}

// printsDone reports the number of lines printed since the last report. The server sends at most maxPrints lines ahead of the
// reports.
type printsDone struct{ Count uint32 }

func (m *printsDone) code(c *wire.Coder) { wire.Num(c, &m.Count, 4) }

// serviceCall is a request of a work-item to the host.
type serviceCall struct {
	At      at
	Call    uint64
	Request offload.Request
}

func (m *serviceCall) code(c *wire.Coder) {
	m.At.code(c)
	wire.Num(c, &m.Call, 8)
	wire.Message(c, &m.Request.Message)
	wire.Text(c, &m.Request.Name)
	wire.List(c, &m.Request.Args, wire.Scalar)
	wire.Num(c, &m.Request.Result, 1)
}

type serviceAnswer struct {
	Call  uint64
	Bits  uint64
	Error []byte
}

func (m *serviceAnswer) code(c *wire.Coder) {
	wire.Num(c, &m.Call, 8)
	wire.Num(c, &m.Bits, 8)
	c.Bytes(&m.Error)
}

// serviceCancel reports that a work-item no longer waits for the answer to a call.
type serviceCancel struct{ Call uint64 }

func (m *serviceCancel) code(c *wire.Coder) { wire.Num(c, &m.Call, 8) }

// alive reports that an idle server still runs.
type alive struct{}

func (m *alive) code(*wire.Coder) {}

// exchange copies a box between Near, memory of the server, and Far, memory of the server at Peer. Session identifies the
// client there. Push copies from Near to Far.
type exchange struct {
	At        at
	Peer      string
	Session   sessionID
	Push      bool
	Near, Far wirePlace
	Extent    [3]int64
}

func (m *exchange) code(c *wire.Coder) {
	m.At.code(c)
	wire.Text(c, &m.Peer)
	c.Array(m.Session[:])
	c.Flag(&m.Push)
	m.Near.code(c)
	m.Far.code(c)
	wire.Three(c, &m.Extent, 8)
}

// peerHello is the first message of a server to another server. Session is that of the client with the other server. From is the sender's
// address on a link for operands of joint launches, and empty on one for copies.
type peerHello struct {
	Magic   [8]byte
	Version uint32
	Session sessionID
	From    string
}

func (m *peerHello) code(c *wire.Coder) {
	c.Array(m.Magic[:])
	wire.Num(c, &m.Version, 4)
	c.Array(m.Session[:])
	wire.Text(c, &m.From)
}

// peerCopy writes a box of the other server, whose pieces follow the message, or reads it: the pieces follow the reply. A byte
// precedes each piece. It is pieceFollows, or pieceFailed before a reply with the error, which ends the box.
type peerCopy struct {
	Write  bool
	Place  wirePlace
	Extent [3]int64
}

func (m *peerCopy) code(c *wire.Coder) {
	c.Flag(&m.Write)
	m.Place.code(c)
	wire.Three(c, &m.Extent, 8)
}

// peerLost reports the loss of another server.
type peerLost struct{ Peer string }

func (m *peerLost) code(c *wire.Coder) { wire.Text(c, &m.Peer) }
