package image

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/orepl/orepl/runtime/image/bundler"
	"github.com/orepl/orepl/runtime/offload"
)

// depositKind is a form in which a host's ELF file holds device code outside of LLVM's containers.
type depositKind uint8

const (
	depositBundles   depositKind = iota // HIP's section of concatenated bundles
	depositSection                      // a section of a bundled object, which is one entry
	depositFatbins                      // CUDA's sections of concatenated fat binaries
	depositDescribed                    // an image that clang up to 14 describes by a __tgt_bin_desc
)

// deposit is device code in a host's ELF file.
type deposit struct {
	section
	kind  depositKind
	index uint32 // number of the section; 0 for depositDescribed
	id    string // identifier of a bundled object's section
	data  []byte
	at    uint64 // offset of the data in the file
}

// deposits returns the device code of an ELF file that is not in LLVM's containers.
func (o *object) deposits() ([]deposit, error) {
	var list []deposit
	for i := uint32(1); i < o.sections(); i++ {
		s, _ := o.section(i)
		if s.kind == sectionNoBits {
			continue
		}
		name := o.nameOf(s)
		d := deposit{section: s, index: i, at: s.offset}
		switch {
		case name == ".hip_fatbin":
			d.kind = depositBundles
		case name == ".nv_fatbin" || name == "__nv_relfatbin":
			d.kind = depositFatbins
		default:
			id, ok := bundler.IDOfSection(name)
			if !ok || bundler.ParseID(id).Kind == "host" {
				continue
			}
			d.kind, d.id = depositSection, id
		}
		var err error
		if d.data, err = o.contents(s); err != nil {
			return nil, fmt.Errorf("section %d, %s: %w", i, name, err)
		}
		if list = append(list, d); len(list) > maxEntryCount {
			return nil, fmt.Errorf("more than %d sections with device code", maxEntryCount)
		}
	}
	described, err := o.described()
	return append(list, described...), err
}

// nameOf returns the name of a section, or "" if it has none that is shorter than maxMemberName.
func (o *object) nameOf(s section) string {
	if uint64(s.name) >= uint64(len(o.names)) {
		return ""
	}
	rest := o.names[s.name:min(uint64(len(o.names)), uint64(s.name)+maxMemberName)]
	end := bytes.IndexByte(rest, 0)
	if end < 0 {
		return ""
	}
	return string(rest[:end])
}

// appendDeposit appends the images of a deposit. number counts the images of the file.
func (o *object) appendDeposit(lib *offload.Library, label string, d *deposit, number *int) error {
	switch d.kind {
	case depositBundles:
		return appendBundles(lib, label, d.data, o.in.left, number)
	case depositFatbins:
		list, err := readFatbins(d.data)
		if err != nil {
			return err
		}
		for _, f := range list {
			entries, err := fatbinEntries(f.body(d.data), o.in.left)
			if err != nil {
				return err
			}
			for _, e := range entries {
				lib.Images = append(lib.Images, e.image(fmt.Sprintf("%s[%d]", label, *number), o.in.left))
				*number++
			}
		}
	default:
		if d.dropped() {
			return nil
		}
		if o.in.left.images--; o.in.left.images < 0 {
			return fmt.Errorf("more than %d images", maxEntryCount)
		}
		lib.Images = append(lib.Images, d.image(fmt.Sprintf("%s[%d]", label, *number)))
		*number++
	}
	return nil
}

// dropped reports whether a deposit of one image has lost it.
func (d *deposit) dropped() bool { return allZero(d.data) }

// image returns the image of a deposit that holds one.
func (d *deposit) image(label string) *offload.Image {
	if d.kind == depositSection {
		return bundledImage(label, &bundler.Entry{ID: d.id, Data: d.data})
	}
	entry := BundleEntry{Producer: OpenMP, Data: d.data, Strings: map[string]string{}}
	img := entry.image(label)
	img.Target = FullTriple(machine(img.Target))
	return img
}

// fatbin is the range of a fat binary in a section.
type fatbin struct{ start, bodyAt, end int }

func (f fatbin) body(data []byte) []byte { return data[f.bodyAt:f.end] }

// readFatbins returns the ranges of concatenated fat binaries, between which zeros are skipped.
func readFatbins(data []byte) ([]fatbin, error) {
	var list []fatbin
	for start := 0; start < len(data); {
		if data[start] == 0 {
			start++
			continue
		}
		if !bytes.HasPrefix(data[start:], magicFatbin) {
			return nil, fmt.Errorf("fat binary at byte %d: the first bytes % x are of no fat binary", start, data[start:min(len(data), start+4)])
		}
		body, size, err := fatbinBody(data[start:])
		if err != nil {
			return nil, fmt.Errorf("fat binary at byte %d: %w", start, err)
		}
		end := start + int(size)
		list = append(list, fatbin{start, end - len(body), end})
		start = end
	}
	return list, nil
}

