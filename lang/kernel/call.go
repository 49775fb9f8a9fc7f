package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/syntax"
)

// call compiles a call; effect reports that its value is unused.
func (c *compiler) call(x *syntax.Call, effect bool) value {
	switch f := c.expr(x.Fn); f.kind {
	case kFunc:
		return c.inline(f.fn, x)
	case kBuiltin:
		return c.builtinCall(f, x, effect)
	case kType:
		return c.convertCall(f.elem, x)
	case kBad:
		for _, a := range x.Args {
			c.expr(a)
		}
	default:
		rewrite := ""
		switch f.kind {
		case kReg, kNum, kBool, kBig:
			rewrite = fmt.Sprintf("it is a number: write `%s` without parentheses", c.text(x.Fn.Range()))
		case kPlace:
			rewrite = fmt.Sprintf("elements are written `%s%s`", c.text(x.Fn.Range()), indices(f.place.left))
		}
		c.errorf(x.Fn.Range(), diag.NotCallable, rewrite, "`%s` is no function of a kernel", c.text(x.Fn.Range()))
	}
	return bad
}

// arity reports whether a call has low to high arguments; high < 0 means no maximum. It reports an error for other calls.
func (c *compiler) arity(x *syntax.Call, low, high int) bool {
	n := len(x.Args)
	if n >= low && (high < 0 || n <= high) {
		return true
	}
	c.wrongArity(x, low, high, "")
	return false
}

// wrongArity reports a call whose number of arguments is not between low and high; high < 0 means no maximum. rewrite is the hint.
func (c *compiler) wrongArity(x *syntax.Call, low, high int, rewrite string) {
	want := fmt.Sprint(low)
	switch {
	case high < 0:
		want = fmt.Sprintf("at least %d", low)
	case high != low:
		want = fmt.Sprintf("%d to %d", low, high)
	}
	plural := "s"
	if low == 1 && high <= 1 {
		plural = ""
	}
	c.errorf(x.Span, diag.CallArguments, rewrite, "`%s` takes %s argument%s; given: %d", c.text(x.Fn.Range()), want, plural, len(x.Args))
}

