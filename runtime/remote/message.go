package remote

import (
	"encoding/binary"
	"fmt"

	"github.com/orepl/orepl/runtime/offload"
)

// version is the version of the protocol. A change of any message changes it.
const version = 6

const magic = "orepl\x00\xfe\x01"

const (
	maxFrame    = 2 << 20 // bytes of a frame after its length
	maxFragment = 1 << 20 // bytes of data in one message; larger data is cut
)

// packet is a message of the protocol.
type packet interface{ code(c *coder) }

// packetType is the number of a message type on the wire.
type packetType uint8

// packets makes an empty message of each type. The position is the number on the wire.
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
	}
	panic(fmt.Sprintf("message %T has no number", p))
}

// appendFrame appends a message as a frame, whose last extra bytes the caller sends after it.
func appendFrame(buf []byte, p packet, extra int) []byte {
	at := len(buf)
	buf = append(buf, 0, 0, 0, 0, byte(typeOf(p)))
	c := coder{buf: buf}
	p.code(&c)
	binary.LittleEndian.PutUint32(c.buf[at:], uint32(len(c.buf)-at-4+extra))
	return c.buf
}

// parse returns the message of a frame without its length.
func parse(frame []byte) (packet, error) {
	if len(frame) == 0 || int(frame[0]) >= len(packets) {
		return nil, fmt.Errorf("a frame of %d bytes has no known type", len(frame))
	}
	p := packets[frame[0]]()
	c := coder{buf: frame[1:], reading: true}
	p.code(&c)
	if c.err == nil && len(c.buf) > 0 {
		c.fail("%d bytes follow the message", len(c.buf))
	}
	if c.err != nil {
		return nil, fmt.Errorf("message %T: %w", p, c.err)
	}
	return p, nil
}

// hello is the first message of a client.
type hello struct {
	Magic   [8]byte
	Version uint32
}

func (m *hello) code(c *coder) {
	c.array(m.Magic[:])
	num(c, &m.Version, 4)
}

// welcome is the first message of a server. Error says why it offers no device. Address is where other servers reach it; empty if
// they do not.
type welcome struct {
	Magic    [8]byte
	Version  uint32
	Error    []byte
	Platform offload.PlatformInfo
	Hooks    bool // a plugin is told of libraries
	Address  string
	Session  sessionID
	Devices  []remoteDevice
}

// remoteDevice describes a device of the server.
type remoteDevice struct {
	Name       string
	Info       offload.DeviceInfo
	Properties []byte // JSON of a list of [offload.Property]
}

func (m *welcome) code(c *coder) {
	c.array(m.Magic[:])
	num(c, &m.Version, 4)
	c.bytes(&m.Error)
	platformInfo(c, &m.Platform)
	c.flag(&m.Hooks)
	text(c, &m.Address)
	c.array(m.Session[:])
	list(c, &m.Devices, func(c *coder, d *remoteDevice) {
		text(c, &d.Name)
		deviceInfo(c, &d.Info)
		c.bytes(&d.Properties)
	})
}

// reply answers a request. The parts that the request has no use for are empty.
type reply struct {
	Request uint64
	Error   []byte // of [offload.EncodeError]; empty: the request succeeded
	Value   int64  // fit of an image, size of a global, address
	Kind    offload.MemoryKind
	Symbols []offload.Symbol
	Info    offload.KernelInfo
	Inexact bool // the device of a load or a kernel has withdrawn [offload.Features].Exact
}

func (m *reply) code(c *coder) {
	num(c, &m.Request, 8)
	c.bytes(&m.Error)
	num(c, &m.Value, 8)
	num(c, &m.Kind, 1)
	list(c, &m.Symbols, symbol)
	kernelInfo(c, &m.Info)
	c.flag(&m.Inexact)
}

// cancelRequest ends the context of a request.
type cancelRequest struct{ Request uint64 }

func (m *cancelRequest) code(c *coder) { num(c, &m.Request, 8) }

// imageData is a piece of an image's content. Pieces come in order.
type imageData struct {
	Digest digest
	Total  uint64
	Data   []byte
}

func (m *imageData) code(c *coder) {
	c.array(m.Digest[:])
	num(c, &m.Total, 8)
	c.bytes(&m.Data)
}

// forgetImages drops the contents of all images sent so far.
type forgetImages struct{}

func (m *forgetImages) code(*coder) {}

// anyDevice is the device of a [checkImage] for the platform.
const anyDevice = 1<<32 - 1

type checkImage struct {
	Request uint64
	Device  uint32
	Image   imageRef
}

func (m *checkImage) code(c *coder) {
	num(c, &m.Request, 8)
	num(c, &m.Device, 4)
	m.Image.code(c)
}

