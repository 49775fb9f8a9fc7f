package ir

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// Verify checks that the module follows every rule of the IR, so that interpreting or lowering it is safe. The rules concern
// types, visibility of values, structure, paths, arrays, limits, and uniform control flow around group operations. The error is
// a [*VerifyError]. Time and memory are linear in the size of the module.
//
// Verify ignores [Instr.Proved], which no serialized form stores.
func (m *Module) Verify() error {
	v := verifier{m: m}
	return v.verify()
}

// VerifyLowered verifies a module of lowered kernels. It permits accesses by [StepByte], and jumps out of extension operations.
// It does not check that control flow around group operations is uniform.
func (m *Module) VerifyLowered() error {
	v := verifier{m: m, lowered: true}
	return v.verify()
}

func (v *verifier) verify() (err error) {
	defer func() {
		if r := recover(); r != nil {
			ve, ok := r.(*VerifyError)
			if !ok {
				panic(r)
			}
			err = ve
		}
	}()
	v.module()
	return nil
}

type verifier struct {
	m       *Module
	lowered bool // the kernels are lowered
	decoded bool // the module was just decoded, so each instruction occurs once

	k      *Kernel
	in     *Instr
	index  int // index of in
	instrs int // counts over the module, like the next three fields
	parts  int
	texts  int
	tables int

	records map[*Record]bool
	seen    map[*Instr]bool // instructions seen in the kernel
	live    []*Value        // by ID; visible values
	defined []bool          // by ID
	around  []*Instr
	group   bool // the kernel has operations that need uniform control flow
}

// fail panics with a *VerifyError, which Verify returns.
func (v *verifier) fail(format string, args ...any) {
	e := &VerifyError{Instr: v.in, Index: v.index, Msg: fmt.Sprintf(format, args...)}
	if v.k != nil {
		e.Kernel = v.k.Name
		if v.in != nil {
			e.Where = v.m.place(v.k, v.in)
		}
	}
	panic(e)
}

// place returns the source position of an instruction, or "" if it is unknown.
func (m *Module) place(k *Kernel, in *Instr) string {
	if in.Site < 0 || in.Site >= len(k.Sites) {
		return ""
	}
	s := k.Sites[in.Site]
	if s.File < 0 || s.File >= len(m.Files) || s.Line == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d:%d", m.Files[s.File], s.Line, s.Col)
}

func (v *verifier) check(ok bool, format string, args ...any) {
	if !ok {
		v.fail(format, slices.Clone(args)...) // cloned, so that args does not escape in the usual case
	}
}

// atMost checks a count against its limit, adds it to the parts of the module, and checks their number.
func (v *verifier) atMost(n, limit int, what string) {
	if n > limit {
		v.fail("%d %s; at most %d are allowed", n, what, limit)
	}
	v.parts += n
	v.check(v.parts <= MaxParts, "the module has more than %d parts", MaxParts)
}

func (v *verifier) text(s, what string) {
	if s == "" {
		return
	}
	if len(s) > MaxText {
		v.fail("%s is longer than %d bytes", what, MaxText)
	}
	if !utf8.ValidString(s) {
		v.fail("%s is not valid UTF-8: %q", what, s)
	}
	v.texts += len(s)
	v.check(v.texts <= MaxTexts, "the strings of the module take more than %d bytes", MaxTexts)
}

// name checks that a name is valid text, not empty and unique.
func (v *verifier) name(seen map[string]bool, name, what string) {
	v.text(name, "the name of a "+what)
	v.check(name != "", "a %s has no name", what)
	if seen[name] {
		v.fail("two of the %ss are called %s", what, quoteName(name))
	}
	seen[name] = true
}

func (v *verifier) module() {
	v.check(v.m != nil, "there is no module")
	v.atMost(len(v.m.Records), MaxRecords, "records")
	v.atMost(len(v.m.Kernels), MaxKernels, "kernels")
	v.atMost(len(v.m.Files), MaxInstrs, "files")
	for _, f := range v.m.Files {
		v.text(f, "the name of a file")
	}
	v.records = map[*Record]bool{}
	names := map[string]bool{}
	for _, r := range v.m.Records {
		v.check(r != nil, "a record is nil")
		v.name(names, r.Name, "record")
		v.record(r)
		v.records[r] = true
	}
	names = map[string]bool{}
	for _, k := range v.m.Kernels {
		v.check(k != nil, "a kernel is nil")
		v.name(names, k.Name, "kernel")
		v.kernel(k)
	}
}

// elem checks the element type of an array or field; records must be declared before.
func (v *verifier) elem(e Elem, of string) {
	if e.Record != nil {
		v.check(v.records[e.Record], "%s is of a record that is not declared before it", of)
		v.check(e.Scalar == Void, "%s is both a record and a scalar", of)
		return
	}
	v.check(e.Scalar.Size() > 0, "%s has elements of type %v", of, e.Scalar)
}

