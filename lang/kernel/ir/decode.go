package ir

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"unicode/utf8"
)

// DecodeBinary decodes and verifies the binary form of a module. It accepts only output of [Module.MarshalBinary]. Other data causes
// a [*DecodeError], or a [*VerifyError] if only the contents are invalid. Memory use is linear in the length of the data.
func DecodeBinary(data []byte) (m *Module, err error) {
	d := &decoder{data: data}
	defer func() {
		if r := recover(); r != nil {
			de, ok := r.(*DecodeError)
			if !ok {
				panic(r)
			}
			m, err = nil, de
		}
	}()
	m = d.module()
	v := verifier{m: m, decoded: true}
	if err := v.verify(); err != nil {
		return nil, err
	}
	// A module has a unique binary form; alternative encodings, such as long varints, are rejected.
	if !bytes.Equal(m.encode(), data) {
		d.fail("the module is not spelled as it should be")
	}
	return m, nil
}

// IsBinary reports whether data starts like a module's binary form of any version.
func IsBinary(data []byte) bool { return bytes.HasPrefix(data, []byte(binaryMagic)) }

type decoder struct {
	data []byte
	end  int // end of the bytes covered by the checksum
	at   int

	strings []string
	m       *Module
	k       *Kernel
	values  []*Value
	around  []*Instr
	instrs  int
	version int
}

// fail panics with a *DecodeError, which DecodeBinary returns.
func (d *decoder) fail(format string, args ...any) {
	panic(&DecodeError{Offset: d.at, Msg: fmt.Sprintf(format, args...)})
}

func (d *decoder) check(ok bool, format string, args ...any) {
	if !ok {
		d.fail(format, slices.Clone(args)...) // cloned, so that args does not escape in the usual case
	}
}

func (d *decoder) byte() byte {
	d.check(d.at < d.end, "the data ends too early")
	d.at++
	return d.data[d.at-1]
}

func (d *decoder) bits() uint64 {
	n, size := binary.Uvarint(d.data[d.at:d.end])
	d.check(size > 0, "a number is cut off or too large")
	d.at += size
	return n
}

// int reads a number that is at most limit.
func (d *decoder) int(limit int, what string) int {
	n := d.bits()
	if n > uint64(limit) {
		d.fail("%s is %d; at most %d is possible", what, n, limit)
	}
	return int(n)
}

// count reads the number of following items, each of which takes at least a byte.
func (d *decoder) count(limit int, what string) int {
	n := d.bits()
	if n > uint64(limit) {
		d.fail("the number of %s is %d; at most %d is possible", what, n, limit)
	}
	if n > uint64(d.end-d.at) {
		d.fail("%d %s are more than the data has", n, what)
	}
	return int(n)
}

func (d *decoder) bool() bool {
	b := d.byte()
	d.check(b <= 1, "a flag is %d", b)
	return b == 1
}

func (d *decoder) typ() Type {
	t := Type(d.byte())
	d.check(t < numTypes, "there is no type %d", t)
	return t
}

func (d *decoder) bytes() []byte {
	n := d.count(MaxTableBytes, "bytes")
	d.at += n
	return bytes.Clone(d.data[d.at-n : d.at])
}

func (d *decoder) string() string {
	d.check(len(d.strings) > 0, "there are no strings")
	return d.strings[d.int(len(d.strings)-1, "the number of a string")]
}

// sequence reads a count and that many items; it returns nil for count 0.
func sequence[T any](d *decoder, limit int, what string, item func() T) []T {
	n := d.count(limit, what)
	if n == 0 {
		return nil
	}
	s := make([]T, n)
	for i := range s {
		s[i] = item()
	}
	return s
}

func (d *decoder) dims() []int {
	return sequence(d, MaxRank, "dimensions", func() int { return d.int(MaxDim, "an extent") })
}

