package lang

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// captured describes a function and the functions that it captures, recursively.
func captured(f *FunctionInfo) string {
	var b strings.Builder
	var walk func(f *FunctionInfo, seen []*FunctionInfo)
	walk = func(f *FunctionInfo, seen []*FunctionInfo) {
		fmt.Fprintf(&b, "%s@%v(", f.Name, f.Position(0))
		var parts []string
		for _, c := range f.Captures {
			s := c.Name + "="
			switch c.State {
			case Uninitialized:
				s += "TDZ"
			case Undeclared:
				s += "?"
			default:
				if c.Function != nil {
					s += "fn"
				} else if c.Kind == "" {
					s += "global"
				} else {
					s += c.Value.String()
				}
			}
			if len(c.Assigned) > 0 {
				s += "!" + fmt.Sprint(c.Assigned[0].Line)
			}
			parts = append(parts, s)
		}
		b.WriteString(strings.Join(parts, " ") + ")")
		for _, c := range f.Captures {
			if c.Function != nil && c.Function.Known && !slices.Contains(seen, c.Function) {
				b.WriteString(" ")
				walk(c.Function, append(seen, c.Function))
			}
		}
	}
	walk(f, []*FunctionInfo{f})
	return b.String()
}

// kernelModule exports kernel(fn), which records the FunctionInfo of fn.
func kernelModule(got *[]*FunctionInfo) Module {
	return Module{Name: "k", Globals: []string{"kernel"}, Instantiate: func(e *Engine) (*goja.Object, error) {
		x := e.VM().NewObject()
		return x, x.Set("kernel", e.Func("kernel", func(c goja.FunctionCall) (goja.Value, error) {
			f, err := e.FunctionInfo(c.Argument(0))
			*got = append(*got, f)
			return c.Argument(0), err
		}))
	}}
}

