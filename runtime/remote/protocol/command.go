package protocol

import (
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/wire"
)

// At identifies a command by its queue and number.
type At struct{ Queue, Number uint64 }

func (m *At) Code(c *wire.Coder) {
	wire.Num(c, &m.Queue, 8)
	wire.Num(c, &m.Number, 8)
}

// Place is an operand of a copy: a box in memory, or host memory if Memory is 0, whose bytes are transferred packed. Offset and the
// pitches are in bytes.
type Place struct {
	Memory               uint64
	Offset               int64
	RowPitch, SlicePitch int64
}

func (p *Place) Code(c *wire.Coder) {
	wire.Num(c, &p.Memory, 8)
	wire.Num(c, &p.Offset, 8)
	wire.Num(c, &p.RowPitch, 8)
	wire.Num(c, &p.SlicePitch, 8)
}

// Transfer copies a box, whose extent is bytes per row, rows, and slices. The bytes of a host operand are in fragments. Those
// of a source follow the Transfer, and those of a destination precede the report of its end.
type Transfer struct {
	At       At
	Dst, Src Place
	Extent   [3]int64
}

func (m *Transfer) Code(c *wire.Coder) {
	m.At.Code(c)
	m.Dst.Code(c)
	m.Src.Code(c)
	wire.Three(c, &m.Extent, 8)
}

// Fragment is a piece of the host's bytes of a transfer, or of an operand that one server sends another. Pieces arrive in order, and
// Offset is the number of bytes before the piece. Of an operand, At.Queue is the operation, and At.Number is the sending member in
// the upper 32 bits and the step in the lower ones.
type Fragment struct {
	At     At
	Offset int64
	Data   []byte
}

func (m *Fragment) Code(c *wire.Coder) {
	m.At.Code(c)
	wire.Num(c, &m.Offset, 8)
	c.Bytes(&m.Data)
}

// Fill repeats a pattern in Size bytes of memory from Offset.
type Fill struct {
	At           At
	Memory       uint64
	Offset, Size int64
	Pattern      []byte
}

func (m *Fill) Code(c *wire.Coder) {
	m.At.Code(c)
	wire.Num(c, &m.Memory, 8)
	wire.Num(c, &m.Offset, 8)
	wire.Num(c, &m.Size, 8)
	c.Bytes(&m.Pattern)
}

// Launch launches a kernel. The fields are those of [offload.Launch]; Services is set if the launch has services of the host.
type Launch struct {
	At          At
	Kernel      uint64
	Size        [3]int
	GroupSize   [3]int
	Args        []Arg
	Checks      offload.Checks
	Pos         offload.Position
	Services    bool
	SharedBytes int
	Cooperative bool
	Teams       int
	ThreadLimit int
}

// Arg is an argument: a struct of the bytes Data if Struct is set, a buffer if Memory is not 0, or else a scalar.
type Arg struct {
	Type   offload.Type
	Bits   uint64
	Struct bool
	Data   []byte
	Memory uint64
	Offset int64
	Dims   [3]int32
	Label  string
}