func (d *decoder) elem() Elem {
	t := Type(d.byte())
	if t < numTypes {
		return Elem{Scalar: t}
	}
	d.check(t == numTypes && len(d.m.Records) > 0, "there is no type %d", t)
	return Elem{Record: d.m.Records[d.int(len(d.m.Records)-1, "the number of a record")]}
}

func (d *decoder) header() {
	d.check(IsBinary(d.data), "this is no kernel IR")
	d.check(len(d.data) <= MaxModuleBytes, "%d bytes are more than the %d that a module may have", len(d.data), MaxModuleBytes)
	d.end = len(d.data) - checksumBytes
	d.at = len(binaryMagic)
	d.check(d.at < d.end, "the data ends too early")
	sum := crc32.Checksum(d.data[:d.end], castagnoli)
	d.check(binary.LittleEndian.Uint32(d.data[d.end:]) == sum, "the checksum is wrong: the data is damaged or cut off")
	v := d.bits()
	d.check(v >= 1 && v <= Version, "this program reads the versions 1 to %d, and this is version %d", Version, v)
	d.version = int(v)
	d.strings = sequence(d, MaxInstrs*4, "strings", func() string {
		n := d.count(MaxText, "bytes of a string")
		d.at += n
		s := string(d.data[d.at-n : d.at])
		d.check(utf8.ValidString(s), "a string is not valid UTF-8")
		return s
	})
}

func (d *decoder) module() *Module {
	d.header()
	d.m = &Module{}
	d.m.Files = sequence(d, MaxInstrs, "files", d.string)
	for range d.count(MaxRecords, "records") {
		name := d.string()
		fields := sequence(d, MaxFields, "fields", func() Field {
			return Field{Name: d.string(), Elem: d.elem(), Dims: d.dims()}
		})
		d.layout(name, fields)
	}
	for range d.count(MaxKernels, "kernels") {
		d.kernel()
	}
	d.check(d.at == d.end, "%d bytes follow the module", d.end-d.at)
	return d.m
}

// layout adds a record. It checks the size before the computation could overflow.
func (d *decoder) layout(name string, fields []Field) {
	total := 0
	for _, f := range fields {
		size := f.Elem.Size()
		for _, n := range f.Dims {
			d.check(n > 0 && size <= MaxRecordBytes/n, "record %s is too large", quoteName(name))
			size *= n
		}
		total += size + f.Elem.Align()
		d.check(total <= MaxRecordBytes, "record %s is too large", quoteName(name))
	}
	d.m.Records = append(d.m.Records, NewRecord(name, fields))
}

func (d *decoder) kernel() {
	k := &Kernel{Body: &Block{}}
	d.k, d.values, d.around = k, nil, nil
	k.Name = d.string()
	k.Real = d.typ()
	k.Params = sequence(d, MaxParams, "parameters", func() Param {
		p := Param{Name: d.string()}
		if d.bool() {
			p.Array = d.array(&Array{Name: p.Name, Elem: d.elem(), Rank: d.int(MaxRank, "the rank")})
			return p
		}
		v := d.define(nil)
		p.Type = v.Type
		k.Body.Params = append(k.Body.Params, v)
		return p
	})
	for range d.count(MaxArrays, "arrays") {
		a := &Array{Name: d.string(), Space: Space(d.byte()), Elem: d.elem(), Dims: d.dims()}
		a.Rank = len(a.Dims)
		if a.Space == Table {
			a.Data = d.bytes()
		}
		d.array(a)
	}
	k.Sites = sequence(d, 2*MaxInstrs, "sites", func() Site {
		return Site{File: d.int(MaxInstrs, "a file"), Line: d.int(MaxDim, "a line"), Col: d.int(MaxDim, "a column"), Text: d.string()}
	})
	d.block(k.Body)
	d.m.Kernels = append(d.m.Kernels, k)
}

func (d *decoder) array(a *Array) *Array {
	a.ID = len(d.k.Arrays)
	d.k.Arrays = append(d.k.Arrays, a)
	return a
}

