//go:build !nonative

package process

import (
	"bytes"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
	"unsafe"
)

// numArguments is the number of arguments that the system passed to this process.
var numArguments = len(os.Args)

// noArguments stands in for the arguments if the stack of the process's start cannot be found. Its words end the arguments, the
// environment and the auxiliary vector.
var noArguments [4]uintptr

// Arguments returns argc and argv as the system passed them to this process: the environment and the auxiliary vector follow. If
// they cannot be found, all of these are empty.
var Arguments = sync.OnceValues(func() (argc int, argv uintptr) {
	stack := startOfStack()
	if n := *(*int)(stack); n == numArguments {
		return n, uintptr(stack) + unsafe.Sizeof(n)
	}
	return 0, uintptr(unsafe.Pointer(&noArguments))
})

// startOfStack returns the address of the initial stack, which begins with argc. If the stack cannot be found, the result
// points to −1.
func startOfStack() (stack unsafe.Pointer) {
	none := new(int)
	*none = -1
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return unsafe.Pointer(none)
	}
	const startStack = 28 - 3 // fields are numbered from 1; the third one follows the name
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= startStack {
		return unsafe.Pointer(none)
	}
	at, err := strconv.ParseUint(string(fields[startStack]), 10, 64)
	if err != nil || at == 0 || at%8 != 0 {
		return unsafe.Pointer(none)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			stack = unsafe.Pointer(none)
		}
	}()
	address := uintptr(at)
	stack = *(*unsafe.Pointer)(unsafe.Pointer(&address))
	_ = *(*int)(stack)
	return stack
}
