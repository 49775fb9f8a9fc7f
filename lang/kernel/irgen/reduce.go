package irgen

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// Reduce reduces a kernel for which fails returns true, by edits after which it still does. The edits remove an
// instruction, a result or a carried value, and replace a value by an operand or by zero. They also replace a structured
// instruction by one of its blocks. The parameters of the kernel are unchanged. Item coordinates are kept, because items that
// store at one index race.
func Reduce(k *ir.Kernel, fails func(*ir.Kernel) bool) *ir.Kernel {
	for {
		before := countInstrs(k)
		changed := false
		for _, e := range edits {
			for n := 0; n < countInstrs(k); {
				c := Module(k).Clone().Kernels[0]
				if e(c, n) && Module(c).Verify() == nil && fails(c) {
					k, changed = c, true
				} else {
					n++
				}
			}
		}
		if !changed || countInstrs(k) > before {
			return Module(k).Clone().Kernels[0]
		}
	}
}

func countInstrs(k *ir.Kernel) (n int) {
	k.Body.Walk(func(*ir.Instr) { n++ })
	return n
}

// edits are the changes that Reduce tries on instruction n of a kernel, in preorder from 0. They return false if they do not
// apply to the instruction; the result need not be valid.
var edits = []func(k *ir.Kernel, n int) bool{
	func(k *ir.Kernel, n int) bool { return replaceByBlock(k, n, false) },
	func(k *ir.Kernel, n int) bool { return replaceByBlock(k, n, true) },
	replaceByZero,
	func(k *ir.Kernel, n int) bool { return replaceByOperand(k, n, 0) },
	func(k *ir.Kernel, n int) bool { return replaceByOperand(k, n, 1) },
	func(k *ir.Kernel, n int) bool { return replaceByOperand(k, n, 2) },
	dropResult, dropParameter,
}

// find returns the block of instruction n and its index there. It returns nil if the block has fewer instructions, whose
// number it subtracts from n.
func find(b *ir.Block, n *int) (*ir.Block, int) {
	if b == nil {
		return nil, 0
	}
	for i, in := range b.Instrs {
		if *n == 0 {
			return b, i
		}
		*n--
		for _, nested := range []*ir.Block{in.Then, in.Else} {
			if at, j := find(nested, n); at != nil {
				return at, j
			}
		}
	}
	return nil, 0
}

// zeros returns zero constants for values, and a substitution map.
func zeros(k *ir.Kernel, values []*ir.Value) (list []*ir.Instr, with map[*ir.Value]*ir.Value) {
	with = map[*ir.Value]*ir.Value{}
	for _, v := range values {
		c := &ir.Instr{Op: ir.Const}
		c.Results = []*ir.Value{k.NewValue(v.Type, c)}
		with[v] = c.Results[0]
		list = append(list, c)
	}
	return list, with
}

// replaceByZero removes an instruction and replaces its used results by zeros. It returns false, without a change, for terminators,
// items and used zero constants.
func replaceByZero(k *ir.Kernel, n int) bool {
	b, i := find(k.Body, &n)
	in := b.Instrs[i]
	if in.Op.IsTerminator() || in.Op == ir.Item {
		return false
	}
	used := usedOf(k, in.Results)
	if in.Op == ir.Const && (in.Bits == 0 && len(used) > 0) {
		return false
	}
	list, with := zeros(k, used)
	b.Instrs = slices.Replace(b.Instrs, i, i+1, list...)
	k.Body.ReplaceUses(with)
	return true
}

// usedOf returns the values that have uses.
func usedOf(k *ir.Kernel, values []*ir.Value) (used []*ir.Value) {
	for _, v := range values {
		found := false
		k.Body.Walk(func(in *ir.Instr) { found = found || slices.Contains(in.Args, v) })
		if found {
			used = append(used, v)
		}
	}
	return used
}

// replaceByOperand removes an instruction with one result and replaces the result by the operand with this index. It must have the
// type of the result.
func replaceByOperand(k *ir.Kernel, n, operand int) bool {
	b, i := find(k.Body, &n)
	in := b.Instrs[i]
	if in.Then != nil || in.Result() == nil || operand >= len(in.Args) || in.Args[operand].Type != in.Type() {
		return false
	}
	b.Instrs = slices.Delete(b.Instrs, i, i+1)
	k.Body.ReplaceUses(map[*ir.Value]*ir.Value{in.Result(): in.Args[operand]})
	return true
}

// replaceByBlock replaces a structured instruction by its second block, Else, if second is set, and otherwise by Then.
func replaceByBlock(k *ir.Kernel, n int, second bool) bool {
	b, i := find(k.Body, &n)
	in := b.Instrs[i]
	inner := in.Then
	if second {
		inner = in.Else
	}
	if inner == nil {
		return false
	}
	with := map[*ir.Value]*ir.Value{}
	for j, p := range inner.Params {
		with[p] = in.Args[j]
	}
	list := slices.Clone(inner.Instrs)
	last := list[len(list)-1]
	switch {
	case last.Op == ir.Yield || last.Op == ir.Break && last.Target == in:
		list = list[:len(list)-1]
		for j, r := range in.Results {
			v := last.Args[j]
			if with[v] != nil {
				v = with[v]
			}
			with[r] = v
		}
		b.Instrs = slices.Replace(b.Instrs, i, i+1, list...)
	case last.Op == ir.Continue && last.Target == in:
		list = list[:len(list)-1]
		consts, results := zeros(k, in.Results)
		for from, to := range results {
			with[from] = to
		}
		b.Instrs = slices.Replace(b.Instrs, i, i+1, append(list, consts...)...)
	default:
		b.Instrs = append(b.Instrs[:i:i], list...)
	}
	k.Body.ReplaceUses(with)
	return true
}

// dropResult removes the first unused result of a structured instruction.
func dropResult(k *ir.Kernel, n int) bool {
	b, i := find(k.Body, &n)
	in := b.Instrs[i]
	if in.Then == nil {
		return false
	}
	used := usedOf(k, in.Results)
	j := slices.IndexFunc(in.Results, func(v *ir.Value) bool { return !slices.Contains(used, v) })
	if j < 0 {
		return false
	}
	in.Results = slices.Delete(in.Results, j, j+1)
	for _, nested := range []*ir.Block{in.Then, in.Else} {
		if nested == nil {
			continue
		}
		if last := nested.Terminator(); last.Op == ir.Yield {
			last.Args = slices.Delete(slices.Clone(last.Args), j, j+1)
		}
		nested.Walk(func(x *ir.Instr) {
			if x.Op == ir.Break && x.Target == in {
				x.Args = slices.Delete(slices.Clone(x.Args), j, j+1)
			}
		})
	}
	return true
}

// dropParameter removes the first carried value that the loop only passes on.
func dropParameter(k *ir.Kernel, n int) bool {
	b, i := find(k.Body, &n)
	in := b.Instrs[i]
	if in.Op != ir.Loop {
		return false
	}
	for j, p := range in.Then.Params {
		used := false
		in.Then.Walk(func(x *ir.Instr) {
			for a, v := range x.Args {
				used = used || v == p && !(x.Op == ir.Continue && x.Target == in && a == j)
			}
		})
		if used {
			continue
		}
		in.Then.Params = slices.Delete(slices.Clone(in.Then.Params), j, j+1)
		in.Args = slices.Delete(slices.Clone(in.Args), j, j+1)
		in.Then.Walk(func(x *ir.Instr) {
			if x.Op == ir.Continue && x.Target == in {
				x.Args = slices.Delete(slices.Clone(x.Args), j, j+1)
			}
		})
		return true
	}
	return false
}
