package kernel

import (
	"fmt"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/syntax"
)

// call compiles a call; effect says that its value is not used.
func (c *compiler) call(x *syntax.Call, effect bool) value {
	switch f := c.expr(x.Fn); f.kind {
	case kFunc:
		return c.inline(f.fn, x)
	case kBuiltin:
		return c.builtinCall(f.str, x, effect)
	case kType:
		return c.convertCall(f.elem, x)
	case kBad:
		for _, a := range x.Args {
			c.expr(a)
		}
	default:
		c.errorf(x.Fn.Range(), diag.NotCallable, "", "`%s` is no function of a kernel", c.text(x.Fn.Range()))
	}
	return bad
}

// arity reports whether a call has between low and high arguments; high < 0 means any number.
func (c *compiler) arity(x *syntax.Call, low, high int) bool {
	n := len(x.Args)
	if n >= low && (high < 0 || n <= high) {
		return true
	}
	want := fmt.Sprint(low)
	switch {
	case high < 0:
		want = fmt.Sprintf("at least %d", low)
	case high != low:
		want = fmt.Sprintf("%d to %d", low, high)
	}
	plural := "s"
	if want == "1" {
		plural = ""
	}
	c.errorf(x.Span, diag.CallArguments, "", "`%s` takes %s argument%s; given: %d", c.text(x.Fn.Range()), want, plural, n)
	return false
}

// inline compiles the body of a helper function in place of its call.
func (c *compiler) inline(fn *closure, x *syntax.Call) value {
	args := make([]value, len(x.Args))
	for i, a := range x.Args {
		args[i] = c.expr(a)
	}
	if !c.mayInline(fn.fn, x) || !c.arity(x, len(fn.fn.Params), -1) {
		return bad
	}
	info := c.frame.info.children[x]
	if info == nil || len(info.vars) != len(fn.fn.Decls) {
		info = &frameInfo{}
		if c.frame.info.children == nil {
			c.frame.info.children = map[*syntax.Call]*frameInfo{}
		}
		c.frame.info.children[x] = info
	}
	caller := c.frame
	f := c.newFrame(fn.fn, info, fn.frame, caller)
	f.call = x.Span
	c.depth++
	var out value
	if fn.fn.TailReturn() {
		c.frame = f
		c.bindArgs(fn.fn, args)
		out = c.tailBody(fn.fn)
	} else {
		out = c.earlyBody(f, args)
	}
	c.settle(f)
	c.frame = caller
	c.depth--
	return out
}

func (c *compiler) mayInline(fn *syntax.Func, x *syntax.Call) bool {
	for f := c.frame; f != nil; f = f.caller {
		if f.fn == fn {
			name := fn.Name
			if name == "" {
				name = "this function"
			}
			cycle := name
			for g := c.frame; g != f; g = g.caller {
				cycle += " ← " + g.fn.Name
			}
			c.errorf(x.Span, diag.NoRecursion, "write a loop", "%s calls itself (%s ← %s): helper functions are inlined", name, cycle, name)
			return false
		}
	}
	if c.depth >= maxInlined || c.k.NumValues() > maxValues {
		if !c.tooBig {
			c.errorf(x.Span, diag.TooBig, "call helpers in a loop instead", "the kernel grows too big by inlining helper functions")
		}
		c.tooBig = true
		return false
	}
	return true
}

func (c *compiler) bindArgs(fn *syntax.Func, args []value) {
	for i, p := range fn.Params {
		c.destructure(p, args[i], p.Range(), true)
	}
}

// tailBody compiles a body that control leaves at its end.
func (c *compiler) tailBody(fn *syntax.Func) value {
	if fn.Result != nil {
		return c.expr(fn.Result)
	}
	if fn.Returns == 0 {
		c.stmts(fn.Body)
		return value{kind: kVoid}
	}
	last := fn.Body[len(fn.Body)-1].(*syntax.Return)
	c.stmts(fn.Body[:len(fn.Body)-1])
	if last.X == nil {
		return value{kind: kVoid}
	}
	return c.expr(last.X)
}

// earlyBody compiles a body that returns from within: each return leaves a region with the result.
func (c *compiler) earlyBody(f *frame, args []value) value {
	outer := c.live(f.fn.Sets)
	c.frame = f
	c.bindArgs(f.fn, args)
	returns, values := countReturns(f.fn.Body)
	vars := outer
	if values > 0 {
		f.result = &variable{info: &f.info.result, slot: true, state: unset, typ: ir.Void}
		if f.info.result.known {
			f.result.typ, f.result.taint = f.info.result.typ, f.info.result.taint
		}
		vars = append(vars[:len(vars):len(vars)], f.result)
	}
	// Parameters that the body assigns live in this frame; what leaves the region is the result alone.
	f.exit = newExit(&ir.Instr{Op: ir.Region}, vars)
	c.region(f.exit, func() { c.stmts(f.fn.Body) })
	switch {
	case f.result == nil:
		return value{kind: kVoid}
	case c.dead:
		return register(c.zero(f.result.slotType()))
	case values < returns || f.result.state != set:
		c.frameErrorf(f.fn, f.fn.Span, diag.HelperReturn, "return a value at the end", "%s returns a value on some ways only", nameOf(f.fn))
		return bad
	}
	return register(f.result.cur).withTaint(f.result.taint)
}

func nameOf(fn *syntax.Func) string {
	if fn.Name == "" {
		return "the function"
	}
	return fn.Name
}

// countReturns counts the return statements of a body, and those with a value.
func countReturns(list []syntax.Stmt) (returns, values int) {
	add := func(list ...syntax.Stmt) {
		r, v := countReturns(list)
		returns, values = returns+r, values+v
	}
	for _, s := range list {
		switch s := s.(type) {
		case *syntax.Return:
			returns++
			if s.X != nil {
				values++
			}
		case *syntax.Block:
			add(s.List...)
		case *syntax.If:
			add(s.Then)
			if s.Else != nil {
				add(s.Else)
			}
		case *syntax.Loop:
			add(s.Body)
		case *syntax.Labelled:
			add(s.Body)
		case *syntax.Switch:
			for _, cl := range s.Cases {
				add(cl.Body...)
			}
		}
	}
	return returns, values
}
