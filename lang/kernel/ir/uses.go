package ir

// Uses holds the uses of a kernel's values at the time of [Kernel.Uses].
type Uses struct {
	of     [][]*Instr
	parent map[*Instr]*Instr
}

// Uses returns the uses of all values of the kernel, and the parent of each instruction.
func (k *Kernel) Uses() *Uses {
	u := &Uses{of: make([][]*Instr, k.NumValues()), parent: map[*Instr]*Instr{}}
	u.block(k.Body, nil)
	return u
}

func (u *Uses) block(b *Block, parent *Instr) {
	if b == nil {
		return
	}
	for _, in := range b.Instrs {
		u.parent[in] = parent
		for _, a := range in.Args {
			u.of[a.ID] = append(u.of[a.ID], in)
		}
		u.block(in.Then, in)
		u.block(in.Else, in)
	}
}

// Of returns the instructions that use the value, in order. An instruction that uses it twice is listed twice.
func (u *Uses) Of(v *Value) []*Instr { return u.of[v.ID] }

// Count returns the number of operands that use the value.
func (u *Uses) Count(v *Value) int { return len(u.of[v.ID]) }

// Parent returns the enclosing structured instruction, or nil at the top of the kernel.
func (u *Uses) Parent(in *Instr) *Instr { return u.parent[in] }

// ReplaceUses replaces each operand that is a key of the map, including those in nested blocks.
func (b *Block) ReplaceUses(with map[*Value]*Value) {
	b.Walk(func(in *Instr) {
		for i, a := range in.Args {
			if r := with[a]; r != nil {
				in.Args[i] = r
			}
		}
	})
}
