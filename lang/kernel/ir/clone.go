package ir

import (
	"crypto/sha256"
	"maps"
	"slices"
)

// Clone returns a deep copy of the module, including value IDs and proofs.
func (m *Module) Clone() *Module {
	c := &Module{Files: slices.Clone(m.Files)}
	records := map[*Record]*Record{}
	elem := func(e Elem) Elem {
		if e.Record != nil {
			e.Record = records[e.Record]
		}
		return e
	}
	for _, r := range m.Records {
		n := &Record{Name: r.Name, Size: r.Size, Align: r.Align, Fields: slices.Clone(r.Fields)}
		for i := range n.Fields {
			n.Fields[i].Elem = elem(n.Fields[i].Elem)
			n.Fields[i].Dims = slices.Clone(n.Fields[i].Dims)
		}
		records[r] = n
		c.Records = append(c.Records, n)
	}
	for _, k := range m.Kernels {
		c.Kernels = append(c.Kernels, k.clone(elem))
	}
	return c
}

// Clone returns a deep copy of the kernel that shares its records.
func (k *Kernel) Clone() *Kernel { return k.clone(func(e Elem) Elem { return e }) }

func (k *Kernel) clone(elem func(Elem) Elem) *Kernel {
	c := *k
	c.Params = slices.Clone(k.Params)
	c.Sites = slices.Clone(k.Sites)
	c.Arrays = nil
	for _, a := range k.Arrays {
		n := *a
		n.Elem = elem(a.Elem)
		n.Dims = slices.Clone(a.Dims)
		n.Data = slices.Clone(a.Data)
		c.Arrays = append(c.Arrays, &n)
	}
	for i, p := range c.Params {
		if p.Array != nil {
			c.Params[i].Array = c.Arrays[p.Array.ID]
		}
	}
	copier := cloner{arrays: c.Arrays, values: make([]Value, k.numValues), targets: map[*Instr]*Instr{}}
	instrs, operands := 0, 0
	k.Body.Walk(func(in *Instr) {
		instrs++
		operands += len(in.Args) + len(in.Results)
		if in.Then != nil {
			operands += len(in.Then.Params)
		}
	})
	copier.instrs, copier.lists = make([]Instr, instrs), make([]*Value, operands+len(k.Body.Params))
	c.Body = copier.block(k.Body)
	return &c
}

// cloner copies the body of a kernel. Values keep their IDs, so memory for all of them is allocated at once.
type cloner struct {
	arrays  []*Array
	values  []Value  // by ID
	instrs  []Instr  // unused part of the allocation
	lists   []*Value // unused part of the allocation for operands and results
	targets map[*Instr]*Instr
}

func (c *cloner) list(vs []*Value) []*Value {
	if len(vs) == 0 {
		return nil
	}
	var out []*Value
	out, c.lists = c.lists[:len(vs):len(vs)], c.lists[len(vs):]
	for i, v := range vs {
		out[i] = &c.values[v.ID]
	}
	return out
}

func (c *cloner) define(vs []*Value, def *Instr) []*Value {
	out := c.list(vs)
	for i, v := range vs {
		*out[i] = *v
		out[i].Def = def
	}
	return out
}

func (c *cloner) block(b *Block) *Block {
	if b == nil {
		return nil
	}
	out := &Block{Params: c.define(b.Params, nil), Instrs: make([]*Instr, len(b.Instrs))}
	for i, in := range b.Instrs {
		n := &c.instrs[0]
		c.instrs = c.instrs[1:]
		*n = *in
		if in.Array != nil {
			n.Array = c.arrays[in.Array.ID]
		}
		n.Arrays = slices.Clone(in.Arrays)
		for i, a := range n.Arrays {
			n.Arrays[i] = c.arrays[a.ID]
		}
		if in.Target != nil {
			n.Target = c.targets[in.Target]
		}
		if in.Then != nil {
			c.targets[in] = n
		}
		n.Path, n.Text = slices.Clone(in.Path), slices.Clone(in.Text)
		n.Args = c.list(in.Args)
		n.Then, n.Else = c.block(in.Then), c.block(in.Else)
		n.Results = c.define(in.Results, n)
		out.Instrs[i] = n
	}
	return out
}

// Equal reports whether two modules that pass [Module.Verify] are equal except for value IDs and proofs.
func Equal(a, b *Module) bool { return slices.Equal(a.encode(), b.encode()) }

// Hash returns the SHA-256 of the module's binary form; the module must pass [Module.Verify]. Equal modules have equal hashes.
func (m *Module) Hash() [sha256.Size]byte { return sha256.Sum256(m.encode()) }

// Renumber numbers the kernel's values from 0 in definition order, as in a decoded kernel.
func (k *Kernel) Renumber() {
	k.numValues = 0
	number := func(vs []*Value) {
		for _, v := range vs {
			v.ID = k.numValues
			k.numValues++
		}
	}
	var block func(*Block)
	block = func(b *Block) {
		if b == nil {
			return
		}
		number(b.Params)
		for _, in := range b.Instrs {
			block(in.Then)
			block(in.Else)
			number(in.Results)
		}
	}
	block(k.Body)
}

// Services returns the sorted names of the host services that the kernel calls.
func (k *Kernel) Services() []string {
	names := map[string]bool{}
	k.Body.Walk(func(in *Instr) {
		if in.Op == Call {
			names[in.Fn] = true
		}
	})
	return slices.Sorted(maps.Keys(names))
}
