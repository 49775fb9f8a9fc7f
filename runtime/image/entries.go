package image

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/runtime/offload"
)

const (
	relaBytes   = 24
	symbolBytes = 24

	// A linked file has one table; an unlinked one has a few. The bound keeps the search linear.
	maxEntryTables = 256

	// OpenMP's flags.
	entryLink     = 0x1
	entryIndirect = 0x8
	entryRequires = 0x10 // the entry holds requirements

	entryTypes = 0x7 // CUDA's and HIP's type of a variable
)

// entryLayout is the layout of a table of offload entries: that of LLVM up to 19, or the versioned one.
type entryLayout struct {
	section                 string
	bytes                   uint64   // size of an entry
	name, size, flags, data int      // offsets of the fields
	producer                Producer // 0 if each entry states it
	versioned               bool
}

var entryLayouts = []entryLayout{
	{section: "llvm_offload_entries", bytes: 56, name: 24, size: 32, flags: 12, data: 40, versioned: true},
	{section: "omp_offloading_entries", bytes: 32, name: 8, size: 16, flags: 24, data: 28, producer: OpenMP},
	{section: "cuda_offloading_entries", bytes: 32, name: 8, size: 16, flags: 24, data: 28, producer: CUDA},
	{section: "hip_offloading_entries", bytes: 32, name: 8, size: 16, flags: 24, data: 28, producer: HIP},
}

// relocations are the relocation types in entry tables, by ELF machine: the 64-bit address of a symbol, and an offset from the load
// address.
var relocations = later.Value[map[uint16]struct{ absolute, relative uint32 }]{Make: func() map[uint16]struct{ absolute, relative uint32 } {
	return map[uint16]struct{ absolute, relative uint32 }{
		21:  {38, 22},
		62:  {1, 8},
		183: {257, 1027},
		243: {2, 3},
		258: {2, 3},
	}
}}

// entryTable is a section of offload entries.
type entryTable struct {
	*entryLayout
	index uint32
	section
	raw   []byte
	names []span // name of each entry
}

// span is a range of bytes of a file, or zero if unknown.
type span struct{ start, end uint64 }

// entries appends the entries of the file's tables to a library and adds its requirements.
func (o *object) entries(lib *offload.Library) error {
	tables, err := o.entryTables()
	if err != nil || len(tables) == 0 {
		return err
	}
	if _, ok := relocations.Get()[o.machine]; !ok {
		return fmt.Errorf("section %s: the relocations of ELF machine %d are unknown", tables[0].entryLayout.section, o.machine)
	}
	if o.kind == typeRelocatable {
		err = o.symbolicNames(tables)
	} else {
		err = o.linkedNames(tables)
	}
	if err != nil {
		return err
	}
	var list []offload.Entry
	requires := lib.Requires
	for _, t := range tables {
		for i := range t.names {
			e, ok, err := o.entry(t, i)
			switch {
			case err != nil:
				return fmt.Errorf("section %s, entry %d: %w", t.entryLayout.section, i, err)
			case ok:
				list = append(list, e)
			case e.Flags&entryRequires != 0:
				requires |= uint32(e.Data)
			}
		}
	}
	lib.Entries, lib.Requires = append(lib.Entries, list...), requires
	return nil
}

// entryTables returns the sections that hold entries.
func (o *object) entryTables() ([]*entryTable, error) {
	var tables []*entryTable
	for i := uint32(1); i < o.sections(); i++ {
		s, _ := o.section(i)
		if s.kind == sectionNoBits || s.size == 0 {
			continue
		}
		k := slices.IndexFunc(entryLayouts, func(l entryLayout) bool { return o.named(s, l.section) })
		if k < 0 {
			continue
		}
		t := &entryTable{entryLayout: &entryLayouts[k], index: i, section: s}
		if s.size%t.bytes != 0 {
			return nil, fmt.Errorf("section %s: %d bytes are no multiple of %d", t.entryLayout.section, s.size, t.bytes)
		}
		var err error
		if t.raw, err = o.contents(s); err != nil {
			return nil, fmt.Errorf("section %s: %w", t.entryLayout.section, err)
		}
		t.names = make([]span, s.size/t.bytes)
		if tables = append(tables, t); len(tables) > maxEntryTables {
			return nil, fmt.Errorf("more than %d tables of entries", maxEntryTables)
		}
	}
	return tables, nil
}

