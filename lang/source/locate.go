package source

import (
	"github.com/dop251/goja/ast"

	"github.com/orepl/orepl/lang/diag"
)

// Locate returns the position of a literal in an export of the text, or the zero position if it is not found. steps holds the
// properties (strings) and elements (ints) to follow. Locate also follows top-level constants.
func (u *Unit) Locate(export string, steps []any) diag.Position {
	program, p := parse(u.Text, Module)
	if p != nil {
		return diag.Position{}
	}
	l := &locator{top: map[string]ast.Expression{}}
	for _, s := range program.Body {
		l.declare(s)
	}
	for _, x := range program.Exports {
		if x.Name == export && x.Local != "" {
			l.top[export] = l.top[x.Local]
		}
	}
	value := l.top[export]
	if value == nil {
		return diag.Position{}
	}
	at := value
	for _, step := range steps {
		if value = l.descend(value, step); value == nil {
			break
		}
		at = value
	}
	return u.Position(int(at.Idx0()) - 1)
}

// locator finds values in a syntax tree.
type locator struct{ top map[string]ast.Expression }

// declare records the initializers of a top-level statement.
func (l *locator) declare(s ast.Statement) {
	var list []*ast.Binding
	switch s := s.(type) {
	case *ast.LexicalDeclaration:
		list = s.List
	case *ast.VariableStatement:
		list = s.List
	}
	for _, b := range list {
		if id, ok := b.Target.(*ast.Identifier); ok && b.Initializer != nil {
			l.top[id.Name.String()] = b.Initializer
		}
	}
}

// descend returns the property or element of a literal, or nil.
func (l *locator) descend(value ast.Expression, step any) ast.Expression {
	for range len(l.top) + 1 { // bounds the search, because constants may form a cycle
		id, ok := value.(*ast.Identifier)
		if !ok {
			break
		}
		value = l.top[id.Name.String()]
	}
	// A call with a literal as its argument usually returns the literal with defaults added.
	if c, ok := value.(*ast.CallExpression); ok && len(c.ArgumentList) == 1 {
		value = c.ArgumentList[0]
	}
	switch v := value.(type) {
	case *ast.ObjectLiteral:
		for _, p := range v.Value {
			switch p := p.(type) {
			case *ast.PropertyKeyed:
				if key, ok := p.Key.(*ast.StringLiteral); ok && key.Value.String() == step {
					return p.Value
				}
			case *ast.PropertyShort:
				if p.Name.Name.String() == step {
					return &p.Name
				}
			}
		}
	case *ast.ArrayLiteral:
		if i, ok := step.(int); ok && i < len(v.Value) {
			return v.Value[i]
		}
	}
	return nil
}
