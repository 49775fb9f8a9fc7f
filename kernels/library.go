package kernels

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/kernel/ir"
)

//go:embed math.ir.bin
var embedded []byte

// Library is the functions that [ir.Math] can call. It is safe for concurrent use.
type Library struct {
	functions map[string]*function // by name and type, as in "exp.f32"
	left      []string             // those whose calls stay
}

// function is a function of the library as a kernel: its scalar parameters are the function's, its last parameter is a
// buffer, and its body ends by storing the result there.
type function struct {
	kernel *ir.Kernel
	store  *ir.Instr
	unused *ir.Instr // the constant index of the store, if nothing else uses it
}

// UnknownError says that the library has no function of a name for a type.
type UnknownError struct {
	Fn   string
	Type ir.Type
	Has  []string // the names it has
}

// Error names the function and what there is instead.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("the device library has no function %s for %s; it has %s", e.Fn, e.Type, strings.Join(e.Has, ", "))
}

// Code is the error code.
func (e *UnknownError) Code() string { return "not-found" }

// New decodes the embedded library.
func New() (*Library, error) {
	m, err := ir.DecodeBinary(embedded)
	if err != nil {
		return nil, fmt.Errorf("device library: %w", err)
	}
	return (&Library{}).With(m)
}

// With returns a library in which the kernels of m, named as in "exp.f32", replace or join the functions. A target's own
// version of a function must have the common one's bits for every argument, unless its name begins with "fast.".
//
// Each kernel takes scalars of one float type and, last, a buffer of it, and its body ends by storing the result in the
// buffer. It may have constant tables, and no other memory, group operations or host services.
func (l *Library) With(m *ir.Module) (*Library, error) {
	if err := m.Verify(); err != nil {
		return nil, fmt.Errorf("device library: %w", err)
	}
	n := &Library{functions: maps.Clone(l.functions), left: l.left}
	if n.functions == nil {
		n.functions = map[string]*function{}
	}
	for _, k := range m.Kernels {
		f, err := newFunction(k)
		if err != nil {
			return nil, fmt.Errorf("device library: function %s: %w", k.Name, err)
		}
		n.functions[k.Name] = f
	}
	return n, nil
}

// Leaving returns a library that lets calls of some functions, named as in "fast.rsqrt.f32", be: for a target that has
// instructions for them.
func (l *Library) Leaving(names ...string) *Library {
	return &Library{functions: l.functions, left: names}
}

func (l *Library) leaves(call *ir.Instr) bool {
	return len(l.left) > 0 && slices.Contains(l.left, call.Fn+"."+call.Type().String())
}

func newFunction(k *ir.Kernel) (*function, error) {
	if len(k.Params) < 2 {
		return nil, fmt.Errorf("it needs a parameter and a buffer for the result")
	}
	result := k.Params[len(k.Params)-1]
	if result.Array == nil || result.Array.Rank != 1 || !result.Array.Elem.Scalar.IsFloat() {
		return nil, fmt.Errorf("its last parameter is no buffer of one dimension for the result")
	}
	for _, p := range k.Params[:len(k.Params)-1] {
		if p.Array != nil || p.Type != result.Array.Elem.Scalar {
			return nil, fmt.Errorf("parameter %s is no scalar of the result's type", p.Name)
		}
	}
	n := len(k.Body.Instrs)
	if n < 2 || k.Body.Instrs[n-1].Op != ir.Return || k.Body.Instrs[n-2].Op != ir.Store || k.Body.Instrs[n-2].Array != result.Array {
		return nil, fmt.Errorf("its body does not end by storing the result")
	}
	f := &function{kernel: k, store: k.Body.Instrs[n-2]}
	var err error
	k.Body.Walk(func(in *ir.Instr) {
		switch {
		case in == f.store || in.Op == ir.Return && in == k.Body.Instrs[n-1]:
		case in.Op == ir.Load && in.Array.Space == ir.Table:
		case in.Op == ir.If || in.Op == ir.Loop || in.Op == ir.Region || in.Op.IsTerminator() && in.Op != ir.Return:
		case in.Op == ir.Math || in.Op == ir.Item || in.Op == ir.Extent || !in.IsPure():
			err = fmt.Errorf("it has the operation %s, which a function of the library may not have", in.Op)
		}
	})
	uses := k.Uses()
	if index := f.store.Args[0]; index.Def != nil && index.Def.Op == ir.Const && uses.Count(index) == 1 {
		f.unused = index.Def
	}
	return f, err
}

// Names lists the functions that the library has for a type, in order.
func (l *Library) Names(t ir.Type) []string {
	var names []string
	for name := range l.functions {
		if fn, ok := strings.CutSuffix(name, "."+t.String()); ok {
			names = append(names, fn)
		}
	}
	slices.Sort(names)
	return names
}

// find looks a function up. A name that begins with "fast." stands for the exact function where there is no other.
func (l *Library) find(fn string, t ir.Type) (*function, error) {
	exact, _ := strings.CutPrefix(fn, "fast.")
	for _, name := range []string{fn, exact} {
		if f := l.functions[name+"."+t.String()]; f != nil {
			return f, nil
		}
	}
	return nil, &UnknownError{Fn: fn, Type: t, Has: l.Names(t)}
}

// Math is a copy of a function of the library as a kernel: it computes the function of its scalar parameters, all of
// type t, and stores the result in element 0 of its last parameter. The error is an [*UnknownError].
func (l *Library) Math(fn string, t ir.Type) (*ir.Kernel, error) {
	f, err := l.find(fn, t)
	if err != nil {
		return nil, err
	}
	return f.kernel.Clone(), nil
}
