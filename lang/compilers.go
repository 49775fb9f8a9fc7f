package lang

import (
	"errors"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"

	"github.com/orepl/orepl/lang/esm"
	"github.com/orepl/orepl/lang/instructions"
	"github.com/orepl/orepl/lang/internals"
	"github.com/orepl/orepl/lang/source"
	"github.com/orepl/orepl/lang/traps"
)

// boundCompilers makes eval and the Function constructors compile texts as scripts are compiled. That adds the syntax that the
// interpreter lacks. It also adds checks, because the parser and the compiler recurse without checking interrupts.
// boundCompilers fails if one of these builtins is not found, since the builtin would stay unchecked.
func (e *Engine) boundCompilers() error {
	vm := e.vm
	eval, err := e.native("eval")
	if err != nil {
		return err
	}
	function := vm.Get("eval").(*goja.Object)
	t := &textCompiler{engine: e}
	if e.esm.evals = t; e.opts.Limits.Iterations > 0 {
		t.counted = source.EvalCounted
	}
	text := func(v goja.Value, context source.EvalContext, arguments goja.Value) *instructions.Text {
		s, ok := v.(goja.String)
		if !ok {
			return nil
		}
		x := &instructions.Text{Value: v, Eval: function}
		x.Parse = func() (*ast.Program, bool) {
			tree := t.tree(instructions.Escaped(s), context|t.counted)
			t.arguments, _ = goja.AssertFunction(arguments)
			return tree.Program, tree.Strict
		}
		x.Fail = func(err error) { e.Throw(source.EvalProblem(instructions.Escaped(s), err)) }
		return x
	}
	e.intrinsics.evalText = vm.ToValue(func(c goja.FunctionCall) goja.Value {
		if len(c.Arguments) == 0 {
			return t.ownArguments()
		}
		context := source.EvalContext(c.Argument(1).ToInteger())
		if context&source.EvalSpread == 0 {
			if x := text(c.Argument(0), context, c.Argument(2)); x != nil {
				return vm.ToValue(x)
			}
			return c.Argument(0)
		}
		list := c.Argument(0).(*goja.Object)
		if x := text(list.Get("0"), context, c.Argument(2)); x != nil {
			_ = list.Set("0", vm.ToValue(x))
		}
		return list
	})
	*eval.Call = func(c goja.FunctionCall) goja.Value {
		x := text(c.Argument(0), 0, nil)
		if x == nil {
			return c.Argument(0)
		}
		t.declareNames()
		return instructions.Evaluate(vm, x)
	}
	for _, kind := range []string{"function", "async function", "function*"} {
		native, err := e.native("(" + kind + "(){}).constructor")
		if err != nil {
			return err
		}
		if native.Construct == nil || *native.Construct == nil {
			return internals.Unknown(kind)
		}
		construct := *native.Construct
		*native.Call = func(c goja.FunctionCall) goja.Value { return t.function(kind, c.Arguments) }
		*native.Construct = func(args []goja.Value, newTarget *goja.Object) *goja.Object {
			f := t.function(kind, args)
			// The interpreter determines the prototype.
			if like := construct(nil, newTarget).Prototype(); like != f.Prototype() {
				_ = f.SetPrototype(like)
			}
			return f
		}
	}
	return nil
}

// textCompiler compiles the texts of eval and of Function constructors.
type textCompiler struct {
	engine  *Engine
	counted source.EvalContext // EvalCounted if loops are counted
	// text, context and last are those of the last short text, because loops often evaluate the same text again.
	text    string
	context source.EvalContext
	last    *source.EvalTree
	set     goja.Callable // sets the values of source.EvalNames; nil before their declaration
	// arguments returns the object named arguments of the function that calls eval, for the text that begins to run.
	arguments goja.Callable
	lowered   bool // the functions of package desugar are among the values
}

// ownArguments returns the object named arguments of the function that called eval, for the text that began to run.
func (t *textCompiler) ownArguments() goja.Value {
	v, err := t.arguments(goja.Undefined())
	if err != nil {
		t.engine.Throw(err)
	}
	return v
}

// tree returns the tree of a text of eval, which it parses unless it is the last short text in the same context. It throws an
// error of the parser.
func (t *textCompiler) tree(text string, context source.EvalContext) *source.EvalTree {
	if t.last != nil && text == t.text && context == t.context {
		return t.last
	}
	tree := t.parse(text, func() (*source.EvalTree, error) { return source.ParseEval(text, context) })
	if source.IsQuick(text) {
		t.text, t.context, t.last = text, context, tree
	}
	return tree
}

// parse defines the builtins and operators that a text uses, and then calls a function that parses the text. It throws the
// error of either.
func (t *textCompiler) parse(text string, parse func() (*source.EvalTree, error)) (tree *source.EvalTree) {
	e := t.engine
	e.builtins.Want(text)
	defined, err := e.intrinsics.operators.Want(text)
	if err != nil {
		e.Throw(err)
	}
	if defined && t.set != nil {
		t.setNames()
	}
	if source.IsQuick(text) {
		tree, err = parse()
	} else {
		tree, err = UntilCallEnds(e, parse)
	}
	if err != nil {
		e.Throw(err)
	}
	if tree.Lowered && !t.lowered && t.set != nil {
		t.lowered = true
		t.setNames()
	}
	return tree
}

