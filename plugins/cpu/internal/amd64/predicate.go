package amd64

// Predicate is the immediate of a comparison: of VPCMPD and similar instructions for integers, of VCMPPS and VCMPPD for
// floats.
type Predicate uint8

// Predicates of integers and floats. If an operand is NaN, CmpEQ, CmpLT and CmpLE are false and the others true.
const (
	CmpEQ    Predicate = 0
	CmpLT    Predicate = 1
	CmpLE    Predicate = 2
	CmpNE    Predicate = 4
	CmpNotLT Predicate = 5
	CmpNotLE Predicate = 6
)

// Predicates of integers.
const (
	CmpNever  Predicate = 3
	CmpGE               = CmpNotLT
	CmpGT               = CmpNotLE
	CmpAlways Predicate = 7
)

// Predicates of floats.
const (
	CmpUnordered    Predicate = 3 // an operand is NaN
	CmpOrdered      Predicate = 7
	CmpNotGEFloat   Predicate = 9
	CmpNotGTFloat   Predicate = 10
	CmpOrderedGE    Predicate = 13 // false if an operand is NaN
	CmpOrderedGT    Predicate = 14
	negatePredicate           = 4
)

// Not returns the negation of p.
func (p Predicate) Not() Predicate { return p ^ negatePredicate }

// Swap returns the predicate of op that compares (b, a) as p compares (a, b).
func (p Predicate) Swap(op Op) Predicate {
	switch {
	case p&^negatePredicate == CmpEQ || p&^negatePredicate == CmpNever:
		return p
	case op != VCMPPS && op != VCMPPD:
		return 7 - p // for integers, LT pairs with NLE and LE with NLT
	}
	return swappedFloat[p]
}

// swappedFloat maps a predicate of floats to that of swapped operands.
var swappedFloat = [...]Predicate{
	CmpLT: CmpOrderedGT, CmpLE: CmpOrderedGE, CmpNotLT: CmpNotGTFloat, CmpNotLE: CmpNotGEFloat,
	CmpOrderedGT: CmpLT, CmpOrderedGE: CmpLE, CmpNotGTFloat: CmpNotLT, CmpNotGEFloat: CmpNotLE,
}
