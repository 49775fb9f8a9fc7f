package source

import (
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"

	"github.com/orepl/orepl/lang/desugar"
)

// A walker visits every node of a tree once. It maps positions to the text as written, collects declarations and references,
// and records function sites.
type walker struct {
	unit    *Unit
	lowered *desugar.Result

	scope *scope
	refs  []reference
	// around describes the code around direct calls of eval; method holds the bits that the next function adds.
	around, method EvalContext
	evals, supers  int              // direct calls of eval, and uses of super, so far
	inferred       unistring.String // name of the class that is visited next, if it has none
	// markings are the functions to mark.
	markings []*marking
	// writes are the assignments to names, to be rewritten if the name is exported.
	writes []write
	// later holds tree changes that run after the marks are placed.
	later []func()
	// last holds tree changes that run after all others.
	last  []func()
	await bool // the top level awaits
	// powers are the operations that calls replace; see replacePowers.
	powers  []power
	bigInts bool
	// reads are the uses of names that may be replaced: imports and arguments.
	reads      []read
	countLoops bool
	early      bool // checks the uses of imports; see Options.CheckImports
	result     bool // the last statement may have a value
	err        *syntaxError
}

// A marking is a function to mark.
type marking struct {
	fn    *function
	site  *Site
	node  ast.Expression
	slot  *ast.Expression      // expression to wrap, or nil
	place func(ast.Expression) // if slot is nil, inserts the mark; if both are nil, the function gets none
}

// A write is an assignment to names.
type write struct {
	slot  *ast.Expression
	names []string
	scope *scope
}

// A read is a use of a name's value.
type read struct {
	slot   *ast.Expression
	name   string
	scope  *scope
	typeof bool // operand of typeof
}

// A power is an operation or assignment with **, << or *.
type power struct {
	fn     string
	slot   *ast.Expression       // slot of a ** b, or of object[key] **= b
	assign *ast.AssignExpression // or the assignment a **= b
}

// offset returns a node's offset in the parsed text; it must be called before the node is moved.
func (w *walker) offset(idx file.Idx) int { return int(idx) - 1 }

// move maps a position from the parsed text to the text as written. A position of 0, which means none, stays 0.
func (w *walker) move(idx *file.Idx) {
	if *idx == 0 {
		return
	}
	off := max(w.offset(*idx), 0)
	*idx = file.Idx(w.unit.moved.original(off) + 1)
}

func (w *walker) fail(offset int, message string) {
	if w.err == nil {
		w.err = &syntaxError{offset, message}
	}
}

// use records a reference to the name id from the current scope. write tells whether it assigns. The position of id must not have been
// moved.
func (w *walker) use(id *ast.Identifier, write bool) {
	w.refs = append(w.refs, reference{name: id.Name.String(), scope: w.scope, write: write, offset: w.offset(id.Idx), id: id})
}

func (w *walker) declareTarget(target ast.Expression, kind BindingKind) {
	targets(target, func(id *ast.Identifier) { w.declare(id, kind, w.scope) })
}

// hoist declares the names of a list of statements, except those of var, before the statements are visited.
func (w *walker) hoist(list []ast.Statement) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.LexicalDeclaration:
			kind := KindLet
			if s.Token == token.CONST {
				kind = KindConst
			}
			for _, b := range s.List {
				w.declareTarget(b.Target, kind)
			}
		case *ast.ClassDeclaration:
			w.declare(s.Class.Name, KindClass, w.scope)
		case *ast.FunctionDeclaration:
			w.declare(s.Function.Name, KindFunction, w.scope)
		}
	}
}

func (w *walker) hoistVars(list []*ast.VariableDeclaration) {
	for _, d := range list {
		for _, b := range d.List {
			w.declareTarget(b.Target, KindVar)
		}
	}
}