// size returns the size in bytes of an array of elements e with the extents dims. It checks the extents, and the size against limit.
func (v *verifier) size(e Elem, dims []int, limit int, of string) int {
	v.atMost(len(dims), MaxRank, "dimensions of "+of)
	bytes := e.Size()
	for _, d := range dims {
		v.check(d >= 1 && d <= MaxDim, "%s has an extent of %d; extents are from 1 to %d", of, d, MaxDim)
		v.check(d <= limit/max(bytes, 1), "%s takes more than %d bytes", of, limit)
		bytes *= d
	}
	return bytes
}

func (v *verifier) record(r *Record) {
	what := "record " + quoteName(r.Name)
	v.check(len(r.Fields) > 0, "%s has no fields", what)
	v.atMost(len(r.Fields), MaxFields, "fields of "+what)
	names := map[string]bool{}
	total := 0
	for i := range r.Fields {
		f := &r.Fields[i]
		v.name(names, f.Name, "field")
		of := fmt.Sprintf("field %s of %s", quoteName(f.Name), what)
		v.elem(f.Elem, of)
		total += v.size(f.Elem, f.Dims, MaxRecordBytes, of) + f.Elem.Align()
		v.check(total <= MaxRecordBytes, "%s takes more than %d bytes", what, MaxRecordBytes)
	}
	want := NewRecord(r.Name, append([]Field(nil), r.Fields...))
	for i, f := range want.Fields {
		v.check(r.Fields[i].Offset == f.Offset, "field %s of %s is at offset %d; C layout puts it at %d", quoteName(f.Name), what, r.Fields[i].Offset, f.Offset)
	}
	v.check(r.Size == want.Size && r.Align == want.Align, "%s has size %d and alignment %d; C layout gives %d and %d", what, r.Size, r.Align, want.Size, want.Align)
}

func (v *verifier) kernel(k *Kernel) {
	v.k = k
	v.check(k.Real == F32 || k.Real == F64 || k.Real == Void, "the real type is %v", k.Real)
	v.check(k.Body != nil, "there is no body")
	v.check(k.numValues >= 0 && k.numValues <= MaxInstrs*8, "%d values", k.numValues)
	v.atMost(len(k.Params), MaxParams, "parameters")
	v.atMost(len(k.Arrays), MaxArrays, "arrays")
	v.atMost(len(k.Sites), 2*MaxInstrs, "sites")
	v.seen = map[*Instr]bool{}
	v.live, v.defined = make([]*Value, k.numValues), make([]bool, k.numValues)
	v.around, v.group = v.around[:0], false
	for _, s := range k.Sites {
		v.text(s.Text, "the text of a site")
		v.check(s.File >= 0 && s.File < max(len(v.m.Files), 1), "a site is in file %d of %d", s.File, len(v.m.Files))
		v.check(s.Line >= 0 && s.Line <= MaxDim && s.Col >= 0 && s.Col <= MaxDim, "a site is at %d:%d", s.Line, s.Col)
	}
	v.params()
	v.arrays()
	v.index = -1
	v.block(k.Body, k.Body.Params)
	v.in = nil
	if v.group && !v.lowered {
		for _, d := range k.Uniformity(Scope{}).Divergences() {
			v.divergence(d)
		}
	}
	v.k = nil
}

func (v *verifier) params() {
	scalars, buffers := 0, 0
	names := map[string]bool{}
	for i := range v.k.Params {
		p := &v.k.Params[i]
		v.name(names, p.Name, "parameter")
		if p.Array != nil {
			v.buffer(p, buffers)
			buffers++
			continue
		}
		if !p.Type.IsValue() {
			v.fail("parameter %s is of type %v, which no register can hold", quoteName(p.Name), p.Type)
		}
		if scalars >= len(v.k.Body.Params) || v.k.Body.Params[scalars] == nil || v.k.Body.Params[scalars].Type != p.Type {
			v.fail("the body has no parameter of type %v for %s", p.Type, quoteName(p.Name))
		}
		scalars++
	}
	v.check(scalars == len(v.k.Body.Params), "the body has %d parameters for %d scalars", len(v.k.Body.Params), scalars)
	for i, a := range v.k.Arrays {
		v.check(a != nil, "array %d is nil", i)
		if (a.Space == Global) != (i < buffers) {
			v.fail("array %s in %v memory stands at %d, after %d buffers", quoteName(a.Name), a.Space, i, buffers)
		}
	}
}

