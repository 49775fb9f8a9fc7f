package opt

import (
	"math"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// CanonicalizeNaNs inserts a [ir.Quant] before each use that exposes the bits of a computed float, so that a stored NaN is
// canonical. Such uses are the operands that atomics store or compare, and the operands of [ir.Call]. They are also stores of f32
// and f64 in buffers, and in arrays with a compare-exchange. Stores of f16 and bf16 and arithmetic atomics canonicalize by
// themselves.
//
// A plain copy keeps its bits. All sources of a plain copy are elements of f32 or f64, scalar parameters and constants. It may
// pass through control flow, [ir.Select] and shuffles, and through private or shared arrays that hold only copies.
func CanonicalizeNaNs(k *ir.Kernel) {
	c := &copies{computed: make([]bool, k.NumValues()), arrays: make([]bool, len(k.Arrays)), compared: make([]bool, len(k.Arrays))}
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op == ir.Atomic && in.Atomic == ir.AtomicCompareExchange {
			c.compared[in.Array.ID] = true
		}
	})
	for c.changed = true; c.changed; {
		c.changed = false
		c.block(k.Body)
	}
	c.insert(k, k.Body)
}

// copies finds the computed floats: those that may be a NaN whose bits are neither canonical nor copied.
type copies struct {
	computed []bool // by Value.ID
	arrays   []bool // by Array.ID: a computed float is stored in the private or shared array
	compared []bool // by Array.ID: a compare-exchange compares bits of the array's elements
	changed  bool
}

func (c *copies) mark(v *ir.Value, computed bool) {
	if computed && v.Type.IsFloat() && !c.computed[v.ID] {
		c.computed[v.ID] = true
		c.changed = true
	}
}

// moved marks each value of to whose counterpart in from is a computed float. from holds the operands of a jump or loop.
func (c *copies) moved(to, from []*ir.Value) {
	for i, v := range to {
		c.mark(v, c.computed[from[i].ID])
	}
}

func (c *copies) block(b *ir.Block) {
	if b == nil {
		return
	}
	for _, in := range b.Instrs {
		switch in.Op {
		case ir.Loop:
			c.moved(in.Then.Params, in.Args)
		case ir.Continue:
			c.moved(in.Target.Then.Params, in.Args)
		case ir.Break:
			c.moved(in.Target.Results, in.Args)
		case ir.Store:
			a := in.Array.ID
			if c.computed[in.Args[len(in.Args)-1].ID] && !c.shows(in) && !c.arrays[a] {
				c.arrays[a] = true
				c.changed = true
			}
		}
		c.block(in.Then)
		c.block(in.Else)
		if in.Op == ir.Region || in.Op == ir.If {
			for _, arm := range []*ir.Block{in.Then, in.Else} {
				if arm != nil {
					if end := arm.Terminator(); end.Op == ir.Yield {
						c.moved(in.Results, end.Args)
					}
				}
			}
			continue
		}
		for _, r := range in.Results {
			c.mark(r, c.computes(in))
		}
	}
}

// computes reports whether the result of an instruction, if it is a float, may be a NaN whose bits are neither canonical nor
// copied. The results of a Loop are marked at its breaks.
func (c *copies) computes(in *ir.Instr) bool {
	switch in.Op {
	case ir.Const: // every NaN, since folding may have computed it
		return in.Type() == ir.F32 && in.Bits&math.MaxInt32 > 0x7f800000 || in.Type() == ir.F64 && in.Bits&math.MaxInt64 > 0x7ff<<52
	case ir.Quant, ir.Call, ir.Loop:
		return false
	case ir.Convert: // converted integers are never NaN
		return in.Args[0].Type.IsFloat()
	case ir.Load, ir.Atomic:
		return in.Accessed().Size() == 2 || c.arrays[in.Array.ID]
	case ir.Select:
		return c.computed[in.Args[1].ID] || c.computed[in.Args[2].ID]
	case ir.Uniform:
		return c.computed[in.Args[0].ID]
	case ir.Subgroup:
		return !moves(in.Subgroup) || c.computed[in.Args[0].ID]
	}
	return true
}

// moves reports whether a subgroup operation copies a value between items unchanged.
func moves(k ir.SubgroupKind) bool { return k >= ir.SubgroupBroadcast && k <= ir.SubgroupShuffleDown }

// insert adds a Quant before each use that exposes the bits of a computed float.
func (c *copies) insert(k *ir.Kernel, b *ir.Block) {
	if b == nil {
		return
	}
	out := make([]*ir.Instr, 0, len(b.Instrs))
	for _, in := range b.Instrs {
		for i, a := range in.Args {
			if !a.Type.IsFloat() || !c.computed[a.ID] || !c.shows(in) {
				continue
			}
			q := &ir.Instr{Op: ir.Quant, Elem: a.Type, Args: []*ir.Value{a}, Site: in.Site}
			v := k.NewValue(a.Type, q)
			q.Results = []*ir.Value{v}
			c.computed = append(c.computed, false)
			in.Args[i] = v
			out = append(out, q)
		}
		out = append(out, in)
		c.insert(k, in.Then)
		c.insert(k, in.Else)
	}
	b.Instrs = out
}

// shows reports whether the bits of a NaN among an instruction's operands are observable. They are in atomic exchanges,
// compare-exchanges and stores, calls of the host, and stores of f32 and f64 in buffers or arrays with a compare-exchange.
func (c *copies) shows(in *ir.Instr) bool {
	switch in.Op {
	case ir.Store:
		return (in.Array.Space == ir.Global || c.compared[in.Array.ID]) && in.Accessed().Size() >= 4
	case ir.Atomic:
		return in.Atomic >= ir.AtomicExchange
	}
	return in.Op == ir.Call
}
