package amd64

// Predicate is the immediate of a comparison: VPCMPD and its like for integers, VCMPPS and VCMPPD for floats.
type Predicate uint8

// Predicates of integers and floats. For floats, CmpEQ, CmpLT and CmpLE are false if an operand is NaN, the others true.
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

// Not returns the predicate that holds when p does not.
func (p Predicate) Not() Predicate { return p ^ negatePredicate }

// Swap returns the predicate of op that holds for (b, a) when p holds for (a, b).
func (p Predicate) Swap(op Op) Predicate {
	switch {
	case p&^negatePredicate == CmpEQ || p&^negatePredicate == CmpNever:
		return p
	case op != VCMPPS && op != VCMPPD:
		return 7 - p // of integers LT and LE pair with NLE and NLT
	}
	return swappedFloat[p]
}

// swappedFloat has the predicates of floats with their operands swapped.
var swappedFloat = [...]Predicate{
	CmpLT: CmpOrderedGT, CmpLE: CmpOrderedGE, CmpNotLT: CmpNotGTFloat, CmpNotLE: CmpNotGEFloat,
	CmpOrderedGT: CmpLT, CmpOrderedGE: CmpLE, CmpNotGTFloat: CmpNotLT, CmpNotGEFloat: CmpNotLE,
}