func (v *verifier) buffer(p *Param, i int) {
	if i >= len(v.k.Arrays) || v.k.Arrays[i] != p.Array {
		v.fail("buffer %s is not array %d", quoteName(p.Name), i)
	}
	if p.Array.Space != Global || p.Array.Name != p.Name {
		v.fail("buffer %s is array %s in %v memory", quoteName(p.Name), quoteName(p.Array.Name), p.Array.Space)
	}
	if p.Type != Void {
		v.fail("buffer %s has a scalar type", quoteName(p.Name))
	}
}

func (v *verifier) arrays() {
	limits := [numSpaces]int{Shared: MaxSharedBytes, Private: MaxPrivateBytes, Table: MaxTableBytes}
	used := [numSpaces]int{Table: v.tables}
	names := map[string]bool{}
	for i, a := range v.k.Arrays {
		v.name(names, a.Name, "array")
		of := "array " + quoteName(a.Name)
		v.check(a.ID == i, "%s has ID %d at position %d", of, a.ID, i)
		v.check(a.Space < numSpaces, "%s is in %v", of, a.Space)
		v.check(a.Rank >= 1 && a.Rank <= MaxRank, "%s has rank %d; ranks are from 1 to %d", of, a.Rank, MaxRank)
		v.elem(a.Elem, of)
		if a.Space == Global {
			v.check(a.Dims == nil && a.Data == nil, "%s is a buffer, whose extents and data come with the launch", of)
			continue
		}
		v.check(len(a.Dims) == a.Rank, "%s has rank %d and %d extents", of, a.Rank, len(a.Dims))
		limit := limits[a.Space]
		used[a.Space] += v.size(a.Elem, a.Dims, limit, of)
		v.check(used[a.Space] <= limit, "the %v arrays take more than %d bytes together", a.Space, limit)
		if a.Space == Table {
			v.tables = used[Table]
			v.check(len(a.Data) == a.Bytes(), "%s has %d bytes of data, not %d", of, len(a.Data), a.Bytes())
		} else {
			v.check(a.Data == nil, "%s has data, as only tables may", of)
		}
	}
}

func (v *verifier) define(val *Value, def *Instr) {
	v.check(val != nil, "a result or parameter is nil")
	v.check(val.ID >= 0 && val.ID < len(v.live), "value %v has a number out of range", val)
	v.check(!v.defined[val.ID], "value %v is defined twice", val)
	v.check(val.Type.IsValue(), "value %v is of type %v, which no register can hold", val, val.Type)
	v.check(val.Def == def, "value %v does not name the instruction that defines it", val)
	v.text(val.Name, "the name of a value")
	v.defined[val.ID] = true
	v.live[val.ID] = val
}

func (v *verifier) use(val *Value) {
	v.check(val != nil, "an operand is nil")
	v.check(val.ID >= 0 && val.ID < len(v.live) && v.live[val.ID] == val, "value %v is not visible here", val)
}

func (v *verifier) block(b *Block, params []*Value) {
	v.check(b != nil, "a block is nil")
	v.check(len(b.Params) == len(params), "a block has %d parameters that nothing sets", len(b.Params))
	v.check(len(b.Instrs) > 0, "a block is empty; it needs a terminator")
	for _, p := range params {
		v.define(p, nil)
	}
	outer := v.in
	for i, in := range b.Instrs {
		v.check(in != nil, "an instruction is nil")
		v.in = in
		v.index++
		v.instrs++
		v.check(v.instrs <= MaxInstrs, "the module has more than %d instructions", MaxInstrs)
		if !v.decoded {
			v.check(!v.seen[in], "the instruction stands in two places")
			v.seen[in] = true
		}
		last := i == len(b.Instrs)-1
		v.check(last || !in.Op.IsTerminator(), "a terminator stands before the end of its block")
		v.check(!last || in.Op.IsTerminator(), "the block ends without a terminator")
		v.instr(in)
	}
	for _, in := range b.Instrs {
		for _, r := range in.Results {
			v.live[r.ID] = nil
		}
	}
	for _, p := range params {
		v.live[p.ID] = nil
	}
	v.in = outer
}

func (v *verifier) divergence(d Divergence) {
	e := &VerifyError{Kernel: v.k.Name, Instr: d.Instr, Cause: d.Cause, Where: v.m.place(v.k, d.Instr)}
	index := 0
	v.k.Body.Walk(func(in *Instr) {
		if in == d.Instr {
			e.Index = index
		}
		index++
	})
	e.Msg = fmt.Sprintf("%v needs control flow that is the same for the whole group", d.Instr.Op)
	if d.Cause != nil {
		e.Msg += fmt.Sprintf(", but '%v'", d.Cause)
		if where := v.m.place(v.k, d.Cause); where != "" {
			e.Msg += " at " + where
		}
		e.Msg += " may go different ways in one group"
	}
	panic(e)
}
