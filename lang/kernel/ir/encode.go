package ir

import (
	"encoding/binary"
	"hash/crc32"
)

// binaryMagic starts the binary form. The version follows as a varint, and a CRC-32C of all preceding bytes ends the form.
const binaryMagic = "\x8foreplir"

const checksumBytes = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// MarshalBinary returns the module's binary form, or the error of [Module.Verify]. The form is unique. It depends neither on value
// IDs, which are renumbered in definition order, nor on [Instr.Proved], which is not stored.
func (m *Module) MarshalBinary() ([]byte, error) {
	if err := m.Verify(); err != nil {
		return nil, err
	}
	return m.encode(), nil
}

// encode is MarshalBinary for a valid module.
func (m *Module) encode() []byte {
	e := &encoder{b: make([]byte, 0, 1024), strings: map[string]int{}}
	e.module(m)

	size := len(binaryMagic) + len(e.b) + binary.MaxVarintLen64*(2+len(e.table)) + checksumBytes
	for _, s := range e.table {
		size += len(s)
	}
	out := append(make([]byte, 0, size), binaryMagic...)
	out = binary.AppendUvarint(out, uint64(m.Version()))
	out = binary.AppendUvarint(out, uint64(len(e.table)))
	for _, s := range e.table {
		out = binary.AppendUvarint(out, uint64(len(s)))
		out = append(out, s...)
	}
	out = append(out, e.b...)
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, castagnoli))
}

// overflowCode encodes an [Assert] of kind [AssertOverflow], so that the operation codes of version 1 stay unchanged.
const overflowCode = 0xff

// extensionCode encodes a [Region] that is an extension operation.
const extensionCode = 0xfe

// encoder encodes the parts of a module. Strings are stored in a table in the order of their first use.
type encoder struct {
	b       []byte
	table   []string       // strings in the order of their first use
	strings map[string]int // indices in table

	records map[*Record]int // indices in the module
	numbers []int32         // definition order of values, by ID
	defined int             // number of definitions so far
	around  []*Instr        // enclosing structured instructions
}

func (e *encoder) byte(b byte)    { e.b = append(e.b, b) }
func (e *encoder) int(n int)      { e.b = binary.AppendUvarint(e.b, uint64(n)) }
func (e *encoder) typ(t Type)     { e.byte(byte(t)) }
func (e *encoder) bits(b uint64)  { e.b = binary.AppendUvarint(e.b, b) }
func (e *encoder) bytes(b []byte) { e.int(len(b)); e.b = append(e.b, b...) }

func (e *encoder) bool(b bool) {
	if b {
		e.byte(1)
	} else {
		e.byte(0)
	}
}

func (e *encoder) string(s string) {
	n, ok := e.strings[s]
	if !ok {
		n = len(e.table)
		e.strings[s] = n
		e.table = append(e.table, s)
	}
	e.int(n)
}

func (e *encoder) dims(dims []int) {
	e.int(len(dims))
	for _, d := range dims {
		e.int(d)
	}
}

// elem encodes a scalar type, or a higher byte followed by the index of a record.
func (e *encoder) elem(el Elem) {
	if el.Record == nil {
		e.typ(el.Scalar)
		return
	}
	e.byte(byte(numTypes))
	e.int(e.records[el.Record])
}

func (e *encoder) module(m *Module) {
	e.int(len(m.Files))
	for _, f := range m.Files {
		e.string(f)
	}
	e.int(len(m.Records))
	e.records = map[*Record]int{}
	for i, r := range m.Records {
		e.string(r.Name)
		e.int(len(r.Fields))
		for _, f := range r.Fields {
			e.string(f.Name)
			e.elem(f.Elem)
			e.dims(f.Dims)
		}
		e.records[r] = i
	}
	e.int(len(m.Kernels))
	for _, k := range m.Kernels {
		e.kernel(k)
	}
}