// list visits statements and inserts the statements that mark functions. It passes the list to reachRest, or to withoutRest in a text
// for eval.
func (w *walker) list(list *[]ast.Statement) {
	out := make([]ast.Statement, 0, len(*list))
	var hoisted []ast.Statement
	for _, s := range *list {
		switch s := s.(type) {
		case *ast.FunctionDeclaration:
			if mark := w.functionDeclaration(s); mark != nil {
				hoisted = append(hoisted, mark)
			}
			out = append(out, s)
		case *ast.LexicalDeclaration:
			out = w.declarations(out, s.List, func(list []*ast.Binding) ast.Statement {
				part := *s
				part.List = list
				w.move(&part.Idx)
				return &part
			})
		case *ast.VariableStatement:
			out = w.declarations(out, s.List, func(list []*ast.Binding) ast.Statement {
				part := *s
				part.List = list
				w.move(&part.Var)
				return &part
			})
		default:
			st := s
			w.statement(&st)
			out = append(out, st)
			if mark := w.assignedFunction(st); mark != nil {
				out = append(out, mark)
			}
		}
	}
	if len(hoisted) > 0 {
		out = slices.Insert(out, desugar.Directives(out), hoisted...)
	}
	if w.unit.kind == evalText {
		out = withoutRest(out)
	} else {
		reachRest(out)
	}
	*list = out
}

// declarations visits the bindings of a declaration and appends it to out. It splits the declaration after each function, where
// it inserts the mark. part makes a declaration of some of the bindings.
func (w *walker) declarations(out []ast.Statement, list []*ast.Binding, part func([]*ast.Binding) ast.Statement) []ast.Statement {
	var run []*ast.Binding
	for _, b := range list {
		fn := w.binding(b)
		run = append(run, b)
		if fn != nil {
			out = append(out, part(run), markStatement(fn, b.Target.(*ast.Identifier), false))
			run = nil
		}
	}
	if len(run) > 0 {
		out = append(out, part(run))
	}
	return out
}

// binding visits a declared target and its initializer. It returns the marking of a function that initializes a single name. In
// a text for eval, and for other initializers, it returns nil.
func (w *walker) binding(b *ast.Binding) *marking {
	w.target(b.Target, false)
	if b.Initializer == nil {
		return nil
	}
	id, named := b.Target.(*ast.Identifier)
	if named && isFunction(b.Initializer) {
		if m := w.function(b.Initializer, nil, id.Name.String()); w.unit.kind != evalText {
			return m
		}
		return nil
	}
	if named {
		w.infer(b.Initializer, id.Name)
		w.named(&b.Initializer, id.Name)
	} else {
		w.expr(&b.Initializer)
	}
	checkRest(b.Target, &b.Initializer)
	return nil
}

// named visits the value of a variable or property. Functions without a name among the arguments of a call take its name: k in
// k = kernel(g => …).
func (w *walker) named(slot *ast.Expression, name unistring.String) {
	var args []ast.Expression
	if call, ok := (*slot).(*ast.CallExpression); ok {
		args = slices.Clone(call.ArgumentList)
	}
	from := len(w.markings)
	w.expr(slot)
	for _, m := range w.markings[from:] {
		if m.site.Name == "" && slices.Contains(args, m.node) {
			m.site.Name = name.String()
		}
	}
}

// assignedFunction returns a statement that marks the function in "f = …", because a wrapped function would lose its name.
// It returns nil for other statements.
func (w *walker) assignedFunction(s ast.Statement) ast.Statement {
	es, ok := s.(*ast.ExpressionStatement)
	if !ok {
		return nil
	}
	a, ok := es.Expression.(*ast.AssignExpression)
	if !ok || a.Operator != token.ASSIGN || !isFunction(a.Right) {
		return nil
	}
	id, ok := a.Left.(*ast.Identifier)
	if !ok {
		return nil
	}
	for i := len(w.markings) - 1; i >= 0; i-- { // searches from the end, because only inner functions were added after it
		if m := w.markings[i]; m.node == a.Right {
			return markStatement(m, id, false)
		}
	}
	return nil
}

