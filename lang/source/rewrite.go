package source

import (
	"fmt"
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"

	"github.com/orepl/orepl/lang/desugar"
	"github.com/orepl/orepl/lang/kernel/libm"
)

// A rewriter changes a tree that a walker has visited.
type rewriter struct {
	*walker
	top   *scope // of the text
	fixed bool   // an import is assigned
	// defaultFunction is the variable of an unnamed function that is exported by default, or nil.
	defaultFunction *ast.Binding
}

// rewrite makes the changes that require all declarations to be known. wrapper is the function that becomes the program; its body is the
// text.
func (w *rewriter) rewrite(wrapper *ast.FunctionLiteral) {
	w.listLinks()
	w.exports()
	w.resolve()
	w.fixImports()
	w.exportWrites()
	w.placeMarks()
	w.change()
	body := &wrapper.Body.List
	if w.unit.kind == Prompt {
		w.makeGlobal(wrapper)
		w.surroundTop(wrapper)
		wrapper.Async = w.await
		w.insertHead(body)
	} else {
		w.pause(body)
		w.exportDeclarations(body)
		w.insertHead(body)
		wrapper.Async, wrapper.Generator = false, true
		w.surroundTop(wrapper)
	}
	wrapper.ParameterList = &ast.ParameterList{Opening: 1, Closing: 1}
	for _, p := range parameters {
		wrapper.ParameterList.List = append(wrapper.ParameterList.List, &ast.Binding{Target: ident(p, 1)})
	}
	wrapper.Source = ""
}

// change makes the changes that do not depend on the kind of the text.
func (w *rewriter) change() {
	w.replaceReads()
	for _, change := range w.later {
		change()
	}
	w.replacePowers()
	for _, change := range w.last {
		change()
	}
}

// surroundTop makes the top level dispose, at its end, of the resources of its using declarations. Without such declarations it
// does nothing. A module's code becomes a generator of its own, whose names stay at the level of a function.
func (w *rewriter) surroundTop(wrapper *ast.FunctionLiteral) {
	at := w.lowered.TopUsing
	if at == 0 {
		return
	}
	list := wrapper.Body.List
	await := func(e ast.Expression, at file.Idx) ast.Expression {
		e = call(paramAwait, at, e, number(int(at)-1, at))
		if w.unit.kind == Module {
			return &ast.YieldExpression{Yield: at, Argument: e}
		}
		return &ast.AwaitExpression{Await: at, Argument: e}
	}
	w.await = w.await || w.lowered.TopAwait
	if w.unit.kind == Module {
		inner := &ast.FunctionLiteral{Function: at, Generator: true, ParameterList: &ast.ParameterList{Opening: at, Closing: at},
			Body: wrapper.Body, DeclarationList: wrapper.DeclarationList}
		wrapper.DeclarationList = nil
		called := &ast.CallExpression{Callee: inner, LeftParenthesis: at, RightParenthesis: at}
		list = []ast.Statement{statement(&ast.YieldExpression{Yield: at, Argument: called, Delegate: true})}
	}
	wrapper.Body = &ast.BlockStatement{LeftBrace: at, RightBrace: at, List: desugar.Surround(list, desugar.TopScope, at, w.lowered.TopAwait, await)}
}

// listLinks sets the links of the unit, one for each imported name.
func (w *rewriter) listLinks() {
	for i, imp := range w.unit.Imports {
		for _, n := range imp.Names {
			w.unit.Links = append(w.unit.Links, Link{Import: i, Name: n.Export, Local: n.Local, Offset: n.Offset})
		}
	}
}

