package ir

import "slices"

// Copier copies instructions with their nested blocks.
type Copier struct {
	To     *Kernel           // kernel that numbers the copied values; nil: copies keep their IDs
	Values map[*Value]*Value // substitution of values in copies, extended by copied definitions; other values are unchanged
	Change func(*Instr)      // if not nil, modifies a copy that has its operands but not its nested blocks

	instrs map[*Instr]*Instr
}

// All returns the substituted values, and those without a substitute unchanged.
func (c *Copier) All(vs []*Value) []*Value {
	if vs == nil {
		return nil
	}
	out := make([]*Value, len(vs))
	for i, v := range vs {
		out[i] = v
		if by := c.Values[v]; by != nil {
			out[i] = by
		}
	}
	return out
}

// Define returns copies of the values with definition def, and adds them to the substitution.
func (c *Copier) Define(vs []*Value, def *Instr) []*Value {
	if vs == nil {
		return nil
	}
	out := make([]*Value, len(vs))
	for i, v := range vs {
		n := *v
		n.Def = def
		if c.To != nil {
			n.ID = c.To.numValues
			c.To.numValues++
		}
		out[i] = &n
		c.Values[v] = &n
	}
	return out
}

// Instr copies an instruction. Jumps to an instruction outside the copy keep their target.
func (c *Copier) Instr(in *Instr) *Instr {
	n := *in
	if c.instrs == nil {
		c.instrs = map[*Instr]*Instr{}
	}
	c.instrs[in] = &n
	n.Args = c.All(in.Args)
	n.Path = slices.Clone(in.Path)
	n.Text = slices.Clone(in.Text)
	n.Arrays = slices.Clone(in.Arrays)
	if to := c.instrs[in.Target]; to != nil {
		n.Target = to
	}
	if c.Change != nil {
		c.Change(&n)
	}
	n.Then, n.Else = c.Block(in.Then), c.Block(in.Else)
	n.Results = c.Define(in.Results, &n)
	return &n
}

// Block returns a copy of a block, or nil for nil.
func (c *Copier) Block(b *Block) *Block {
	if b == nil {
		return nil
	}
	n := &Block{Params: c.Define(b.Params, nil)}
	if b.Instrs != nil {
		n.Instrs = make([]*Instr, len(b.Instrs))
	}
	for i, in := range b.Instrs {
		n.Instrs[i] = c.Instr(in)
	}
	return n
}
