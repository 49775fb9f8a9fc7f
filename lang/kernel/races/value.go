package races

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
)

// val is a value of one item: known bits, or an unknown value with an identity.
type val struct {
	known bool
	bits  uint64
	id    uint64      // equal for values that are equal in all launches with these arguments
	leaf  uint64      // the only unknown input of the value; 0 if there are several or none
	deps  uint64      // loads of written arrays from which the value is computed: a bit each, by machine.bits
	sync  bool        // depends on an atomic operation, a subgroup or the host
	ids   bool        // depends on the item's identifiers
	cmp   *comparison // of a bool that an unknown comparison, or the negation of one, results in; else nil
}

// comparison describes a bool that compares two values.
type comparison struct {
	op   ir.Op
	a, b val // in this order: with op Lt, a < b
}

// mix returns a hash of h and x.
func mix(h, x uint64) uint64 {
	h = (h ^ x) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

func hash(list ...uint64) uint64 {
	h := uint64(len(list))
	for _, x := range list {
		h = mix(h, x)
	}
	return h | 1<<63
}

func hashText(s string) uint64 {
	h := uint64(len(s))
	for _, c := range []byte(s) {
		h = mix(h, uint64(c))
	}
	return h
}

// Kinds of identities, which keep hashes of unlike things apart.
const (
	idKnown = 1 + iota
	idParam
	idExtent
	idOp
	idLoad
	idItem
	idGroup
	idOnce
	idJoin
	idLoop
	idWeak
	idLost
)

// constant returns a known value.
func constant(t ir.Type, bits uint64) val {
	return val{known: true, bits: bits, id: hash(idKnown, uint64(t), bits)}
}

// unknown returns an unknown value that is not computed from others, so that it is its own leaf.
func unknown(id uint64) val { return val{id: id, leaf: id} }

// from adds the origins of x, an operand, to those of v.
func (v *val) from(x val) {
	v.deps |= x.deps
	v.sync = v.sync || x.sync
	v.ids = v.ids || x.ids
}

// compute returns the result of a pure operation; ok is false for an integer division by zero.
func compute(in *ir.Instr, args []val) (r val, ok bool) {
	t := in.Type()
	known := true
	for _, a := range args {
		known = known && a.known
	}
	if in.Op == ir.Div || in.Op == ir.Rem {
		if d := args[1]; d.known && d.bits == 0 && t.IsInt() {
			return r, false
		}
	}
	if known {
		var bits [3]uint64
		for i, a := range args {
			bits[i%3] = a.bits
		}
		if len(args) <= 3 {
			if b, ok := scalar.Eval(in, bits[:len(args)]...); ok {
				r = constant(t, b)
				for _, a := range args {
					r.from(a)
				}
				return r, true
			}
		}
	}
	if s, ok := simplified(in, args); ok {
		return s, true
	}
	h := hash(idOp, uint64(in.Op), uint64(t), uint64(in.Elem))
	if in.Fn != "" {
		h = mix(h, hashText(in.Fn))
	}
	leaf, leaves := uint64(0), 0
	for i, a := range args {
		h = mix(h, a.id)
		h = mix(h, uint64(in.Args[i].Type))
		r.from(a)
		if !a.known && (leaves == 0 || a.leaf != leaf) {
			leaf = a.leaf
			leaves++
		}
	}
	r.id = h
	if leaves == 1 {
		r.leaf = leaf
	}
	switch in.Op {
	case ir.Eq, ir.Ne, ir.Lt, ir.Le:
		r.cmp = &comparison{in.Op, args[0], args[1]}
	case ir.Not:
		if c := args[0].cmp; c != nil && t == ir.Bool {
			switch c.op {
			case ir.Eq:
				r.cmp = &comparison{ir.Ne, c.a, c.b}
			case ir.Ne:
				r.cmp = &comparison{ir.Eq, c.a, c.b}
			case ir.Lt: // apart from NaN
				r.cmp = &comparison{ir.Le, c.b, c.a}
			case ir.Le:
				r.cmp = &comparison{ir.Lt, c.b, c.a}
			}
		}
	}
	return r, true
}

// simplified returns the result of an operation that one known operand decides, or two equal ones, or that changes only NaNs. It
// returns false for other operations.
func simplified(in *ir.Instr, args []val) (val, bool) {
	t := in.Type()
	if in.Op == ir.Select && args[0].known {
		if args[0].bits != 0 {
			return args[1], true
		}
		return args[2], true
	}
	if in.Op == ir.Quant && in.Elem == t && t.IsFloat() {
		return args[0], true // canonicalizes NaN alone
	}
	if in.Op == ir.Select && args[1].id == args[2].id {
		return args[1], true
	}
	if len(args) != 2 || !t.IsInt() && t != ir.Bool {
		return val{}, false
	}
	for i, a := range args {
		if !a.known {
			continue
		}
		other := args[1-i]
		switch in.Op {
		case ir.And:
			if a.bits == 0 {
				return a, true
			}
			if t == ir.Bool {
				return other, true
			}
		case ir.Or:
			if a.bits == 0 {
				return other, true
			}
			if t == ir.Bool {
				return a, true
			}
		case ir.Xor, ir.Add:
			if a.bits == 0 {
				return other, true
			}
		case ir.Mul:
			if a.bits == 0 {
				return a, true
			}
			if a.bits == 1 {
				return other, true
			}
		case ir.Sub:
			if a.bits == 0 && i == 1 {
				return other, true
			}
		}
	}
	return val{}, false
}

// guard is an unknown condition of the current path.
type guard struct {
	cond   val
	taken  bool // the path requires that cond is true, otherwise that it is false
	opaque bool // cond is computed from several conditions, and taken has no meaning
}

// excludes reports whether the guards of two items are known to contradict each other, so that not both items pass theirs.
func excludes(a, b []guard) bool {
	for _, g := range a {
		for _, h := range b {
			if g.opaque || h.opaque {
				continue
			}
			if g.cond.id == h.cond.id && g.taken != h.taken {
				return true
			}
			x, bx, ok1 := g.equals()
			y, by, ok2 := h.equals()
			if ok1 && ok2 && x.id == y.id && bx != by {
				return true
			}
		}
	}
	return false
}

// equals returns the unknown value that the guard requires to equal known bits, or false if it requires none.
func (g guard) equals() (v val, bits uint64, ok bool) {
	c := g.cond.cmp
	if c == nil || !(c.op == ir.Eq && g.taken || c.op == ir.Ne && !g.taken) {
		return v, 0, false
	}
	switch {
	case c.a.known && !c.b.known:
		return c.b, c.a.bits, true
	case c.b.known && !c.a.known:
		return c.a, c.b.bits, true
	}
	return v, 0, false
}

// unshared returns the guards of a that b does not have, and all opaque ones of a.
func unshared(a, b []guard) (out []guard) {
	for _, g := range a {
		found := false
		for _, h := range b {
			found = found || !g.opaque && g.cond.id == h.cond.id && g.taken == h.taken
		}
		if !found {
			out = append(out, g)
		}
	}
	return out
}

// single reports whether the guards are a single comparison with < or <=, which usually more than one item passes.
func single(list []guard) bool {
	if len(list) != 1 || list[0].opaque {
		return false
	}
	c := list[0].cond.cmp
	return c != nil && (c.op == ir.Lt || c.op == ir.Le)
}