// exports sorts the exports by offset, and fails for a name that is not declared. A name that is imported and exported becomes a
// re-export.
func (w *rewriter) exports() {
	u := w.unit
	slices.SortStableFunc(u.Exports, func(a, b Export) int { return a.Offset - b.Offset })
	for i := range u.Exports {
		e := &u.Exports[i]
		if link := u.linkOf(e.Local); e.Local != "" && link != nil {
			e.Import, e.ImportName, e.Local = link.Import, link.Name, ""
		} else if e.Local != "" && w.top.bindings[e.Local] == nil {
			w.fail(e.Offset, fmt.Sprintf("%q is exported but declared nowhere in this file", e.Local))
		}
	}
}

func (u *Unit) linkOf(local string) *Link {
	for i := range u.Links {
		if u.Links[i].Local == local {
			return &u.Links[i]
		}
	}
	return nil
}

// fixImports makes assignments to imports throw, by assigning a constant instead. At a prompt they are syntax errors.
func (w *rewriter) fixImports() {
	for i := range w.refs {
		r := &w.refs[i]
		b := r.scope.lookup(r.name)
		if !r.write || b == nil || b.Kind != KindImport || b != w.top.bindings[r.name] {
			continue
		}
		if w.unit.kind == Prompt {
			w.fail(r.offset, fmt.Sprintf("%q is imported and cannot be assigned", r.name))
			return
		}
		w.fixed = true
		if r.property == nil {
			r.id.Name = paramFixed
			if r.logical != nil {
				e := (*r.logical).(*ast.AssignExpression)
				*r.logical = &ast.BinaryExpression{Operator: e.Operator, Left: ident(r.name, r.id.Idx), Right: assign(r.id, e.Right)}
			}
			continue
		}
		short := (*r.property).(*ast.PropertyShort)
		at := short.Name.Idx
		value := ast.Expression(ident(paramFixed, at))
		if short.Initializer != nil {
			value = assign(value, short.Initializer)
		}
		*r.property = &ast.PropertyKeyed{Key: &ast.StringLiteral{Idx: at, Literal: "''", Value: short.Name.Name}, Kind: ast.PropertyKindValue, Value: value}
	}
}

// replaceReads replaces reads of the name arguments for which the interpreter would read another object, such as that of the wrapping
// function. At a top level outside of all functions such a read becomes an error, and as the operand of typeof 'undefined'. If imports
// are checked, replaceReads also replaces reads of those that may be uninitialized.
func (w *rewriter) replaceReads() {
	imports := map[string]int{}
	for i, l := range w.unit.Links {
		if l.Name != "*" {
			imports[l.Local] = i
		}
	}
	for _, r := range w.reads {
		b := r.scope.lookup(r.name)
		at := (*r.slot).Idx0()
		switch i, isImport := imports[r.name]; {
		case r.name == "arguments" && b == nil && r.scope.fn.belongsTo(w.top.fn):
			if f := w.top.fn; !f.outside {
				if f.arguments != "" {
					*r.slot, f.named = ident(f.arguments, at), true
				}
				continue
			}
			if r.typeof {
				*r.slot = &ast.StringLiteral{Idx: at, Literal: "'undefined'", Value: "undefined"}
			} else {
				*r.slot = call(paramNoArgs, at)
			}
		case r.name == "arguments" && b == nil && r.scope.fn.arrow:
			// The compiler keeps the arguments for arrow functions only at the second use of the name.
			*r.slot = &ast.SequenceExpression{Sequence: []ast.Expression{*r.slot, *r.slot}}
		case w.early && isImport && b == w.top.bindings[r.name]:
			unset := &ast.BinaryExpression{Operator: token.STRICT_EQUAL, Left: ident(r.name, at), Right: ident(paramUnset, at), Comparison: true}
			*r.slot = &ast.ConditionalExpression{Test: unset, Consequent: call(paramEarly, at, number(i, at)), Alternate: *r.slot}
		}
	}
}

