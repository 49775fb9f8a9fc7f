package isolate

import (
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/orepl/orepl/lang/diag"
)

// Memory is memory that a host shares with one child. Either may enlarge it, and neither can shrink it, so that no access of the
// host fails whatever the child does. The child may change its contents at any time.
type Memory struct {
	file *os.File

	mu     sync.Mutex
	mapped []byte
	old    [][]byte // earlier mappings, which may be in use
}

// NewMemory returns an empty memory.
func NewMemory() (*Memory, error) {
	fd, err := unix.MemfdCreate("orepl", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("no memory can be shared with another process: %w", err)
	}
	file := os.NewFile(uintptr(fd), "shared memory")
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("shared memory cannot be protected: %w", err)
	}
	return &Memory{file: file}, nil
}

// openMemory returns the memory behind an inherited file descriptor.
func openMemory(fd int) *Memory { return &Memory{file: os.NewFile(uintptr(fd), "shared memory")} }

// Bytes returns the first n bytes and enlarges the memory if it has fewer. They are valid until Settle or Close.
func (m *Memory) Bytes(n int) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n <= len(m.mapped) {
		return m.mapped[:n:n], nil
	}
	info, err := m.file.Stat()
	if err != nil {
		return nil, err
	}
	size := max(n+n/4, 1<<16) // a quarter is left, so that slightly larger data needs no other mapping
	if int64(size) > info.Size() {
		if err := m.file.Truncate(int64(size)); err != nil {
			return nil, diag.New("out-of-resources", "%d bytes of shared memory cannot be had: %v", n, err)
		}
	}
	mapped, err := unix.Mmap(int(m.file.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, diag.New("out-of-resources", "%d bytes of shared memory cannot be mapped: %v", n, err)
	}
	if m.mapped != nil {
		m.old = append(m.old, m.mapped)
	}
	m.mapped = mapped
	return mapped[:n:n], nil
}

// Size returns the size of the memory in bytes.
func (m *Memory) Size() (int, error) {
	info, err := m.file.Stat()
	if err != nil {
		return 0, err
	}
	return int(info.Size()), nil
}

// Settle unmaps earlier mappings. The results of earlier calls of Bytes must not be used any more.
func (m *Memory) Settle() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, mapped := range m.old {
		_ = unix.Munmap(mapped) // cannot fail for a whole mapping
	}
	m.old = nil
}

// Close unmaps the memory and closes its file. The results of Bytes must not be used any more.
func (m *Memory) Close() error {
	m.mu.Lock()
	if m.mapped != nil {
		m.old = append(m.old, m.mapped)
		m.mapped = nil
	}
	m.mu.Unlock()
	m.Settle()
	return m.file.Close()
}
