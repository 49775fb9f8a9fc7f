package overflow

import (
	"fmt"
	"math"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/later"
)

// Check modifies a compiled kernel so that an integer operation faults if its result wraps and JavaScript would continue with
// another value. The kernel must be compiled with [kernel.Options.Branches], because values that the source does not compute
// must not fault. Check returns an error if the result does not verify.
func Check(c *kernel.Compiled) error {
	f := newFlow(c)
	may, _ := opt.Wraps(c.Kernel, nil)
	k := &checker{flow: f, c: c, needed: f.needed()}
	k.wraps = func(in *ir.Instr) bool {
		return in.Type() == ir.U64 || may[in] // the analysis does not cover u64
	}
	c.Kernel.Body = k.block(c.Kernel.Body)
	return c.Module.Verify()
}

// needed returns the integers whose full value matters, not only the low bits.
func (f *flow) needed() map[*ir.Value]bool {
	from := map[*ir.Value][]*ir.Value{} // sources of each value
	needed := map[*ir.Value]bool{}
	var list []*ir.Value
	need := func(v *ir.Value) {
		if !needed[v] {
			needed[v] = true
			list = append(list, v)
		}
	}
	f.values(func(v *ir.Value) {
		f.next(v, func(to *ir.Value) { from[to] = append(from[to], v) })
		for _, in := range f.uses.Of(v) {
			if sensitive(in, v) || f.grows(in) {
				need(v)
			}
		}
	})
	for len(list) > 0 {
		v := list[len(list)-1]
		list = list[:len(list)-1]
		for _, u := range from[v] {
			need(u)
		}
	}
	return needed
}

// grows reports whether an instruction is an i32 product that a loop multiplies again. As a JavaScript number it soon exceeds
// 2⁵³.
func (f *flow) grows(in *ir.Instr) bool {
	if in.Op != ir.Mul || in.Type() != ir.I32 || !f.ring(in) || !f.inLoop(in) {
		return false
	}
	reached := map[*ir.Value]bool{}
	f.taint(in.Results[0], reached)
	return reached[in.Args[0]] || reached[in.Args[1]]
}

// values calls visit for each integer of the kernel.
func (f *flow) values(visit func(*ir.Value)) {
	all := func(list []*ir.Value) {
		for _, v := range list {
			if v.Type.IsInt() {
				visit(v)
			}
		}
	}
	all(f.c.Kernel.Body.Params)
	f.c.Kernel.Body.Walk(func(in *ir.Instr) {
		all(in.Results)
		if in.Then != nil {
			all(in.Then.Params)
		}
	})
}

// checker inserts assertions into a kernel.
type checker struct {
	*flow
	c      *kernel.Compiled
	needed map[*ir.Value]bool   // integers whose full value matters
	wraps  func(*ir.Instr) bool // reports whether a result may wrap
	sites  map[kernel.Place]int // indices in the kernel's sites
}

// block returns a block with an assertion after each operation that may wrap and whose full value matters.
func (k *checker) block(b *ir.Block) *ir.Block {
	if b == nil {
		return nil
	}
	out := &ir.Builder{Kernel: k.c.Kernel, Block: &ir.Block{Params: b.Params}}
	for _, in := range b.Instrs {
		in.Then, in.Else = k.block(in.Then), k.block(in.Else)
		out.Block.Instrs = append(out.Block.Instrs, in)
		if k.mayWrap(in) && k.needed[in.Results[0]] && k.wraps(in) {
			at, _ := k.c.PlaceOf(in)
			out.Site = k.site(at)
			k.check(out, in)
		}
	}
	return out.Block
}

// site returns the index of an expression in the kernel's list of sites, to which it appends the expression if it is missing.
func (k *checker) site(at kernel.Place) int {
	if s, ok := k.sites[at]; ok {
		return s
	}
	file := -1
	for i, name := range k.c.Module.Files {
		if name == at.At.File {
			file = i
		}
	}
	if file < 0 {
		file = len(k.c.Module.Files)
		k.c.Module.Files = append(k.c.Module.Files, at.At.File)
	}
	if k.sites == nil {
		k.sites = map[kernel.Place]int{}
	}
	k.sites[at] = len(k.c.Kernel.Sites)
	k.c.Kernel.Sites = append(k.c.Kernel.Sites, ir.Site{File: file, Line: at.At.Line, Col: at.At.Column, Text: at.Text})
	return k.sites[at]
}

var symbols = later.Value[map[ir.Op]string]{Make: func() map[ir.Op]string {
	return map[ir.Op]string{ir.Add: " + ", ir.Sub: " - ", ir.Mul: " * ", ir.Div: " / "}
}}

