package kernels

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/orepl/orepl/lang/kernel/ir"
)

//go:embed math/*.irb
var embedded embed.FS

// common is the embedded library. Each file is a module of one function and has its name.
var common = sync.OnceValue(func() map[string]entry {
	files, _ := embedded.ReadDir("math") // an embedded folder has no read errors
	functions := make(map[string]entry, len(files))
	for _, file := range files {
		name := strings.TrimSuffix(file.Name(), ".irb")
		functions[name] = sync.OnceValues(func() (*function, error) { return decode(file.Name()) })
	}
	return functions
})

// entry returns a function of a library, decoded at the first call.
type entry func() (*function, error)

func decode(file string) (*function, error) {
	data, err := embedded.ReadFile("math/" + file)
	if err != nil {
		return nil, err
	}
	m, err := ir.DecodeBinary(data)
	if err != nil {
		return nil, err
	}
	return newFunction(m.Kernels[0])
}

// Library is a set of functions for [ir.Math] and [ir.Lib]. It is safe for concurrent use.
type Library struct {
	functions map[string]entry // by name and type, such as "exp.f32"
	left      []string         // names of functions whose calls are not expanded
}

// function is a library function as a kernel. Its parameters are the scalar operands, the arrays passed by reference, and a
// buffer for each result. Its body ends with stores of the results.
type function struct {
	kernel  *ir.Kernel
	arrays  []*ir.Array        // arrays passed by reference
	atomics map[*ir.Array]bool // arrays with atomics
	stores  []*ir.Instr        // final stores of the results
	unused  []*ir.Instr        // constant indices of the stores, if nothing else uses them
}

// result returns the value that the store of result i writes.
func (f *function) result(i int) *ir.Value {
	args := f.stores[i].Args
	return args[len(args)-1]
}

// signature returns the function's operands and results as text.
func (f *function) signature() string {
	var b strings.Builder
	b.WriteString("(")
	sep := ""
	for _, p := range f.kernel.Body.Params {
		b.WriteString(sep + p.Type.String())
		sep = ", "
	}
	for _, a := range f.arrays {
		b.WriteString(sep + a.Elem.String() + "[*" + strings.Repeat(",*", a.Rank-1) + "]")
		sep = ", "
	}
	b.WriteString(") → (")
	for i := range f.stores {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(f.result(i).Type.String())
	}
	return b.String() + ")"
}

// isMath reports whether Math can call the function: it has no arrays, and its operands and its only result have one float
// type.
func (f *function) isMath() bool {
	if len(f.arrays) > 0 || len(f.stores) != 1 || !f.result(0).Type.IsFloat() {
		return false
	}
	return !slices.ContainsFunc(f.kernel.Body.Params, func(p *ir.Value) bool { return p.Type != f.result(0).Type })
}

// UnknownError reports that the library has no function of this name and type.
type UnknownError struct {
	Fn   string
	Type ir.Type
	Has  []string // the available names
}

// Error returns the name and the available functions.
func (e *UnknownError) Error() string {
	if e.Type == ir.Void {
		return fmt.Sprintf("the device library has no function %s; it has %s", e.Fn, strings.Join(e.Has, ", "))
	}
	return fmt.Sprintf("the device library has no function %s for %s; it has %s", e.Fn, e.Type, strings.Join(e.Has, ", "))
}

// Code returns "not-found", an error code of runtime/offload.
func (e *UnknownError) Code() string { return "not-found" }

// New returns the embedded library. Its functions are decoded when they are first needed, once in a process.
func New() *Library { return &Library{functions: common()} }

// With returns a library in which the kernels of m, named like "exp.f32", replace or extend the functions. A target's
// version of a function must have the same bits as the common one for every argument, unless its name starts with "fast.".
//
// A kernel takes the operands as scalars, then buffers: arrays passed by reference, and one-dimensional ones for the results.
// Its body ends with stores of the results in their element 0. It may have constant tables, but no shared memory, group operations,
// coordinates, host services or calls of the library. A function without arrays by reference must not fault, must depend only on
// its operands, and must not access private arrays. A kernel of another form, or with other operands or results than the function
// that it replaces, is an error.
func (l *Library) With(m *ir.Module) (*Library, error) {
	if err := m.Verify(); err != nil {
		return nil, fmt.Errorf("device library: %w", err)
	}
	n := &Library{functions: maps.Clone(l.functions), left: l.left}
	if n.functions == nil {
		n.functions = map[string]entry{}
	}
	for _, k := range m.Kernels {
		f, err := newFunction(k)
		if err == nil {
			err = n.fits(f)
		}
		if err != nil {
			return nil, fmt.Errorf("device library: function %s: %w", k.Name, err)
		}
		n.functions[k.Name] = func() (*function, error) { return f, nil }
	}
	return n, nil
}

// fits returns an error if the library's exact function of the same name has another signature.
func (l *Library) fits(f *function) error {
	exact, _ := strings.CutPrefix(f.kernel.Name, "fast.")
	old, err := l.function(exact)
	if err == nil && old != nil && old.signature() != f.signature() {
		err = fmt.Errorf("it is %s, and replaces %s", f.signature(), old.signature())
	}
	return err
}

// function returns the function with a name and type such as "exp.f32", or nil if the library has none.
func (l *Library) function(name string) (*function, error) {
	e := l.functions[name]
	if e == nil {
		return nil, nil
	}
	f, err := e()
	if err != nil {
		return nil, fmt.Errorf("device library: function %s: %w", name, err)
	}
	return f, nil
}

