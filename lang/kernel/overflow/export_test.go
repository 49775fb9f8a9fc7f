package overflow

import "github.com/orepl/orepl/lang/kernel/ir"

// AssertRest inserts an assertion after each 32-bit sum, difference, product and negation outside the set, and returns their
// number.
func AssertRest(k *ir.Kernel, set map[*ir.Instr]bool) (n int) {
	var block func(b *ir.Block) *ir.Block
	block = func(b *ir.Block) *ir.Block {
		if b == nil {
			return nil
		}
		out := &ir.Builder{Kernel: k, Block: &ir.Block{Params: b.Params}}
		for _, in := range b.Instrs {
			in.Then, in.Else = block(in.Then), block(in.Else)
			out.Block.Instrs = append(out.Block.Instrs, in)
			switch in.Op {
			case ir.Add, ir.Sub, ir.Mul, ir.Neg:
				if t := in.Type(); (t == ir.I32 || t == ir.U32) && !set[in] {
					ok, _ := narrow(out, in, signed(in.Args))
					out.Emit(&ir.Instr{Op: ir.Assert, Assert: ir.AssertOverflow, Args: []*ir.Value{ok, in.Results[0]}, Text: []string{in.Op.String() + " ", ""}}, ir.Void)
					n++
				}
			}
		}
		return out.Block
	}
	k.Body = block(k.Body)
	return n
}
