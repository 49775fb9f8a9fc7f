package kernel

import (
	"errors"
	"fmt"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// verify checks the module. It reports too many instructions, and group operations in divergent control flow, which show only in
// the complete kernel. Any other error is a bug in this package, reported as [diag.Internal].
func (c *compiler) verify() error {
	count := 0
	c.k.Body.Walk(func(*ir.Instr) { count++ })
	if count > ir.MaxInstrs {
		return diag.List{c.f.fn.Source.Diagnostic(c.f.fn.Span, diag.TooBig, "call helpers in a loop instead",
			fmt.Sprintf("the kernel has %d instructions; the limit is %d", count, ir.MaxInstrs))}
	}
	err := c.module.Verify()
	if err == nil {
		return nil
	}
	var ve *ir.VerifyError
	if errors.As(err, &ve) && ve.Instr != nil && (ve.Instr.Op.IsGroup() || ve.Instr.Op == ir.Subgroup) {
		for _, d := range c.k.Uniformity(ir.Scope{}).Divergences() {
			c.divergence(d)
		}
		if len(c.errs) > 0 {
			return c.errs.Sort()
		}
	}
	return diag.List{c.f.fn.Source.Diagnostic(c.f.fn.Span, diag.Internal, "please report this kernel",
		fmt.Sprintf("the compiler made wrong code: %v", err))}
}

// divergence reports a group operation that not all items of a group may reach together.
func (c *compiler) divergence(d ir.Divergence) {
	at := c.siteKeys[d.Instr.Site]
	e := at.fn.Source.Diagnostic(at.span, diag.DivergentGroup, "move it out of the condition", fmt.Sprintf(
		"`%s` must be reached by all items of a group together", at.fn.Source.Excerpt(at.span)))
	if d.Cause != nil {
		cause := c.siteKeys[d.Cause.Site]
		text := cause.fn.Source.Excerpt(cause.span)
		e.Message += fmt.Sprintf(", but `%s` may differ between them", text)
		e.Rewrite += fmt.Sprintf("; or write g.uniform(%s), if it is the same for the whole group", text)
		e.Notes = []diag.Note{{Position: cause.fn.Source.At(cause.span.Pos), Message: "the condition that divides the group"}}
	}
	c.errs = append(c.errs, e)
}
