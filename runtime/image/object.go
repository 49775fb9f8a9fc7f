package image

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/orepl/orepl/runtime/image/bundler"
)

const (
	sectionBytes = 64
	segmentBytes = 56

	typeRelocatable = 1
	typeExecutable  = 2

	sectionProgramBits = 1
	sectionSymbols     = 2
	sectionRela        = 4
	sectionNoBits      = 8
	sectionIndexes     = 18         // section numbers of symbols beyond 16 bits
	sectionOffloading  = 0x6fff4c0b // SHT_LLVM_OFFLOADING

	flagAllocated = 2

	firstReserved  = 0xff00 // the first reserved section number
	indexElsewhere = 0xffff
)

// object is a 64-bit little-endian ELF file of a host. debug/elf is not meant for hostile input, so this package parses the few
// tables that it uses.
type object struct {
	in            *input
	kind, machine uint16
	heads         []byte // the section headers
	names         []byte // the section names
	segments      []byte // the program headers

	headsAt, segmentsAt uint64
}

// section is a header of an ELF section.
type section struct {
	name, kind   uint32
	flags, addr  uint64
	offset, size uint64
	link, info   uint32
	align, entry uint64
}

// hostObject reports whether an ELF header is of a file that [openObject] reads: 64 bits, little-endian, and not device code.
func hostObject(head []byte) bool {
	if len(head) < 20 || head[4] != 2 || head[5] != 1 {
		return false
	}
	machine := binary.LittleEndian.Uint16(head[18:])
	return machine != machineCUDA && machine != machineAMDGPU
}

// openObject reads the section and program headers.
func openObject(in *input) (*object, error) {
	le := binary.LittleEndian
	head, err := in.slice(0, 64)
	if err != nil {
		return nil, fmt.Errorf("an ELF file of %d bytes is truncated", in.size)
	}
	o := &object{in: in, kind: le.Uint16(head[16:]), machine: le.Uint16(head[18:])}
	if n := uint64(le.Uint16(head[56:])); n > 0 && le.Uint16(head[54:]) == segmentBytes {
		o.segmentsAt = le.Uint64(head[32:])
		if o.segments, err = in.slice(o.segmentsAt, n*segmentBytes); err != nil {
			return nil, fmt.Errorf("the ELF program headers: %w", err)
		}
	}
	offset := le.Uint64(head[40:])
	if offset == 0 {
		return o, nil
	}
	if n := le.Uint16(head[58:]); n != sectionBytes {
		return nil, fmt.Errorf("ELF section headers of %d bytes, want %d", n, sectionBytes)
	}
	// The first section header holds numbers beyond 16 bits.
	count, names := uint64(le.Uint16(head[60:])), uint32(le.Uint16(head[62:]))
	if count == 0 || names == indexElsewhere {
		first, err := in.slice(offset, sectionBytes)
		if err != nil {
			return nil, fmt.Errorf("the ELF section headers: %w", err)
		}
		if count == 0 {
			count = le.Uint64(first[32:])
		}
		if names == indexElsewhere {
			names = le.Uint32(first[40:])
		}
	}
	if count > in.size/sectionBytes {
		return nil, fmt.Errorf("%d ELF section headers in %d bytes", count, in.size)
	}
	o.headsAt = offset
	if o.heads, err = in.slice(offset, count*sectionBytes); err != nil {
		return nil, fmt.Errorf("the ELF section headers: %w", err)
	}
	if s, ok := o.section(names); ok && names != 0 {
		if o.names, err = o.contents(s); err != nil {
			return nil, fmt.Errorf("the ELF section names: %w", err)
		}
	}
	return o, nil
}

func (o *object) sections() uint32 { return uint32(len(o.heads) / sectionBytes) }

// section returns the header of section i, if it exists.
func (o *object) section(i uint32) (section, bool) {
	if i >= o.sections() {
		return section{}, false
	}
	le, h := binary.LittleEndian, o.heads[uint64(i)*sectionBytes:]
	return section{
		name: le.Uint32(h), kind: le.Uint32(h[4:]), flags: le.Uint64(h[8:]), addr: le.Uint64(h[16:]),
		offset: le.Uint64(h[24:]), size: le.Uint64(h[32:]), link: le.Uint32(h[40:]), info: le.Uint32(h[44:]), align: le.Uint64(h[48:]), entry: le.Uint64(h[56:]),
	}, true
}

// named reports whether the name of section s is name.
func (o *object) named(s section, name string) bool {
	if uint64(s.name) >= uint64(len(o.names)) {
		return false
	}
	rest := o.names[s.name:]
	return len(rest) > len(name) && rest[len(name)] == 0 && bytes.HasPrefix(rest, []byte(name))
}

// contents returns a section's bytes.
func (o *object) contents(s section) ([]byte, error) {
	if s.kind == sectionNoBits {
		return nil, errors.New("the section has no bytes in the file")
	}
	return o.in.slice(s.offset, s.size)
}

// containerSection is a section, or a part of one, that holds offload containers.
type containerSection struct {
	section
	index    uint32
	from     int    // offset of the containers in the section
	data     []byte // the containers
	embedded bool   // the containers are a variable of the program
}

// containers returns the sections with offload containers, including sections of zeros. If there are none, it returns the containers
// that a Go program embeds.
func (o *object) containers() ([]containerSection, error) {
	var list []containerSection
	for i := uint32(1); i < o.sections(); i++ {
		s, _ := o.section(i)
		if s.kind == sectionNoBits || s.size == 0 || s.kind != sectionOffloading && !o.named(s, ".llvm.offloading") {
			continue
		}
		data, err := o.contents(s)
		if err != nil {
			return nil, fmt.Errorf("section %d, .llvm.offloading: %w", i, err)
		}
		list = append(list, containerSection{section: s, index: i, data: data})
	}
	if len(list) == 0 {
		return o.goContainers()
	}
	return list, nil
}

// hadImages reports whether an object is left without the images that it had: a section for them remains, without bytes. A
// bundled object has a section for the host, and sections without a name for the others.
func (o *object) hadImages() bool {
	const flagExcluded = 0x80000000 // a linker leaves the section out
	for i := uint32(1); i < o.sections(); i++ {
		s, _ := o.section(i)
		name := o.nameOf(s)
		if _, bundled := bundler.IDOfSection(name); bundled {
			return true
		}
		if s.size == 0 && s.flags&flagExcluded != 0 && (name == ".llvm.offloading" || name == "") {
			return true
		}
	}
	return false
}

// isProgram reports whether an ELF file of a host is a position-independent program, which no loader accepts as a shared
// object.
func isProgram(in *input) bool {
	o, err := openObject(in)
	if err != nil {
		return false
	}
	le := binary.LittleEndian
	for h := o.segments; len(h) >= segmentBytes; h = h[segmentBytes:] {
		const dynamic, flags1, pie, most = 2, 0x6ffffffb, 0x08000000, 64 << 10
		if le.Uint32(h) != dynamic {
			continue
		}
		offset, size := le.Uint64(h[8:]), min(le.Uint64(h[32:]), most)
		data, err := in.slice(offset, size)
		if err != nil {
			return false
		}
		for ; len(data) >= 16; data = data[16:] {
			if le.Uint64(data) == flags1 {
				return le.Uint64(data[8:])&pie != 0
			}
		}
	}
	return false
}
