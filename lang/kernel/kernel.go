// Package kernel compiles kernels: the text of a JavaScript function becomes typed, portable kernel IR.
//
// The language is a statically typed subset of JavaScript (docs/kernel-language.md). [Parse] parses a function's text once.
// [Function.Compile] types it for the arguments of a launch, or for an explicit signature, and returns a verified [ir.Module].
// Errors are a [diag.List]: each entry has an ID, a position in the script and a suggested rewrite.
//
// The compiler types and lowers a kernel in one walk over its syntax tree, repeated until the assumed types are the inferred ones.
// A variable has a current value of the structured SSA. Where paths join, the If or the loop has results for the variables that
// were assigned on them (flow.go). Results for values of expressions are in phi.go.
//
// # Design
//
// Only the binding of a captured variable is read when a kernel is made. Fields of a captured object are read at the first
// compilation, since only then is it known which ones the kernel names.
//
// At the prompt a changed capture is a warning. Compiling the kernel again would compute other values than the same text in
// a file.
//
// The sides of && and || in a condition may differ in type, since only their truth counts.
//
// g.assert proves no index, because with checks off the item continues after a false condition.
//
// i64 | 0 stays an i64, since 0 is a literal and takes the type of the other operand.
//
// A store to integer elements makes a Number an i32: with f32, 123456789 would become 123456792 silently.
//
// A condition chooses among rows of one array, which is a choice of indices. Of two arrays it would be a pointer, which
// devices check and vectorize badly.
//
// Math.trunc of a quotient has the type of the dividend, as % has, so the quotient and the remainder add up to it.
//
// A BigInt that only u64 holds is an error beside an i64 in operations whose bits differ between the two: quotients,
// remainders, minima and maxima.
package kernel

import (
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/lang/kernel/syntax"
)

// Source is the text of one function, from the script engine. Its Capture may return:
//
//   - nil: the script does not declare the name, so the language's meaning applies (Math, f32, Infinity, …);
//   - bool, float64, or int64 or *big.Int for a BigInt;
//   - []float64 for a flat array of numbers;
//   - [Table] for a typed array;
//   - [Object] for a plain object, whose fields are read if the kernel names them;
//   - *Source for a helper function, the same *Source each time that the same function is captured;
//   - [ir.Type] or *[ir.Record] for an element type;
//   - [Parameter] for a buffer that the kernel receives as this parameter, which must be one of its buffer parameters;
//   - or an error that explains why the value cannot be captured.
type Source = syntax.Source

// Parameter is the name of the kernel's parameter that a name of a helper function stands for.
type Parameter string

// Object is a captured plain object.
type Object interface {
	// Field returns a field's value, with the types of Source.Capture, or nil if the object has no such field.
	Field(name string) (any, error)
	// Fields returns the names of the fields.
	Fields() []string
}

// Table is a captured typed array.
type Table struct {
	Elem ir.Type
	Data []byte // the elements in order, little-endian
}

// Function is a parsed kernel function. It is safe for concurrent use.
type Function struct {
	fn      *syntax.Func
	params  []string
	helpers helperCache

	mu       sync.Mutex
	captured map[captureKey]any // values read from the script, once for all signatures
}

// Parse parses the text of a kernel function. The error is a [diag.List].
func Parse(src *Source) (*Function, error) {
	fn, err := syntax.Parse(src)
	if err != nil {
		return nil, err
	}
	f := &Function{fn: fn}
	if len(fn.Params) == 0 {
		return nil, diag.List{src.Diagnostic(fn.Span, diag.NoItemParameter, "write `(g, x, y) => …`",
			"a kernel's first parameter is the item object")}
	}
	for i, p := range fn.Params {
		name, ok := p.(*syntax.Name)
		if !ok {
			return nil, diag.List{src.Diagnostic(p.Range(), diag.BadPattern, "give each parameter a plain name",
				"a kernel's parameters cannot be destructured")}
		}
		if d := fn.Default(i); d != nil {
			return nil, diag.List{src.Diagnostic(d.Range(), diag.BadPattern, "pass the argument at each launch",
				"a kernel's parameters have no default values; those of its helpers may")}
		}
		if i > 0 {
			f.params = append(f.params, name.Name)
		}
	}
	return f, nil
}

// Name returns the function's own name, or "".
func (f *Function) Name() string { return f.fn.Name }

// Params returns the names of the parameters after the item object, in order. Callers must not change the list.
func (f *Function) Params() []string { return f.params }

// Item returns the name of the first parameter, the item object.
func (f *Function) Item() string { return f.fn.Params[0].(*syntax.Name).Name }

// ArgKind is the kind of an argument.
type ArgKind uint8

