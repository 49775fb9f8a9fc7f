package diag

// ID is the stable name of a kind of diagnostic.
type ID string

// The kinds of diagnostics; [Table] describes them.
const (
	// Syntax and size of a kernel.
	SyntaxError         ID = "syntax-error"
	TextTooLong         ID = "text-too-long"
	NotAFunction        ID = "not-a-function"
	AsyncKernel         ID = "async-kernel"
	NoItemParameter     ID = "no-item-parameter"
	UnsupportedStmt     ID = "unsupported-statement"
	UnsupportedExpr     ID = "unsupported-expression"
	NoVar               ID = "no-var"
	NoString            ID = "no-string"
	NoObject            ID = "no-object"
	NoClosure           ID = "no-closure"
	NoRecursion         ID = "no-recursion"
	BadPattern          ID = "bad-pattern"
	DuplicateName       ID = "duplicate-name"
	MisplacedBreak      ID = "misplaced-break"
	AssignConst         ID = "assign-to-const"
	BadAssignTarget     ID = "bad-assignment-target"
	UsedBeforeDeclared  ID = "used-before-declaration"
	ReadBeforeWritten   ID = "read-before-written"
	ReferenceReassigned ID = "reference-reassigned"

	// Names declared outside the kernel.
	UnknownName     ID = "unknown-name"
	NotCapturable   ID = "not-capturable"
	UnknownProperty ID = "unknown-property"
	UnknownMath     ID = "unknown-math-function"

	// The signature.
	ArgumentCount  ID = "argument-count"
	ArgumentType   ID = "argument-type"
	FractionForInt ID = "fraction-for-integer-parameter"
	BadOption      ID = "bad-option"

	// Types.
	Mixed64          ID = "mixed-64-bit"
	NotANumber       ID = "not-a-number"
	NotAValue        ID = "not-a-value"
	NotCallable      ID = "not-callable"
	NotIndexable     ID = "not-indexable"
	IndexNotInteger  ID = "index-not-integer"
	IndexOutOfBounds ID = "index-out-of-bounds"
	TooFewIndices    ID = "too-few-indices"
	TooManyIndices   ID = "too-many-indices"
	ConstantTable    ID = "constant-table"
	BadConversion    ID = "bad-conversion"
	BadOperand       ID = "bad-operand"
	JoinFailed       ID = "types-do-not-join"
	CallArguments    ID = "call-arguments"
	HelperReturn     ID = "helper-return"
	ValueUnused      ID = "no-value"
	DivisionByZero   ID = "division-by-zero"
	BigIntTooLarge   ID = "bigint-too-large"

	// Arrays, records, groups.
	ArrayDims       ID = "array-dimensions"
	ArrayType       ID = "array-type"
	FieldMissing    ID = "field-missing"
	UnknownField    ID = "unknown-field"
	WholeRecord     ID = "whole-record"
	BadAtomic       ID = "bad-atomic"
	DivergentGroup  ID = "divergent-barrier"
	TextOnlyInPrint ID = "text-only-in-print"

	// Limits.
	TooDeep ID = "too-deep"
	TooBig  ID = "too-big"

	// Internal reports a defect of the compiler.
	Internal ID = "internal-error"

	// Warnings.
	InexactConvert  ID = "inexact-conversion"
	InexactNumber   ID = "inexact-number"
	IntegerWraps    ID = "integer-wraps"
	RacyAccess      ID = "racy-access"
	SignedShift     ID = "signed-shift-of-u32"
	UnreachableCode ID = "unreachable-code"
	GatheredAccess  ID = "gathered-access"
	ContendedAtomic ID = "contended-atomic"
	StridedAccess   ID = "strided-access"
	UnprovedCheck   ID = "unproved-check"
	RaggedTile      ID = "ragged-tile"
	NarrowGroups    ID = "narrow-groups"
)