func (e *encoder) kernel(k *Kernel) {
	e.numbers, e.defined = make([]int32, k.numValues), 0
	e.string(k.Name)
	e.typ(k.Real)
	e.int(len(k.Params))
	scalars := k.Body.Params
	for _, p := range k.Params {
		e.string(p.Name)
		e.bool(p.Array != nil)
		if p.Array != nil {
			e.elem(p.Array.Elem)
			e.int(p.Array.Rank)
			continue
		}
		e.define(scalars[0])
		scalars = scalars[1:]
	}
	static := k.Arrays[len(k.Params)-len(k.Body.Params):]
	e.int(len(static))
	for _, a := range static {
		e.string(a.Name)
		e.byte(byte(a.Space))
		e.elem(a.Elem)
		e.dims(a.Dims)
		if a.Space == Table {
			e.bytes(a.Data)
		}
	}
	e.int(len(k.Sites))
	for _, s := range k.Sites {
		e.int(s.File)
		e.int(s.Line)
		e.int(s.Col)
		e.string(s.Text)
	}
	e.block(k.Body)
}

func (e *encoder) define(v *Value) {
	e.numbers[v.ID] = int32(e.defined)
	e.defined++
	e.typ(v.Type)
	e.string(v.Name)
}

// use encodes a value by its distance in definitions; the latest definition has distance 1.
func (e *encoder) use(v *Value) { e.int(e.defined - int(e.numbers[v.ID])) }

func (e *encoder) uses(args []*Value) {
	e.int(len(args))
	for _, a := range args {
		e.use(a)
	}
}

// block encodes the instructions; the terminator marks the end.
func (e *encoder) block(b *Block) {
	for _, in := range b.Instrs {
		e.instr(in)
	}
}

func (e *encoder) instr(in *Instr) {
	switch {
	case in.Op == Assert && in.Assert == AssertOverflow:
		e.byte(overflowCode)
	case in.Op == Region && in.Fn != "":
		e.byte(extensionCode)
	default:
		e.byte(byte(in.Op))
	}
	e.int(in.Site)
	e.uses(in.Args)
	switch in.Op {
	case Const:
		e.bits(in.Bits)
	case Quant:
		e.typ(in.Elem)
	case Math, Call:
		e.string(in.Fn)
	case Fence:
		e.byte(byte(in.Order))
		e.byte(byte(in.Reach))
	case Lib:
		e.string(in.Fn)
		e.int(len(in.Arrays))
		for _, a := range in.Arrays {
			e.int(a.ID)
		}
	case Load, Store, Atomic:
		e.int(in.Array.ID)
		e.int(len(in.Path))
		for _, s := range in.Path {
			e.byte(byte(s.Kind))
			if s.Kind == StepField {
				e.int(s.Field)
			}
		}
		if in.Op == Atomic {
			e.byte(byte(in.Atomic))
		}
	case Zero:
		e.int(in.Array.ID)
	case Extent:
		e.int(in.Array.ID)
		e.int(in.Axis)
	case Item:
		e.byte(byte(in.Item))
		e.int(in.Axis)
	case Reduce, Scan:
		e.byte(byte(in.Combine))
		e.bool(in.Exclusive)
	case Subgroup:
		e.byte(byte(in.Subgroup))
	case Print, Assert:
		e.int(len(in.Text))
		for _, s := range in.Text {
			e.string(s)
		}
	case Break, Continue:
		// the target's nesting distance from the innermost structured instruction
		for i := len(e.around) - 1; i >= 0; i-- {
			if e.around[i] == in.Target {
				e.int(len(e.around) - 1 - i)
			}
		}
	case Region, If, Loop:
		if in.Fn != "" {
			e.string(in.Fn)
		}
		for _, p := range in.Then.Params {
			e.define(p)
		}
		e.around = append(e.around, in)
		e.block(in.Then)
		if in.Op == If {
			e.block(in.Else)
		}
		e.around = e.around[:len(e.around)-1]
	}
	e.int(len(in.Results))
	for _, r := range in.Results {
		e.define(r)
	}
}
