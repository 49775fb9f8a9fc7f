package kernels

import (
	"fmt"
	"maps"
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// Expand inlines the calls of library functions in the module, and replaces extension operations by their fallbacks. It keeps
// those that [Library.Leaving] names. Callers should merge equal calls of a block before it and optimize afterwards (package
// opt). It is for back ends: images keep the calls and stay small.
//
// If it returns an error, which names the kernel and the unknown or misused function, the module is unchanged.
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

// ExpandKernel expands one kernel of a module like [Library.Expand]. If it returns an error, the kernel is unchanged.
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

func isExtension(in *ir.Instr) bool { return in.Op == ir.Region && in.Fn != "" }

// Needed reports whether the module calls the library or has extension operations.
func Needed(m *ir.Module) bool {
	needed := false
	for _, k := range m.Kernels {
		k.Body.Walk(func(in *ir.Instr) { needed = needed || in.Op == ir.Math || in.Op == ir.Lib || isExtension(in) })
	}
	return needed
}

// check returns an error for the first call in the kernel that cannot be expanded.
func (l *Library) check(k *ir.Kernel) error {
	var err error
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op == ir.Lib && err == nil && !l.leaves(in) {
			err = l.checkCall(k, in)
		}
		if in.Op != ir.Math || err != nil {
			return
		}
		f, failed := l.find(in.Fn, in.Type())
		switch {
		case failed != nil:
			err = fmt.Errorf("kernel %s: %w", k.Name, failed)
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
	with    map[*ir.Value]*ir.Value // replacements of the results of calls
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
		if isExtension(in) && !x.library.leaves(in) {
			in.Fn, in.Args = "", nil
		}
		if in.Op != ir.Math && in.Op != ir.Lib || x.library.leaves(in) {
			out = append(out, in)
			continue
		}
		f, _ := x.library.called(in) // as check found it
		out = append(out, x.inline(f, in)...)
	}
	b.Instrs = out
}

// called returns the function that an instruction calls, or nil if the library has none that Lib can call.
func (l *Library) called(call *ir.Instr) (*function, error) {
	if call.Op == ir.Math {
		return l.find(call.Fn, call.Type())
	}
	return l.function(call.Fn)
}

// checkCall returns an error for a call that does not match the function.
func (l *Library) checkCall(k *ir.Kernel, call *ir.Instr) error {
	f, err := l.function(call.Fn)
	if err != nil {
		return fmt.Errorf("kernel %s: %w", k.Name, err)
	}
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("kernel %s: function %s %s", k.Name, call.Fn, fmt.Sprintf(format, args...))
	}
	if f == nil {
		return fmt.Errorf("kernel %s: %w", k.Name, &UnknownError{Fn: call.Fn, Has: slices.Sorted(maps.Keys(l.functions))})
	}
	params := f.kernel.Body.Params
	switch {
	case len(call.Args) != len(params):
		return wrong("takes %d operands, and %d are given", len(params), len(call.Args))
	case len(call.Arrays) != len(f.arrays):
		return wrong("takes %d arrays, and %d are given", len(f.arrays), len(call.Arrays))
	case len(call.Results) != len(f.stores):
		return wrong("has %d results, not %d", len(f.stores), len(call.Results))
	}
	for i, a := range call.Args {
		if a.Type != params[i].Type {
			return wrong("takes %v as operand %d, not %v", params[i].Type, i+1, a.Type)
		}
	}
	for i, r := range call.Results {
		if t := f.result(i).Type; t != r.Type {
			return wrong("has %v as result %d, not %v", t, i+1, r.Type)
		}
	}
	for i, a := range call.Arrays {
		if want := f.arrays[i]; a.Rank != want.Rank || !sameElem(a.Elem, want.Elem) {
			return wrong("takes an array of %v of rank %d, and %s is one of %v of rank %d", want.Elem, want.Rank, a.Name, a.Elem, a.Rank)
		}
		if f.atomics[f.arrays[i]] && a.Space == ir.Private {
			return wrong("has atomics on array %d, and %s is private", i+1, a.Name)
		}
	}
	return nil
}

// sameElem reports whether elements have the same layout.
func sameElem(a, b ir.Elem) bool {
	if a.Record == nil || b.Record == nil {
		return a == b
	}
	return slices.EqualFunc(a.Record.Fields, b.Record.Fields, func(x, y ir.Field) bool {
		return slices.Equal(x.Dims, y.Dims) && sameElem(x.Elem, y.Elem)
	})
}

// inline returns copies of the function's instructions with the arguments of a call. It adds the arrays that they need to the
// kernel, and the values that replace the call's results to with.
func (x *expander) inline(f *function, call *ir.Instr) []*ir.Instr {
	arrays := map[*ir.Array]*ir.Array{}
	for i, a := range f.arrays {
		arrays[a] = call.Arrays[i]
	}
	var out []*ir.Instr
	for _, a := range f.kernel.Arrays {
		if a.Space == ir.Private {
			own := x.private(a)
			arrays[a] = own
			out = append(out, &ir.Instr{Op: ir.Zero, Array: own, Site: call.Site})
		}
	}
	c := ir.Copier{To: x.kernel, Values: map[*ir.Value]*ir.Value{}, Change: func(in *ir.Instr) {
		in.Site = call.Site
		switch {
		case in.Array == nil:
		case in.Array.Space == ir.Table:
			in.Array = x.table(in.Array)
		default:
			in.Array = arrays[in.Array]
			if in.Op == ir.Extent && in.Array.Space != ir.Global {
				*in = ir.Instr{Op: ir.Const, Bits: uint64(in.Array.Dims[in.Axis]), Site: in.Site, Results: in.Results}
			}
		}
	}}
	for i, p := range f.kernel.Body.Params {
		c.Values[p] = x.resolve(call.Args[i])
	}
	for _, in := range f.kernel.Body.Instrs {
		if slices.Contains(f.stores, in) || in.Op == ir.Return {
			break
		}
		if !slices.Contains(f.unused, in) {
			out = append(out, c.Instr(in))
		}
	}
	for i, r := range call.Results {
		from := f.result(i)
		to := c.Values[from]
		if to == nil {
			to = from
		}
		x.with[r] = to
	}
	return out
}

// private adds a private array like that of a function to the kernel, and returns it.
func (x *expander) private(a *ir.Array) *ir.Array {
	own := *a
	own.ID, own.Name = len(x.kernel.Arrays), x.unique(a.Name)
	x.kernel.Arrays = append(x.kernel.Arrays, &own)
	return &own
}

// resolve returns the value that replaces v, or v itself if none does.
func (x *expander) resolve(v *ir.Value) *ir.Value {
	if r := x.with[v]; r != nil {
		return r
	}
	return v
}

// table returns the kernel's copy of a table of the library, which it adds at the first use.
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

// unique returns a name, with a number appended if an array of the kernel has it already.
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
