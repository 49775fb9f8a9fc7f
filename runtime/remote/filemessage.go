package remote

import (
	"fmt"

	"github.com/orepl/orepl/runtime/remote/wire"
)

// fileOp is an operation on a file of the host.
type fileOp uint8

const (
	openFile fileOp = iota
	readFile
	writeFile
	seekFile
	closeFile
	removeFile
	renameFile
)

func (o fileOp) String() string {
	names := [...]string{"open", "read", "write", "seek", "close", "remove", "rename"}
	if int(o) < len(names) {
		return names[o]
	}
	return fmt.Sprintf("operation %d", uint8(o))
}

// fileRequest requests an operation on a file of the host.
type fileRequest struct {
	At     at // launch of an operation on a name
	Call   uint64
	Op     fileOp
	File   int64  // number of the open file of an operation
	Name   string // to open, remove or rename
	Other  string // mode of the opened file, or new name
	Offset int64  // offset of a seek; maximum number of bytes of a read
	Whence int32  // origin of a seek
	Data   []byte // to write
}

func (m *fileRequest) code(c *wire.Coder) {
	m.At.code(c)
	wire.Num(c, &m.Call, 8)
	wire.Num(c, &m.Op, 1)
	wire.Num(c, &m.File, 8)
	wire.Text(c, &m.Name)
	wire.Text(c, &m.Other)
	wire.Num(c, &m.Offset, 8)
	wire.Num(c, &m.Whence, 4)
	c.Bytes(&m.Data)
}

// fileAnswer answers a fileRequest.
type fileAnswer struct {
	Call  uint64
	Value int64  // number of an opened file, written bytes or position
	Data  []byte // read bytes
	End   bool   // the read reached the end of the file
	Error []byte
}

func (m *fileAnswer) code(c *wire.Coder) {
	wire.Num(c, &m.Call, 8)
	wire.Num(c, &m.Value, 8)
	c.Bytes(&m.Data)
	c.Flag(&m.End)
	c.Bytes(&m.Error)
}

// warning is a warning about a program's device code.
type warning struct {
	Program uint64
	Text    string
}

func (m *warning) code(c *wire.Coder) {
	wire.Num(c, &m.Program, 8)
	wire.Text(c, &m.Text)
}

// unloaded reports that a released program was unloaded, so that no warnings of it follow.
type unloaded struct{ Program uint64 }

func (m *unloaded) code(c *wire.Coder) { wire.Num(c, &m.Program, 8) }