// replacePowers replaces powers, and shifts and products whose size is checked, by calls. It runs after the changes in later,
// because they replace operands.
func (w *rewriter) replacePowers() {
	for _, p := range w.powers {
		if e := p.assign; e != nil {
			id := e.Left.(*ast.Identifier)
			e.Operator, e.Right = token.ASSIGN, call(p.fn, id.Idx, ident(id.Name.String(), id.Idx), e.Right)
			continue
		}
		switch e := (*p.slot).(type) {
		case *ast.BinaryExpression:
			if *p.slot = constantPower(e); *p.slot == nil {
				*p.slot = call(p.fn, e.Idx0(), e.Left, e.Right)
			}
		case *ast.AssignExpression:
			object, key := memberOf(e.Left)
			at := e.Idx0()
			*p.slot = &ast.CallExpression{Callee: call(p.fn, at, object, key), LeftParenthesis: at, ArgumentList: []ast.Expression{e.Right}, RightParenthesis: at}
		}
	}
}

// constantPower returns a literal with the value of a power whose operands are number literals, or nil for other expressions.
func constantPower(e *ast.BinaryExpression) ast.Expression {
	x, okX := literalNumber(e.Left)
	y, okY := literalNumber(e.Right)
	if !okX || !okY || e.Operator != token.EXPONENT {
		return nil
	}
	r := libm.Pow(x, y)
	if n := int64(r); float64(n) == r && n != 0 && -1<<53 < n && n < 1<<53 {
		return &ast.NumberLiteral{Idx: e.Idx0(), Value: n}
	}
	return &ast.NumberLiteral{Idx: e.Idx0(), Value: r}
}

// literalNumber returns the value of a number literal with an optional minus sign, or false for other expressions.
func literalNumber(e ast.Expression) (x float64, ok bool) {
	switch e := e.(type) {
	case *ast.NumberLiteral:
		return numberOf(e)
	case *ast.UnaryExpression:
		x, ok = literalNumber(e.Operand)
		return -x, ok && e.Operator == token.MINUS
	}
	return 0, false
}

// belongsTo reports whether a function uses the arguments object of an outer one.
func (f *function) belongsTo(outer *function) bool {
	for f.arrow && f != outer {
		f = f.parent
	}
	return f == outer
}

// pause lets a module yield after its functions are marked, before other code runs. The marking statements come first, then the
// variable of an unnamed function that is exported by default, if there is one.
func (w *rewriter) pause(body *[]ast.Statement) {
	functions := 0
	for _, s := range *body {
		if _, ok := s.(*ast.FunctionDeclaration); ok {
			functions++
		}
	}
	isDefault := func(s ast.Statement) bool {
		v, ok := s.(*ast.VariableStatement)
		return ok && v.List[0] == w.defaultFunction
	}
	if i := slices.IndexFunc(*body, isDefault); i >= 0 {
		s := (*body)[i]
		*body = slices.Insert(slices.Delete(*body, i, i+1), functions, s)
		functions++
	}
	*body = slices.Insert(*body, functions, statement(&ast.YieldExpression{Yield: 1}))
}

// exportsOf returns the indices of the exports of a top-level binding.
func (u *Unit) exportsOf(local string) []int {
	var list []int
	for i, e := range u.Exports {
		if e.Local == local {
			list = append(list, i)
		}
	}
	return list
}

// exportWrites wraps assignments to exported bindings, so that importers see the new value.
func (w *rewriter) exportWrites() {
	if len(w.unit.Exports) == 0 {
		return
	}
	for _, wr := range w.writes {
		at := (*wr.slot).Idx0()
		args := []ast.Expression{nil}
		for _, name := range wr.names {
			if wr.scope.lookup(name) != w.top.bindings[name] || w.top.bindings[name] == nil {
				continue
			}
			for _, i := range w.unit.exportsOf(name) {
				args = append(args, number(i, at), arrow(at, ident(name, at)))
			}
		}
		if len(args) > 1 {
			slot := wr.slot
			w.later = append(w.later, func() {
				args[0] = *slot
				*slot = call(paramUpdate, at, args...)
			})
		}
	}
}

