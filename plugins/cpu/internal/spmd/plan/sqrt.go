package plan

import "github.com/orepl/orepl/lang/kernel/ir"

// Cycles on the two pipes that execute all vector operations except divisions and square roots. They are those of a square root
// by Newton's method, and of any other operation.
const (
	cyclesSqrtSteps = 6.5
	cyclesOther     = 0.5
)

// StepsForSqrt reports whether a Sqrt is to be computed by the steps of Newton's method instead of the division unit. It
// compares the costs of all operations of the innermost loop around it, or of the kernel if there is none. Only varying f32
// values on targets with mask registers have such steps.
func (l *Analysis) StepsForSqrt(in *ir.Instr) bool {
	if !l.Options.Target.HasMasks || in.Type() != ir.F32 || l.IsUniform(in.Result()) {
		return false
	}
	body := l.Kernel.Body
	if loop := l.Uses[in.Result().ID].Loop; loop != nil {
		body = loop.Then
	}
	roots, divisions, others := 0.0, 0.0, 0.0
	body.Walk(func(in *ir.Instr) {
		r := in.Result()
		switch {
		case r == nil || l.IsUniform(r):
		case in.Op == ir.Sqrt:
			roots++
		case in.Op == ir.Div && r.Type.IsFloat():
			divisions++
		case in.Op != ir.Const:
			others++
		}
	})
	m := l.Options.Model
	unit := max(m.Root*roots+m.Divide*divisions, cyclesOther*(others+3*roots+3*divisions))
	steps := max(m.Divide*divisions, cyclesOther*(others+3*divisions)+cyclesSqrtSteps*roots)
	return steps < unit
}