// nameSlot returns the index of the entry whose name pointer is at an offset of the table, in bytes. It returns false if no
// such pointer is there.
func (t *entryTable) nameSlot(offset uint64) (int, bool) {
	if offset >= t.section.size || offset%t.bytes != uint64(t.entryLayout.name) {
		return 0, false
	}
	return int(offset / t.bytes), true
}

// symbolicNames resolves names in a relocatable object, by relocations against symbols of other sections.
func (o *object) symbolicNames(tables []*entryTable) error {
	absolute := relocations.Get()[o.machine].absolute
	for i := uint32(1); i < o.sections(); i++ {
		s, _ := o.section(i)
		k := slices.IndexFunc(tables, func(t *entryTable) bool { return t.index == s.info })
		if s.kind != sectionRela || k < 0 {
			continue
		}
		symbols, err := o.symbols(s.link)
		if err != nil {
			return err
		}
		err = o.relas(s, func(offset uint64, kind, symbol uint32, addend uint64) error {
			n, ok := tables[k].nameSlot(offset)
			if !ok || kind != absolute {
				return nil
			}
			tables[k].names[n], err = symbols.place(symbol, addend)
			return err
		})
		if err != nil {
			return fmt.Errorf("the relocations of section %s: %w", tables[k].entryLayout.section, err)
		}
	}
	return nil
}

// linkedNames resolves names in a linked file, by relative relocations or by the addresses in the table.
func (o *object) linkedNames(tables []*entryTable) error {
	for _, t := range tables {
		for n := range t.names {
			at := t.raw[uint64(n)*t.bytes+uint64(t.entryLayout.name):]
			t.names[n] = o.loaded(binary.LittleEndian.Uint64(at))
		}
	}
	return o.relatives(func(addr, addend uint64) {
		for _, t := range tables {
			if n, ok := t.nameSlot(addr - t.section.addr); ok {
				t.names[n] = o.loaded(addend)
			}
		}
	})
}

