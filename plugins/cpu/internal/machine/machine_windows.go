package machine

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// memoryStatus is the Windows struct MEMORYSTATUSEX.
type memoryStatus struct {
	length        uint32
	load          uint32
	totalPhysical uint64
	_             [6]uint64
}

// Read returns the model and the memory of this machine. The other fields stay zero.
func Read() Info {
	info := Info{Model: os.Getenv("PROCESSOR_IDENTIFIER")}
	status := memoryStatus{}
	status.length = uint32(unsafe.Sizeof(status))
	query := windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")
	if ok, _, _ := query.Call(uintptr(unsafe.Pointer(&status))); ok != 0 {
		info.MemoryBytes = int64(status.totalPhysical)
	}
	return info
}