func (w *walker) functionDeclaration(s *ast.FunctionDeclaration) ast.Statement {
	m := w.function(s.Function, nil, s.Function.Name.Name.String())
	generator := w.lowered.Generators[s.Function]
	if w.unit.kind == evalText {
		if generator {
			return generatorDeclaration(s.Function.Name)
		}
		return nil
	}
	return markStatement(m, s.Function.Name, generator)
}

func (w *walker) statement(slot *ast.Statement) {
	switch s := (*slot).(type) {
	case *ast.BlockStatement:
		w.block(s)
	case *ast.ExpressionStatement:
		w.expr(&s.Expression)
	case *ast.VariableStatement:
		w.move(&s.Var)
		for _, b := range s.List {
			w.binding(b)
		}
	case *ast.LexicalDeclaration:
		w.move(&s.Idx)
		for _, b := range s.List {
			w.binding(b)
		}
	case *ast.FunctionDeclaration:
		w.declare(s.Function.Name, KindFunction, w.scope)
		w.functionDeclaration(s)
	case *ast.ClassDeclaration:
		w.class(s.Class)
	case *ast.ReturnStatement:
		if w.scope.fn.parent == nil {
			w.fail(w.offset(s.Return), "return outside a function")
		}
		w.move(&s.Return)
		w.expr(&s.Argument)
	case *ast.IfStatement:
		w.move(&s.If)
		w.expr(&s.Test)
		reach(&s.Test)
		w.statement(&s.Consequent)
		if s.Alternate != nil {
			w.statement(&s.Alternate)
		}
	case *ast.DoWhileStatement:
		w.move(&s.Do)
		w.move(&s.RightParenthesis)
		w.loopBody(&s.Body)
		w.expr(&s.Test)
	case *ast.WhileStatement:
		w.move(&s.While)
		w.expr(&s.Test)
		reachBody(&s.Test)
		w.loopBody(&s.Body)
	case *ast.ForStatement:
		w.forStatement(s)
	case *ast.ForInStatement:
		w.move(&s.For)
		w.forInto(s.Into, &s.Source, &s.Body)
	case *ast.ForOfStatement:
		w.move(&s.For)
		w.forInto(s.Into, &s.Source, &s.Body)
	case *ast.BranchStatement:
		w.move(&s.Idx)
		w.label(s.Label)
	case *ast.TryStatement:
		w.move(&s.Try)
		w.block(s.Body)
		if s.Catch != nil {
			w.catch(s.Catch)
		}
		if s.Finally != nil {
			w.block(s.Finally)
		}
	case *ast.ThrowStatement:
		w.move(&s.Throw)
		w.expr(&s.Argument)
	case *ast.SwitchStatement:
		w.switchStatement(slot, s)
	case *ast.LabelledStatement:
		w.label(s.Label)
		w.move(&s.Colon)
		w.statement(&s.Statement)
	case *ast.EmptyStatement:
		w.move(&s.Semicolon)
	case *ast.DebuggerStatement:
		w.move(&s.Debugger)
	case *ast.WithStatement:
		w.move(&s.With)
		w.expr(&s.Object)
		w.statement(&s.Body)
	}
}

func (w *walker) label(id *ast.Identifier) {
	if id != nil {
		w.move(&id.Idx)
	}
}

func (w *walker) block(s *ast.BlockStatement) {
	w.move(&s.LeftBrace)
	w.move(&s.RightBrace)
	w.openScope(w.scope.fn)
	w.hoist(s.List)
	w.list(&s.List)
	w.closeScope()
}

func (w *walker) catch(s *ast.CatchStatement) {
	w.move(&s.Catch)
	w.openScope(w.scope.fn)
	if s.Parameter != nil {
		w.declareTarget(s.Parameter, KindLet)
		w.target(s.Parameter, false)
	}
	w.block(s.Body)
	w.closeScope()
}

