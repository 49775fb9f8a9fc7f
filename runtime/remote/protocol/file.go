package protocol

import (
	"fmt"

	"github.com/orepl/orepl/runtime/remote/wire"
)

// FileOp is an operation on a file of the host.
type FileOp uint8

// The operations on files. Opening, removing and renaming name a file; the others have the number of an open one.
const (
	OpenFile FileOp = iota
	ReadFile
	WriteFile
	SeekFile
	CloseFile
	RemoveFile
	RenameFile
)

func (o FileOp) String() string {
	names := [...]string{"open", "read", "write", "seek", "close", "remove", "rename"}
	if int(o) < len(names) {
		return names[o]
	}
	return fmt.Sprintf("operation %d", uint8(o))
}

// FileRequest requests an operation on a file of the host.
type FileRequest struct {
	At     At // launch whose device code requests an operation on a name
	Call   uint64
	Op     FileOp
	File   int64  // number of the open file of an operation
	Name   string // to open, remove or rename
	Other  string // mode of the opened file, or new name
	Offset int64  // offset of a seek; maximum number of bytes of a read
	Whence int32  // origin of a seek
	Data   []byte // to write
}

func (m *FileRequest) Code(c *wire.Coder) {
	m.At.Code(c)
	wire.Num(c, &m.Call, 8)
	wire.Num(c, &m.Op, 1)
	wire.Num(c, &m.File, 8)
	wire.Text(c, &m.Name)
	wire.Text(c, &m.Other)
	wire.Num(c, &m.Offset, 8)
	wire.Num(c, &m.Whence, 4)
	c.Bytes(&m.Data)
}

// FileAnswer answers a FileRequest. After a failed read or write it also has the data or byte count from before the failure.
type FileAnswer struct {
	Call  uint64
	Value int64  // number of an opened file, written bytes or position
	Data  []byte // read bytes
	End   bool   // the read reached the end of the file
	Error []byte // result of [offload.EncodeError]; empty if the operation succeeded
}

func (m *FileAnswer) Code(c *wire.Coder) {
	wire.Num(c, &m.Call, 8)
	wire.Num(c, &m.Value, 8)
	c.Bytes(&m.Data)
	c.Flag(&m.End)
	c.Bytes(&m.Error)
}

// Warning is a warning about a program's device code.
type Warning struct {
	Program uint64
	Text    string
}

func (m *Warning) Code(c *wire.Coder) {
	wire.Num(c, &m.Program, 8)
	wire.Text(c, &m.Text)
}

// Unloaded reports that a released program was unloaded, so that no warnings of it follow.
type Unloaded struct{ Program uint64 }

func (m *Unloaded) Code(c *wire.Coder) { wire.Num(c, &m.Program, 8) }
