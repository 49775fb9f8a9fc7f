package native

import (
	"bytes"
	"encoding/binary"
)

// stub returns a shared object for x86-64 with this name and without exports. It replaces a library that an image needs but
// does not use, such as libomptarget in clang's host images.
func stub(soname string) []byte {
	const (
		headerBytes  = 64
		segmentBytes = 56
		dynamicAt    = headerBytes + 3*segmentBytes
		entries      = 6
		symbolsAt    = dynamicAt + 16*entries
		namesAt      = symbolsAt + 24
		page         = 0x1000
	)
	names := append([]byte{0}, append([]byte(soname), 0)...)
	size := uint64(namesAt + len(names))
	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			_ = binary.Write(&b, binary.LittleEndian, v) // writes to a buffer cannot fail
		}
	}
	b.WriteString("\x7fELF\x02\x01\x01")
	b.Write(make([]byte, 9))
	put(uint16(3), uint16(62), uint32(1)) // ET_DYN, EM_X86_64
	put(uint64(0), uint64(headerBytes), uint64(0), uint32(0))
	put(uint16(headerBytes), uint16(segmentBytes), uint16(3), uint16(64), uint16(0), uint16(0))
	segment := func(kind, flags uint32, at, size, align uint64) {
		put(kind, flags, at, at, at, size, size, align)
	}
	segment(1, 6, 0, size, page)               // PT_LOAD, writable: the loader relocates the dynamic section
	segment(2, 6, dynamicAt, 16*entries, 8)    // PT_DYNAMIC
	segment(0x6474e551, 6, 0, 0, 16)           // PT_GNU_STACK: not executable
	put(int64(14), uint64(1))                  // DT_SONAME
	put(int64(5), uint64(namesAt))             // DT_STRTAB
	put(int64(10), uint64(len(names)))         // DT_STRSZ
	put(int64(6), uint64(symbolsAt))           // DT_SYMTAB
	put(int64(11), uint64(24))                 // DT_SYMENT
	put(int64(0), uint64(0), make([]byte, 24)) // DT_NULL, and the null symbol
	b.Write(names)
	return b.Bytes()
}