// placeMarks numbers the sites, lists their free variables, and inserts the mark of each function that has a place for one. The mark is
// the site's number if all free variables are global or at the module level. Otherwise it is a thunk that returns the value of a local
// variable by its number, and the site for other numbers.
func (w *rewriter) placeMarks() {
	for i, m := range w.markings {
		at := m.node.Idx0()
		var cases []ast.Expression
		site := m.site
		for _, b := range m.fn.free {
			f := Free{Name: b.Name, Binding: b, Local: -1, Module: -1}
			switch {
			case b.scope != w.top:
				f.Local = len(cases)
				cases = append(cases, ident(b.Name, at))
			case w.unit.kind == Module:
				if b.module < 0 {
					b.module = len(w.unit.Captured)
					w.unit.Captured = append(w.unit.Captured, b)
				}
				f.Module = b.module
			}
			site.Free = append(site.Free, f)
		}
		for _, name := range m.fn.globals {
			if name != "arguments" {
				site.Free = append(site.Free, Free{Name: name, Local: -1, Module: -1})
			}
		}
		w.unit.Sites = append(w.unit.Sites, site)
		mark := number(i, at)
		if len(cases) > 0 {
			mark = selector(at, cases, call(paramMark, at, mark))
		}
		switch {
		case m.place != nil:
			m.place(mark)
		case m.slot != nil:
			*m.slot = call(paramMark, at, *m.slot, mark)
		}
	}
}

// exportDeclarations inserts the exports of exported declarations: of functions at the start, and of classes, let and const after the
// declaration. A var is exported at the start, after each declaration, and at the end.
func (w *rewriter) exportDeclarations(body *[]ast.Statement) {
	if len(w.unit.Exports) == 0 {
		return
	}
	var head, out, tail []ast.Statement
	export := func(list *[]ast.Statement, id *ast.Identifier) {
		name := id.Name.String()
		for _, i := range w.unit.exportsOf(name) {
			*list = append(*list, statement(call(paramExport, id.Idx, number(i, id.Idx), ident(name, id.Idx))))
		}
	}
	for _, s := range *body {
		out = append(out, s)
		switch s := s.(type) {
		case *ast.FunctionDeclaration:
			export(&head, s.Function.Name)
		case *ast.ClassDeclaration:
			export(&out, s.Class.Name)
		case *ast.LexicalDeclaration:
			for _, b := range s.List {
				targets(b.Target, func(id *ast.Identifier) { export(&out, id) })
			}
		case *ast.VariableStatement:
			for _, b := range s.List {
				targets(b.Target, func(id *ast.Identifier) {
					export(&out, id)
					if id.Name != defaultName {
						export(&head, id) // undefined
						export(&tail, id) // a block may assign a var by redeclaring it
					}
				})
			}
		}
	}
	*body = append(append(head, out...), tail...)
}

// insertHead inserts the links to other modules and the scope thunk before the first statement.
func (w *rewriter) insertHead(body *[]ast.Statement) {
	var head []ast.Statement
	at := file.Idx(1)
	u := w.unit
	if len(u.Links) > 0 {
		var cases []ast.Expression
		decl := &ast.LexicalDeclaration{Idx: at, Token: token.LET}
		for _, l := range u.Links {
			at := w.at(l.Offset)
			cases = append(cases, assign(ident(l.Local, at), ident("%v", at)))
			binding := &ast.Binding{Target: ident(l.Local, at)}
			if w.early {
				binding.Initializer = ident(paramUnset, at)
			}
			decl.List = append(decl.List, binding)
		}
		if u.kind == Module {
			head = append(head, decl)
		}
		if w.fixed {
			head = append(head, &ast.LexicalDeclaration{Idx: at, Token: token.CONST, List: []*ast.Binding{{Target: ident(paramFixed, at), Initializer: number(0, at)}}})
		}
		// The setter references the watcher, so every function that uses an import keeps the watcher alive.
		head = append(head, statement(call(paramLink, at, selector(at, cases, ident(paramLink, at), "%v"))))
	}
	if len(u.Captured) > 0 {
		var cases []ast.Expression
		for _, b := range u.Captured {
			cases = append(cases, ident(b.Name, at))
		}
		head = append(head, statement(call(paramScope, at, selector(at, cases, undefined(at)))))
	}
	*body = append(head, *body...)
}