func (m *Launch) Code(c *wire.Coder) {
	m.At.Code(c)
	wire.Num(c, &m.Kernel, 8)
	wire.Three(c, &m.Size, 8)
	wire.Three(c, &m.GroupSize, 8)
	wire.List(c, &m.Args, func(c *wire.Coder, a *Arg) {
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

// Record records the time at which the queue reaches it.
type Record struct{ At At }

func (m *Record) Code(c *wire.Coder) { m.At.Code(c) }

// Stop requests that the commands up to At end early.
type Stop struct{ At At }

func (m *Stop) Code(c *wire.Coder) { m.At.Code(c) }

// Outcome is the result of a command.
type Outcome uint8

// The outcomes of a command.
const (
	Succeeded Outcome = iota
	Stopped
	Failed
)

// Reached reports that the commands up to At have ended. Those before At succeeded.
type Reached struct {
	At      At
	Outcome Outcome
	Error   []byte // result of [offload.EncodeError] if Outcome is Failed
	Timed   bool   // Time is known
	Time    int64  // time of a record in nanoseconds on the device's clock
}

func (m *Reached) Code(c *wire.Coder) {
	m.At.Code(c)
	wire.Num(c, &m.Outcome, 1)
	c.Bytes(&m.Error)
	c.Flag(&m.Timed)
	wire.Num(c, &m.Time, 8)
}

// SetFailure sets the outcome of a command that failed with err. It does nothing if err is nil. asked states whether the command was
// requested to stop: a cancellation is then the outcome Stopped, and else Failed.
func (m *Reached) SetFailure(err error, asked bool) {
	switch {
	case err == nil:
	case asked && offload.CodeOf(err) == offload.Cancelled:
		m.Outcome = Stopped
	default:
		m.Outcome, m.Error = Failed, offload.EncodeError(offload.Nameless(err))
	}
}

// Printed is a line that a work-item printed.
type Printed struct {
	At      At
	Message offload.Message
}

func (m *Printed) Code(c *wire.Coder) {
	m.At.Code(c)
	wire.Message(c, &m.Message)
}

// PrintsDone reports the number of lines printed since the last report. The server sends at most MaxPrints lines ahead of the
// reports.
type PrintsDone struct{ Count uint32 }

func (m *PrintsDone) Code(c *wire.Coder) { wire.Num(c, &m.Count, 4) }

// ServiceCall is a request of a work-item to the host.
type ServiceCall struct {
	At      At
	Call    uint64
	Request offload.Request
}

func (m *ServiceCall) Code(c *wire.Coder) {
	m.At.Code(c)
	wire.Num(c, &m.Call, 8)
	wire.Message(c, &m.Request.Message)
	wire.Text(c, &m.Request.Name)
	wire.List(c, &m.Request.Args, wire.Scalar)
	wire.Num(c, &m.Request.Result, 1)
}

// ServiceAnswer answers a ServiceCall: with the result, or with an error if Error is not empty.
type ServiceAnswer struct {
	Call  uint64
	Bits  uint64
	Error []byte // result of [offload.EncodeError]
}

func (m *ServiceAnswer) Code(c *wire.Coder) {
	wire.Num(c, &m.Call, 8)
	wire.Num(c, &m.Bits, 8)
	c.Bytes(&m.Error)
}

// ServiceCancel reports that a work-item no longer waits for the answer to a call.
type ServiceCancel struct{ Call uint64 }

func (m *ServiceCancel) Code(c *wire.Coder) { wire.Num(c, &m.Call, 8) }

// Alive reports that an idle server still runs.
type Alive struct{}

func (m *Alive) Code(*wire.Coder) {}

// Exchange copies a box between Near, memory of the server, and Far, memory of the server at Peer. Session identifies the
// client there. Push copies from Near to Far.
type Exchange struct {
	At        At
	Peer      string
	Session   SessionID
	Push      bool
	Near, Far Place
	Extent    [3]int64
}

func (m *Exchange) Code(c *wire.Coder) {
	m.At.Code(c)
	wire.Text(c, &m.Peer)
	c.Array(m.Session[:])
	c.Flag(&m.Push)
	m.Near.Code(c)
	m.Far.Code(c)
	wire.Three(c, &m.Extent, 8)
}

// PeerHello is the first message of a server to another server. Session is that of the client with the other server. From is the sender's
// address on a link for operands of joint launches, and empty on one for copies.
type PeerHello struct {
	Magic   [8]byte
	Version uint32
	Session SessionID
	From    string
}

func (m *PeerHello) Code(c *wire.Coder) {
	c.Array(m.Magic[:])
	wire.Num(c, &m.Version, 4)
	c.Array(m.Session[:])
	wire.Text(c, &m.From)
}

// PeerCopy writes a box of the other server, whose pieces follow the message, or reads it: the pieces follow the reply. A byte
// precedes each piece. It is PieceFollows, or PieceFailed before a reply with the error, which ends the box.
type PeerCopy struct {
	Write  bool
	Place  Place
	Extent [3]int64
}

func (m *PeerCopy) Code(c *wire.Coder) {
	c.Flag(&m.Write)
	m.Place.Code(c)
	wire.Three(c, &m.Extent, 8)
}

// These bytes precede the pieces of a box.
const (
	PieceFollows = 0
	PieceFailed  = 1 // a reply with the error follows
)

// PeerLost reports the loss of the server with the address Peer.
type PeerLost struct{ Peer string }

func (m *PeerLost) Code(c *wire.Coder) { wire.Text(c, &m.Peer) }