// words is a section of pointers with relocations applied.
type words struct {
	addr uint64
	data []byte
}

// described returns the images that clang up to 14 links into a program. The images are variables without a section of their
// own; a descriptor {count, images, entries, end of the entries} has the addresses.
func (o *object) described() ([]deposit, error) {
	if o.kind == typeRelocatable {
		return nil, nil
	}
	var table section
	for i := uint32(1); i < o.sections() && table.size == 0; i++ {
		if s, _ := o.section(i); o.named(s, "omp_offloading_entries") && s.addr != 0 {
			table = s
		}
	}
	if table.size == 0 {
		return nil, nil
	}
	pointers, err := o.pointers()
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	begin, end := table.addr, table.addr+table.size
	var list []deposit
	for _, p := range pointers {
		for at := 0; at+32 <= len(p.data); at += 8 {
			desc := p.data[at:]
			count := le.Uint64(desc)
			if le.Uint64(desc[16:]) != begin || le.Uint64(desc[24:]) != end || count == 0 || count > maxEntryCount {
				continue
			}
			images := wordsAt(pointers, le.Uint64(desc[8:]), count*32)
			for ; len(images) >= 32; images = images[32:] {
				from, to := le.Uint64(images), le.Uint64(images[8:])
				where := o.loaded(from)
				if to <= from || le.Uint64(images[16:]) != begin || where == (span{}) || to-from > where.end-where.start ||
					slices.ContainsFunc(pointers, func(p words) bool { return from < p.addr+uint64(len(p.data)) && p.addr < to }) {
					continue // no image: images are constants, so no writable section holds them
				}
				data, err := o.in.slice(where.start, to-from)
				if err != nil {
					return nil, err
				}
				if list = append(list, deposit{kind: depositDescribed, data: data, at: where.start}); len(list) > maxEntryCount {
					return nil, fmt.Errorf("more than %d images", maxEntryCount)
				}
			}
		}
	}
	return list, nil
}

// wordsAt returns n bytes at an address, or nil if the pointers do not hold them all.
func wordsAt(pointers []words, addr, n uint64) []byte {
	for _, p := range pointers {
		if addr >= p.addr && addr-p.addr <= uint64(len(p.data)) && n <= uint64(len(p.data))-(addr-p.addr) {
			return p.data[addr-p.addr:][:n]
		}
	}
	return nil
}

// pointers returns the writable sections of a linked file, in which relocations put addresses.
func (o *object) pointers() ([]words, error) {
	const flagWritable = 1
	var list []words
	for i := uint32(1); i < o.sections(); i++ {
		s, _ := o.section(i)
		if s.kind != sectionProgramBits || s.flags&(flagAllocated|flagWritable) != flagAllocated|flagWritable || s.addr%8 != 0 {
			continue
		}
		data, err := o.contents(s)
		if err != nil {
			return nil, fmt.Errorf("section %d: %w", i, err)
		}
		if list = append(list, words{s.addr, bytes.Clone(data)}); len(list) > maxEntryTables {
			return nil, fmt.Errorf("more than %d writable sections", maxEntryTables)
		}
	}
	err := o.relatives(func(addr, addend uint64) {
		if word := wordsAt(list, addr, 8); word != nil {
			binary.LittleEndian.PutUint64(word, addend)
		}
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// errGCC returns the error for a file with target regions that GCC compiled, or nil.
func (o *object) errGCC(label string) error {
	const hint = "build it by clang -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu, whose images are read, or run the program itself"
	for i := uint32(1); i < o.sections(); i++ {
		s, _ := o.section(i)
		if bytes.HasPrefix([]byte(o.nameOf(s)), []byte(".gnu.offload_lto_")) {
			return unsupported(label, "this object has target regions of GCC, as GCC's intermediate code, which is not read").WithHint(hint)
		}
	}
	if o.kind == typeRelocatable {
		return nil
	}
	for i := uint32(1); i < o.sections(); i++ {
		s, _ := o.section(i)
		const dynamicStrings = 3
		if s.kind != dynamicStrings || s.flags&flagAllocated == 0 {
			continue
		}
		names, err := o.contents(s)
		if err == nil && bytes.Contains(names, []byte("\x00GOMP_offload_register")) {
			return unsupported(label, "this program has target regions of GCC: their images are in GCC's own format, which is not read").WithHint(hint)
		}
	}
	return nil
}
