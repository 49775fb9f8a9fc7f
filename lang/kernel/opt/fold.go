package opt

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
)

// Fold folds constants, applies exact algebraic identities, and simplifies control flow: constant conditions, loops that run
// once, regions without an early exit, and ifs that only select values. It replaces results that are equal on all paths. Fold
// reports whether it changed the kernel.
func Fold(k *ir.Kernel, _ *Facts) bool {
	f := &folder{k: k, s: analysis.StructureOf(k), subst: analysis.NewValues[*ir.Value](k), order: analysis.NewValues[int](k)}
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op == ir.Quant && f.nans == nil {
			f.nans = analysis.FindNaNs(k)
		}
	})
	f.define(k.Body.Params)
	f.block(k.Body)
	return f.changed
}

type folder struct {
	k       *ir.Kernel
	s       *analysis.Structure
	subst   analysis.Values[*ir.Value] // replacement of a value; never itself replaced
	order   analysis.Values[int]       // definition order, from 1; 0 if not defined yet
	defined int                        // number of values defined so far
	nans    *analysis.NaNs             // analysis of the original kernel; nil if it has no Quant
	changed bool
}

func (f *folder) define(vs []*ir.Value) {
	for _, v := range vs {
		f.defined++
		f.order.Set(v, f.defined)
	}
}

func (f *folder) replace(v, by *ir.Value) {
	f.subst.Set(v, by)
	f.changed = true
}

func (f *folder) resolve(v *ir.Value) *ir.Value {
	if by := f.subst.At(v); by != nil {
		return by
	}
	return v
}

func (f *folder) block(b *ir.Block) {
	old := b.Instrs
	b.Instrs = make([]*ir.Instr, 0, len(old))
	for i, in := range old {
		for j, a := range in.Args {
			in.Args[j] = f.resolve(a)
		}
		if in.Then != nil {
			f.structured(b, in)
		} else {
			f.simple(b, in)
		}
		if b.Terminator() != nil {
			f.changed = f.changed || i < len(old)-1
			return
		}
		if in.Then != nil && !f.s.Falls(in) && i < len(old)-1 && old[i+1].Op != ir.Unreachable {
			b.Instrs = append(b.Instrs, &ir.Instr{Op: ir.Unreachable, Site: in.Site})
			f.changed = true
			return
		}
	}
}

func (f *folder) simple(b *ir.Block, in *ir.Instr) {
	if in.Op.IsArith() && in.Op != ir.Const {
		if f.constant(in) {
			f.changed = true
		} else if v := f.identity(b, in); v != nil {
			f.replace(in.Results[0], v)
			return
		}
	}
	b.Instrs = append(b.Instrs, in)
	f.define(in.Results)
}

// constant replaces an instruction with constant operands by a constant, and reports whether it did.
func (f *folder) constant(in *ir.Instr) bool {
	var args [3]uint64
	if len(in.Args) > len(args) {
		return false
	}
	for i, a := range in.Args {
		c, ok := analysis.ConstBits(a)
		if !ok {
			return false
		}
		args[i] = c
	}
	bits, ok := scalar.Eval(in, args[:len(in.Args)]...)
	if ok {
		*in = ir.Instr{Op: ir.Const, Bits: bits, Results: in.Results, Site: in.Site}
	}
	return ok
}

func (f *folder) structured(b *ir.Block, in *ir.Instr) {
	entry := f.defined // later definitions, including carried values, are invisible outside
	switch in.Op {
	case ir.If:
		if c, ok := analysis.ConstBits(in.Args[0]); ok {
			arm := in.Then
			if c == 0 {
				arm = in.Else
			}
			f.block(arm)
			f.splice(b, in, arm, arm.Terminator())
			return
		}
	case ir.Loop:
		if len(f.s.Continues[in]) == 0 { // the body runs once
			for i, p := range in.Then.Params {
				f.replace(p, in.Args[i])
			}
			in.Op, in.Args, in.Then.Params = ir.Region, nil, nil
			f.changed = true
			break
		}
		f.define(in.Then.Params)
		for i, p := range in.Then.Params {
			unchanged := func(c *ir.Instr) bool { return c.Args[i] == p || f.resolve(c.Args[i]) == in.Args[i] }
			if !slices.ContainsFunc(f.s.Continues[in], func(c *ir.Instr) bool { return !unchanged(c) }) {
				f.replace(p, in.Args[i])
			}
		}
	}
	f.block(in.Then)
	if in.Op == ir.If {
		f.block(in.Else)
	}
	end := in.Then.Terminator()
	switch {
	case in.Op == ir.Region && in.Fn == "" && f.onlyEnd(in, end):
		f.splice(b, in, in.Then, end)
		return
	case in.Op == ir.If && len(in.Then.Instrs) == 1 && len(in.Else.Instrs) == 1 && end.Op == ir.Yield && analysis.EndsIn(in.Else, ir.Yield):
		f.selects(b, in)
		return
	}
	f.common(in, entry)
	b.Instrs = append(b.Instrs, in)
	f.define(in.Results)
}

// onlyEnd reports whether control leaves the Region in only at the end of its block, whose terminator is end.
func (f *folder) onlyEnd(in, end *ir.Instr) bool {
	breaks := f.s.Breaks[in]
	return len(breaks) == 0 || len(breaks) == 1 && breaks[0] == end
}

// splice replaces a structured instruction by the instructions of inner, one of its blocks. It keeps end, the terminator of
// inner, unless end only passes the results.
func (f *folder) splice(b *ir.Block, in *ir.Instr, inner *ir.Block, end *ir.Instr) {
	f.changed = true
	b.Instrs = append(b.Instrs, inner.Instrs[:len(inner.Instrs)-1]...)
	if end.Op == ir.Yield || end.Op == ir.Break && end.Target == in {
		for i, r := range in.Results {
			f.replace(r, end.Args[i])
		}
		return
	}
	b.Instrs = append(b.Instrs, end)
}

// selects converts an if that only selects values to Select instructions.
func (f *folder) selects(b *ir.Block, in *ir.Instr) {
	f.changed = true
	yes, no := in.Then.Instrs[0].Args, in.Else.Instrs[0].Args
	for i, r := range in.Results {
		sel := &ir.Instr{Op: ir.Select, Args: []*ir.Value{in.Args[0], yes[i], no[i]}, Results: []*ir.Value{r}, Site: in.Site}
		r.Def = sel
		f.simple(b, sel)
	}
}

// common replaces the results of in that have the same value on all edges. entry is the number of values defined before in;
// later ones are not visible after in.
func (f *folder) common(in *ir.Instr, entry int) {
	edges := f.s.Ends(in)
	if len(edges) == 0 {
		return
	}
	for i, r := range in.Results {
		v := f.resolve(edges[0].Args[i])
		if at := f.order.At(v); at == 0 || at > entry {
			continue
		}
		if f.subst.At(r) == nil && !slices.ContainsFunc(edges, func(e *ir.Instr) bool { return f.resolve(e.Args[i]) != v }) {
			f.replace(r, v)
		}
	}
}