// check asserts that the result of an operation is within its type.
func (k *checker) check(b *ir.Builder, in *ir.Instr) {
	t := in.Type()
	if in.Op == ir.Wrap {
		x := in.Args[0]
		ok := b.Op(ir.Le, ir.Bool, b.Int(x.Type, 0), x)
		b.Emit(&ir.Instr{Op: ir.Assert, Assert: ir.AssertOverflow, Args: []*ir.Value{ok, x}, Text: []string{"", " becomes u32, which holds no number below 0"}}, ir.Void)
		return
	}
	beyond := fmt.Sprintf(", beyond %s", t)
	var shown []*ir.Value
	var text []string
	if len(in.Args) == 2 {
		shown = signed(in.Args)
		text = []string{"", symbols.Get()[in.Op]}
	} else {
		shown, text = in.Args[:1:1], []string{map[ir.Op]string{ir.Neg: "-(", ir.Abs: "the absolute value of ("}[in.Op]}
		beyond = ")" + beyond
	}
	var ok *ir.Value
	if t.Size() == 4 {
		var exact *ir.Value
		ok, exact = narrow(b, in, shown)
		middle := " is "
		if len(in.Args) == 1 {
			beyond, middle = beyond[1:], ") is "
		}
		shown, text = append(shown, exact), append(text, middle)
	} else {
		ok = wide(b, in)
		if len(in.Args) == 2 {
			beyond = " is" + beyond[1:]
		} else {
			beyond = ") is" + beyond[2:]
		}
	}
	b.Emit(&ir.Instr{Op: ir.Assert, Assert: ir.AssertOverflow, Args: append([]*ir.Value{ok}, shown...), Text: append(text, beyond)}, ir.Void)
}

// signed returns the operands by their mathematical values: an i32 combined with a u32 keeps its sign.
func signed(args []*ir.Value) []*ir.Value {
	out := make([]*ir.Value, len(args))
	for i, a := range args {
		out[i] = opt.Signed(a)
	}
	return out
}

// narrow computes a 32-bit operation exactly in 64 bits; ok is whether the 32-bit result equals the exact one.
func narrow(b *ir.Builder, in *ir.Instr, args []*ir.Value) (ok, exact *ir.Value) {
	t := ir.I64
	if in.Op == ir.Mul && args[0].Type == ir.U32 && args[1].Type == ir.U32 {
		t = ir.U64
	}
	wide := make([]*ir.Value, len(args))
	for i, a := range args {
		wide[i] = b.Op(ir.Convert, t, a)
	}
	if in.Op == ir.Div { // only the minimum divided by −1 overflows
		least := b.Op(ir.Eq, ir.Bool, args[0], b.Int(ir.I32, math.MinInt32))
		both := b.Op(ir.And, ir.Bool, least, b.Op(ir.Eq, ir.Bool, args[1], b.Int(ir.I32, -1)))
		return b.Op(ir.Not, ir.Bool, both), b.Op(ir.Neg, ir.I64, wide[0])
	}
	exact = b.Op(in.Op, t, wide...)
	return b.Op(ir.Eq, ir.Bool, exact, b.Op(ir.Convert, t, in.Results[0])), exact
}

// wide computes a bool: whether a 64-bit operation did not wrap.
func wide(b *ir.Builder, in *ir.Instr) *ir.Value {
	t, r, x := in.Type(), in.Results[0], in.Args[0]
	zero := b.Int(t, 0)
	if t == ir.U64 {
		switch in.Op {
		case ir.Add:
			return b.Op(ir.Le, ir.Bool, x, r)
		case ir.Sub:
			return b.Op(ir.Le, ir.Bool, in.Args[1], x)
		case ir.Mul:
			return b.Op(ir.Eq, ir.Bool, b.Op(ir.MulHi, t, x, in.Args[1]), zero)
		}
		return b.Op(ir.Eq, ir.Bool, x, zero) // −x
	}
	least := b.Int(t, math.MinInt64)
	switch in.Op {
	case ir.Add: // the sign differs from both operands'
		both := b.Op(ir.And, t, b.Op(ir.Xor, t, x, r), b.Op(ir.Xor, t, in.Args[1], r))
		return b.Op(ir.Le, ir.Bool, zero, both)
	case ir.Sub:
		both := b.Op(ir.And, t, b.Op(ir.Xor, t, x, in.Args[1]), b.Op(ir.Xor, t, x, r))
		return b.Op(ir.Le, ir.Bool, zero, both)
	case ir.Mul:
		return b.Op(ir.Eq, ir.Bool, b.Op(ir.MulHi, t, x, in.Args[1]), b.Op(ir.Shr, t, r, b.Int(ir.I32, 63)))
	case ir.Div:
		both := b.Op(ir.And, ir.Bool, b.Op(ir.Eq, ir.Bool, x, least), b.Op(ir.Eq, ir.Bool, in.Args[1], b.Int(t, -1)))
		return b.Op(ir.Not, ir.Bool, both)
	}
	return b.Op(ir.Ne, ir.Bool, x, least) // −x, |x|
}
