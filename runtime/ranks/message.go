package ranks

import (
	"encoding/binary"
	"io"

	"github.com/orepl/orepl/runtime/offload"
)

// kind is the operation that a message belongs to.
type kind uint8

const (
	message kind = iota // of Send
	barrier
	broadcast
	reduce
	allReduce
	gather
	allGather
	scatter
	allToAll
	scan
	split
)

var kindNames = [...]string{"send", "barrier", "broadcast", "reduce", "allReduce", "gather", "allGather", "scatter", "allToAll", "scan", "split"}

func (k kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "an unknown operation"
}

// key says which receive a message is for.
type key struct {
	Context uint64 // the group
	Number  uint64 // the tag of a message, or the number of a collective operation
	Step    uint32 // within a collective operation
	Call    bool   // of a collective operation
}

// header precedes the bytes of a message.
type header struct {
	Key    key
	Kind   kind
	Type   offload.Type
	Root   uint32 // of a collective operation that has one
	Reduce uint8  // the Reduction of a collective operation that combines data
	Failed bool   // the operation failed; the bytes are the text of the error
	Ended  bool   // it failed since a rank has ended its script
	Count  uint64 // elements that the sender, or the root of a broadcast, passed to the operation
	Size   uint64 // bytes that follow
}

// headerSize is the number of bytes of an encoded header.
const headerSize = 46

// parcel is a message with its bytes.
type parcel struct {
	header
	data   []byte
	serial uint64 // its place among the messages that have arrived
}

// write writes a message, and does not use its bytes afterwards. It keeps memory in buf for the next message.
func write(w io.Writer, p *parcel, buf *[]byte) error {
	p.Size = uint64(len(p.data))
	b, err := binary.Append((*buf)[:0], binary.LittleEndian, p.header)
	if err != nil {
		return err
	}
	small := len(p.data) <= smallData
	if small { // one message of the transport
		b = append(b, p.data...)
	}
	*buf = b
	if _, err = w.Write(b); err == nil && !small {
		_, err = w.Write(p.data)
	}
	return err
}

// smallData is the maximum number of bytes that are sent together with the header.
const smallData = 64 << 10

// read reads a message. buf is memory for a header, and place returns the memory for the bytes after it.
func read(r io.Reader, buf []byte, place func(*header) []byte) (*parcel, error) {
	if _, err := io.ReadFull(r, buf); err != nil {
		return nil, err
	}
	p := &parcel{}
	if _, err := binary.Decode(buf, binary.LittleEndian, &p.header); err != nil {
		return nil, err
	}
	p.data = place(&p.header)
	_, err := io.ReadFull(r, p.data)
	return p, err
}
