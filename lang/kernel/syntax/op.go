package syntax

// Op is an operator.
type Op uint8

// The operators.
const (
	NoOp Op = iota
	Add
	Sub
	Mul
	Div
	Rem
	Pow
	And
	Or
	Xor
	Shl
	Shr  // >>
	UShr // >>>
	Eq
	Ne
	Lt
	Le
	Gt
	Ge
	LogicalAnd
	LogicalOr
	Not    // !
	BitNot // ~
	Void
)

var opText = [...]string{"=", "+", "-", "*", "/", "%", "**", "&", "|", "^", "<<", ">>", ">>>", "===", "!==", "<", "<=", ">", ">=",
	"&&", "||", "!", "~", "void"}

// String returns the text of the operator: === for Eq, !== for Ne, and = for NoOp.
func (op Op) String() string { return opText[op] }

// IsComparison reports whether op is a comparison.
func (op Op) IsComparison() bool { return op >= Eq && op <= Ge }
