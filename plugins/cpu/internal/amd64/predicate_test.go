package amd64

import (
	"math"
	"testing"
)

// TestPredicates compares each predicate, its negation and its swapped form with the manual's definition.
func TestPredicates(t *testing.T) {
	nan := math.NaN()
	values := []float64{-1, 0, 1, nan}
	floats := map[Predicate]func(a, b float64) bool{
		CmpEQ:         func(a, b float64) bool { return a == b },
		CmpLT:         func(a, b float64) bool { return a < b },
		CmpLE:         func(a, b float64) bool { return a <= b },
		CmpNE:         func(a, b float64) bool { return a != b },
		CmpNotLT:      func(a, b float64) bool { return !(a < b) },
		CmpNotLE:      func(a, b float64) bool { return !(a <= b) },
		CmpUnordered:  func(a, b float64) bool { return a != a || b != b },
		CmpOrdered:    func(a, b float64) bool { return a == a && b == b },
		CmpNotGEFloat: func(a, b float64) bool { return !(a >= b) },
		CmpNotGTFloat: func(a, b float64) bool { return !(a > b) },
		CmpOrderedGE:  func(a, b float64) bool { return a >= b },
		CmpOrderedGT:  func(a, b float64) bool { return a > b },
	}
	integers := map[Predicate]func(a, b float64) bool{
		CmpEQ: floats[CmpEQ], CmpLT: floats[CmpLT], CmpLE: floats[CmpLE], CmpNE: floats[CmpNE],
		CmpGE: floats[CmpOrderedGE], CmpGT: floats[CmpOrderedGT],
		CmpNever:  func(a, b float64) bool { return false },
		CmpAlways: func(a, b float64) bool { return true },
	}
	for _, c := range []struct {
		op    Op
		holds map[Predicate]func(a, b float64) bool
	}{{VCMPPS, floats}, {VCMPPD, floats}, {VPCMPD, integers}, {VPCMPUQ, integers}} {
		for p, holds := range c.holds {
			for _, a := range values {
				for _, b := range values {
					if (a != a || b != b) && c.op != VCMPPS && c.op != VCMPPD {
						continue
					}
					if c.holds[p.Not()](a, b) == holds(a, b) {
						t.Errorf("%v: the negation of %d is %d", c.op, p, p.Not())
					}
					if c.holds[p.Swap(c.op)](b, a) != holds(a, b) {
						t.Errorf("%v: %d swapped is %d", c.op, p, p.Swap(c.op))
					}
				}
			}
		}
	}
}
