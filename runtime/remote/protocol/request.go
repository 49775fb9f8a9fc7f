package protocol

import (
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/wire"
)

// Hello is the first message of a client.
type Hello struct {
	Magic   [8]byte
	Version uint32
}

func (m *Hello) Code(c *wire.Coder) {
	c.Array(m.Magic[:])
	wire.Num(c, &m.Version, 4)
}

// Welcome is the first message of a server. Error is the reason for offering no device. Address is the address for other
// servers, or empty.
type Welcome struct {
	Magic    [8]byte
	Version  uint32
	Error    []byte // result of [offload.EncodeError]; empty if there are devices
	Platform offload.PlatformInfo
	Hooks    bool // a plugin has library hooks
	Address  string
	Session  SessionID
	Machine  MachineID
	Devices  []Device
}

// Device describes a device of the server.
type Device struct {
	Name       string
	Platform   offload.PlatformInfo
	Info       offload.DeviceInfo
	Properties []byte // JSON of a list of [offload.Property]
}

func (m *Welcome) Code(c *wire.Coder) {
	c.Array(m.Magic[:])
	wire.Num(c, &m.Version, 4)
	c.Bytes(&m.Error)
	wire.PlatformInfo(c, &m.Platform)
	c.Flag(&m.Hooks)
	wire.Text(c, &m.Address)
	c.Array(m.Session[:])
	c.Array(m.Machine[:])
	wire.List(c, &m.Devices, func(c *wire.Coder, d *Device) {
		wire.Text(c, &d.Name)
		wire.PlatformInfo(c, &d.Platform)
		wire.DeviceInfo(c, &d.Info)
		c.Bytes(&d.Properties)
	})
}

// Reply answers a request. Fields that the request does not use are empty.
type Reply struct {
	Request uint64
	Error   []byte // result of [offload.EncodeError]; empty if the request succeeded
	Value   int64  // fit of an image, size of a global, address
	Kind    offload.MemoryKind
	Symbols []offload.Symbol
	Info    offload.KernelInfo
	Inexact bool // the device lacks [offload.Features].Exact after a Load or a FindKernel, which may have found it to be inexact
}

func (m *Reply) Code(c *wire.Coder) {
	wire.Num(c, &m.Request, 8)
	c.Bytes(&m.Error)
	wire.Num(c, &m.Value, 8)
	wire.Num(c, &m.Kind, 1)
	wire.List(c, &m.Symbols, wire.Symbol)
	wire.KernelInfo(c, &m.Info)
	c.Flag(&m.Inexact)
}

// CancelRequest ends the context of a request.
type CancelRequest struct{ Request uint64 }

func (m *CancelRequest) Code(c *wire.Coder) { wire.Num(c, &m.Request, 8) }

// ImageData is a piece of an image's content. Pieces arrive in order.
type ImageData struct {
	Digest Digest
	Total  uint64
	Data   []byte
}

func (m *ImageData) Code(c *wire.Coder) {
	c.Array(m.Digest[:])
	wire.Num(c, &m.Total, 8)
	c.Bytes(&m.Data)
}

// ForgetImages drops the contents of all images sent so far.
type ForgetImages struct{}

func (m *ForgetImages) Code(*wire.Coder) {}

// AnyDevice, as the device of a [CheckImage], asks the server's platforms instead of a device.
const AnyDevice = 1<<32 - 1

// CheckImage asks how well an image fits a device, or whether a platform may load it if Device is AnyDevice.
type CheckImage struct {
	Request uint64
	Device  uint32
	Image   ImageRef
}

func (m *CheckImage) Code(c *wire.Coder) {
	wire.Num(c, &m.Request, 8)
	wire.Num(c, &m.Device, 4)
	m.Image.Code(c)
}

// RegisterLibrary calls the library hooks of the server's plugins.
type RegisterLibrary struct {
	Request  uint64
	Library  uint64
	Label    string
	Images   []ImageRef
	Entries  []offload.Entry
	Requires uint32
}

