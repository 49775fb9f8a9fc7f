// Package syntax parses the text of a kernel function to a syntax tree. Names are bound to their declarations. Constructs
// outside the language are rejected with a suggested rewrite. Every construct lists the outer variables that it assigns, so
// that one walk can build SSA form.
package syntax

import "math/big"

// Span is a range of byte offsets in the text of a function.
type Span struct{ Pos, End int }

// Range returns the span itself; nodes embed Span for this method.
func (s Span) Range() Span { return s }

// Node is a node of the tree.
type Node interface{ Range() Span }

// Source is the text of one function, from the script engine.
type Source struct {
	// Text is the function's source text: a function expression, an arrow function or a method.
	Text string
	// Position returns the script position of a byte offset in Text. If nil, positions are relative to Text.
	Position func(offset int) (file string, line, col int)
	// Capture returns the value of a free variable; package kernel lists its types. If both results are nil, the script does
	// not declare the name, and the language's meaning applies.
	Capture func(name string) (any, error)
	// Names returns the script's names, for suggestions; nil if they are unknown.
	Names func() []string
}

// DeclKind is the kind of a declaration.
type DeclKind uint8

// The kinds of declarations.
const (
	ParamDecl DeclKind = iota
	ConstDecl
	LetDecl
	FuncDecl
)

// Decl is a declared name.
type Decl struct {
	Name string
	Kind DeclKind
	Span
	Func     *Func // enclosing function
	Index    int   // index in Func.Decls
	Assigned bool  // assigned after its initializer
	Fn       *Func // the function that the name always refers to, or nil

	level int // number of open sets at the declaration
}

// Default is the default value of a parameter.
type Default struct {
	Param int // index in [Func.Params]
	Value Expr
}

// Default returns the default value of a parameter, or nil.
func (f *Func) Default(param int) Expr {
	for _, d := range f.Defaults {
		if d.Param == param {
			return d.Value
		}
	}
	return nil
}

// Func is a function.
type Func struct {
	Span
	Name     string    // may be empty
	Params   []Expr    // Name, ArrayPat or ObjectPat
	Defaults []Default // default values of parameters, in order
	Body     []Stmt
	Result   Expr // expression of an arrow function without braces, or nil
	Decls    []*Decl
	Source   *Source
	Outer    *Func // enclosing function
	Sets     Sets  // outer variables that a call assigns
	Returns  int   // number of return statements
}

// TailReturn reports whether the function has no return statement, or only one, which is the last statement of its body.
func (f *Func) TailReturn() bool {
	if f.Returns == 0 {
		return true
	}
	if f.Returns > 1 || len(f.Body) == 0 {
		return false
	}
	_, last := f.Body[len(f.Body)-1].(*Return)
	return last
}

// Sets holds the outer variables that a construct assigns.
type Sets []*Decl

// Expr is an expression.
type Expr interface{ Node }

// Expressions.
type (
	// Num is a number literal with its exact JavaScript value.
	Num struct {
		Span
		Value float64
	}
	// Big is a BigInt literal.
	Big struct {
		Span
		Value *big.Int
	}
	// Bool is true or false.
	Bool struct {
		Span
		Value bool
	}
	// Str is a string literal.
	Str struct {
		Span
		Value string
	}
	// Name is the use of a name; Decl is nil for a free variable.
	Name struct {
		Span
		Name string
		Decl *Decl
	}
	// Unary is - + ! ~ X, or void X.
	Unary struct {
		Span
		Op Op
		X  Expr
	}
	// Binary is X Op Y for arithmetic and comparison.
	Binary struct {
		Span
		Op   Op
		X, Y Expr
	}
	// Logical is X && Y or X || Y.
	Logical struct {
		Span
		Op   Op
		X, Y Expr
		Sets Sets // assigned by Y
	}
	// Assign is X = Y, or X Op= Y if Op is not NoOp.
	Assign struct {
		Span
		Op   Op
		X, Y Expr // X: Name, Member, Index, ArrayPat, ObjectPat
		Sets Sets // X and what Y assigns, for &&= and ||=
	}
	// Update is ++X, --X, X++ or X--.
	Update struct {
		Span
		Op     Op // Add or Sub
		Prefix bool
		X      Expr
	}
	// Cond is Test ? Then : Else.
	Cond struct {
		Span
		Test, Then, Else Expr
		Sets             Sets // assigned by Then and Else
	}
	// Call is Fn(Args…).
	Call struct {
		Span
		Fn   Expr
		Args []Expr
	}
	// Member is X.Name.
	Member struct {
		Span
		X    Expr
		Name string
	}
	// Index is X[I].
	Index struct {
		Span
		X, I Expr
	}
	// Array is [Elems…].
	Array struct {
		Span
		Elems []Expr
	}
	// Object is {Props…}.
	Object struct {
		Span
		Props []Prop
	}
	// Template is a template string: Texts has one more entry than Values.
	Template struct {
		Span
		Texts  []string
		Values []Expr
	}
	// Seq is X, Y, …
	Seq struct {
		Span
		List []Expr
	}
	// FuncLit is a function used as a value.
	FuncLit struct {
		Span
		Fn *Func
	}
	// ArrayPat is [a, , b] as the target of an assignment or declaration; holes are nil.
	ArrayPat struct {
		Span
		Elems []Expr
	}
	// ObjectPat is {a, b: c} as a target.
	ObjectPat struct {
		Span
		Props []Prop
	}
)

// Prop is a property of an object literal or pattern.
type Prop struct {
	Span
	Name   string
	Spread bool // …Value; Name is empty
	Value  Expr
}

// Stmt is a statement.
type Stmt interface{ Node }

// Statements.
type (
	// Declare is const or let Target = Init.
	Declare struct {
		Span
		Kind   DeclKind
		Target Expr // Name, ArrayPat or ObjectPat
		Init   Expr // nil if missing
	}
	// Many is a list of declarations from one statement.
	Many struct {
		Span
		List []Stmt
	}
	// ExprStmt is an expression evaluated for its effect.
	ExprStmt struct {
		Span
		X Expr
	}
	// Block is { List }.
	Block struct {
		Span
		List []Stmt
	}
	// If is if (Test) Then else Else.
	If struct {
		Span
		Test       Expr
		Then, Else Stmt // Else may be nil
		Sets       Sets // assigned by Then and Else
	}
	// Loop is for, while (TestFirst) or do (not TestFirst).
	Loop struct {
		Span
		Labels    []string
		Init      []Stmt
		Test      Expr // nil: true
		Update    Expr // may be nil
		Body      Stmt
		TestFirst bool
		Continues bool // the loop is the target of a continue
		Sets      Sets // assigned by Test, Update and Body
	}
	// Labelled is a labelled statement other than a loop or switch.
	Labelled struct {
		Span
		Labels []string
		Body   Stmt
		Sets   Sets
	}
	// Switch is switch (X) { Cases }.
	Switch struct {
		Span
		Labels []string
		X      Expr
		Cases  []*Case
		Sets   Sets // assigned by Cases
	}
	// Branch is break or continue.
	Branch struct {
		Span
		Continue bool
		Label    string
	}
	// Return is return X.
	Return struct {
		Span
		X Expr // may be nil
	}
)

// Case is a clause of a switch; Test is nil for default.
type Case struct {
	Span
	Test Expr
	Body []Stmt
	Sets Sets // assigned by Body
}
