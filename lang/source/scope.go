package source

import (
	"github.com/dop251/goja/ast"
)

// A Binding is a declared name.
type Binding struct {
	Name string
	Kind BindingKind
	// Declared is the offset of the declaration in the parsed text.
	Declared int
	// Assigned holds the offsets of the assignments other than the initializer. It lacks those to the let of a for statement in
	// that statement's update expression.
	Assigned []int
	inner    []int // offsets of the assignments in other functions than the declaration's

	node   *ast.Identifier // identifier of the declaration
	scope  *scope
	module int // index among the module-level bindings that functions capture, or -1
}

// AssignedInFunctions returns the offsets of the assignments in other functions than the declaration's.
func (b *Binding) AssignedInFunctions() []int { return b.inner }

// BindingKind is the kind of a declaration.
type BindingKind string

const (
	KindConst    BindingKind = "const"
	KindLet      BindingKind = "let"
	KindVar      BindingKind = "var"
	KindParam    BindingKind = "parameter"
	KindFunction BindingKind = "function"
	KindClass    BindingKind = "class"
	KindImport   BindingKind = "import"
)

// A scope is a region in which names are declared. A function's parameters and body share a scope, because captures do not
// depend on the difference.
type scope struct {
	parent   *scope
	fn       *function
	bindings map[string]*Binding
}

// A function is a function of the text, or the text's top level, whose parent is nil.
type function struct {
	parent *function
	arrow  bool
	// outside marks a top level that is in no function, so that the name arguments is not declared there.
	outside bool
	// arguments, if not empty, is the name that replaces arguments at a top level in a function. named reports that a read was
	// replaced.
	arguments string
	named     bool
	scope     *scope
	// free holds the outer bindings that the function or its inner functions reference; globals holds names without a binding.
	free    []*Binding
	globals []string
	seen    map[any]bool
}

// A reference is a use of a name. It is resolved after all declarations are known.
type reference struct {
	name   string
	scope  *scope
	write  bool
	offset int
	update *scope // scope of the for statement whose update expression has the reference, or nil

	id       *ast.Identifier
	property *ast.Property   // of a pattern that names the property and the target once, or nil
	logical  *ast.Expression // the assignment a ||= b, a &&= b or a ??= b, or nil
}

// changesNext reports whether the reference is an update such as i++ of for (let i = 0; …; i++). It assigns the copy of the
// variable that the next iteration has, so a function that captured the variable does not see it.
func (r *reference) changesNext(b *Binding) bool {
	return r.update != nil && b.scope == r.update && b.Kind == KindLet && r.scope.fn == b.scope.fn
}

func (w *walker) openScope(fn *function) *scope {
	w.scope = &scope{parent: w.scope, fn: fn}
	return w.scope
}

func (w *walker) closeScope() { w.scope = w.scope.parent }

// declare adds a name to s and returns its binding. An existing binding stays unchanged.
func (w *walker) declare(id *ast.Identifier, kind BindingKind, s *scope) *Binding {
	name := id.Name.String()
	if b := s.bindings[name]; b != nil {
		return b
	}
	if s.bindings == nil {
		s.bindings = map[string]*Binding{}
	}
	b := &Binding{Name: name, Kind: kind, Declared: w.offset(id.Idx), node: id, scope: s, module: -1}
	s.bindings[name] = b
	return b
}

// declares reports whether id is the declaring identifier of its name in s.
func (s *scope) declares(id *ast.Identifier) bool {
	b := s.bindings[id.Name.String()]
	return b != nil && b.node == id
}

// resolve binds every reference. It records the assignments of each binding, the captures of each function, and the Writes of a
// prompt line.
func (w *walker) resolve() {
	for _, r := range w.refs {
		b := r.scope.lookup(r.name)
		if b != nil && r.write && !r.changesNext(b) {
			b.Assigned = append(b.Assigned, r.offset)
			if r.scope.fn != b.scope.fn {
				b.inner = append(b.inner, r.offset)
			}
		}
		if r.write && w.unit.kind == Prompt {
			if own := b != nil && b.scope.parent == nil && b.Kind == KindConst; own || b == nil {
				w.unit.Writes = append(w.unit.Writes, Write{r.name, r.offset, own})
			}
		}
		var home *function
		if b != nil {
			home = b.scope.fn
		}
		for f := r.scope.fn; f != home && f != nil; f = f.parent {
			f.capture(b, r.name)
		}
	}
}

func (s *scope) lookup(name string) *Binding {
	for ; s != nil; s = s.parent {
		if b := s.bindings[name]; b != nil {
			return b
		}
	}
	return nil
}

func (f *function) capture(b *Binding, name string) {
	var key any = b
	if b == nil {
		key = name
	}
	if f.seen[key] {
		return
	}
	if f.seen == nil {
		f.seen = map[any]bool{}
	}
	f.seen[key] = true
	if b != nil {
		f.free = append(f.free, b)
	} else {
		f.globals = append(f.globals, name)
	}
}

// targets calls visit for the names in a binding target.
func targets(target ast.Expression, visit func(*ast.Identifier)) {
	switch t := target.(type) {
	case *ast.Identifier:
		visit(t)
	case *ast.Binding:
		targets(t.Target, visit)
	case *ast.AssignExpression:
		targets(t.Left, visit)
	case *ast.SpreadElement:
		targets(t.Expression, visit)
	case *ast.ArrayPattern:
		for _, e := range t.Elements {
			targets(e, visit)
		}
		targets(t.Rest, visit)
	case *ast.ObjectPattern:
		for _, p := range t.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				visit(&p.Name)
			case *ast.PropertyKeyed:
				targets(p.Value, visit)
			}
		}
		targets(t.Rest, visit)
	}
}