// registerLibrary tells the server's plugins of a library.
type registerLibrary struct {
	Request  uint64
	Library  uint64
	Label    string
	Images   []imageRef
	Entries  []offload.Entry
	Requires uint32
}

func (m *registerLibrary) code(c *coder) {
	num(c, &m.Request, 8)
	num(c, &m.Library, 8)
	text(c, &m.Label)
	list(c, &m.Images, func(c *coder, r *imageRef) { r.code(c) })
	list(c, &m.Entries, func(c *coder, e *offload.Entry) {
		text(c, &e.Name)
		num(c, &e.Kind, 1)
		num(c, &e.Flags, 4)
		num(c, &e.Size, 8)
		num(c, &e.Data, 8)
	})
	num(c, &m.Requires, 4)
}

// unregisterLibrary tells the server's plugins of the end of a library.
type unregisterLibrary struct{ Request, Library uint64 }

func (m *unregisterLibrary) code(c *coder) {
	num(c, &m.Request, 8)
	num(c, &m.Library, 8)
}

type load struct {
	Request uint64
	Device  uint32
	Program uint64
	Image   imageRef
}

func (m *load) code(c *coder) {
	num(c, &m.Request, 8)
	num(c, &m.Device, 4)
	num(c, &m.Program, 8)
	m.Image.code(c)
}

// findKernel looks a kernel up. Signed: with a signature.
type findKernel struct {
	Request         uint64
	Program, Kernel uint64
	Name            string
	Signed          bool
	Signature       offload.Signature
}

func (m *findKernel) code(c *coder) {
	num(c, &m.Request, 8)
	num(c, &m.Program, 8)
	num(c, &m.Kernel, 8)
	text(c, &m.Name)
	c.flag(&m.Signed)
	signature(c, &m.Signature)
}

type findGlobal struct {
	Request         uint64
	Program, Memory uint64
	Name            string
}

func (m *findGlobal) code(c *coder) {
	num(c, &m.Request, 8)
	num(c, &m.Program, 8)
	num(c, &m.Memory, 8)
	text(c, &m.Name)
}

// findAddress looks the address of memory up, or that of a symbol if Memory is 0.
type findAddress struct {
	Request         uint64
	Memory, Program uint64
	Name            string
}

func (m *findAddress) code(c *coder) {
	num(c, &m.Request, 8)
	num(c, &m.Memory, 8)
	num(c, &m.Program, 8)
	text(c, &m.Name)
}

type allocate struct {
	Request uint64
	Device  uint32
	Memory  uint64
	Size    int64
	Kind    offload.MemoryKind
}

func (m *allocate) code(c *coder) {
	num(c, &m.Request, 8)
	num(c, &m.Device, 4)
	num(c, &m.Memory, 8)
	num(c, &m.Size, 8)
	num(c, &m.Kind, 1)
}

type newQueue struct {
	Request uint64
	Device  uint32
	Queue   uint64
	Label   string
}

func (m *newQueue) code(c *coder) {
	num(c, &m.Request, 8)
	num(c, &m.Device, 4)
	num(c, &m.Queue, 8)
	text(c, &m.Label)
}

// objectKind is the kind of an object that ends.
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

func (m *release) code(c *coder) {
	num(c, &m.Kind, 1)
	num(c, &m.Object, 8)
}

// at is the command that a message is or belongs to.
type at struct{ Queue, Number uint64 }

func (m *at) code(c *coder) {
	num(c, &m.Queue, 8)
	num(c, &m.Number, 8)
}

// wirePlace is an operand of a copy: a box in memory, or host memory if Memory is 0, whose bytes follow or come back packed.
type wirePlace struct {
	Memory               uint64
	Offset               int64
	RowPitch, SlicePitch int64
}

func (p *wirePlace) code(c *coder) {
	num(c, &p.Memory, 8)
	num(c, &p.Offset, 8)
	num(c, &p.RowPitch, 8)
	num(c, &p.SlicePitch, 8)
}

// transfer copies a box, whose extent is bytes per row, rows, and slices. The bytes of a host operand are in the fragments
// behind it, or come back in fragments.
type transfer struct {
	At       at
	Dst, Src wirePlace
	Extent   [3]int64
}

func (m *transfer) code(c *coder) {
	m.At.code(c)
	m.Dst.code(c)
	m.Src.code(c)
	three(c, &m.Extent, 8)
}

// fragment is a piece of the host's bytes of a transfer. Pieces come in order.
type fragment struct {
	At     at
	Offset int64
	Data   []byte
}

// landed is a fragment whose bytes were read to their destination. It is not on the wire.
type landed struct{ fragment }

func (m *fragment) code(c *coder) {
	m.At.code(c)
	num(c, &m.Offset, 8)
	c.bytes(&m.Data)
}

type fill struct {
	At           at
	Memory       uint64
	Offset, Size int64
	Pattern      []byte
}

