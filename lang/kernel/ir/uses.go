package ir

// Uses are the places where a kernel's values are used, as the kernel was when they were gathered.
type Uses struct {
	of     [][]*Instr
	parent map[*Instr]*Instr
}

// Uses gathers the uses of all values of the kernel, and the structured instruction around each instruction.
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

// Of returns the instructions that use the value, in order; one that uses it twice is listed twice.
func (u *Uses) Of(v *Value) []*Instr { return u.of[v.ID] }

// Count returns the number of operands that are the value.
func (u *Uses) Count(v *Value) int { return len(u.of[v.ID]) }

// Parent returns the structured instruction around an instruction, or nil in the body of the kernel.
func (u *Uses) Parent(in *Instr) *Instr { return u.parent[in] }

// ReplaceUses replaces each operand in the block, and in those nested in it, that is a key of the map.
func (b *Block) ReplaceUses(with map[*Value]*Value) {
	b.Walk(func(in *Instr) {
		for i, a := range in.Args {
			if r := with[a]; r != nil {
				in.Args[i] = r
			}
		}
	})
}
