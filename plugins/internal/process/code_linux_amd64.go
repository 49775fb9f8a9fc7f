//go:build !nonative

package process

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Code is machine code in its own executable, read-only memory.
type Code struct {
	mapping []byte // nil when freed
}

// NewCode copies code to the start of a page. The memory is never writable and executable at the same time. Where the system
// does not let memory become executable (systemd's MemoryDenyWriteExecute), an anonymous file holds the code.
func NewCode(code []byte) (*Code, error) {
	if len(code) == 0 {
		return nil, errors.New("executable memory: no code")
	}
	c, err := newAnonymousCode(code)
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		var ferr error
		if c, ferr = newFileCode(code); ferr == nil {
			return c, nil
		}
	}
	return c, err
}

// newFileCode maps code from an anonymous file.
func newFileCode(code []byte) (*Code, error) {
	file, err := unix.MemfdCreate("orepl-code", unix.MFD_CLOEXEC|unix.MFD_EXEC)
	if errors.Is(err, unix.EINVAL) {
		file, err = unix.MemfdCreate("orepl-code", unix.MFD_CLOEXEC) // a kernel before 6.3
	}
	if err != nil {
		return nil, err
	}
	defer unix.Close(file)
	for rest := code; len(rest) > 0; {
		n, err := unix.Write(file, rest)
		if err != nil {
			return nil, err
		}
		rest = rest[n:]
	}
	m, err := unix.Mmap(file, 0, len(code), unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	return &Code{m}, nil
}

func newAnonymousCode(code []byte) (*Code, error) {
	m, err := unix.Mmap(-1, 0, len(code), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("executable memory: mapping %d bytes: %w", len(code), err)
	}
	copy(m, code)
	if err := unix.Mprotect(m, unix.PROT_READ|unix.PROT_EXEC); err != nil {
		err = fmt.Errorf("executable memory: making %d bytes executable: %w", len(code), err)
		return nil, errors.Join(err, unix.Munmap(m))
	}
	return &Code{m}, nil
}

// Entry returns the address of the code at this offset; 0 if the offset is outside or the code was freed.
func (c *Code) Entry(offset int) uintptr {
	if offset < 0 || offset >= len(c.mapping) {
		return 0
	}
	return uintptr(unsafe.Pointer(&c.mapping[offset]))
}

// Offset returns the offset of an address in the code, and whether it is in the code.
func (c *Code) Offset(address uintptr) (offset int, ok bool) {
	start := c.Entry(0)
	if start == 0 || address < start || address-start >= uintptr(len(c.mapping)) {
		return 0, false
	}
	return int(address - start), true
}

// Free unmaps the memory. The code must not run during or after it. A second Free does nothing.
func (c *Code) Free() error {
	m := c.mapping
	if m == nil {
		return nil
	}
	c.mapping = nil
	if err := unix.Munmap(m); err != nil {
		return fmt.Errorf("executable memory: freeing %d bytes: %w", len(m), err)
	}
	return nil
}
