package ir

import (
	"strings"
	"testing"
)

// TestOpClasses lists the operations of each predicate, so that new operations join a class explicitly.
func TestOpClasses(t *testing.T) {
	const unary = "neg not abs sqrt floor ceil trunc round rint clz ctz popcnt"
	const pure = unary + " add sub mul min max mulhi and or xor shl shr fma select eq ne lt le convert sat wrap bitcast quant math"
	for _, c := range []struct {
		name    string
		is      func(Op) bool
		members string
	}{
		{"IsArith", Op.IsArith, "const " + pure + " div rem"},
		{"IsPure", Op.IsPure, "const " + pure + " extent item"},
		{"IsUnary", Op.IsUnary, unary},
		{"IsRounding", Op.IsRounding, "floor ceil trunc round rint"},
		{"IsCompare", Op.IsCompare, "eq ne lt le"},
		{"IsConvert", Op.IsConvert, "convert sat wrap bitcast quant"},
		{"IsMemory", Op.IsMemory, "load store atomic zero extent"},
		{"IsItem", Op.IsItem, "item barrier reduce scan subgroup uniform"},
		{"IsGroup", Op.IsGroup, "barrier reduce scan uniform"},
		{"IsHost", Op.IsHost, "print assert call"},
		{"IsStructured", Op.IsStructured, "block if loop"},
		{"IsTerminator", Op.IsTerminator, "yield break continue return unreachable"},
		{"IsJump", Op.IsJump, "break continue return unreachable"},
		{"IsVersion2", Op.IsVersion2, "fence clock pause lib"},
	} {
		want := map[string]bool{}
		for _, name := range strings.Fields(c.members) {
			want[name] = true
		}
		for op := Invalid; op < numOps; op++ {
			if got := c.is(op); got != want[op.String()] {
				t.Errorf("%s(%v) = %v", c.name, op, got)
			}
		}
	}
	for op := range Op(255) {
		if op.isKnown() != (op.String() != "invalid" && !strings.HasPrefix(op.String(), "op(")) {
			t.Errorf("isKnown(%v) = %v", op, op.isKnown())
		}
	}
}
