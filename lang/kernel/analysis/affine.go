package analysis

import "github.com/orepl/orepl/lang/kernel/ir"

// Strides describes how an integer differs between the items of a group. Modulo 2^32 the value is a uniform part plus, for each
// axis a, Strides[a] times the item's identifier. An index with stride 1 on the axis of the lanes is a contiguous access.
//
// If the indices of all lanes are in bounds, they are consecutive, although i32 and u32 wrap. Within a run of lanes, either no
// index wraps or some index is out of bounds.
type Strides [3]int32

// Affine holds the values of type i32 and u32 that are affine in the item's identifiers, and all uniform values, whose strides are 0.
type Affine struct {
	u     *ir.Uniformity
	forms Values[known]
}

// form is the affine form of a value, if affine is true.
type form struct {
	strides Strides
	affine  bool
}

// known is the form of a value; seen is false before the value is visited.
type known struct {
	form
	seen bool
}

// FindAffine returns the affine values of a verified kernel. u must be the uniformity of the same unmodified kernel. The result is
// empty if the analysis needs more than maxAffineRounds passes.
func FindAffine(k *ir.Kernel, u *ir.Uniformity) *Affine {
	a := &Affine{u: u, forms: NewValues[known](k)}
	for _, v := range k.Body.Params {
		a.lower(v, form{affine: true})
	}
	// Forms only get less precise, each at most twice, but a kernel may need as many passes as it has values.
	s := StructureOf(k)
	for range maxAffineRounds {
		w := affineWalk{a: a, s: s}
		w.block(k.Body)
		if !w.changed {
			return a
		}
	}
	a.forms = nil
	return a
}

const maxAffineRounds = 16

// Strides returns the strides of a value, and false if it is not known to be affine.
func (a *Affine) Strides(v *ir.Value) (Strides, bool) {
	f := a.forms.At(v)
	return f.strides, f.affine
}

// lower records a form and reports whether it changed. A value with two different forms is not affine.
func (a *Affine) lower(v *ir.Value, f form) bool {
	old := a.forms.At(v)
	if old.seen && old.form != f {
		f = form{}
	}
	a.forms.Set(v, known{f, true})
	return !old.seen || old.form != f
}

type affineWalk struct {
	a       *Affine
	s       *Structure
	changed bool
}

func (w *affineWalk) set(v *ir.Value, f form) {
	w.changed = w.a.lower(v, f) || w.changed
}

// of returns the form of an operand. It returns false for an operand whose form is not known yet: a loop parameter, or a value
// computed from one.
func (w *affineWalk) of(v *ir.Value) (f form, seen bool) {
	k := w.a.forms.At(v)
	return k.form, k.seen
}

func (w *affineWalk) block(b *ir.Block) {
	if b == nil {
		return
	}
	for _, in := range b.Instrs {
		switch in.Op {
		case ir.Loop:
			for i, p := range in.Then.Params {
				w.join(p, in.Args[i], in)
			}
		case ir.Continue:
			for i, p := range in.Target.Then.Params {
				w.join(p, in.Args[i], in.Target)
			}
		}
		w.block(in.Then)
		w.block(in.Else)
		for i, r := range in.Results {
			if in.Then != nil {
				w.result(in, i, r)
			} else if f, known := w.compute(in, r); known {
				w.set(r, f)
			}
		}
	}
}

// join merges a value into a loop parameter. In a divergent loop, items may reach an iteration through different continues,
// whose uniform parts may differ.
func (w *affineWalk) join(p, v *ir.Value, loop *ir.Instr) {
	if f, seen := w.of(v); seen {
		if w.a.u.Diverges(loop) && len(w.s.Continues[loop]) > 1 {
			f = w.varying(p)
		}
		w.set(p, f)
	}
}

// varying returns the form of v if items may receive it from different edges: it is affine only if it is uniform.
func (w *affineWalk) varying(v *ir.Value) form {
	return form{affine: w.a.u.Value(v) != ir.Varying}
}

func (w *affineWalk) result(in *ir.Instr, i int, r *ir.Value) {
	if w.a.u.Diverges(in) || in.Op == ir.Loop {
		w.set(r, w.varying(r))
		return
	}
	for _, e := range w.s.Ends(in) {
		if f, seen := w.of(e.Args[i]); seen {
			w.set(r, f)
		}
	}
}

// compute returns the form of a result, and false if the form of an operand is not known yet.
func (w *affineWalk) compute(in *ir.Instr, r *ir.Value) (form, bool) {
	if w.a.u.Value(r) != ir.Varying {
		return form{affine: true}, true
	}
	if in.Op == ir.Item && (in.Item == ir.GlobalID || in.Item == ir.LocalID) {
		f := form{affine: true}
		f.strides[in.Axis] = 1
		return f, true
	}
	var x [2]form
	if len(in.Args) == 0 || len(in.Args) > 2 {
		return form{}, true
	}
	for i, arg := range in.Args {
		f, seen := w.of(arg)
		if !seen {
			return form{}, false
		}
		if !f.affine || arg.Type.Size() != 4 || !arg.Type.IsInt() {
			return form{}, true
		}
		x[i] = f
	}
	if r.Type.Size() != 4 || !r.Type.IsInt() {
		return form{}, true
	}
	switch in.Op {
	case ir.Add:
		return combine(x[0], x[1], 1), true
	case ir.Sub:
		return combine(x[0], x[1], -1), true
	case ir.Neg:
		return combine(form{}, x[0], -1), true
	case ir.Wrap, ir.Bitcast:
		return x[0], true
	case ir.Mul:
		for j := range 2 {
			if c, ok := ConstInt(in.Args[j]); ok {
				return combine(form{}, x[1-j], int32(c)), true
			}
		}
	case ir.Shl:
		if c, ok := ConstInt(in.Args[1]); ok {
			return combine(form{}, x[0], 1<<(c&31)), true
		}
	}
	return form{}, true
}

// combine returns the form of x + c·y.
func combine(x, y form, c int32) form {
	f := form{affine: true}
	for axis := range f.strides {
		f.strides[axis] = x.strides[axis] + c*y.strides[axis]
	}
	return f
}
