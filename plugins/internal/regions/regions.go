// Package regions reads from the debug information of an image how its OpenMP target regions are called.
//
// # Design
//
// Regions run on a thread of their own: LLVM's run time makes a team of threads for each calling thread.
package regions

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"regexp"
	"strconv"
	"strings"

	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/runtime/offload"
)

// Prefix is the beginning of clang's names for target regions.
const Prefix = "__omp_offloading_"

// Table holds what an image states about its regions.
type Table struct {
	params  map[string]region
	version int // of clang; 0 if unknown
}

// region is a described region.
type region struct {
	params      []offload.Param
	environment bool
	unclear     string // the first parameter whose type has no counterpart; empty if none
}

// firstEnvironment is the version of clang from which regions have a first parameter for their dynamic environment.
const firstEnvironment = 18

// environmentName is the name of the parameter for the dynamic environment.
const environmentName = "dyn_ptr"

// Read reads the debug information of an image. Images without it, and damaged ones, have no descriptions.
func Read(data []byte) (t *Table) {
	t = &Table{params: map[string]region{}}
	defer func() { _ = recover() }() // debug/elf and debug/dwarf may panic on damaged files
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return t
	}
	t.version = compiler(f)
	d, err := f.DWARF()
	if err != nil {
		return t
	}
	for r := d.Reader(); ; {
		e, err := r.Next()
		if err != nil || e == nil {
			return t
		}
		if e.Tag != dwarf.TagSubprogram {
			if e.Tag != dwarf.TagCompileUnit && e.Tag != dwarf.TagNamespace {
				r.SkipChildren()
			}
			continue
		}
		// The function with the region's code takes the variables by their own types; its caller takes words.
		name, _ := e.Val(dwarf.AttrName).(string)
		name, ok := strings.CutSuffix(name, "_debug__")
		if !ok || !strings.HasPrefix(name, Prefix) || strings.Contains(name, ".") || !e.Children {
			r.SkipChildren()
			continue
		}
		t.params[name] = parameters(d, r)
	}
}

var compilerVersion = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`clang version (\d+)\.`) }}

// compiler returns clang's version in the comments of an image, or 0.
func compiler(f *elf.File) int {
	s := f.Section(".comment")
	if s == nil || s.Size > 1<<20 {
		return 0
	}
	data, err := s.Data()
	if err != nil {
		return 0
	}
	m := compilerVersion.Get().FindSubmatch(data)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(m[1])) // digits
	return n
}

// parameters reads the parameters of a function, up to the end of the function's children.
func parameters(d *dwarf.Data, r *dwarf.Reader) (out region) {
	out.params = []offload.Param{}
	for {
		e, err := r.Next()
		if err != nil || e == nil || e.Tag == 0 {
			return out
		}
		r.SkipChildren()
		if e.Tag != dwarf.TagFormalParameter {
			continue
		}
		name, _ := e.Val(dwarf.AttrName).(string)
		if name == environmentName && len(out.params) == 0 {
			out.environment = true
			continue
		}
		p, ok := parameter(d, e)
		if p.Name = name; !ok && out.unclear == "" {
			out.unclear = name
		}
		out.params = append(out.params, p)
	}
}

// parameter returns a parameter's description, and whether its type has a counterpart. Mapped variables are references or
// pointers.
func parameter(d *dwarf.Data, e *dwarf.Entry) (offload.Param, bool) {
	buffer := offload.Param{Buffer: true, Type: offload.Opaque, Elem: 1, Reads: true, Writes: true}
	at, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
	if !ok {
		return buffer, false
	}
	t, err := d.Type(at)
	if err != nil {
		return buffer, false
	}
	switch t := plain(t).(type) {
	case *dwarf.PtrType, *dwarf.UnsupportedType, *dwarf.ArrayType: // references are unsupported
		return buffer, true
	default:
		scalar, ok := scalarOf(t)
		return offload.Param{Type: scalar, Elem: scalar.Size()}, ok
	}
}

// plain returns a type without names and qualifiers.
func plain(t dwarf.Type) dwarf.Type {
	for {
		switch u := t.(type) {
		case *dwarf.TypedefType:
			t = u.Type
		case *dwarf.QualType:
			t = u.Type
		default:
			return t
		}
	}
}

// scalarOf returns the scalar type of a C type, or false if there is none.
func scalarOf(t dwarf.Type) (offload.Type, bool) {
	size := t.Size()
	pick := func(list map[int64]offload.Type) (offload.Type, bool) { s, ok := list[size]; return s, ok }
	signed := map[int64]offload.Type{1: offload.I8, 2: offload.I16, 4: offload.I32, 8: offload.I64}
	unsigned := map[int64]offload.Type{1: offload.U8, 2: offload.U16, 4: offload.U32, 8: offload.U64}
	switch t := t.(type) {
	case *dwarf.BoolType:
		return pick(map[int64]offload.Type{1: offload.Bool})
	case *dwarf.IntType, *dwarf.CharType:
		return pick(signed)
	case *dwarf.UintType, *dwarf.UcharType:
		return pick(unsigned)
	case *dwarf.EnumType:
		return pick(signed)
	case *dwarf.FloatType:
		if size == 2 && t.Name == "__bf16" {
			return offload.BF16, true
		}
		return pick(map[int64]offload.Type{2: offload.F16, 4: offload.F32, 8: offload.F64})
	}
	return offload.Opaque, false
}

// Signature returns the signature of a region. ok is false if the image does not describe it. unclear then names the first
// parameter whose type has no counterpart, and is empty if the region is unknown.
func (t *Table) Signature(name string) (sig *offload.Signature, unclear string, ok bool) {
	r, ok := t.params[name]
	if !ok || r.unclear != "" {
		return nil, r.unclear, false
	}
	return &offload.Signature{Convention: offload.OutlinedOpenMP, Params: r.params}, "", true
}

// Names returns the names of a described region's parameters in order, and nil for other regions.
func (t *Table) Names(name string) []string {
	var list []string
	for _, p := range t.params[name].params {
		list = append(list, p.Name)
	}
	return list
}

// Environment reports whether a region has a first parameter for its dynamic environment. If the image does not describe the
// region, it has one unless an older clang than 18 is known.
func (t *Table) Environment(name string) bool {
	if r, ok := t.params[name]; ok {
		return r.environment
	}
	return t.version == 0 || t.version >= firstEnvironment
}
