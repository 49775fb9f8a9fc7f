package source

import (
	"math"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// The interpreter converts numbers beyond 64 bits to the integer 0 in bit operations. Such operands are reduced modulo 2^32
// first, which changes no result.

// exactBits is the magnitude below which the interpreter converts numbers to integers correctly.
const exactBits = 1 << 63

// mostSmall is the greatest magnitude of small values, from which ++ leads to no greater ones.
const mostSmall = 1 << 53

func isBits(t token.Token) bool {
	switch t {
	case token.AND, token.OR, token.EXCLUSIVE_OR, token.SHIFT_LEFT, token.SHIFT_RIGHT, token.UNSIGNED_SHIFT_RIGHT:
		return true
	}
	return false
}

// reduced is called for each operand that is reduced; a test counts them.
var reduced = func() {}

// A reduction says how an operand is reduced.
type reduction int

const (
	keepOperand   reduction = iota // it is small
	moduloOperand                  // by %, which converts an object at once and refuses a BigInt
	guardOperand                   // only if it is a number
)

// reductionOf chooses the reduction of an operand; other is the second operand, or nil.
func reductionOf(e, other ast.Expression) reduction {
	switch {
	case bound(e) < exactBits:
		return keepOperand
	case isNoBigInt(e) && (other == nil || isNumber(e)):
		return moduloOperand
	}
	if n, ok := other.(*ast.NumberLiteral); ok && isNoBigInt(n) {
		return moduloOperand
	}
	return guardOperand
}

// noteBits records the reduction of the operands of a bit operation. It is applied last, because other changes replace operands.
func (w *walker) noteBits(e *ast.BinaryExpression) {
	if !isBits(e.Operator) {
		return
	}
	left, right := reductionOf(e.Left, e.Right), reductionOf(e.Right, e.Left)
	if left != keepOperand || right != keepOperand {
		s := w.scope
		w.bits = append(w.bits, func() { e.Left, e.Right = left.apply(s, e.Left), right.apply(s, e.Right) })
	}
}

// noteValue records whether the initial value of a variable is small.
func (w *walker) noteValue(d *ast.Binding) {
	targets(d.Target, func(id *ast.Identifier) {
		b := w.scope.lookup(id.Name.String())
		_, plain := d.Target.(*ast.Identifier)
		switch {
		case b == nil:
		case plain && b.Kind != KindParam && (d.Initializer == nil || bound(d.Initializer) <= mostSmall) && (w.unit.kind == Module || b.scope.fn.parent != nil):
			b.small = true
		default:
			b.large = true
		}
	})
}

// noteNot records the reduction of the operand of ~.
func (w *walker) noteNot(e *ast.UnaryExpression) {
	if e.Operator != token.BITWISE_NOT {
		return
	}
	if r := reductionOf(e.Operand, nil); r != keepOperand {
		s := w.scope
		w.bits = append(w.bits, func() { e.Operand = r.apply(s, e.Operand) })
	}
}

// noteAssignedBits records the reduction of the operands of an assignment that computes bits. The old value of a property stays
// as it is.
func (w *walker) noteAssignedBits(e *ast.AssignExpression, named bool) {
	if !isBits(e.Operator) {
		return
	}
	left, s := *e, w.scope
	right := reductionOf(e.Right, nil)
	if right == moduloOperand && !isNumber(e.Right) {
		right = guardOperand
	}
	if !named || e.Operator == token.SHIFT_LEFT && w.bigInts { // a shift that the engine checks
		if right != keepOperand {
			w.bits = append(w.bits, func() { e.Right = right.apply(s, e.Right) })
		}
		return
	}
	r := reductionOf(e.Left, e.Right)
	w.bits = append(w.bits, func() {
		id := *left.Left.(*ast.Identifier)
		e.Operator, e.Right = token.ASSIGN, &ast.BinaryExpression{Operator: left.Operator, Left: r.apply(s, &id), Right: right.apply(s, e.Right)}
	})
}

// apply returns the reduced operand of an expression in a scope.
func (r reduction) apply(s *scope, e ast.Expression) ast.Expression {
	if r == keepOperand {
		return e
	}
	if id, ok := e.(*ast.Identifier); ok {
		if b := s.lookup(id.Name.String()); b != nil && b.small && !b.large {
			return e
		}
	}
	reduced()
	at := e.Idx0()
	modulo := func(x ast.Expression) ast.Expression {
		return &ast.BinaryExpression{Operator: token.REMAINDER, Left: x, Right: &ast.NumberLiteral{Idx: at, Value: int64(1 << 32)}}
	}
	if r == moduloOperand {
		return modulo(e)
	}
	if id, ok := e.(*ast.Identifier); ok {
		first, second := *id, *id
		return &ast.ConditionalExpression{
			Test: &ast.BinaryExpression{
				Operator: token.STRICT_EQUAL, Comparison: true,
				Left:  &ast.UnaryExpression{Operator: token.TYPEOF, Idx: at, Operand: &first},
				Right: &ast.StringLiteral{Idx: at, Literal: "'number'", Value: "number"},
			},
			Consequent: modulo(&second), Alternate: id,
		}
	}
	return call(paramWrap, at, e)
}

// bound returns a limit of the magnitude of an expression's value, where that is a number.
func bound(e ast.Expression) float64 {
	switch e := e.(type) {
	case *ast.NumberLiteral:
		switch v := e.Value.(type) {
		case int64:
			return math.Abs(float64(v))
		case float64:
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return 0
			}
			return math.Abs(v)
		}
		return 0 // a BigInt
	case *ast.BooleanLiteral, *ast.NullLiteral, *ast.RegExpLiteral, *ast.ArrayLiteral, *ast.FunctionLiteral, *ast.ArrowFunctionLiteral, *ast.ClassLiteral:
		if _, list := e.(*ast.ArrayLiteral); list {
			return math.Inf(1)
		}
		return 1
	case *ast.DotExpression:
		if e.Identifier.Name == "length" {
			return 1 << 53
		}
	case *ast.SequenceExpression:
		return bound(e.Sequence[len(e.Sequence)-1])
	case *ast.ConditionalExpression:
		return max(bound(e.Consequent), bound(e.Alternate))
	case *ast.AssignExpression:
		if e.Operator == token.ASSIGN {
			return bound(e.Right)
		}
		if isBits(e.Operator) {
			return 1 << 32
		}
	case *ast.UnaryExpression:
		switch e.Operator {
		case token.BITWISE_NOT:
			return 1 << 32
		case token.NOT, token.TYPEOF, token.VOID, token.DELETE:
			return 1
		case token.MINUS, token.PLUS:
			return bound(e.Operand)
		}
	case *ast.BinaryExpression:
		if isBits(e.Operator) {
			return 1 << 32
		}
		if e.Comparison {
			return 1
		}
		l, r := bound(e.Left), bound(e.Right)
		switch e.Operator {
		case token.PLUS:
			if isNumber(e.Left) && isNumber(e.Right) {
				return l + r
			}
		case token.MINUS:
			return l + r
		case token.MULTIPLY:
			if l != 0 && r != 0 {
				return l * r
			}
		case token.REMAINDER:
			return min(l, r)
		}
	}
	return math.Inf(1)
}