func (m *fill) code(c *coder) {
	m.At.code(c)
	num(c, &m.Memory, 8)
	num(c, &m.Offset, 8)
	num(c, &m.Size, 8)
	c.bytes(&m.Pattern)
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

func (m *launchKernel) code(c *coder) {
	m.At.code(c)
	num(c, &m.Kernel, 8)
	three(c, &m.Size, 8)
	three(c, &m.GroupSize, 8)
	list(c, &m.Args, func(c *coder, a *wireArg) {
		num(c, &a.Type, 1)
		num(c, &a.Bits, 8)
		c.flag(&a.Struct)
		c.bytes(&a.Data)
		num(c, &a.Memory, 8)
		num(c, &a.Offset, 8)
		three(c, &a.Dims, 4)
		text(c, &a.Label)
	})
	num(c, &m.Checks, 1)
	c.position(&m.Pos)
	c.flag(&m.Services)
	num(c, &m.SharedBytes, 8)
	c.flag(&m.Cooperative)
}

type record struct{ At at }

func (m *record) code(c *coder) { m.At.code(c) }

// stop requests that the commands up to At end early.
type stop struct{ At at }

func (m *stop) code(c *coder) { m.At.code(c) }

// outcome is how a command ended.
type outcome uint8

const (
	succeeded outcome = iota
	stopped
	failed
)

// reached reports that the commands up to At have ended, those before it with success.
type reached struct {
	At      at
	Outcome outcome
	Error   []byte // of failed
	Timed   bool   // Time is known
	Time    int64  // of a record: nanoseconds on the device's clock
}

func (m *reached) code(c *coder) {
	m.At.code(c)
	num(c, &m.Outcome, 1)
	c.bytes(&m.Error)
	c.flag(&m.Timed)
	num(c, &m.Time, 8)
}

// printed is a line that a work-item printed.
type printed struct {
	At      at
	Message offload.Message
}

func (m *printed) code(c *coder) {
	m.At.code(c)
	message(c, &m.Message)
}

// printsDone tells the server how many more lines were printed: it sends at most maxPrints that were not.
type printsDone struct{ Count uint32 }

func (m *printsDone) code(c *coder) { num(c, &m.Count, 4) }

// serviceCall is a request of a work-item to the host.
type serviceCall struct {
	At      at
	Call    uint64
	Request offload.Request
}

func (m *serviceCall) code(c *coder) {
	m.At.code(c)
	num(c, &m.Call, 8)
	message(c, &m.Request.Message)
	text(c, &m.Request.Name)
	list(c, &m.Request.Args, scalar)
	num(c, &m.Request.Result, 1)
}

type serviceAnswer struct {
	Call  uint64
	Bits  uint64
	Error []byte
}

func (m *serviceAnswer) code(c *coder) {
	num(c, &m.Call, 8)
	num(c, &m.Bits, 8)
	c.bytes(&m.Error)
}

// serviceCancel reports that a work-item no longer waits for the answer to a call.
type serviceCancel struct{ Call uint64 }

func (m *serviceCancel) code(c *coder) { num(c, &m.Call, 8) }

// alive tells the client that the server runs. It sends it when it has sent nothing else for a while.
type alive struct{}

func (m *alive) code(*coder) {}

// exchange copies a box between memory of the server, Near, and memory Far of the server at Peer, with which the client has
// Session. Push: from Near to Far.
type exchange struct {
	At        at
	Peer      string
	Session   sessionID
	Push      bool
	Near, Far wirePlace
	Extent    [3]int64
}

func (m *exchange) code(c *coder) {
	m.At.code(c)
	text(c, &m.Peer)
	c.array(m.Session[:])
	c.flag(&m.Push)
	m.Near.code(c)
	m.Far.code(c)
	three(c, &m.Extent, 8)
}

// peerHello is the first message of a server to another server. Session is that of the client with the other server.
type peerHello struct {
	Magic   [8]byte
	Version uint32
	Session sessionID
}

func (m *peerHello) code(c *coder) {
	c.array(m.Magic[:])
	num(c, &m.Version, 4)
	c.array(m.Session[:])
}

// peerCopy writes a box of the other server, whose pieces follow the message, or reads it: the pieces follow the reply. A byte
// stands before each piece: pieceFollows, or pieceFailed and a reply with the error instead of the piece and those behind it.
type peerCopy struct {
	Write  bool
	Place  wirePlace
	Extent [3]int64
}

func (m *peerCopy) code(c *coder) {
	c.flag(&m.Write)
	m.Place.code(c)
	three(c, &m.Extent, 8)
}

// peerLost tells a server that another one is lost.
type peerLost struct{ Peer string }

func (m *peerLost) code(c *coder) { text(c, &m.Peer) }
