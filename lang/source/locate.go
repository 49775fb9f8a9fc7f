package source

import (
	"reflect"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"

	"github.com/orepl/orepl/lang/diag"
)

// Locate returns the position of the initializer of an export, or of the value in it to which steps lead: properties (strings)
// and elements (ints). It also follows the names of top-level variables. If the text lacks a step, the position is that of the
// value before it. It is the zero position if the text is malformed or has no initializer of the export.
func (u *Unit) Locate(export string, steps []any) diag.Position {
	program, p := parse(u.Text, Module)
	if p != nil {
		return diag.Position{}
	}
	l := newLocator(program.Body)
	for _, x := range program.Exports {
		if x.Name == export && x.Local != "" {
			l.top[export] = l.top[x.Local]
		}
	}
	value := l.top[export]
	if value == nil {
		return diag.Position{}
	}
	return u.Position(int(l.follow(value, steps).Idx0()) - 1)
}

// LocateArgument returns the position of the value in a call's first argument to which steps lead, as in [Unit.Locate]. at is the
// position of the call's opening parenthesis or of its start. If the text lacks a step, the position is that of the value before it.
// The result is the zero position if there is no such call or argument, or the text is malformed.
func (u *Unit) LocateArgument(at diag.Position, steps []any) diag.Position {
	program, p := parse(u.Text, Module)
	if p != nil {
		return diag.Position{}
	}
	var found ast.Expression
	visit(program.Body, func(node any) {
		c, ok := node.(*ast.CallExpression)
		if ok && found == nil && len(c.ArgumentList) > 0 && (u.isAt(c.LeftParenthesis, at) || u.isAt(c.Idx0(), at)) {
			found = c.ArgumentList[0]
		}
	})
	if found == nil {
		return diag.Position{}
	}
	return u.Position(int(newLocator(program.Body).follow(found, steps).Idx0()) - 1)
}

// isAt reports whether an index of the syntax tree is at a position.
func (u *Unit) isAt(idx file.Idx, at diag.Position) bool {
	p := u.Position(int(idx) - 1)
	return p.Line == at.Line && p.Column == at.Column
}

// A Name is a name in a text with its position.
type Name struct {
	Name string
	diag.Position
}

// Destructured returns the properties that a function takes out of its first parameter, unless they have defaults. start is the
// offset of the function in the text. It returns nil if the text cannot be parsed.
func (u *Unit) Destructured(start int) (list []Name) {
	program, p := parse(u.Text, Module)
	if p != nil {
		return nil
	}
	visit(program.Body, func(node any) {
		var parameters *ast.ParameterList
		switch f := node.(type) {
		case *ast.FunctionLiteral:
			if int(f.Idx0())-1 == start {
				parameters = f.ParameterList
			}
		case *ast.ArrowFunctionLiteral:
			if int(f.Idx0())-1 == start {
				parameters = f.ParameterList
			}
		}
		if parameters == nil || len(parameters.List) == 0 || list != nil {
			return
		}
		pattern, ok := parameters.List[0].Target.(*ast.ObjectPattern)
		if !ok {
			return
		}
		for _, p := range pattern.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				if p.Initializer == nil {
					list = append(list, Name{p.Name.Name.String(), u.Position(int(p.Name.Idx) - 1)})
				}
			case *ast.PropertyKeyed:
				_, optional := p.Value.(*ast.AssignExpression)
				if key, ok := p.Key.(*ast.StringLiteral); ok && !optional {
					list = append(list, Name{key.Value.String(), u.Position(int(key.Idx) - 1)})
				}
			}
		}
	})
	return list
}

// visit calls fn for each pointer to a node below a part of a syntax tree.
func visit(part any, fn func(node any)) {
	seen := map[uintptr]bool{}
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Interface:
			walk(v.Elem())
		case reflect.Pointer:
			if v.IsNil() || seen[v.Pointer()] || v.Type().Elem().PkgPath() != astPath {
				return
			}
			seen[v.Pointer()] = true
			if v.CanInterface() {
				fn(v.Interface())
			}
			walk(v.Elem())
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i))
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		}
	}
	walk(reflect.ValueOf(part))
}

// astPath is the package of the nodes.
var astPath = reflect.TypeFor[ast.CallExpression]().PkgPath()

// locator finds values in a syntax tree.
type locator struct{ top map[string]ast.Expression }

func newLocator(body []ast.Statement) *locator {
	l := &locator{top: map[string]ast.Expression{}}
	for _, s := range body {
		l.declare(s)
	}
	return l
}

// follow returns the value at the end of the steps, or the last one that is found.
func (l *locator) follow(value ast.Expression, steps []any) ast.Expression {
	at := value
	for _, step := range steps {
		if value = l.descend(value, step); value == nil {
			break
		}
		at = value
	}
	return at
}

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

// descend returns the property or element of a literal to which a step leads, or nil. The literal may also be the value of a
// top-level variable, or the only argument of a call.
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