func (w *walker) switchStatement(slot *ast.Statement, s *ast.SwitchStatement) {
	evals := w.evals
	w.move(&s.Switch)
	w.move(&s.RightBrace)
	w.expr(&s.Discriminant)
	w.openScope(w.scope.fn)
	for _, c := range s.Body {
		w.hoist(c.Consequent)
	}
	for _, c := range s.Body {
		w.move(&c.Case)
		w.expr(&c.Test)
		w.list(&c.Consequent)
	}
	w.closeScope()
	if w.evals > evals {
		outer := &ast.BlockStatement{LeftBrace: s.Switch, RightBrace: s.Switch}
		*slot = outer
		w.last = append(w.last, func() { outer.List = undeclared(s) })
	}
}

// undeclared returns the statements of a block for a switch: the declarations, which it removes from s, and then s. The compiler does
// not support a direct eval in a switch that declares names. Constants become variables.
func undeclared(s *ast.SwitchStatement) []ast.Statement {
	at := s.Switch
	var functions, names []ast.Statement
	declare := func(id *ast.Identifier) {
		names = append(names, &ast.LexicalDeclaration{Idx: at, Token: token.LET, List: []*ast.Binding{{Target: ident(id.Name.String(), at)}}})
	}
	for _, c := range s.Body {
		var out []ast.Statement
		for _, st := range c.Consequent {
			switch st := st.(type) {
			case *ast.FunctionDeclaration:
				functions = append(functions, st)
			case *ast.ClassDeclaration:
				declare(st.Class.Name)
				out = append(out, statement(assign(ident(st.Class.Name.Name.String(), at), st.Class)))
			case *ast.LexicalDeclaration:
				for _, b := range st.List {
					targets(b.Target, declare)
				}
				out = append(out, assignments(st.List, true)...)
			default:
				out = append(out, st)
			}
		}
		c.Consequent = out
	}
	return append(append(names, functions...), s)
}

func (w *walker) forStatement(s *ast.ForStatement) {
	w.move(&s.For)
	w.openScope(w.scope.fn)
	defer w.closeScope()
	switch init := s.Initializer.(type) {
	case *ast.ForLoopInitializerExpression:
		w.expr(&init.Expression)
	case *ast.ForLoopInitializerVarDeclList:
		w.move(&init.Var)
		for _, b := range init.List {
			w.binding(b)
		}
	case *ast.ForLoopInitializerLexicalDecl:
		w.hoist([]ast.Statement{&init.LexicalDeclaration})
		w.move(&init.LexicalDeclaration.Idx)
		for _, b := range init.LexicalDeclaration.List {
			w.binding(b)
		}
	}
	w.expr(&s.Test)
	reachBody(&s.Test)
	first := len(w.refs)
	w.expr(&s.Update)
	for i := range w.refs[first:] {
		w.refs[first+i].update = w.scope
	}
	w.loopBody(&s.Body)
}

func (w *walker) forInto(into ast.ForInto, source *ast.Expression, body *ast.Statement) {
	w.expr(source)
	w.openScope(w.scope.fn)
	defer w.closeScope()
	switch into := into.(type) {
	case *ast.ForIntoVar:
		targets(into.Binding.Target, func(id *ast.Identifier) { w.use(id, true) }) // each iteration assigns the variable
		w.binding(into.Binding)
	case *ast.ForDeclaration:
		kind := KindLet
		if into.IsConst {
			kind = KindConst
		}
		w.declareTarget(into.Target, kind)
		w.move(&into.Idx)
		w.target(into.Target, false)
	case *ast.ForIntoExpression:
		w.target(into.Expression, true)
	}
	w.loopBody(body)
}

// loopBody visits the body of a loop, and inserts a call that counts the iterations if the option CountLoops is set.
func (w *walker) loopBody(body *ast.Statement) {
	w.statement(body)
	if !w.countLoops {
		return
	}
	at := (*body).Idx0()
	*body = &ast.BlockStatement{LeftBrace: at, RightBrace: at, List: []ast.Statement{statement(call(paramStep, at)), *body}}
}

func isFunction(e ast.Expression) bool {
	switch e.(type) {
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		return true
	}
	return false
}