// The kinds of arguments.
const (
	Number ArgKind = iota // a Number: its uses decide between i32 and the real type
	BigInt                // i64
	Bool                  // bool
	Scalar                // a scalar with the type Arg.Type of the signature
	Buffer                // a buffer of Arg.Elem and Arg.Rank
)

// Arg describes one argument for the compilation of a kernel.
type Arg struct {
	Kind ArgKind
	Type ir.Type // Scalar: the storage or value type in the signature
	Elem ir.Elem // Buffer
	Rank int     // Buffer: 1 to 3
}

// Options are the options of kernel().
type Options struct {
	Name       string  // name of the kernel; default: the function's own name, or "kernel"
	Real       ir.Type // real type: F32 or F64; Void for F64 if a parameter is or contains f64, and F32 otherwise
	NoContract bool    // {contract: false}: never fuse a multiplication with an addition
	Warnings   bool    // collect warnings
	Branches   bool    // do not evaluate the unselected operand of ?:, && and ||
	Trace      bool    // report each executed statement to the service [TraceService]
}

// Compiled is a kernel for one signature.
type Compiled struct {
	Module   *ir.Module
	Kernel   *ir.Kernel // the only kernel of Module
	Params   []Param
	Warnings diag.List
	Marks    []Mark // with Options.Trace: descriptions of the calls of [TraceService]
	Inlined  []InlinedCall

	places map[*ir.Instr]Place
}

// InlinedCall is a call that was replaced by the body of a helper function.
type InlinedCall struct {
	Name     string        // name of the helper; may be empty
	From, To diag.Position // range of the helper's source text
	At       diag.Position // position of the call
}

// Param is a parameter with its inferred type.
type Param struct {
	Name   string
	Type   ir.Type // type of a scalar; Void for a buffer
	Elem   ir.Elem // element of a buffer
	Rank   int     // rank of a buffer; 0 for a scalar
	Reason string  // reason for a scalar's type, such as "i32 because it is used as an index at blur.js:12:5"

	decl   diag.Position
	asReal evidence // use that makes an inferred parameter a real number
	asInt  evidence // use that combines the parameter with an integer
	// signature returns the kernel's signature with type t for this parameter, or the real type if t is Void. It returns "" if
	// the kernel does not compile with it. It is nil if the parameter's type is not inferred.
	signature func(t ir.Type) string
}

// CheckNumber returns an error if a Number does not fit a scalar parameter. An integer parameter accepts only integers of its
// range, and any other every Number. The error is a [*diag.Diagnostic] that names the reason for the parameter's type.
func (p *Param) CheckNumber(x float64) error {
	if !p.Type.IsInt() {
		return nil
	}
	if inRange(x, p.Type) {
		return nil
	}
	what := scalar.Text(x) + " is no integer"
	if isIntegral(x) {
		what = fmt.Sprintf("%s is outside the range of %s", scalar.Text(x), p.Type)
	}
	return &diag.Diagnostic{
		ID: diag.FractionForInt, Position: p.decl,
		Message: fmt.Sprintf("argument %s: %s, and %s is %s", p.Name, what, p.Name, p.Reason),
		Rewrite: p.rewriteFor(x),
	}
}

// rewriteFor returns a hint for passing x, which the parameter's integer type does not hold.
func (p *Param) rewriteFor(x float64) string {
	if p.signature == nil {
		return "pass an integer of its range, or change the signature"
	}
	if !isIntegral(x) {
		if text := p.signature(ir.Void); text != "" {
			return "pass an integer, or give the kernel a signature: " + text
		}
		return fmt.Sprintf("pass an integer; to round in the kernel, give it a signature with %s: f32 and write `… | 0` where an integer is needed", p.Name)
	}
	for _, t := range []ir.Type{ir.U32, ir.I64, ir.U64, ir.F64} {
		if t.IsInt() && !inRange(x, t) {
			continue
		}
		if text := p.signature(t); text != "" {
			return "give the kernel a signature: " + text
		}
	}
	return "pass a smaller number"
}

// inRange reports whether an integer type holds x.
func inRange(x float64, t ir.Type) bool {
	low, high := 0.0, math.Ldexp(1, 8*t.Size())
	if t.IsSigned() {
		low, high = -high/2, high/2
	}
	return isIntegral(x) && low <= x && x < high
}

// Compile types the kernel for its arguments and returns its IR. The error is a [diag.List].
func (f *Function) Compile(args []Arg, opts Options) (*Compiled, error) {
	if len(args) != len(f.params) {
		return nil, diag.List{f.fn.Source.Diagnostic(f.fn.Span, diag.ArgumentCount, "",
			fmt.Sprintf("the number of arguments must be %d (%s); given: %d", len(f.params), strings.Join(f.params, ", "), len(args)))}
	}
	c := newCompiler(f, args, opts)
	return c.compile()
}