// at returns the tree position of an offset in the parsed text.
func (w *rewriter) at(offset int) file.Idx { return file.Idx(w.unit.moved.original(offset) + 1) }

// hasValue reports whether the completion value of a statement can be the result of a prompt line that it ends.
func hasValue(s ast.Statement) bool {
	switch s.(type) {
	case *ast.ExpressionStatement, *ast.TryStatement, *ast.IfStatement, *ast.BlockStatement:
		return true
	}
	return false
}

// returnLast makes the last statement of a list return its completion value, recursively for blocks.
func returnLast(list []ast.Statement) {
	if last := len(list) - 1; last >= 0 {
		list[last] = returning(list[last])
	}
}

// returning returns a statement that runs s and returns its completion value, or s itself if hasValue is false for it.
func returning(s ast.Statement) ast.Statement {
	switch s := s.(type) {
	case *ast.ExpressionStatement:
		return &ast.ReturnStatement{Return: s.Idx0(), Argument: s.Expression}
	case *ast.BlockStatement:
		returnLast(s.List)
	case *ast.IfStatement:
		s.Consequent = returning(s.Consequent)
		if s.Alternate != nil {
			s.Alternate = returning(s.Alternate)
		}
	case *ast.TryStatement:
		returnLast(s.Body.List)
		if s.Catch != nil {
			returnLast(s.Catch.Body.List)
		}
	}
	return s
}

// makeGlobal converts top-level declarations to assignments to globals, so that later lines see them and may repeat them. It lists the
// names in Unit.Declares. If w.result is set, the last statement returns its value.
func (w *rewriter) makeGlobal(wrapper *ast.FunctionLiteral) {
	var functions, out []ast.Statement
	for _, s := range wrapper.Body.List {
		switch s := s.(type) {
		case *ast.FunctionDeclaration:
			functions = append(functions, statement(assign(ident(s.Function.Name.Name.String(), s.Function.Name.Idx), s.Function)))
		case *ast.ClassDeclaration:
			out = append(out, statement(assign(ident(s.Class.Name.Name.String(), s.Class.Name.Idx), s.Class)))
		case *ast.LexicalDeclaration:
			out = append(out, assignments(s.List, true)...)
		case *ast.VariableStatement:
			out = append(out, assignments(s.List, false)...)
		default:
			out = append(out, s)
		}
	}
	if w.result {
		returnLast(out)
	}
	wrapper.Body.List = append(functions, out...)
	wrapper.DeclarationList = nil
	for _, b := range w.scope.bindings {
		if b.Name != defaultName {
			w.unit.Declares = append(w.unit.Declares, b)
		}
	}
}

// assignments converts declared bindings to assignments. A binding without an initializer assigns undefined if lexical is set, as for
// let, and is dropped otherwise, as for var. The variable of a default export stays a declaration.
func assignments(list []*ast.Binding, lexical bool) []ast.Statement {
	var out []ast.Statement
	for _, b := range list {
		value := b.Initializer
		if id, ok := b.Target.(*ast.Identifier); ok && id.Name == defaultName { // declared by export default, which is not a global
			out = append(out, &ast.LexicalDeclaration{Idx: b.Target.Idx0(), Token: token.LET, List: []*ast.Binding{b}})
			continue
		}
		if value == nil {
			if !lexical {
				continue
			}
			value = undefined(b.Target.Idx0())
		}
		out = append(out, statement(assign(b.Target, value)))
	}
	return out
}
