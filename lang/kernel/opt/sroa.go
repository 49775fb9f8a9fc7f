package opt

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// maxPromoted is the maximum number of elements of a promoted array.
const maxPromoted = 256

// maxElements is the maximum number of promoted elements per kernel. maxCarried is the maximum number of values that all
// structured instructions together carry.
const (
	maxElements = 2048
	maxCarried  = 1 << 17
)

// SROA replaces private arrays whose indices are all constants by values, one per used element, and removes the arrays. Control
// flow carries the values; [DCE] removes the unused ones. It leaves arrays with atomic operations or conversions, those passed
// to library functions, and those beyond its limits. If control flow would carry too many values, it does nothing. SROA reports
// whether it changed the kernel.
func SROA(k *ir.Kernel, _ *Facts) bool {
	p := &sroa{k: k, vars: map[*ir.Array]map[int]int{}, written: map[*ir.Instr][]int{}, subst: map[*ir.Value]*ir.Value{},
		zeros: map[ir.Type]*ir.Value{}}
	if !p.choose() {
		return false
	}
	for _, in := range k.Body.Instrs {
		p.gather(in)
	}
	if p.carried > maxCarried {
		return false
	}
	now := make([]*ir.Value, len(p.types))
	for i, t := range p.types {
		now[i] = p.zero(t)
	}
	p.block(k.Body, nil, now)
	var consts []*ir.Instr
	for _, t := range p.order {
		consts = append(consts, p.zeros[t].Def)
	}
	k.Body.Instrs = append(consts, k.Body.Instrs...)
	k.Arrays = slices.DeleteFunc(k.Arrays, func(a *ir.Array) bool { return p.vars[a] != nil })
	for i, a := range k.Arrays {
		a.ID = i
	}
	return true
}

type sroa struct {
	k       *ir.Kernel
	vars    map[*ir.Array]map[int]int // indices of elements, by offset
	types   []ir.Type                 // element types, by index
	written map[*ir.Instr][]int       // indices of elements written in a structured instruction
	carried int                       // total size of written, or maxCarried + 1 if an instruction exceeds ir.MaxOperands
	subst   map[*ir.Value]*ir.Value   // values of element loads
	zeros   map[ir.Type]*ir.Value
	order   []ir.Type // order in which the zeros were created
}

// choose selects the arrays to replace, and reports whether there are any.
func (p *sroa) choose() bool {
	unfit := map[*ir.Array]bool{}
	p.k.Body.Walk(func(in *ir.Instr) {
		for _, a := range in.Arrays {
			unfit[a] = true
		}
		a := in.Array
		if a == nil || a.Space != ir.Private || unfit[a] {
			return
		}
		if p.vars[a] == nil {
			p.vars[a] = map[int]int{}
		}
		if in.Op == ir.Zero {
			return
		}
		at, ok := offset(in)
		if !ok || in.Op == ir.Atomic || !isWhole(in) {
			unfit[a] = true
			return
		}
		if p.vars[a][at] = 0; len(p.vars[a]) > maxPromoted {
			unfit[a] = true
		}
	})
	elements := 0
	for _, a := range p.k.Arrays {
		if n := len(p.vars[a]); unfit[a] || elements+n > maxElements {
			delete(p.vars, a)
		} else {
			elements += n
		}
	}
	if len(p.vars) == 0 {
		return false
	}
	seen := map[*ir.Array]map[int]bool{}
	p.k.Body.Walk(func(in *ir.Instr) { // in code order, for deterministic numbering
		a := in.Array
		if a == nil || p.vars[a] == nil || in.Op == ir.Zero {
			return
		}
		if seen[a] == nil {
			seen[a] = map[int]bool{}
		}
		if at, _ := offset(in); !seen[a][at] {
			seen[a][at] = true
			p.vars[a][at] = len(p.types)
			p.types = append(p.types, in.Accessed())
		}
	})
	return true
}

// offset returns the byte offset of an access in its array, or false unless its indices are constants in bounds.
func offset(in *ir.Instr) (int, bool) {
	r := in.Resolve()
	at := r.Offset
	for i := range r.Strides {
		n, ok := analysis.ConstInt(in.Args[i])
		if !ok || n < 0 || n >= int64(r.Extents[i]) {
			return 0, false
		}
		at += int(n) * r.Strides[i]
	}
	return at, true
}

