package bell

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The layout of the shared memory: the token, and the word on a cache line of its own.
const (
	size   = 4096
	wordAt = 64
)

// name is the name of the shared memory, which the system shows as that of an open file.
const name = "orepl-bell"

// share makes a word that other processes can map, and keeps its file open.
func share(token [16]byte) (*atomic.Uint32, Address, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, Address{}, err
	}
	if err = unix.Ftruncate(fd, size); err == nil {
		var data []byte
		if data, err = mapped(fd); err == nil {
			copy(data, token[:])
			return wordOf(data), Address{int32(os.Getpid()), int32(fd), token}, nil
		}
	}
	_ = unix.Close(fd)
	return nil, Address{}, err
}

// find maps the word of another process, which must have the token.
func find(a Address) (*atomic.Uint32, error) {
	path := fmt.Sprintf("/proc/%d/fd/%d", a.PID, a.File)
	// The number may be that of another process, as seen in a container.
	if target, err := os.Readlink(path); err != nil || !strings.HasPrefix(target, "/memfd:"+name+" ") {
		return nil, errors.Join(err, errors.New("it is another file"))
	}
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	data, err := mapped(fd)
	if err != nil {
		return nil, err
	}
	if [16]byte(data) != a.Token {
		_ = unix.Munmap(data)
		return nil, errors.New("it is another file")
	}
	return wordOf(data), nil
}

func mapped(fd int) ([]byte, error) {
	return unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

func wordOf(data []byte) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(&data[wordAt])) }

// Operations of the system call futex, on memory that processes share.
const (
	futexWait = 0
	futexWake = 1
)

func wake(word *atomic.Uint32) {
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, math.MaxInt32, 0, 0, 0)
}

func wait(word *atomic.Uint32, state uint32, d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(state), uintptr(unsafe.Pointer(&t)), 0, 0)
}