func (m *RegisterLibrary) Code(c *wire.Coder) {
	wire.Num(c, &m.Request, 8)
	wire.Num(c, &m.Library, 8)
	wire.Text(c, &m.Label)
	wire.List(c, &m.Images, func(c *wire.Coder, r *ImageRef) { r.Code(c) })
	wire.List(c, &m.Entries, func(c *wire.Coder, e *offload.Entry) {
		wire.Text(c, &e.Name)
		wire.Num(c, &e.Kind, 1)
		wire.Num(c, &e.Flags, 4)
		wire.Num(c, &e.Size, 8)
		wire.Num(c, &e.Data, 8)
	})
	wire.Num(c, &m.Requires, 4)
}

// UnregisterLibrary calls the hooks of the server's plugins for the end of a library.
type UnregisterLibrary struct{ Request, Library uint64 }

func (m *UnregisterLibrary) Code(c *wire.Coder) {
	wire.Num(c, &m.Request, 8)
	wire.Num(c, &m.Library, 8)
}

// Load loads an image on a device as a program with a number.
type Load struct {
	Request uint64
	Device  uint32
	Program uint64
	Image   ImageRef
}

func (m *Load) Code(c *wire.Coder) {
	wire.Num(c, &m.Request, 8)
	wire.Num(c, &m.Device, 4)
	wire.Num(c, &m.Program, 8)
	m.Image.Code(c)
}

// FindKernel looks up a kernel of a program, and makes it an object with a number. Signed is set if the message has a signature.
type FindKernel struct {
	Request         uint64
	Program, Kernel uint64
	Name            string
	Signed          bool
	Signature       offload.Signature
}

func (m *FindKernel) Code(c *wire.Coder) {
	wire.Num(c, &m.Request, 8)
	wire.Num(c, &m.Program, 8)
	wire.Num(c, &m.Kernel, 8)
	wire.Text(c, &m.Name)
	c.Flag(&m.Signed)
	wire.Signature(c, &m.Signature)
}

// FindGlobal looks up a global variable, and makes it a memory with a number.
type FindGlobal struct {
	Request         uint64
	Program, Memory uint64
	Name            string
}

func (m *FindGlobal) Code(c *wire.Coder) {
	wire.Num(c, &m.Request, 8)
	wire.Num(c, &m.Program, 8)
	wire.Num(c, &m.Memory, 8)
	wire.Text(c, &m.Name)
}

// FindAddress looks up the address of memory, or that of a symbol if Memory is 0.
type FindAddress struct {
	Request         uint64
	Memory, Program uint64
	Name            string
}

func (m *FindAddress) Code(c *wire.Coder) {
	wire.Num(c, &m.Request, 8)
	wire.Num(c, &m.Memory, 8)
	wire.Num(c, &m.Program, 8)
	wire.Text(c, &m.Name)
}

// Allocate allocates Size bytes of memory with a number.
type Allocate struct {
	Request uint64
	Device  uint32
	Memory  uint64
	Size    int64
	Kind    offload.MemoryKind
}

func (m *Allocate) Code(c *wire.Coder) {
	wire.Num(c, &m.Request, 8)
	wire.Num(c, &m.Device, 4)
	wire.Num(c, &m.Memory, 8)
	wire.Num(c, &m.Size, 8)
	wire.Num(c, &m.Kind, 1)
}

// NewQueue makes a queue with a number on a device.
type NewQueue struct {
	Request uint64
	Device  uint32
	Queue   uint64
	Label   string
}

func (m *NewQueue) Code(c *wire.Coder) {
	wire.Num(c, &m.Request, 8)
	wire.Num(c, &m.Device, 4)
	wire.Num(c, &m.Queue, 8)
	wire.Text(c, &m.Label)
}

// ObjectKind is the kind of a released object.
type ObjectKind uint8

// The kinds of objects that a client releases.
const (
	MemoryObject ObjectKind = iota
	ProgramObject
	QueueObject
)

// Release ends an object.
type Release struct {
	Kind   ObjectKind
	Object uint64
}

func (m *Release) Code(c *wire.Coder) {
	wire.Num(c, &m.Kind, 1)
	wire.Num(c, &m.Object, 8)
}
