package native

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"regexp"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/runtime/offload"
)

// Symbol is an exported symbol of an image.
type Symbol struct {
	Name     string
	Function bool
	Size     int64
	value    uint64
}

// object is a parsed shared object, ready for loading.
type object struct {
	data    []byte // a copy with constructors and destructors hidden from the loader
	symbols []Symbol
	needed  []string
	span    uint64  // bytes from the base to the end of the last segment
	suspect bool    // the code may contain system calls of its own
	threads bool    // the code may create threads
	code    []table // the executable segments

	init, fini           uint64
	initArray, finiArray table
}

// table is a part of an image: an array of addresses, or code.
type table struct{ address, bytes uint64 }

// ignoredTag replaces the tags that the copy hides from the loader. It is an unassigned tag of the OS range.
const ignoredTag = 0x60000001

// parse reads a shared object for this host. Damage that debug/elf detects is an error. Other tables are trusted like the
// code, which is about to run.
func parse(label string, data []byte) (*object, error) {
	refuse := func(code offload.Code, format string, args ...any) error {
		return offload.Errorf(code, "load", format, args...).On("", label)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, refuse(offload.InvalidBinary, "%v", err)
	}
	if f.Class != elf.ELFCLASS64 || f.Machine != elf.EM_X86_64 || f.Type != elf.ET_DYN {
		return nil, refuse(offload.Unsupported, "%v of %v is not a shared object for this machine", f.Type, f.Machine)
	}
	o := &object{data: bytes.Clone(data)}
	if o.needed, err = f.ImportedLibraries(); err != nil {
		return nil, refuse(offload.InvalidBinary, "the libraries that it needs: %v", err)
	}
	if isGo(f) {
		return nil, offload.Errorf(offload.Unsupported, "load", "this is a Go library (-buildmode=c-shared): its Go run time would take the signals of this process").
			On("", label).WithHint("write the kernel in C, C++ or Rust, build the library by TinyGo, or run the Go code in a process of its own, by process.run")
	}
	for _, p := range f.Progs {
		switch p.Type {
		case elf.PT_LOAD:
			o.span = max(o.span, p.Vaddr+p.Memsz)
			if p.Flags&elf.PF_X != 0 && p.Off <= uint64(len(data)) && p.Filesz <= uint64(len(data))-p.Off {
				code := data[p.Off : p.Off+p.Filesz]
				o.code = append(o.code, table{p.Vaddr, p.Memsz})
				o.suspect = o.suspect || bytes.Contains(code, []byte("\x0F\x05")) || bytes.Contains(code, []byte("\xCD\x80")) // syscall, int 0x80
			}
		case elf.PT_DYNAMIC:
			if p.Off > uint64(len(data)) || p.Filesz > uint64(len(data))-p.Off {
				return nil, refuse(offload.InvalidBinary, "the dynamic segment reaches beyond the end of the file")
			}
			if err := o.takeConstructors(o.data[p.Off : p.Off+p.Filesz]); err != nil {
				return nil, refuse(offload.Unsupported, "%v", err)
			}
		}
	}
	for _, t := range []table{o.initArray, o.finiArray} {
		if t.address > o.span || t.bytes > o.span-t.address {
			return nil, refuse(offload.InvalidBinary, "a table of constructors is not within the image")
		}
	}
	symbols, err := f.DynamicSymbols()
	if err != nil && len(f.Sections) > 0 {
		return nil, refuse(offload.InvalidBinary, "the dynamic symbols: %v", err)
	}
	o.threads = err != nil || o.suspect || slices.ContainsFunc(o.needed, createsThreads)
	for _, s := range symbols {
		o.threads = o.threads || s.Section == elf.SHN_UNDEF && threadNames.Get().MatchString(s.Name)
		kind := elf.ST_TYPE(s.Info)
		if s.Section == elf.SHN_UNDEF || s.Section >= elf.SHN_LORESERVE || kind != elf.STT_FUNC && kind != elf.STT_OBJECT || s.Name == "_init" || s.Name == "_fini" || strings.HasPrefix(s.Name, ".") {
			continue
		}
		if s.Value >= o.span || s.Size > o.span-s.Value {
			return nil, refuse(offload.InvalidBinary, "the symbol %s is not within the image", s.Name)
		}
		o.symbols = append(o.symbols, Symbol{Name: s.Name, Function: kind == elf.STT_FUNC, Size: int64(s.Size), value: s.Value})
	}
	slices.SortStableFunc(o.symbols, func(a, b Symbol) int { return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.value, b.value)) })
	o.symbols = slices.CompactFunc(o.symbols, func(a, b Symbol) bool { return a.Name == b.Name })
	return o, nil
}

// threadNames matches functions that create threads, or find functions that do.
var threadNames = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`thread|thrd|clone|dlv?sym|async|timer`) }}

// createsThreads reports whether functions of a library may create threads that its callers do not name.
func createsThreads(library string) bool {
	name, _, _ := strings.Cut(library, ".so")
	return !slices.Contains([]string{"libc", "libm", "libgcc_s", "libstdc++", "libpthread", "libdl", "librt", "ld-linux-x86-64"}, name)
}

// isGo reports whether a shared object was linked by Go.
func isGo(f *elf.File) bool {
	if f.Section(".go.buildinfo") != nil || f.Section(".note.go.buildid") != nil {
		return true
	}
	for _, p := range f.Progs {
		const note = "\x04\x00\x00\x00" // length of the owner's name
		head := make([]byte, 16)
		if _, err := p.ReadAt(head, 0); p.Type == elf.PT_NOTE && err == nil && string(head[:4]) == note && string(head[12:]) == "Go\x00\x00" {
			return true
		}
	}
	return false
}

// takeConstructors records the constructors and destructors of a dynamic section and hides them from the loader.
func (o *object) takeConstructors(dynamic []byte) error {
	le := binary.LittleEndian
	for d := dynamic; len(d) >= 16; d = d[16:] {
		tag, value := elf.DynTag(le.Uint64(d)), le.Uint64(d[8:])
		hide := true
		switch tag {
		case elf.DT_NULL:
			return nil
		case elf.DT_INIT:
			o.init = value
		case elf.DT_FINI:
			o.fini = value
		case elf.DT_INIT_ARRAY:
			o.initArray.address = value
		case elf.DT_INIT_ARRAYSZ:
			o.initArray.bytes = value
		case elf.DT_FINI_ARRAY:
			o.finiArray.address = value
		case elf.DT_FINI_ARRAYSZ:
			o.finiArray.bytes = value
		default:
			hide = false
		}
		if hide {
			le.PutUint64(d, ignoredTag)
		}
	}
	return nil
}