// Leaving returns a library that does not expand calls of some functions, named like "fast.rsqrt.f32", for which a target
// has instructions. "extension.dot4" names an extension operation. Names of earlier calls of Leaving are not kept.
func (l *Library) Leaving(names ...string) *Library {
	return &Library{functions: l.functions, left: names}
}

// leaves reports whether the library does not expand a call because of [Library.Leaving].
func (l *Library) leaves(call *ir.Instr) bool {
	if len(l.left) == 0 {
		return false
	}
	switch call.Op {
	case ir.Math:
		return slices.Contains(l.left, call.Fn+"."+call.Type().String())
	case ir.Lib:
		return slices.Contains(l.left, call.Fn)
	}
	return slices.Contains(l.left, "extension."+call.Fn)
}

func newFunction(k *ir.Kernel) (*function, error) {
	f := &function{kernel: k, atomics: map[*ir.Array]bool{}}
	var buffers []*ir.Array
	for _, p := range k.Params {
		switch {
		case p.Array != nil:
			buffers = append(buffers, p.Array)
		case len(buffers) > 0:
			return nil, fmt.Errorf("parameter %s is a scalar and stands after a buffer", p.Name)
		}
	}
	if err := f.findResults(buffers); err != nil {
		return nil, err
	}
	var err error
	end := k.Body.Terminator()
	k.Body.Walk(func(in *ir.Instr) {
		ok := false
		switch in.Op {
		case ir.If, ir.Loop, ir.Region, ir.Yield, ir.Break, ir.Continue, ir.Unreachable:
			ok = true
		case ir.Return:
			ok = in == end
		case ir.Load, ir.Store, ir.Atomic, ir.Zero:
			ok = in.Array.Space == ir.Table || in.Array.Space == ir.Private && len(f.arrays) > 0 || slices.Contains(f.arrays, in.Array) || slices.Contains(f.stores, in)
			f.atomics[in.Array] = f.atomics[in.Array] || in.Op == ir.Atomic
		case ir.Extent:
			ok = slices.Contains(f.arrays, in.Array)
		case ir.Item, ir.Math, ir.Lib:
		case ir.Fence, ir.Clock, ir.Pause, ir.Div, ir.Rem, ir.Assert:
			ok = len(f.arrays) > 0 || in.IsPure()
		default:
			ok = in.IsPure()
		}
		if !ok {
			err = fmt.Errorf("it has the operation %s, which a function of the library may not have", in.Op)
		}
	})
	return f, err
}

// findResults separates the buffers of results, which the final stores write, from the arrays passed by reference. It also
// notes the constant indices that only these stores use.
func (f *function) findResults(buffers []*ir.Array) error {
	body := f.kernel.Body.Instrs
	if end := f.kernel.Body.Terminator(); end == nil || end.Op != ir.Return {
		return fmt.Errorf("its body does not end by storing the results and returning")
	}
	uses := map[*ir.Array]int{}
	f.kernel.Body.Walk(func(in *ir.Instr) {
		if in.Array != nil {
			uses[in.Array]++
		}
	})
	n := len(buffers)
	for at := len(body) - 2; at >= 0 && n > 0; at-- {
		in, a := body[at], buffers[n-1]
		if in.Op != ir.Store || in.Array != a || uses[a] != 1 || a.Rank != 1 || !a.Elem.Scalar.IsValue() {
			break
		}
		f.stores = append(f.stores, in)
		n--
	}
	slices.Reverse(f.stores)
	f.arrays = buffers[:n]
	if len(buffers) == 0 || len(f.stores) == 0 && len(f.arrays) == 0 {
		return fmt.Errorf("it has neither a result nor an array")
	}
	count := f.kernel.Uses()
	for _, s := range f.stores {
		if index := s.Args[0].Def; index != nil && index.Op == ir.Const && !slices.ContainsFunc(count.Of(s.Args[0]), func(in *ir.Instr) bool { return !slices.Contains(f.stores, in) }) {
			f.unused = append(f.unused, index)
		}
	}
	return nil
}

// Names returns the sorted names of the functions of Math that the library has for a type. It decodes all functions of the type.
func (l *Library) Names(t ir.Type) []string {
	var names []string
	for name := range l.functions {
		fn, ok := strings.CutSuffix(name, "."+t.String())
		if !ok {
			continue
		}
		if f, err := l.function(name); err == nil && f.isMath() {
			names = append(names, fn)
		}
	}
	slices.Sort(names)
	return names
}

// find returns the function of Math with a name for a type, or an [*UnknownError]. For a name that starts with "fast.", the
// exact function is the fallback.
func (l *Library) find(fn string, t ir.Type) (*function, error) {
	exact, _ := strings.CutPrefix(fn, "fast.")
	for _, name := range []string{fn, exact} {
		if f, err := l.function(name + "." + t.String()); err != nil || f != nil && f.isMath() {
			return f, err
		}
	}
	return nil, &UnknownError{Fn: fn, Type: t, Has: l.Names(t)}
}

// Math returns a library function as a new kernel. It computes the function of scalar parameters of type t and stores the
// result in element 0 of its last parameter. The error for a name that the library lacks is an [*UnknownError].
func (l *Library) Math(fn string, t ir.Type) (*ir.Kernel, error) {
	f, err := l.find(fn, t)
	if err != nil {
		return nil, err
	}
	return f.kernel.Clone(), nil
}
