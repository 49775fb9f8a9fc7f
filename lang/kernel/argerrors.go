package kernel

import (
	"fmt"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/syntax"
	"github.com/orepl/orepl/lang/spelling"
)

// A parameter's uses must match its argument. If they do not, either may be wrong, so these messages name the argument.

// paramOf returns the scalar parameter held in a register, or nil.
func (c *compiler) paramOf(r *ir.Value) *param {
	scalar := 0
	for _, p := range c.params {
		if p.arg.Kind == Buffer {
			continue
		}
		if r != nil && c.k.Body.Params[scalar] == r {
			return p
		}
		scalar++
	}
	return nil
}

// notIndexed reports an index on a number.
func (c *compiler) notIndexed(r *ir.Value, at syntax.Span) {
	if p := c.paramOf(r); p != nil {
		c.givenScalar(p, at)
		return
	}
	of := &place{}
	if r.Def != nil && r.Def.Op == ir.Load {
		of = &place{arr: r.Def.Array, path: r.Def.Path}
	}
	c.errorf(at, diag.TooManyIndices, "leave the last index out"+orOfRank(of), "`%s` is a number, which has no elements%s", c.text(at), rankOf(of))
}

// givenScalar reports a scalar parameter that is used as a buffer.
func (c *compiler) givenScalar(p *param, at syntax.Span) {
	name, given := p.name.Name, map[ArgKind]string{Number: "a number is given for it", BigInt: "a BigInt is given for it", Bool: "a boolean is given for it"}[p.arg.Kind]
	rewrite := fmt.Sprintf("pass a buffer for %s, as device().buffer(f32, n) makes one", name)
	if p.arg.Kind == Scalar {
		given, rewrite = fmt.Sprintf("its type is %s by signature", p.arg), fmt.Sprintf("write {%s: [%s]} in the signature for a buffer", name, p.arg)
	}
	c.errorf(at, diag.TooManyIndices, rewrite, "%s is used as a buffer, but %s", name, given)
}

// rankOf returns the end of a message: the number of dimensions of the buffer that was passed. The buffer may be wrong, and not
// the kernel's indices. rankOf returns "" if [ofParameter] is false for p.
func rankOf(p *place) string {
	if !ofParameter(p) {
		return ""
	}
	return fmt.Sprintf(": the buffer given for %s has %s", p.arr.Name, spelling.Count(p.arr.Rank, "dimension"))
}

// orOfRank returns the end of a hint that suggests a buffer of the rank that the indices need. It returns "" if no buffer has
// that rank, or if [ofParameter] is false for p.
func orOfRank(p *place) string {
	if !ofParameter(p) {
		return ""
	}
	want := p.arr.Rank - p.left // the number of indices
	if p.left == 0 {
		want = p.arr.Rank + 1
	}
	if want > 3 {
		return ""
	}
	flat := ""
	if want == 1 && p.left > 0 {
		flat = fmt.Sprintf(", or index %s.flat", p.arr.Name)
	}
	return flat + ", or pass a buffer of " + spelling.Count(want, "dimension")
}

// ofParameter reports whether a place is an element or part of a parameter's buffer, selected by one or more indices alone. None
// of them may be written as [i, j].
func ofParameter(p *place) bool {
	for _, s := range p.path {
		if s.Kind != ir.StepIndex {
			return false
		}
	}
	return p.arr != nil && p.arr.Space == ir.Global && len(p.path) > 0 && p.comma == ""
}
