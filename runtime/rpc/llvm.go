package rpc

import "encoding/binary"

// These constants describe the client object of LLVM's libc for GPUs, since release 20: the number of ports, four pointers and
// the locks.
const (
	LLVMClientSymbol = "__llvm_rpc_client"
	LLVMClientBytes  = 40 + MaxPorts/8
)

// LLVMClient returns the contents of an LLVM client object for a channel at an address. The object has its own locks, so no
// other client may use the channel. It does not ring the bell, so the server needs [Server.Poll]. For address 0 the contents are zeros.
func LLVMClient(channel uintptr, l Layout) []byte {
	object := make([]byte, LLVMClientBytes)
	if channel == 0 {
		return object
	}
	boxes := uint64(channel) + controlBytes
	le := binary.LittleEndian
	le.PutUint32(object, uint32(l.Ports))
	le.PutUint64(object[8:], boxes)
	le.PutUint64(object[16:], boxes+4*uint64(l.Ports))
	le.PutUint64(object[24:], boxes+uint64(l.headers()))
	le.PutUint64(object[32:], boxes+uint64(l.packets()))
	return object
}