// inline compiles the body of a helper function in place of its call. Arguments beyond the parameters are evaluated but not used.
func (c *compiler) inline(fn *closure, x *syntax.Call) value {
	args := make([]value, len(x.Args))
	for i, a := range x.Args {
		args[i] = c.expr(a)
	}
	if !c.mayInline(fn.fn, x) {
		return bad
	}
	if n := required(fn.fn); len(x.Args) < n {
		c.wrongArity(x, n, -1, fmt.Sprintf("write %s(%s)", c.text(x.Fn.Range()), parameters(fn.fn)))
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
	c.recordInlined(fn.fn, x)
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

// inlineKey identifies a call in a function's text, and the function that is called.
type inlineKey struct {
	callee *syntax.Func
	call   *syntax.Call
}

// recordInlined records an inlined call for diagnostics in the callee's code. The calls in a function that is inlined several
// times are recorded once.
func (c *compiler) recordInlined(callee *syntax.Func, x *syntax.Call) {
	key := inlineKey{callee, x}
	if c.recorded[key] {
		return
	}
	if c.recorded == nil {
		c.recorded = map[inlineKey]bool{}
	}
	c.recorded[key] = true
	c.inlined = append(c.inlined, InlinedCall{
		Name: callee.Name, From: callee.Source.At(callee.Pos), To: callee.Source.At(callee.End), At: c.frame.fn.Source.At(x.Pos),
	})
}

// mayInline reports whether a call of fn can be inlined. It reports an error if fn is recursive, or once if the kernel grows too big.
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
	if c.calls++; c.depth >= maxInlined || c.calls > maxCalls || c.k.NumValues() > maxValues {
		if !c.tooBig {
			c.errorf(x.Span, diag.TooBig, "call helpers in a loop instead", "the kernel grows too big by inlining helper functions")
		}
		c.tooBig = true
		return false
	}
	return true
}

// required returns the minimum number of arguments of a call; later parameters have default values.
func required(fn *syntax.Func) int {
	n := len(fn.Params)
	for n > 0 && fn.Default(n-1) != nil {
		n--
	}
	return n
}

// parameters returns the source text of a function's parameters.
func parameters(fn *syntax.Func) string {
	list := make([]string, len(fn.Params))
	for i, p := range fn.Params {
		list[i] = fn.Source.Excerpt(p.Range())
	}
	return strings.Join(list, ", ")
}

// bindArgs binds the parameters to the arguments. A missing or undefined argument is replaced by the default value, if there is
// one.
func (c *compiler) bindArgs(fn *syntax.Func, args []value) {
	for i, p := range fn.Params {
		var v value
		if i < len(args) {
			v = args[i]
		}
		if d := fn.Default(i); d != nil && (i >= len(args) || v.kind == kVoid) {
			v = c.expr(d)
		}
		c.destructure(p, v, p.Range(), true)
	}
}

// tailBody compiles a body that returns only at its end, with or without a return statement.
func (c *compiler) tailBody(fn *syntax.Func) value {
	if fn.Result != nil {
		return c.result(fn.Result.Range(), fn.Result)
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
	return c.result(last.Span, last.X)
}

// returned is the name of a helper function's result in traces.
const returned = "return"

// result compiles a helper's final return of x, and returns its value.
func (c *compiler) result(at syntax.Span, x syntax.Expr) value {
	var v value
	c.step(at, func() {
		v = c.expr(x)
		c.markValue(returned, v, at)
	})
	return v
}

// results holds the variables for a helper's early returns: one, or one for each part of [a, b] or {a, b}.
type results struct {
	vars  []variable
	names []string // field names of {a, b}
	list  bool     // the result is [a, b]
}

// earlyBody compiles a body with early returns: each return breaks out of a region with the results.
func (c *compiler) earlyBody(f *frame, args []value) value {
	vars := c.live(f.fn.Sets)
	c.frame = f
	c.bindArgs(f.fn, args)
	returns := findReturns(f.fn.Body, nil)
	f.results = c.resultsOf(f, returns)
	for i := range f.results.vars {
		vars = append(vars, &f.results.vars[i])
	}
	// Parameters that the body assigns belong to this frame. Only the results and variables of outer functions leave the region.
	f.exit = newExit(&ir.Instr{Op: ir.Region}, vars)
	c.region(f.exit, func() { c.stmts(f.fn.Body) })
	out := value{kind: kVoid}
	for i := range f.results.vars {
		v := &f.results.vars[i]
		switch {
		case c.dead:
			v.cur = c.zero(v.slotType())
		case v.state != set:
			c.frameErrorf(f.fn, f.fn.Span, diag.HelperReturn, "return a value at the end", "%s returns a value on some ways only", nameOf(f.fn))
			return bad
		}
		if typ, ok := v.join.typ(c.real); ok && typ != v.typ {
			// This walk will be repeated and its code dropped, but the types that it infers should already be correct.
			v.cur = c.zero(typ)
		}
		out.list = append(out.list, register(v.cur).withTaint(v.taint))
	}
	switch {
	case f.results.names != nil:
		out.kind, out.names = kObject, f.results.names
	case f.results.list:
		out.kind = kTuple
	case len(out.list) == 1:
		return out.list[0]
	}
	return out
}

// resultsOf returns the variables for a helper's results, by the form of its first return with a value.
func (c *compiler) resultsOf(f *frame, returns []*syntax.Return) results {
	var r results
	n := 0
	for _, s := range returns {
		if s.X == nil || isVoid(s.X) {
			continue
		}
		switch x := s.X.(type) {
		case *syntax.Array:
			n, r.list = len(x.Elems), true
		case *syntax.Object:
			n = len(x.Props)
			r.names = make([]string, n)
			for i, p := range x.Props {
				r.names[i] = p.Name
			}
		default:
			n = 1
		}
		break
	}
	if len(f.info.results) != n {
		f.info.results = make([]varInfo, n)
	}
	r.vars = make([]variable, n)
	for i := range r.vars {
		info := &f.info.results[i]
		r.vars[i] = variable{info: info, slot: true, state: unset}
		if info.known {
			r.vars[i].typ, r.vars[i].taint = info.typ, info.taint
		}
	}
	return r
}

// setResults assigns the value of a return statement to the results. It reports a value with other parts than the results have.
func (c *compiler) setResults(r *results, x value, at syntax.Span) {
	parts := []value{x}
	switch {
	case x.kind == kBad:
		parts = make([]value, len(r.vars))
	case r.list && x.kind == kTuple, r.names != nil && x.kind == kObject && slices.Equal(r.names, x.names):
		parts = x.list
	case r.list || r.names != nil:
		parts = nil
	}
	if len(parts) != len(r.vars) {
		c.errorf(at, diag.HelperReturn, "give every return the same parts, in the same order", "this return has other parts than the first one")
		return
	}
	for i, p := range parts {
		c.assign(&r.vars[i], p, at)
	}
}

// nameOf returns what a message calls a function.
func nameOf(fn *syntax.Func) string {
	if fn.Name == "" {
		return "the function"
	}
	return fn.Name
}

// findReturns appends the return statements of a body to out.
func findReturns(body []syntax.Stmt, out []*syntax.Return) []*syntax.Return {
	for _, s := range body {
		switch s := s.(type) {
		case *syntax.Return:
			out = append(out, s)
		case *syntax.Block:
			out = findReturns(s.List, out)
		case *syntax.If:
			out = findReturns([]syntax.Stmt{s.Then, s.Else}, out)
		case *syntax.Loop:
			out = findReturns([]syntax.Stmt{s.Body}, out)
		case *syntax.Labelled:
			out = findReturns([]syntax.Stmt{s.Body}, out)
		case *syntax.Switch:
			for _, cl := range s.Cases {
				out = findReturns(cl.Body, out)
			}
		}
	}
	return out
}