// relatives calls f for each relative relocation of a linked file, with the address that it changes and the addend.
func (o *object) relatives(f func(addr, addend uint64)) error {
	relative := relocations.Get()[o.machine].relative
	for i := uint32(1); i < o.sections(); i++ {
		s, _ := o.section(i)
		if s.kind != sectionRela || s.flags&flagAllocated == 0 {
			continue
		}
		err := o.relas(s, func(addr uint64, kind, _ uint32, addend uint64) error {
			if kind == relative {
				f(addr, addend)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("the relocations: %w", err)
		}
	}
	return nil
}

// relas calls f for each relocation of a section, and reads the section in chunks.
func (o *object) relas(s section, f func(offset uint64, kind, symbol uint32, addend uint64) error) error {
	le := binary.LittleEndian
	const most = chunk / relaBytes * relaBytes
	for at := uint64(0); at < s.size; at += most {
		data, err := o.in.slice(s.offset+at, min(most, s.size-at))
		if err != nil {
			return err
		}
		for ; len(data) >= relaBytes; data = data[relaBytes:] {
			info := le.Uint64(data[8:])
			if err := f(le.Uint64(data), uint32(info), uint32(info>>32), le.Uint64(data[16:])); err != nil {
				return err
			}
		}
	}
	return nil
}

// loaded returns the range of bytes from an address to the end of the segment that is loaded there, or zero if none is.
func (o *object) loaded(addr uint64) span {
	le := binary.LittleEndian
	for h := o.segments; len(h) >= segmentBytes; h = h[segmentBytes:] {
		const load = 1
		offset, start, size := le.Uint64(h[8:]), le.Uint64(h[16:]), le.Uint64(h[32:])
		if le.Uint32(h) != load || addr < start || addr-start >= size || o.in.within(offset, size) != nil {
			continue
		}
		return span{offset + (addr - start), offset + size}
	}
	return span{}
}

// symbols is a symbol table of a relocatable object.
type symbols struct {
	*object
	table   section
	indexes section // section numbers beyond 16 bits
}

// symbols returns the symbol table of section index.
func (o *object) symbols(index uint32) (*symbols, error) {
	t, ok := o.section(index)
	if !ok || t.kind != sectionSymbols {
		return nil, fmt.Errorf("section %d is no symbol table", index)
	}
	if err := o.in.within(t.offset, t.size); err != nil {
		return nil, fmt.Errorf("the symbol table: %w", err)
	}
	s := &symbols{object: o, table: t}
	for i := uint32(1); i < o.sections(); i++ {
		if x, _ := o.section(i); x.kind == sectionIndexes && x.link == index && o.in.within(x.offset, x.size) == nil {
			s.indexes = x
		}
	}
	return s, nil
}

// place returns the range of bytes from a symbol plus an addend to the end of the symbol's section.
func (s *symbols) place(symbol uint32, addend uint64) (span, error) {
	le := binary.LittleEndian
	n := uint64(symbol)
	if n >= s.table.size/symbolBytes {
		return span{}, fmt.Errorf("symbol %d is beyond the table", symbol)
	}
	raw, err := s.in.load(s.table.offset+n*symbolBytes, symbolBytes)
	if err != nil {
		return span{}, err
	}
	index, value := uint32(le.Uint16(raw[6:])), le.Uint64(raw[8:])
	switch {
	case index == indexElsewhere:
		if n >= s.indexes.size/4 {
			return span{}, fmt.Errorf("symbol %d has no section number", symbol)
		}
		if raw, err = s.in.load(s.indexes.offset+n*4, 4); err != nil {
			return span{}, err
		}
		index = le.Uint32(raw)
	case index == 0 || index >= firstReserved:
		return span{}, fmt.Errorf("symbol %d is not defined in a section", symbol)
	}
	t, ok := s.section(index)
	if offset := value + addend; ok && t.kind != sectionNoBits && offset < t.size && s.in.within(t.offset, t.size) == nil {
		return span{t.offset + offset, t.offset + t.size}, nil
	}
	return span{}, fmt.Errorf("symbol %d is beyond section %d", symbol, index)
}

// entry decodes entry i of a table. ok is false for padding, and for requirements, of which e has only the flags and the data.
func (o *object) entry(t *entryTable, i int) (e offload.Entry, ok bool, err error) {
	le := binary.LittleEndian
	raw := t.raw[uint64(i)*t.bytes:][:t.bytes]
	l := t.entryLayout
	producer := l.producer
	e = offload.Entry{Flags: le.Uint32(raw[l.flags:])}
	if l.versioned {
		if version := le.Uint16(raw[8:]); le.Uint64(raw) != 0 || version != 1 {
			if version == 0 && allZero(raw) && t.names[i] == (span{}) {
				return e, false, nil
			}
			return e, false, fmt.Errorf("version %d is unknown", version)
		}
		producer = Producer(le.Uint16(raw[10:]))
		e.Data = le.Uint64(raw[l.data:])
	} else {
		e.Data = uint64(le.Uint32(raw[l.data:]))
	}
	if producer == OpenMP && e.Flags&entryRequires != 0 {
		return e, false, nil
	}
	if t.names[i] == (span{}) {
		if allZero(raw) {
			return e, false, nil
		}
		return e, false, fmt.Errorf("its name is not in the file")
	}
	if e.Name, err = o.in.text(t.names[i].start, t.names[i].end); err != nil {
		return e, false, fmt.Errorf("its name: %w", err)
	}
	size := le.Uint64(raw[l.size:])
	if e.Size = int64(size); e.Size < 0 {
		return e, false, fmt.Errorf("%s has %d bytes", e.Name, size)
	}
	if e.Size > 0 || producer != OpenMP && e.Flags&entryTypes != 0 {
		e.Kind = offload.EntryVariable
	}
	if producer == OpenMP {
		switch {
		case e.Flags&entryIndirect != 0:
			e.Kind = offload.EntryIndirect
		case e.Flags&entryLink != 0:
			e.Kind = offload.EntryLink
		}
	}
	return e, true, nil
}

func allZero(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c != 0 })
}