func (d *decoder) define(def *Instr) *Value {
	v := d.k.NewValue(d.typ(), def)
	v.Name = d.string()
	d.values = append(d.values, v)
	return v
}

func (d *decoder) use() *Value {
	back := d.int(len(d.values), "the distance to a value")
	d.check(back > 0, "a value is used before it is defined")
	return d.values[len(d.values)-back]
}

func (d *decoder) block(b *Block) {
	d.check(len(d.around) <= MaxDepth, "blocks nest deeper than %d", MaxDepth)
	for b.Terminator() == nil {
		if d.instrs++; d.instrs > MaxInstrs {
			d.fail("more than %d instructions", MaxInstrs)
		}
		b.Instrs = append(b.Instrs, d.instr())
	}
}

func (d *decoder) arrayRef() *Array {
	d.check(len(d.k.Arrays) > 0, "there are no arrays")
	return d.k.Arrays[d.int(len(d.k.Arrays)-1, "the number of an array")]
}

func (d *decoder) instr() *Instr {
	in := &Instr{Op: Op(d.byte())}
	code := in.Op
	switch code {
	case overflowCode:
		in.Op, in.Assert = Assert, AssertOverflow
	case extensionCode:
		in.Op = Region
	}
	d.check(in.Op.isKnown(), "there is no operation %d", in.Op)
	d.check(d.version > 1 || !in.Op.IsVersion2() && code != extensionCode, "operation %d is not of version 1", code)
	in.Site = d.int(2*MaxInstrs, "a site")
	in.Args = sequence(d, MaxOperands, "operands", d.use)
	switch in.Op {
	case Const:
		in.Bits = d.bits()
	case Quant:
		in.Elem = d.typ()
	case Math, Call:
		in.Fn = d.string()
	case Fence:
		in.Order, in.Reach = FenceOrder(d.byte()), FenceReach(d.byte())
	case Lib:
		in.Fn = d.string()
		in.Arrays = sequence(d, MaxOperands, "arrays", d.arrayRef)
	case Load, Store, Atomic:
		in.Array = d.arrayRef()
		in.Path = sequence(d, MaxPath, "steps of a path", func() Step {
			s := Step{Kind: StepKind(d.byte())}
			if s.Kind == StepField {
				s.Field = d.int(MaxFields, "the number of a field")
			}
			return s
		})
		if in.Op == Atomic {
			in.Atomic = AtomicKind(d.byte())
		}
	case Zero:
		in.Array = d.arrayRef()
	case Extent:
		in.Array = d.arrayRef()
		in.Axis = d.int(MaxRank, "an axis")
	case Item:
		in.Item = ItemKind(d.byte())
		in.Axis = d.int(MaxRank, "an axis")
	case Reduce, Scan:
		in.Combine = Combine(d.byte())
		in.Exclusive = d.bool()
	case Subgroup:
		in.Subgroup = SubgroupKind(d.byte())
	case Print, Assert:
		in.Text = sequence(d, MaxOperands+1, "pieces of a message", d.string)
	case Break, Continue:
		d.check(len(d.around) > 0, "there is nothing to %v", in.Op)
		in.Target = d.around[len(d.around)-1-d.int(len(d.around)-1, "a target")]
	case Region, If, Loop:
		if code == extensionCode {
			in.Fn = d.string()
		}
		d.nested(in)
	}
	for range d.count(MaxOperands, "results") {
		in.Results = append(in.Results, d.define(in))
	}
	return in
}

func (d *decoder) nested(in *Instr) {
	in.Then = &Block{}
	if in.Op == Loop {
		for range in.Args {
			in.Then.Params = append(in.Then.Params, d.define(nil))
		}
	}
	d.around = append(d.around, in)
	d.block(in.Then)
	if in.Op == If {
		in.Else = &Block{}
		d.block(in.Else)
	}
	d.around = d.around[:len(d.around)-1]
}
