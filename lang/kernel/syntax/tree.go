// Package syntax parses the text of a kernel function into a tree of the kernel language. Names are bound to their
// declarations. Constructs outside the language are refused with a rewrite that works. Every construct lists the outer
// variables that it assigns, so that one walk can build SSA form.
package syntax

import "math/big"

// Span is a range of byte offsets in the text of a function.
type Span struct{ Pos, End int }

// Range returns the span itself; nodes have it by embedding.
func (s Span) Range() Span { return s }

// Node is a part of the tree.
type Node interface{ Range() Span }

// Source is the text of one function, from the script engine.
type Source struct {
	// Text is the function's own text: a function expression, an arrow function or a method.
	Text string
	// Position says where in the script a byte offset of Text lies; nil if unknown: then positions are within Text.
	Position func(offset int) (file string, line, col int)
	// Capture returns the value of a free variable; package kernel lists its types. If both results are nil, the name is
	// not bound in the script and has the language's own meaning.
	Capture func(name string) (any, error)
	// Names lists the script's names, for suggestions; nil if they are unknown.
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
	Func     *Func // the function that it is declared in
	Index    int   // position in Func.Decls
	Assigned bool  // after its initialiser
	Fn       *Func // the function that it names, if it is one for sure

	level int // number of sets that were open at the declaration
}

// Default is the default value of a parameter.
type Default struct {
	Param int // position in [Func.Params]
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
	Defaults []Default // of the last parameters or others, in order
	Body     []Stmt
	Result   Expr // of an arrow function without braces; else nil
	Decls    []*Decl
	Source   *Source
	Outer    *Func // the function it stands in
	Sets     Sets  // the outer variables that a call assigns
	Returns  int   // number of return statements
}

// TailReturn reports whether control leaves the function at its end only.
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

// Sets is the variables that a construct assigns and that are declared outside of it.
type Sets []*Decl

// Expr is an expression.
type Expr interface{ Node }

// Expressions.
type (
	// Num is a number; its value is exact as JavaScript reads it.
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
		Sets Sets // by Y
	}
	// Assign is X = Y, or X Op= Y if Op is not NoOp.
	Assign struct {
		Span
		Op   Op
		X, Y Expr // X: Name, Member, Index, ArrayPat, ObjectPat
		Sets Sets // by Y, for &&= and ||=
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
		Sets             Sets // by Then and Else
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
		Init   Expr // nil if there is none
	}
	// Many is declarations made by one statement.
	Many struct {
		Span
		List []Stmt
	}
	// ExprStmt is an expression for its effect.
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
		Sets       Sets // by Then and Else
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
		Continues bool // a continue names it
		Sets      Sets // by Test, Update and Body
	}
	// Labelled is a labelled statement that is no loop.
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
		Sets   Sets // by Cases
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
	Sets Sets // by Body
}
