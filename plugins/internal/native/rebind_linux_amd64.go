//go:build !nonative

package native

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"

	"github.com/orepl/orepl/plugins/internal/process"
)

// linkMap is the beginning of the loader's struct link_map.
type linkMap struct {
	base       uintptr
	name       *byte
	dynamic    *dynamic
	next, prev *linkMap
}

type dynamic struct{ tag, value uintptr }

type relocation struct {
	offset uintptr
	info   uint64
	addend int64
}

type symbol struct {
	name        uint32
	info, other byte
	section     uint16
	value, size uint64
}

// objects returns the loaded objects.
func objects() (list []*linkMap, err error) {
	main, err := purego.Dlopen("", purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	for m := (*linkMap)(pointer(main)); m != nil; m = m.next {
		list = append(list, m)
	}
	return list, nil
}

// rebind makes the objects loaded since before call the overrides of package process. An object that defines a function of such
// a name keeps its own.
func rebind(before []*linkMap) error {
	now, err := objects()
	if err != nil {
		return err
	}
	known := make(map[*linkMap]bool, len(before))
	for _, m := range before {
		known[m] = true
	}
	for _, m := range now {
		if !known[m] {
			if err := m.rebind(process.Overrides()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Kinds of relocations that hold a symbol's address.
const (
	relocAddress = 1 // R_X86_64_64
	relocGlobal  = 6 // R_X86_64_GLOB_DAT
	relocCall    = 7 // R_X86_64_JUMP_SLOT
)

func (m *linkMap) rebind(overrides map[string]uintptr) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil { // the loader reads these tables, too, but not all of them
			err = fmt.Errorf("its relocations cannot be read: %v", r)
		}
	}()
	var tags [32]uintptr
	for d := m.dynamic; d != nil && d.tag != 0; d = (*dynamic)(unsafe.Add(unsafe.Pointer(d), unsafe.Sizeof(*d))) {
		if d.tag < uintptr(len(tags)) {
			tags[d.tag] = d.value
		}
	}
	at := func(tag int) unsafe.Pointer {
		value := tags[tag]
		if value < m.base { // this loader leaves offsets
			value += m.base
		}
		return pointer(value)
	}
	const pltBytes, strings, symbols, rela, relaBytes, jmpRel = 2, 5, 6, 7, 8, 23
	if tags[strings] == 0 || tags[symbols] == 0 {
		return nil
	}
	var relocations []relocation
	for _, t := range [...]struct{ table, bytes int }{{rela, relaBytes}, {jmpRel, pltBytes}} {
		if n := tags[t.bytes] / unsafe.Sizeof(relocation{}); tags[t.table] != 0 && n > 0 {
			relocations = append(relocations, unsafe.Slice((*relocation)(at(t.table)), n)...)
		}
	}
	var changes []change
	for _, r := range relocations {
		switch kind := uint32(r.info); {
		case kind != relocGlobal && kind != relocCall && (kind != relocAddress || r.addend != 0):
			continue
		}
		s := (*symbol)(unsafe.Add(at(symbols), uintptr(r.info>>32)*unsafe.Sizeof(symbol{})))
		to, ok := overrides[text((*byte)(unsafe.Add(at(strings), s.name)))]
		if ok && process.Overridden(to) == *(*uintptr)(pointer(m.base + r.offset)) {
			changes = append(changes, change{m.base + r.offset, to})
		}
	}
	return write(changes)
}

// change is a new value for a word of memory.
type change struct{ at, value uintptr }

// write makes changes, also in memory that is write-protected.
func write(changes []change) error {
	if len(changes) == 0 {
		return nil
	}
	memory, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		return writeUnprotected(changes)
	}
	defer memory.Close()
	for i, c := range changes {
		b := (*[8]byte)(unsafe.Pointer(&c.value))[:]
		if _, err := memory.WriteAt(b, int64(c.at)); err != nil {
			return writeUnprotected(changes[i:])
		}
	}
	return nil
}

// writeUnprotected is write where /proc does not allow it. The pages remain writable.
func writeUnprotected(changes []change) error {
	page := uintptr(os.Getpagesize())
	for _, c := range changes {
		start := c.at &^ (page - 1)
		if err := unix.Mprotect(unsafe.Slice((*byte)(pointer(start)), page), unix.PROT_READ|unix.PROT_WRITE); err != nil {
			return err
		}
		*(*uintptr)(pointer(c.at)) = c.value
	}
	return nil
}

// text returns a C string. Longer ones than any override's name are cut.
func text(s *byte) string {
	const longest = 32
	var b strings.Builder
	for i := range longest {
		c := *(*byte)(unsafe.Add(unsafe.Pointer(s), i))
		if c == 0 {
			break
		}
		b.WriteByte(c)
	}
	return b.String()
}