func TestFunctionInfo(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"direct argument": {map[string]string{"main.js": "const r = 2\nlet n = 1; n = 3\nkernel((g, x) => { x[g.x] = r * n + Math.PI })"},
			[]string{"@main.js:3:8(r=2 n=3!2 Math=global)"}},
		"const": {map[string]string{"main.js": "const k = g => q\nlet q = 4\nkernel(k)"}, []string{"k@main.js:1:11(q=4)"}},
		"method and property": {map[string]string{"main.js": "const q = 1, o = { m(g) { return q }, p: g => q }\nkernel(o.m); kernel(o.p)"},
			[]string{"m@main.js:1:20(q=1)", "p@main.js:1:42(q=1)"}},
		"factory": {map[string]string{"main.js": "function make(r) { return kernel(g => r * 2) }\nmake(5); make(6)"},
			[]string{"@main.js:1:34(r=5)", "@main.js:1:34(r=6)"}},
		"closures keep their own scope": {map[string]string{"main.js": "const f = r => g => r\nconst a = f(1), b = f(2)\nkernel(a); kernel(b)"},
			[]string{"@main.js:1:16(r=1)", "@main.js:1:16(r=2)"}},
		"loop": {map[string]string{"main.js": "for (const r of [1, 2]) kernel(g => r)"}, []string{"@main.js:1:32(r=1)", "@main.js:1:32(r=2)"}},
		"helpers, recursively": {map[string]string{"main.js": "const two = 2\nfunction sq(x) { return x * x }\nconst f = x => sq(x) + two\nkernel(g => f(g.x))"},
			[]string{"@main.js:4:8(f=fn) f@main.js:3:11(sq=fn two=2) sq@main.js:2:1()"}},
		"recursion": {map[string]string{"main.js": "function a(n) { return b(n) }\nfunction b(n) { return a(n) }\nkernel(g => a(1))"},
			[]string{"@main.js:3:8(a=fn) a@main.js:1:1(b=fn) b@main.js:2:1(a=fn)"}},
		"imports": {map[string]string{"main.js": "import { lim, sq } from './m.ts'\nimport { n } from './m.ts'\nkernel(g => sq(lim) + n)",
			"m.ts": "type N = number\nconst half: N = 0.5\nexport const lim: N = 8\nexport function sq(x: N): N { return x * half }\nexport let n = 1\nn = 2"},
			[]string{"@main.js:3:8(sq=fn lim=8 n=2!6) sq@m.ts:4:8(half=0.5)"}},
		"typescript": {map[string]string{"main.ts": "interface X { a: number }\n\nconst r: number = 2\nkernel((g: X): number => {\n  return g.a * r\n})"},
			[]string{"@main.ts:4:8(r=2)"}},
		"through re-exports and await": {map[string]string{"main.js": "import { k } from './i.js'\nawait 0\nkernel(k)",
			"i.js": "export * from './m.js'", "m.js": "const c = await 3\nexport const k = g => c"}, []string{"k@m.js:2:18(c=3)"}},
		"missing and not yet": {map[string]string{"main.js": "kernel(g => later + nope)\nconst later = 1"}, []string{"@main.js:1:8(later=TDZ nope=?)"}},
		"bundle": {map[string]string{"main.js": "(() => {\n  var __defProp = Object.defineProperty;\n  // m.js\n  var half = 0.5;\n  function sq(x) { return x * half; }\n  // main.js\n  kernel((g) => sq(g.x));\n})();"},
			[]string{"@main.js:7:10(sq=fn) sq@main.js:5:3(half=0.5)"}},
		"unmarked": {map[string]string{"main.js": "class A { static m(g) { return 1 } }\nkernel(A.m); kernel(new Function('g', 'return g')); kernel(Math.max)"},
			[]string{"m@()", "anonymous@()", "max@()"}},
		"with using": {map[string]string{"main.js": "using d = { [Symbol.dispose]() {} }\nconst r = 3\nkernel(g => r)"}, []string{"@main.js:3:8(r=3)"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []*FunctionInfo
			e, _ := testEngine(t, Options{Dir: files(t, c.files), Modules: []Module{kernelModule(&got)}})
			main := "main.js"
			if c.files[main] == "" {
				main = "main.ts"
			}
			if _, err := e.RunFile(context.Background(), main); err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, f := range got {
				all = append(all, captured(f))
			}
			if !slices.Equal(all, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(all, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func TestFunctionInfoAtThePrompt(t *testing.T) {
	var got []*FunctionInfo
	e, _ := testEngine(t, Options{Prompt: true, Modules: []Module{kernelModule(&got)}})
	for _, line := range []string{
		"let r = 1", "const sq = x => x * r", "r = 2", "let w = 0; function bump() { w++ }",
		"kernel(g => sq(g.x) + r + w + zz)",
		"const k = g => await_ + 1; const await_ = await 7", "kernel(k)",
	} {
		if _, err := e.Eval(context.Background(), "<1>", line); err != nil {
			t.Fatal(line, err)
		}
	}
	var all []string
	for _, f := range got {
		all = append(all, captured(f))
	}
	want := []string{"@<1>:1:8(sq=fn r=2 w=0!1 zz=?) sq@<1>:1:12(r=2)", "k@<1>:1:11(await_=7)"}
	if !slices.Equal(all, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(all, "\n"), strings.Join(want, "\n"))
	}
}

func TestFunctionInfoText(t *testing.T) {
	var got []*FunctionInfo
	e, _ := testEngine(t, Options{Modules: []Module{kernelModule(&got)}})
	text := "kernel((g, x) => { /* note */\n  x[0] = 2.0 + 0xff\n})"
	if _, err := e.Run(context.Background(), "t.js", text+"\nexport const same = kernel.last"); err != nil {
		t.Fatal(err)
	}
	f := got[0]
	if f.Text != text[len("kernel("):len(text)-1] {
		t.Errorf("text %q", f.Text)
	}
	if p := f.Position(strings.Index(f.Text, "2.0")); p.Line != 2 || p.Column != 10 {
		t.Errorf("2.0 is at %v", p)
	}
	if _, err := e.FunctionInfo(e.VM().ToValue(5)); err == nil {
		t.Error("a number is no function")
	}
}
