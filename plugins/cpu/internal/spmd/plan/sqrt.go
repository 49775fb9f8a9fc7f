package plan

import "github.com/orepl/orepl/lang/kernel/ir"

// Cycles of a vector operation on the two pipes that execute all operations except divisions and square roots.
const (
	cyclesSqrtSteps = 6.5
	cyclesOther     = 0.5
)

// StepsForSqrt reports whether the cost table favours Newton's method over the division unit, for the square roots of
// the innermost loop around an instruction.
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
