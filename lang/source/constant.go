package source

import (
	"math"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// The interpreter's compiler computes operations on constants with its own instructions, which differ from those that package
// instructions puts into programs. Constants whose result would differ are hidden from the compiler.

// bitsLimit is the magnitude from which on the interpreter does not convert numbers to integers as ECMAScript defines.
const bitsLimit = 1 << 63

// hidden returns an expression with the value of e that the compiler does not evaluate.
func hidden(e ast.Expression) ast.Expression {
	return &ast.SequenceExpression{Sequence: []ast.Expression{e}}
}

// misfolds reports whether the compiler may compute another value of a binary expression of constants than the language
// defines.
func misfolds(e *ast.BinaryExpression) bool {
	switch e.Operator {
	case token.MULTIPLY, token.AND, token.OR, token.EXCLUSIVE_OR, token.SHIFT_LEFT, token.SHIFT_RIGHT, token.UNSIGNED_SHIFT_RIGHT:
	default:
		return false
	}
	if !isConstant(e.Left) || !isConstant(e.Right) {
		return false
	}
	l, leftKnown := constant(e.Left)
	r, rightKnown := constant(e.Right)
	if !leftKnown || !rightKnown {
		return true
	}
	if e.Operator == token.MULTIPLY {
		return l*r == 0
	}
	return math.Abs(l) >= bitsLimit || math.Abs(r) >= bitsLimit
}

// constant returns the value of a constant number, or false for other expressions. For bitwise operators it returns 1,
// which stands for any number whose magnitude is below bitsLimit.
func constant(e ast.Expression) (float64, bool) {
	switch e := e.(type) {
	case *ast.NumberLiteral:
		return numberOf(e)
	case *ast.UnaryExpression:
		v, ok := constant(e.Operand)
		switch e.Operator {
		case token.MINUS:
			return -v, ok
		case token.PLUS:
			return v, ok
		}
	case *ast.BinaryExpression:
		l, leftKnown := constant(e.Left)
		r, rightKnown := constant(e.Right)
		ok := leftKnown && rightKnown
		switch e.Operator {
		case token.PLUS:
			return l + r, ok
		case token.MINUS:
			return l - r, ok
		case token.MULTIPLY:
			return l * r, ok
		case token.SLASH:
			return l / r, ok
		case token.AND, token.OR, token.EXCLUSIVE_OR, token.SHIFT_LEFT, token.SHIFT_RIGHT, token.UNSIGNED_SHIFT_RIGHT:
			return 1, ok && !misfolds(e) // stands for any value below bitsLimit
		}
	}
	return 0, false
}

// index returns the number that the text of a key writes, such as 7 for '7'. It returns false for other keys, and for more than
// nine digits. If the key is a text, the interpreter stores numbers into typed arrays without conversion.
func index(e ast.Expression) (int64, bool) {
	s, ok := e.(*ast.StringLiteral)
	if !ok || len(s.Value) == 0 || len(s.Value) > 9 || s.Value[0] == '0' && len(s.Value) > 1 {
		return 0, false
	}
	n := int64(0)
	for i := range len(s.Value) {
		if c := s.Value[i]; c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(s.Value[i]-'0')
	}
	return n, true
}

// numberOf returns the value of a number literal, and false for one of a BigInt.
func numberOf(e *ast.NumberLiteral) (float64, bool) {
	switch v := e.Value.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
