package amd64

// IsJump reports whether op is JMP or a conditional jump.
func (op Op) IsJump() bool { return op == JMP || op.IsConditionalJump() }

// IsConditionalJump reports whether op is a conditional jump.
func (op Op) IsConditionalJump() bool { return op >= JO && op <= JG }

// Inverted returns the conditional jump of the opposite condition, such as JGE for JL. It panics if op is no conditional jump.
func (op Op) Inverted() Op {
	if !op.IsConditionalJump() {
		panic("amd64: " + op.String() + " is not a conditional jump")
	}
	return JO + (op - JO) ^ 1 // a condition code and its complement differ in the lowest bit
}
