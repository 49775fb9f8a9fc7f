package kernels

import (
	"fmt"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// Expand replaces every call of a library function in the module by the function's code, in place. Equal calls in a
// block should be merged before (package opt), the code cleaned after. It is for the module of a backend that lowers it:
// images keep the calls and stay small.
//
// On an error, which says which function of which kernel is unknown or called wrongly, the module is as it was.
func (l *Library) Expand(m *ir.Module) error {
	for _, k := range m.Kernels {
		if err := l.check(k); err != nil {
			return err
		}
	}
	for _, k := range m.Kernels {
		l.expand(k)
	}
	return nil
}

// ExpandKernel is Expand for one kernel of a module.
func (l *Library) ExpandKernel(k *ir.Kernel) error {
	if err := l.check(k); err != nil {
		return err
	}
	l.expand(k)
	return nil
}

func (l *Library) expand(k *ir.Kernel) {
	x := expander{library: l, kernel: k, with: map[*ir.Value]*ir.Value{}, tables: map[string]*ir.Array{}}
	x.block(k.Body)
	if len(x.with) > 0 {
		k.Body.ReplaceUses(x.with)
	}
}

// Needed reports whether the module calls the library.
func Needed(m *ir.Module) bool {
	needed := false
	for _, k := range m.Kernels {
		k.Body.Walk(func(in *ir.Instr) { needed = needed || in.Op == ir.Math })
	}
	return needed
}

// check reports the first call in the kernel that cannot be expanded.
func (l *Library) check(k *ir.Kernel) error {
	var err error
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op != ir.Math || err != nil {
			return
		}
		f, unknown := l.find(in.Fn, in.Type())
		switch {
		case unknown != nil:
			err = fmt.Errorf("kernel %s: %w", k.Name, unknown)
		case len(in.Args) != len(f.kernel.Body.Params):
			err = fmt.Errorf("kernel %s: function %s takes %d arguments, and %d are given", k.Name, in.Fn, len(f.kernel.Body.Params), len(in.Args))
		}
	})
	return err
}

// expander expands the calls of one kernel.
type expander struct {
	library *Library
	kernel  *ir.Kernel
	with    map[*ir.Value]*ir.Value // what stands for the results of calls
	tables  map[string]*ir.Array    // the library's tables in the kernel, by name and contents
}

func (x *expander) block(b *ir.Block) {
	if b == nil {
		return
	}
	var out []*ir.Instr
	for _, in := range b.Instrs {
		x.block(in.Then)
		x.block(in.Else)
		if in.Op != ir.Math || x.library.leaves(in) {
			out = append(out, in)
			continue
		}
		f, _ := x.library.find(in.Fn, in.Type())
		out = append(out, x.inline(f, in)...)
	}
	b.Instrs = out
}

// inline is the function's instructions for the arguments of a call.
func (x *expander) inline(f *function, call *ir.Instr) []*ir.Instr {
	c := ir.Copier{To: x.kernel, Values: map[*ir.Value]*ir.Value{}, Change: func(in *ir.Instr) {
		in.Site = call.Site
		if in.Array != nil {
			in.Array = x.table(in.Array)
		}
	}}
	for i, p := range f.kernel.Body.Params {
		c.Values[p] = x.resolve(call.Args[i])
	}
	var out []*ir.Instr
	for _, in := range f.kernel.Body.Instrs {
		if in == f.store {
			break
		}
		if in != f.unused {
			out = append(out, c.Instr(in))
		}
	}
	x.with[call.Result()] = c.Values[f.store.Args[len(f.store.Args)-1]]
	return out
}

// resolve is what stands for a value.
func (x *expander) resolve(v *ir.Value) *ir.Value {
	if r := x.with[v]; r != nil {
		return r
	}
	return v
}

// table is the kernel's copy of a table of the library.
func (x *expander) table(a *ir.Array) *ir.Array {
	key := a.Name + "\x00" + string(a.Data)
	if t := x.tables[key]; t != nil {
		return t
	}
	t := *a
	t.ID = len(x.kernel.Arrays)
	t.Name = x.unique(a.Name)
	x.kernel.Arrays = append(x.kernel.Arrays, &t)
	x.tables[key] = &t
	return &t
}

func (x *expander) unique(name string) string {
	taken := map[string]bool{}
	for _, a := range x.kernel.Arrays {
		taken[a.Name] = true
	}
	unique := name
	for i := 2; taken[unique]; i++ {
		unique = fmt.Sprintf("%s_%d", name, i)
	}
	return unique
}
