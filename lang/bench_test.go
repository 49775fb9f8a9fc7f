package lang

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/dop251/goja"
)

// perIteration runs a loop of the script that calls f, so the result is the cost of a call and of the loop.
func perIteration(b *testing.B, setup func(*Engine), body string) {
	e, err := New(Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	setup(e)
	v, err := e.Eval(context.Background(), "b", "(function (n) { for (let i = 0; i < n; i++) { "+body+" } })")
	if err != nil {
		b.Fatal(err)
	}
	loop, _ := goja.AssertFunction(v)
	b.ReportAllocs()
	b.ResetTimer()
	if _, err := loop(nil, e.VM().ToValue(b.N)); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkCallPlain(b *testing.B) {
	perIteration(b, func(e *Engine) {
		_ = e.VM().Set("f", func(goja.FunctionCall) goja.Value { return goja.Undefined() })
	}, "f()")
}

func BenchmarkCallFunc(b *testing.B) {
	perIteration(b, func(e *Engine) {
		_ = e.VM().Set("f", e.Func("f", func(goja.FunctionCall) (goja.Value, error) { return nil, nil }))
	}, "f()")
}

func BenchmarkCallMethod(b *testing.B) {
	perIteration(b, func(e *Engine) {
		c := NewClass(e, ClassSpec[*int]{Name: "C", Methods: []Method[*int]{{"m", func(*int, goja.FunctionCall) (goja.Value, error) { return nil, nil }}}})
		_ = e.VM().Set("o", c.New(new(int)))
	}, "o.m()")
}

func BenchmarkMakeObject(b *testing.B) {
	perIteration(b, func(e *Engine) {
		c := NewClass(e, ClassSpec[*int]{Name: "C"})
		_ = e.VM().Set("f", e.Func("f", func(goja.FunctionCall) (goja.Value, error) { return c.New(new(int)), nil }))
	}, "f()")
}

// BenchmarkMarkedFunction measures the cost of a marked function's creation.
func BenchmarkMarkedFunction(b *testing.B) { perIteration(b, func(*Engine) {}, "[() => i]") }

func BenchmarkEval(b *testing.B) {
	e, _ := New(Options{})
	defer e.Close()
	for b.Loop() {
		if _, err := e.Eval(context.Background(), "b", "let a = 1; a + 1"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMath measures calls of Math in the engine and in the bare interpreter, and the operator **.
func BenchmarkMath(b *testing.B) {
	besideInterpreter(b, "", map[string]string{
		"sin": "Math.sin(0.1)", "pow": "Math.pow(i, 0.5)", "square": "Math.pow(i, 2)", "operator": "i ** 0.5", "operatorOfIntegers": "i ** 3", "log": "Math.log(i)",
	})
}

// BenchmarkBounded measures calls of checked builtins and of eval.
func BenchmarkBounded(b *testing.B) {
	besideInterpreter(b, "var list = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3]; var text = 'a,b,c';", map[string]string{
		"indexOf": "list.indexOf(9)", "map": "list.map(Number)", "forEach": "list.forEach(() => {})", "shift": "list.shift(), list.push(i)",
		"repeat": "text.repeat(3)", "eval": "eval('1 + i')", "evalOfNewTexts": "eval('1 + ' + i)", "evalOfStatements": "eval('{ let a = i; for (const k of [1, 2]) { a += k * 2 } a }')",
		"function": "new Function('a', 'b', 'return a + b')",
	})
}

// besideInterpreter runs each body in the engine and in the bare interpreter.
func besideInterpreter(b *testing.B, setup string, bodies map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(bodies)) {
		text := setup + "(function (n) { for (let i = 0; i < n; i++) { " + bodies[name] + " } })"
		b.Run(name, func(b *testing.B) {
			e, err := New(Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
			benchmarkLoop(b, e.VM(), func() (goja.Value, error) { return e.Eval(context.Background(), "b", text) })
		})
		b.Run(name+"/goja", func(b *testing.B) {
			vm := goja.New()
			benchmarkLoop(b, vm, func() (goja.Value, error) { return vm.RunString(text) })
		})
	}
}

func benchmarkLoop(b *testing.B, vm *goja.Runtime, makeLoop func() (goja.Value, error)) {
	v, err := makeLoop()
	if err != nil {
		b.Fatal(err)
	}
	loop, _ := goja.AssertFunction(v)
	b.ReportAllocs()
	b.ResetTimer()
	if _, err := loop(nil, vm.ToValue(b.N)); err != nil {
		b.Fatal(err)
	}
}