// declareNames declares the names of the engine's functions for global code, at its first call.
func (t *textCompiler) declareNames() {
	if t.set != nil {
		return
	}
	program, err := source.DeclareEvalNames()
	if err != nil {
		t.engine.Throw(err)
	}
	v, err := t.engine.vm.RunProgram(program)
	if err != nil {
		t.engine.Throw(err)
	}
	t.set, _ = goja.AssertFunction(v)
	t.setNames()
}

func (t *textCompiler) setNames() {
	e := t.engine
	lowered := goja.Undefined()
	if t.lowered {
		lowered = moduleHost{e}.Lowered()
	}
	// Global code belongs to no file: its imports are those of a line of a prompt.
	values := append([]goja.Value{e.esm.graph.ImportFunction(&esm.Module{Unit: &source.Unit{Name: "eval"}}), e.vm.ToValue(e.step)}, e.intrinsics.list()...)
	if _, err := t.set(goja.Undefined(), append(values, lowered)...); err != nil {
		e.Throw(err)
	}
}

// function returns the function that the constructor of a kind, such as "async function", makes of its arguments. It throws the
// errors of their conversion and of the parser.
func (t *textCompiler) function(kind string, args []goja.Value) *goja.Object {
	e := t.engine
	var parameters []string
	body := ""
	for i, v := range args {
		v, err := e.textValue(v)
		if err != nil {
			e.Throw(err)
		}
		s := v.String()
		if text, ok := v.(goja.String); ok {
			s = instructions.Escaped(text)
		}
		if i < len(args)-1 {
			parameters = append(parameters, s)
		} else {
			body = s
		}
	}
	t.declareNames()
	text := ""
	all := strings.Join(parameters, ",")
	tree := t.parse(all+body, func() (tree *source.EvalTree, err error) {
		text, tree, err = source.ParseFunction(kind, all, body, t.counted)
		return tree, err
	})
	x := &instructions.Text{}
	x.Parse = func() (*ast.Program, bool) { return tree.Program, tree.Strict }
	x.Fail = func(err error) { e.Throw(source.EvalProblem(text, err)) }
	return instructions.Evaluate(e.vm, x).(*goja.Object)
}

// asyncGeneratorFunction defines AsyncGeneratorFunction, the constructor of prototype.
func (t *textCompiler) asyncGeneratorFunction(prototype *goja.Object) error {
	vm := t.engine.vm
	const kind = "async function*"
	f := vm.ToValue(func(c goja.ConstructorCall) *goja.Object {
		made := t.function(kind, c.Arguments)
		if c.NewTarget != nil {
			if p, ok := c.NewTarget.Get("prototype").(*goja.Object); ok && p != made.Prototype() {
				_ = made.SetPrototype(p)
			}
		}
		return made
	}).(*goja.Object)
	define := func(o *goja.Object, name string, v goja.Value, configurable goja.Flag) error {
		return o.DefineDataProperty(name, v, goja.FLAG_FALSE, configurable, goja.FLAG_FALSE)
	}
	return errors.Join(
		f.SetPrototype(vm.Get("Function").(*goja.Object)),
		define(f, "name", vm.ToValue("AsyncGeneratorFunction"), goja.FLAG_TRUE), define(f, "length", vm.ToValue(1), goja.FLAG_TRUE),
		define(f, "prototype", prototype, goja.FLAG_FALSE), define(prototype, "constructor", f, goja.FLAG_TRUE),
	)
}

// ownProxyArguments makes proxies of functions pass copies of the list of arguments to the traps apply and construct; see
// package traps.
func (e *Engine) ownProxyArguments() error {
	own := func(args []goja.Value) []goja.Value {
		if len(args) < 2 {
			return args
		}
		handler, ok := args[1].(*goja.Object)
		if _, callable := goja.AssertFunction(args[0]); !callable || !ok {
			return args
		}
		args = slices.Clone(args)
		args[1] = traps.Handler(e.vm, handler, e.Throw)
		return args
	}
	class, err := e.native("Proxy")
	if err != nil {
		return err
	}
	construct := *class.Construct
	*class.Construct = func(args []goja.Value, newTarget *goja.Object) *goja.Object { return construct(own(args), newTarget) }
	revocable, err := e.native("Proxy.revocable")
	if err != nil {
		return err
	}
	call := *revocable.Call
	*revocable.Call = func(c goja.FunctionCall) goja.Value {
		return call(goja.FunctionCall{This: c.This, Arguments: own(c.Arguments)})
	}
	return nil
}

// native returns the Go functions of the builtin that expression evaluates to. It fails if the value is no native function.
func (e *Engine) native(expression string) (internals.Native, error) {
	o := internals.At(e.vm.GlobalObject(), expression)
	if o == nil {
		v, err := runOwn(e.vm, expression, "("+expression+")")
		if err != nil {
			return internals.Native{}, err
		}
		if o, _ = v.(*goja.Object); o == nil {
			return internals.Native{}, internals.Unknown(expression)
		}
	}
	n, ok := internals.NativeOf(o)
	if !ok || *n.Call == nil {
		return internals.Native{}, internals.Unknown(expression)
	}
	return n, nil
}