// gather returns the elements that an instruction sets, by their numbers, and records those of structured ones in p.written. It
// returns none for structured ones once p.carried exceeds maxCarried.
func (p *sroa) gather(in *ir.Instr) (set []int) {
	if vars := p.vars[in.Array]; in.Array != nil && vars != nil {
		switch in.Op {
		case ir.Store:
			at, _ := offset(in)
			return []int{vars[at]}
		case ir.Zero:
			for _, n := range vars {
				set = append(set, n)
			}
			return set
		}
	}
	if in.Then == nil || p.carried > maxCarried {
		return nil
	}
	for _, b := range []*ir.Block{in.Then, in.Else} {
		if b == nil {
			continue
		}
		for _, inner := range b.Instrs {
			set = append(set, p.gather(inner)...)
		}
	}
	slices.Sort(set)
	set = slices.Compact(set)
	p.written[in] = set
	if p.carried += len(set); len(set)+max(len(in.Args), len(in.Results)) > ir.MaxOperands {
		p.carried = maxCarried + 1
	}
	return set
}

// zero returns the constant 0 of a type.
func (p *sroa) zero(t ir.Type) *ir.Value {
	v := p.zeros[t]
	if v == nil {
		in := &ir.Instr{Op: ir.Const}
		v = p.k.NewValue(t, in)
		in.Results = []*ir.Value{v}
		p.zeros[t] = v
		p.order = append(p.order, t)
	}
	return v
}

// block replaces the accesses in b, a block of the structured instruction around, or the body if around is nil. now holds the
// current values of the elements and is updated.
func (p *sroa) block(b *ir.Block, around *ir.Instr, now []*ir.Value) {
	kept := b.Instrs[:0]
	for _, in := range b.Instrs {
		for i, a := range in.Args {
			if by := p.subst[a]; by != nil {
				in.Args[i] = by
			}
		}
		if in.Array != nil && p.vars[in.Array] != nil {
			p.access(in, now)
			continue
		}
		kept = append(kept, in)
		switch in.Op {
		case ir.Region, ir.If, ir.Loop:
			p.structured(in, now)
		case ir.Yield:
			in.Args = append(in.Args, p.pick(now, around)...)
		case ir.Break, ir.Continue:
			in.Args = append(in.Args, p.pick(now, in.Target)...)
		}
	}
	clear(b.Instrs[len(kept):])
	b.Instrs = kept
}

// access replaces a load, store or zero.
func (p *sroa) access(in *ir.Instr, now []*ir.Value) {
	vars := p.vars[in.Array]
	if in.Op == ir.Zero {
		for _, n := range vars {
			now[n] = p.zero(p.types[n])
		}
		return
	}
	at, _ := offset(in)
	if in.Op == ir.Load {
		p.subst[in.Results[0]] = now[vars[at]]
	} else {
		now[vars[at]] = in.Args[len(in.Args)-1]
	}
}

// pick returns the values of the elements that a structured instruction writes.
func (p *sroa) pick(now []*ir.Value, in *ir.Instr) []*ir.Value {
	var out []*ir.Value
	for _, n := range p.written[in] {
		out = append(out, now[n])
	}
	return out
}

// structured adds the elements written in a structured instruction to its results and carried values.
func (p *sroa) structured(in *ir.Instr, now []*ir.Value) {
	set := p.written[in]
	inner := slices.Clone(now)
	if in.Op == ir.Loop {
		in.Args = append(in.Args, p.pick(now, in)...)
		for _, n := range set {
			inner[n] = p.k.NewValue(p.types[n], nil)
			in.Then.Params = append(in.Then.Params, inner[n])
		}
	}
	p.block(in.Then, in, inner)
	if in.Else != nil {
		p.block(in.Else, in, slices.Clone(now))
	}
	for _, n := range set {
		now[n] = p.k.NewValue(p.types[n], in)
		in.Results = append(in.Results, now[n])
	}
}