// isNumber reports whether an expression's value is a number or a BigInt, never a text.
func isNumber(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.NumberLiteral:
		return true
	case *ast.UnaryExpression:
		return e.Operator == token.BITWISE_NOT || e.Operator == token.MINUS || e.Operator == token.PLUS
	case *ast.BinaryExpression:
		switch e.Operator {
		case token.MINUS, token.MULTIPLY, token.SLASH, token.REMAINDER, token.EXPONENT:
			return true
		case token.PLUS:
			return isNumber(e.Left) && isNumber(e.Right)
		}
		return isBits(e.Operator)
	}
	return false
}

// isNoBigInt reports whether an expression's value is certainly no BigInt, nor an object that converts to one.
func isNoBigInt(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.NumberLiteral:
		switch e.Value.(type) {
		case int64, float64:
			return true
		}
	case *ast.BooleanLiteral, *ast.NullLiteral, *ast.StringLiteral:
		return true
	case *ast.DotExpression:
		return e.Identifier.Name == "length"
	case *ast.CallExpression:
		dot, ok := e.Callee.(*ast.DotExpression)
		if !ok {
			return false
		}
		id, ok := dot.Left.(*ast.Identifier)
		return ok && id.Name == "Math" || dot.Identifier.Name == "charCodeAt"
	case *ast.UnaryExpression:
		return e.Operator == token.PLUS || e.Operator == token.NOT || (e.Operator == token.MINUS || e.Operator == token.BITWISE_NOT) && isNoBigInt(e.Operand)
	case *ast.BinaryExpression:
		if e.Comparison || e.Operator == token.UNSIGNED_SHIFT_RIGHT {
			return true
		}
		switch e.Operator {
		case token.PLUS, token.MINUS, token.MULTIPLY, token.SLASH, token.REMAINDER, token.EXPONENT:
			return isNoBigInt(e.Left) || isNoBigInt(e.Right)
		}
		return isBits(e.Operator) && (isNoBigInt(e.Left) || isNoBigInt(e.Right))
	case *ast.SequenceExpression:
		return isNoBigInt(e.Sequence[len(e.Sequence)-1])
	case *ast.ConditionalExpression:
		return isNoBigInt(e.Consequent) && isNoBigInt(e.Alternate)
	}
	return false
}
