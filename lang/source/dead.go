package source

import (
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

// The interpreter drops the code of statements that cannot run. It patches the jumps out of them into the code that it keeps.
// So no statement may look unreachable to it.

// reach makes the test of a statement one that the interpreter does not evaluate when it compiles.
func reach(test *ast.Expression) {
	if e := *test; isFolded(e) {
		*test = &ast.SequenceExpression{Sequence: []ast.Expression{&ast.NumberLiteral{Idx: e.Idx0(), Literal: "0", Value: int64(0)}, e}}
	}
}

// reachBody is like reach for the test of a loop. A literal that is true leaves all of the loop reachable.
func reachBody(test *ast.Expression) {
	switch e := (*test).(type) {
	case *ast.BooleanLiteral:
		if e.Value {
			return
		}
	case *ast.NumberLiteral:
		if e.Value == int64(1) {
			return
		}
	}
	reach(test)
}

// reachRest puts each break or continue that is followed by statements into a block, so that these statements look reachable to
// the interpreter's compiler.
func reachRest(list []ast.Statement) {
	for i, s := range list {
		if b, ok := s.(*ast.BranchStatement); ok && i < len(list)-1 {
			list[i] = &ast.BlockStatement{LeftBrace: b.Idx, List: []ast.Statement{b}, RightBrace: endOf(b)}
		}
	}
}

// withoutRest returns a list without the statements after the first break or continue, except functions. In a text for eval the value
// of the list is that of the statement before the break, which reachRest would hide. If the rest has declarations of classes, let or
// const, all of it stays, and withoutRest applies reachRest to the list.
func withoutRest(list []ast.Statement) []ast.Statement {
	dead := slices.IndexFunc(list, func(s ast.Statement) bool { _, ok := s.(*ast.BranchStatement); return ok }) + 1
	if dead == 0 {
		return list
	}
	out := list[:dead:dead]
	for _, s := range list[dead:] {
		switch s.(type) {
		case *ast.FunctionDeclaration:
			out = append(out, s)
		case *ast.ClassDeclaration, *ast.LexicalDeclaration:
			reachRest(list)
			return list
		}
	}
	return out
}

func endOf(b *ast.BranchStatement) file.Idx {
	if b.Label != nil {
		return b.Label.Idx
	}
	return b.Idx
}

// isFolded reports whether the interpreter evaluates an expression when it compiles it, or may do so.
func isFolded(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.NumberLiteral, *ast.StringLiteral, *ast.BooleanLiteral, *ast.NullLiteral:
		return true
	case *ast.UnaryExpression:
		return isFolded(e.Operand)
	case *ast.BinaryExpression:
		switch e.Operator {
		case token.LOGICAL_AND, token.LOGICAL_OR, token.COALESCE:
			return isFolded(e.Left)
		}
		return isFolded(e.Left) && isFolded(e.Right)
	}
	return false
}
