package image_test

import (
	"testing"

	"github.com/orepl/orepl/runtime/image"
)

// section is a section of an ELF file that a test builds.
type section struct {
	name, kind, link, info uint32
	flags, addr            uint64
	data                   []byte
}

// elfFile returns an ELF file of sections behind each other. The last section has the names. One segment loads all of it.
func elfFile(kind, machine uint16, sections []section) []byte {
	out := make([]byte, 64+56)
	offsets := make([]int, len(sections))
	for i, s := range sections {
		offsets[i] = len(out)
		out = append(out, s.data...)
		out = append(out, make([]byte, -len(out)&7)...)
	}
	heads := len(out)
	out = append(out, make([]byte, 64)...) // section 0
	for i, s := range sections {
		h := make([]byte, 64)
		le.PutUint32(h, s.name)
		le.PutUint32(h[4:], s.kind)
		le.PutUint64(h[8:], s.flags)
		le.PutUint64(h[16:], s.addr)
		le.PutUint64(h[24:], uint64(offsets[i]))
		le.PutUint64(h[32:], uint64(len(s.data)))
		le.PutUint32(h[40:], s.link)
		le.PutUint32(h[44:], s.info)
		out = append(out, h...)
	}
	copy(out, "\x7fELF\x02\x01\x01")
	le.PutUint16(out[16:], kind)
	le.PutUint16(out[18:], machine)
	le.PutUint64(out[32:], 64)
	le.PutUint64(out[40:], uint64(heads))
	le.PutUint16(out[54:], 56)
	le.PutUint16(out[56:], 1)
	le.PutUint16(out[58:], 64)
	le.PutUint16(out[60:], uint16(len(sections)+1))
	le.PutUint16(out[62:], uint16(len(sections)))
	segment := out[64:]
	le.PutUint32(segment, 1)
	le.PutUint64(segment[32:], uint64(len(out)))
	le.PutUint64(segment[40:], uint64(len(out)))
	return out
}

// entriesFile returns an object or a linked file with a table of entries, its relocations, its symbols and its strings.
func entriesFile(linked bool, machine uint16, tableName string, table, relocations, symbols, texts []byte) []byte {
	names := "\x00" + tableName + "\x00"
	list := []section{
		{name: 1, kind: 1, flags: 3, data: table},
		{kind: 1, flags: 2, data: texts},
		{kind: 2, link: 2, data: symbols},
		{kind: 4, link: 3, info: 1, data: relocations},
		{kind: 3, data: []byte(names)},
	}
	kind := uint16(1)
	if linked { // the file is its own memory: addresses are offsets
		kind = 3
		list[0].addr = 64 + 56
		list[1].addr = list[0].addr + uint64((len(table)+7)&^7)
		list[3].flags = 2
	}
	return elfFile(kind, machine, list)
}

// relocation returns an entry of a relocation section.
func relocation(offset uint64, kind, symbol uint32, addend uint64) []byte {
	b := le.AppendUint64(nil, offset)
	b = le.AppendUint64(b, uint64(symbol)<<32|uint64(kind))
	return le.AppendUint64(b, addend)
}

func TestEntriesOfBuiltFiles(t *testing.T) {
	texts := []byte("first\x00second\x00")
	symbols := make([]byte, 48)
	le.PutUint16(symbols[24+6:], 2) // symbol 1 is the start of section 2
	old := make([]byte, 64)
	le.PutUint64(old[32+16:], 4) // the second entry is a variable
	relocations := append(relocation(8, 1, 1, 0), relocation(40, 1, 1, 6)...)
	lib, err := image.Read("f", entriesFile(false, 62, "omp_offloading_entries", old, relocations, symbols, texts))
	if err != nil || len(lib.Entries) != 2 || lib.Entries[0].Name != "first" || lib.Entries[1].Name != "second" || lib.Entries[1].Size != 4 {
		t.Errorf("an object: %+v, %v", lib.Entries, err)
	}
	base := uint64(64 + 56)
	relocations = append(relocation(base+8, 8, 0, base+64), relocation(base+40, 8, 0, base+64+6)...)
	lib, err = image.Read("f", entriesFile(true, 62, "omp_offloading_entries", old, relocations, symbols, texts))
	if err != nil || len(lib.Entries) != 2 || lib.Entries[0].Name != "first" || lib.Entries[1].Name != "second" {
		t.Errorf("a linked file: %+v, %v", lib.Entries, err)
	}
}

// FuzzEntries reads tables of entries of both layouts, in objects and linked files of several machines, with any relocations,
// symbols and strings.
func FuzzEntries(f *testing.F) {
	texts := []byte("first\x00second\x00")
	symbols := make([]byte, 48)
	le.PutUint16(symbols[24+6:], 2)
	relocations := append(relocation(8, 1, 1, 0), relocation(40, 1, 1, 6)...)
	f.Add(uint8(0), make([]byte, 64), relocations, symbols, texts)
	f.Add(uint8(1), make([]byte, 64), relocation(128, 8, 0, 184), symbols, texts)
	versioned := make([]byte, 56)
	versioned[8], versioned[10] = 1, 1
	f.Add(uint8(8), versioned, relocation(24, 1, 1, 0), symbols, texts)
	f.Add(uint8(9), versioned, relocation(144, 8, 0, 176), symbols, texts)
	tables := []string{"omp_offloading_entries", "cuda_offloading_entries", "hip_offloading_entries", "llvm_offload_entries"}
	machines := []uint16{62, 183, 243, 258, 21}
	f.Fuzz(func(t *testing.T, shape uint8, table, relocations, symbols, texts []byte) {
		name := tables[3]
		if shape>>3&1 == 0 {
			name = tables[shape>>1&3]
		}
		data := entriesFile(shape&1 == 1, machines[int(shape>>4)%len(machines)], name, table, relocations, symbols, texts)
		bounded(t, data, func() { checkRead(t, data) })
	})
}
