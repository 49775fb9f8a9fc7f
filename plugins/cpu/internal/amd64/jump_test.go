package amd64

import "testing"

func TestInverted(t *testing.T) {
	pairs := [][2]Op{{JO, JNO}, {JB, JAE}, {JE, JNE}, {JBE, JA}, {JS, JNS}, {JP, JNP}, {JL, JGE}, {JLE, JG}}
	for _, p := range pairs {
		if p[0].Inverted() != p[1] || p[1].Inverted() != p[0] {
			t.Errorf("%v and %v are not the inverse of each other", p[0], p[1])
		}
	}
	for op := Op(1); op < numOps; op++ {
		conditional := false
		for _, p := range pairs {
			conditional = conditional || op == p[0] || op == p[1]
		}
		if op.IsConditionalJump() != conditional || op.IsJump() != (conditional || op == JMP) {
			t.Errorf("%v is classified wrongly", op)
		}
	}
}
