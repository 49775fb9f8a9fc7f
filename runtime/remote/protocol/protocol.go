// Package protocol has the messages between the clients and servers of remote devices, and their frames in a stream.
package protocol

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/orepl/orepl/runtime/remote/wire"
)

// Version is the version of the protocol. Any change of a message increments it.
const Version = 13

// Magic begins the first message of each side.
const Magic = "orepl\x00\xfe\x01"

// The limits of frames, and of a server that prints.
const (
	MaxFrame    = 2 << 20 // maximum number of bytes of a frame after its length
	MaxFragment = 1 << 20 // maximum number of bytes of data in one message; larger data is split
	MaxPrints   = 1024    // maximum number of lines sent to a client and not yet printed
)

// Message is a message of the protocol. Code writes its fields, or reads them if c.Reading is set.
type Message interface{ Code(c *wire.Coder) }

// Type is the number of a message type in a frame.
type Type uint8

// constructors lists a constructor for each message type. The index is the type's number in frames.
var constructors = []func() Message{
	0:  func() Message { return new(Hello) },
	1:  func() Message { return new(Welcome) },
	2:  func() Message { return new(Reply) },
	3:  func() Message { return new(CancelRequest) },
	4:  func() Message { return new(ImageData) },
	5:  func() Message { return new(ForgetImages) },
	6:  func() Message { return new(CheckImage) },
	7:  func() Message { return new(Load) },
	8:  func() Message { return new(FindKernel) },
	9:  func() Message { return new(FindGlobal) },
	10: func() Message { return new(Allocate) },
	11: func() Message { return new(NewQueue) },
	12: func() Message { return new(Release) },
	13: func() Message { return new(Transfer) },
	14: func() Message { return new(Fragment) },
	15: func() Message { return new(Fill) },
	16: func() Message { return new(Launch) },
	17: func() Message { return new(Record) },
	18: func() Message { return new(Stop) },
	19: func() Message { return new(Reached) },
	20: func() Message { return new(Printed) },
	21: func() Message { return new(ServiceCall) },
	22: func() Message { return new(ServiceAnswer) },
	23: func() Message { return new(ServiceCancel) },
	24: func() Message { return new(RegisterLibrary) },
	25: func() Message { return new(UnregisterLibrary) },
	26: func() Message { return new(Alive) },
	27: func() Message { return new(Exchange) },
	28: func() Message { return new(PeerHello) },
	29: func() Message { return new(PeerCopy) },
	30: func() Message { return new(PeerLost) },
	31: func() Message { return new(PrintsDone) },
	32: func() Message { return new(FindAddress) },
	33: func() Message { return new(Relaunch) },
	34: func() Message { return new(FileRequest) },
	35: func() Message { return new(FileAnswer) },
	36: func() Message { return new(Warning) },
	37: func() Message { return new(Unloaded) },
	38: func() Message { return new(JointLaunch) },
	39: func() Message { return new(Abandon) },
}

// TypeOf returns the number of a message's type. It panics for a type that constructors does not list.
func TypeOf(p Message) Type {
	switch p.(type) {
	case *Hello:
		return 0
	case *Welcome:
		return 1
	case *Reply:
		return 2
	case *CancelRequest:
		return 3
	case *ImageData:
		return 4
	case *ForgetImages:
		return 5
	case *CheckImage:
		return 6
	case *Load:
		return 7
	case *FindKernel:
		return 8
	case *FindGlobal:
		return 9
	case *Allocate:
		return 10
	case *NewQueue:
		return 11
	case *Release:
		return 12
	case *Transfer:
		return 13
	case *Fragment:
		return 14
	case *Fill:
		return 15
	case *Launch:
		return 16
	case *Record:
		return 17
	case *Stop:
		return 18
	case *Reached:
		return 19
	case *Printed:
		return 20
	case *ServiceCall:
		return 21
	case *ServiceAnswer:
		return 22
	case *ServiceCancel:
		return 23
	case *RegisterLibrary:
		return 24
	case *UnregisterLibrary:
		return 25
	case *Alive:
		return 26
	case *Exchange:
		return 27
	case *PeerHello:
		return 28
	case *PeerCopy:
		return 29
	case *PeerLost:
		return 30
	case *PrintsDone:
		return 31
	case *FindAddress:
		return 32
	case *Relaunch:
		return 33
	case *FileRequest:
		return 34
	case *FileAnswer:
		return 35
	case *Warning:
		return 36
	case *Unloaded:
		return 37
	case *JointLaunch:
		return 38
	case *Abandon:
		return 39
	}
	panic(fmt.Sprintf("message %T has no number", p))
}

// Append appends a message as a frame. The caller sends the last extra bytes of the frame itself.
func Append(buf []byte, p Message, extra int) []byte {
	at := len(buf)
	buf = append(buf, 0, 0, 0, 0, byte(TypeOf(p)))
	c := wire.Coder{Buf: buf}
	p.Code(&c)
	binary.LittleEndian.PutUint32(c.Buf[at:], uint32(len(c.Buf)-at-4+extra))
	return c.Buf
}

// Parse decodes the message in a frame, which is passed without its length. Byte strings of the message share the frame's
// memory.
func Parse(frame []byte) (Message, error) {
	if len(frame) == 0 || int(frame[0]) >= len(constructors) {
		return nil, fmt.Errorf("a frame of %d bytes has no known type", len(frame))
	}
	p := constructors[frame[0]]()
	c := wire.Coder{Buf: frame[1:], Reading: true}
	p.Code(&c)
	if c.Err == nil && len(c.Buf) > 0 {
		c.Fail("%d bytes follow the message", len(c.Buf))
	}
	if c.Err != nil {
		return nil, fmt.Errorf("message %T: %w", p, c.Err)
	}
	return p, nil
}

// Read reads a frame and decodes its message. It returns io.EOF if the stream ends before a frame, and io.ErrUnexpectedEOF if it
// ends in one.
func Read(in io.Reader) (Message, error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n == 0 || n > MaxFrame {
		return nil, fmt.Errorf("a frame of %d bytes", n)
	}
	buf := make([]byte, n)
	if err := ReadRest(in, buf); err != nil {
		return nil, err
	}
	return Parse(buf)
}

// ReadRest fills buf with bytes of a frame whose length was read. It returns io.ErrUnexpectedEOF if the stream ends before.
func ReadRest(in io.Reader, buf []byte) error {
	_, err := io.ReadFull(in, buf)
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
