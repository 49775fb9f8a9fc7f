package ir

import "fmt"

// Type is a scalar type. Registers hold value types (see [Type.IsValue]). The others, except Void, exist only in memory.
type Type uint8

// The scalar types. Void is the absence of a value.
const (
	Void Type = iota
	Bool      // one byte in memory, 0 or 1
	I8
	U8
	I16
	U16
	I32
	U32
	I64
	U64
	F16  // IEEE binary16; loads as F32, stores by round-to-nearest-even
	BF16 // bfloat16; loads as F32, stores by round-to-nearest-even
	F32
	F64
	numTypes
)

var typeNames = [numTypes]string{"void", "bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"}

var typeSizes = [numTypes]int{0, 1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8}

// String returns the type's name in the language and in the text form, such as "f32".
func (t Type) String() string {
	if t < numTypes {
		return typeNames[t]
	}
	return fmt.Sprintf("type(%d)", uint8(t))
}

// ParseType returns the type with a name, Void for "void". The bool is false if there is none.
func ParseType(name string) (Type, bool) {
	for t, n := range typeNames {
		if n == name {
			return Type(t), true
		}
	}
	return Void, false
}

// Size returns the size in bytes of an element in memory, which is also its alignment. It is 0 for Void.
func (t Type) Size() int {
	if t < numTypes {
		return typeSizes[t]
	}
	return 0
}

// Value returns the type of a loaded element of type t: i32 for 8-bit and 16-bit integers, f32 for f16 and bf16, otherwise t.
func (t Type) Value() Type {
	switch t {
	case I8, U8, I16, U16:
		return I32
	case F16, BF16:
		return F32
	}
	return t
}

// IsValue reports whether a register can hold the type.
func (t Type) IsValue() bool { return t == Bool || t == F32 || t == F64 || (t >= I32 && t <= U64) }

// IsFloat reports whether t is a floating-point type, including storage types.
func (t Type) IsFloat() bool { return t >= F16 && t <= F64 }

// IsInt reports whether t is an integer type, including storage types but not bool.
func (t Type) IsInt() bool { return t >= I8 && t <= U64 }

// IsSigned reports whether t is a signed integer type.
func (t Type) IsSigned() bool { return t == I8 || t == I16 || t == I32 || t == I64 }

// Elem is the type of an array's elements: a scalar, or a record if Record is not nil.
type Elem struct {
	Scalar Type
	Record *Record
}

// Size returns the element's size in bytes, which is also the distance between consecutive elements.
func (e Elem) Size() int {
	if e.Record != nil {
		return e.Record.Size
	}
	return e.Scalar.Size()
}

// Align returns the element's alignment in bytes.
func (e Elem) Align() int {
	if e.Record != nil {
		return e.Record.Align
	}
	return e.Scalar.Size()
}

// String returns the name of the scalar type, or of the record without quotes.
func (e Elem) String() string {
	if e.Record != nil {
		return e.Record.Name
	}
	return e.Scalar.String()
}

// Record is a struct type in C layout.
type Record struct {
	Name   string
	Fields []Field
	Size   int // bytes, a multiple of Align
	Align  int // bytes
}

// Field is a member of a [Record]: an element, or an array if Dims is not empty.
type Field struct {
	Name   string
	Elem   Elem
	Dims   []int // extents, outermost first
	Offset int   // byte offset in the record
}

// NewRecord returns a record in C layout. It keeps fields and sets their offsets, and computes the record's size and alignment.
func NewRecord(name string, fields []Field) *Record {
	r := &Record{Name: name, Fields: fields, Align: 1}
	at := 0
	for i := range fields {
		f := &fields[i]
		align := max(f.Elem.Align(), 1)
		at = (at + align - 1) / align * align
		f.Offset = at
		at += f.Elem.Size() * product(f.Dims)
		r.Align = max(r.Align, align)
	}
	r.Size = (at + r.Align - 1) / r.Align * r.Align
	return r
}

// Field returns the index of the field with a name, or -1.
func (r *Record) Field(name string) int {
	for i := range r.Fields {
		if r.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// Space is the address space of an array.
type Space uint8

// The address spaces.
const (
	Global  Space = iota // a buffer, passed at launch
	Shared               // one per work-group, initially zero
	Private              // one per work-item, cleared by [Zero]
	Table                // constant data of the module
	numSpaces
)

var spaceNames = [numSpaces]string{"global", "shared", "private", "table"}

// String returns the space's name in the text form.
func (s Space) String() string {
	if s < numSpaces {
		return spaceNames[s]
	}
	return fmt.Sprintf("space(%d)", uint8(s))
}

// Array is an array in memory.
type Array struct {
	Name  string
	Space Space
	Elem  Elem
	Rank  int    // number of indices of one element, 1 to 3
	Dims  []int  // extents, outermost first; nil for Global, whose extents are set at launch
	Data  []byte // Table: the elements in memory order, little-endian
	ID    int    // index in [Kernel.Arrays]
}

// Len returns the number of elements of an array with static extents.
func (a *Array) Len() int { return product(a.Dims) }

// Bytes returns the size in bytes of an array with static extents.
func (a *Array) Bytes() int { return a.Len() * a.Elem.Size() }
