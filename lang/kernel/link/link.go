// Package link puts the functions of the device library into kernels, in place of the operation Math. What runs or
// lowers kernels links them first; passes then see the functions' own code.
package link

import (
	"fmt"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// Library has the functions that Math names.
//
// A function of n operands is given as a kernel, so that it can be verified, stored and tried like any other: its
// parameters are n scalars of the type and then a buffer of one dimension. Its body ends with a store of the result to
// the buffer's first element and a return, and touches the buffer nowhere else and returns nowhere else. It may use
// other functions of the library.
type Library interface {
	// Function returns the function of that name for a type, or nil if there is none. It must not be changed.
	Function(name string, t ir.Type) *ir.Kernel
}

// FunctionError says why a function could not be linked.
type FunctionError struct {
	Kernel string
	Site   int // position in [ir.Kernel.Sites] of the kernel
	Name   string
	Type   ir.Type
	Msg    string
}

func (e *FunctionError) Error() string {
	return fmt.Sprintf("kernel %s: Math.%s of %v: %s", e.Kernel, e.Name, e.Type, e.Msg)
}

// maxNesting bounds how deep functions use each other, which finds those that use themselves.
const maxNesting = 16

// Link replaces every Math operation of a kernel, in place. After an error the kernel is left half done and must not be
// used.
func Link(k *ir.Kernel, library Library) error {
	l := &linker{k: k, library: library, values: map[*ir.Value]*ir.Value{}, arrays: map[*ir.Array]*ir.Array{}}
	return l.block(k.Body)
}

type linker struct {
	k       *ir.Kernel
	library Library
	nesting int
	values  map[*ir.Value]*ir.Value // what stands for the result of an operation that is gone
	arrays  map[*ir.Array]*ir.Array // tables and private arrays of functions, as the kernel's own
}

// block replaces the Math operations of a block of the kernel.
func (l *linker) block(b *ir.Block) error {
	if b == nil {
		return nil
	}
	old := b.Instrs
	b.Instrs = make([]*ir.Instr, 0, len(old))
	for _, in := range old {
		for i, v := range in.Args {
			if r, ok := l.values[v]; ok {
				in.Args[i] = r
			}
		}
		if err := l.block(in.Then); err != nil {
			return err
		}
		if err := l.block(in.Else); err != nil {
			return err
		}
		if in.Op != ir.Math {
			b.Instrs = append(b.Instrs, in)
			continue
		}
		result, err := l.expand(b, in)
		if err != nil {
			return err
		}
		l.values[in.Result()] = result
	}
	return nil
}

// expand appends the function that an instruction names to a block, and returns its result.
func (l *linker) expand(to *ir.Block, in *ir.Instr) (*ir.Value, error) {
	fail := func(format string, args ...any) error {
		return &FunctionError{l.k.Name, in.Site, in.Fn, in.Type(), fmt.Sprintf(format, args...)}
	}
	f := l.library.Function(in.Fn, in.Type())
	if f == nil {
		return nil, fail("there is no such function")
	}
	if l.nesting == maxNesting {
		return nil, fail("it uses itself")
	}
	out, err := signature(f, in)
	if err != "" {
		return nil, fail("%s", err)
	}
	c := &cloner{linker: l, site: in.Site, values: map[*ir.Value]*ir.Value{}, instrs: map[*ir.Instr]*ir.Instr{}}
	for i, p := range f.Body.Params {
		c.values[p] = in.Args[i]
	}
	body, store := f.Body.Instrs[:len(f.Body.Instrs)-2], f.Body.Instrs[len(f.Body.Instrs)-2]
	if err := pure(body, out); err != "" {
		return nil, fail("%s", err)
	}
	l.nesting++
	defer func() { l.nesting-- }()
	if err := c.append(to, body); err != nil {
		return nil, err
	}
	return c.values[store.Args[1]], nil
}

// signature checks that a function can stand for an instruction, and returns the buffer of its result.
func signature(f *ir.Kernel, in *ir.Instr) (out *ir.Array, err string) {
	t, n := in.Type(), len(in.Args)
	if len(f.Params) != n+1 {
		return nil, fmt.Sprintf("it takes %d operands, not %d", len(f.Params)-1, n)
	}
	for i := range n {
		if f.Params[i].Array != nil || f.Params[i].Type != t {
			return nil, fmt.Sprintf("operand %d is not of type %v", i+1, t)
		}
	}
	out = f.Params[n].Array
	end := len(f.Body.Instrs) - 2
	if out == nil || end < 0 {
		return nil, "it has no buffer for its result"
	}
	store := f.Body.Instrs[end]
	if store.Op != ir.Store || store.Array != out || len(store.Args) != 2 || store.Args[1].Type != t ||
		f.Body.Instrs[end+1].Op != ir.Return {
		return nil, "it does not end with the store of its result"
	}
	return out, ""
}

// pure checks that a function computes and does nothing else.
func pure(body []*ir.Instr, out *ir.Array) (err string) {
	block := ir.Block{Instrs: body}
	block.Walk(func(in *ir.Instr) {
		switch {
		case in.Array == out || in.Array != nil && in.Array.Space != ir.Private && in.Array.Space != ir.Table:
			err = fmt.Sprintf("it uses %s before its end", in.Array.Name)
		case in.Op >= ir.Item && in.Op <= ir.Call || in.Op == ir.Return:
			err = fmt.Sprintf("it has the operation %v", in.Op)
		}
	})
	return err
}

// cloner copies the code of a function into the kernel.
type cloner struct {
	*linker
	site   int
	values map[*ir.Value]*ir.Value
	instrs map[*ir.Instr]*ir.Instr // structured ones, the targets of jumps
}

func (c *cloner) append(to *ir.Block, body []*ir.Instr) error {
	for _, in := range body {
		n := *in
		n.Site, n.Proved = c.site, 0
		n.Args = make([]*ir.Value, len(in.Args))
		for i, v := range in.Args {
			n.Args[i] = c.values[v]
		}
		if in.Op == ir.Math {
			result, err := c.expand(to, &n)
			if err != nil {
				return err
			}
			c.values[in.Result()] = result
			continue
		}
		if in.Target != nil {
			n.Target = c.instrs[in.Target]
		}
		if in.Array != nil {
			n.Array = c.array(in.Array)
		}
		c.instrs[in] = &n
		for _, b := range []**ir.Block{&n.Then, &n.Else} {
			if *b == nil {
				continue
			}
			inner := &ir.Block{Params: c.fresh((*b).Params, nil)}
			if err := c.append(inner, (*b).Instrs); err != nil {
				return err
			}
			*b = inner
		}
		n.Results = c.fresh(in.Results, &n)
		to.Instrs = append(to.Instrs, &n)
	}
	return nil
}

// fresh makes values of the kernel for those of a function.
func (c *cloner) fresh(values []*ir.Value, def *ir.Instr) []*ir.Value {
	var out []*ir.Value
	for _, v := range values {
		r := c.k.NewValue(v.Type, def)
		r.Name = v.Name
		c.values[v] = r
		out = append(out, r)
	}
	return out
}

// array is the kernel's own copy of a function's table or private array, one for all uses of the function.
func (c *cloner) array(a *ir.Array) *ir.Array {
	own := c.arrays[a]
	if own == nil {
		own = new(ir.Array)
		*own = *a
		own.ID = len(c.k.Arrays)
		own.Name = fmt.Sprintf("%s.%d", a.Name, own.ID)
		c.k.Arrays = append(c.k.Arrays, own)
		c.arrays[a] = own
	}
	return own
}
