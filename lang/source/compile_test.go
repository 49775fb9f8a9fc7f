package source

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
)

// run compiles and runs a text with a minimal host, and returns the value and the exports.
func run(t *testing.T, text string, o Options) (goja.Value, map[string]string, *Unit, *host) {
	t.Helper()
	u, err := Compile("t.js", text, o)
	if err != nil {
		t.Fatalf("%s\n%s", text, diag.Format(err, false))
	}
	h := &host{vm: goja.New(), marks: map[*goja.Object]goja.Value{}, exports: map[string]string{}}
	v, err := h.vm.RunProgram(u.Program)
	if err != nil {
		t.Fatal(err)
	}
	fn, _ := goja.AssertFunction(v)
	if v, err = fn(nil, h.parameters(u)...); err == nil && o.Kind == Module {
		err = h.finish(v)
	}
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return v, h.exports, u, h
}

// finish runs a module to its end and resolves each await to its operand.
func (h *host) finish(module goja.Value) error {
	next, _ := goja.AssertFunction(module.(*goja.Object).Get("next"))
	var awaited goja.Value
	for {
		step, err := next(module, awaited)
		if err != nil || step.(*goja.Object).Get("done").ToBoolean() {
			return err
		}
		awaited = step.(*goja.Object).Get("value")
	}
}

type host struct {
	vm      *goja.Runtime
	marks   map[*goja.Object]goja.Value
	scope   goja.Callable
	exports map[string]string
}

func (h *host) parameters(u *Unit) []goja.Value {
	vm := h.vm
	mark := func(c goja.FunctionCall) goja.Value {
		if len(c.Arguments) == 1 {
			return c.Argument(0)
		}
		h.marks[c.Argument(0).(*goja.Object)] = c.Argument(1)
		return c.Argument(0)
	}
	markAll := func(c goja.FunctionCall) goja.Value {
		o := c.Argument(0).(*goja.Object)
		for i := 1; i+1 < len(c.Arguments); i += 2 {
			h.marks[o.Get(c.Arguments[i].String()).(*goja.Object)] = c.Arguments[i+1]
		}
		return o
	}
	scope := func(c goja.FunctionCall) goja.Value {
		h.scope, _ = goja.AssertFunction(c.Argument(0))
		return nil
	}
	link := func(c goja.FunctionCall) goja.Value {
		set, _ := goja.AssertFunction(c.Argument(0))
		for i, l := range u.Links {
			if _, err := set(nil, vm.ToValue(i), vm.ToValue(l.Name+" of "+u.Imports[l.Import].From)); err != nil {
				panic(err)
			}
		}
		return nil
	}
	export := func(c goja.FunctionCall) goja.Value {
		h.exports[u.Exports[c.Argument(0).ToInteger()].Name] += fmt.Sprint(c.Argument(1)) + ";"
		return nil
	}
	update := func(c goja.FunctionCall) goja.Value {
		for i := 1; i+1 < len(c.Arguments); i += 2 {
			thunk, _ := goja.AssertFunction(c.Arguments[i+1])
			v, _ := thunk(nil)
			h.exports[u.Exports[c.Arguments[i].ToInteger()].Name] += fmt.Sprint(v) + ";"
		}
		return c.Argument(0)
	}
	dynamic := vm.ToValue(func(c goja.FunctionCall) goja.Value { return vm.ToValue("module " + c.Argument(0).String()) })
	_ = dynamic.(*goja.Object).Set("meta", map[string]any{"url": "file:///t.js"})
	power := func(operator string) goja.Value {
		v, _ := vm.RunString("((a, b) => 'checked ' + (a " + operator + " b))")
		return v
	}
	powerOf, _ := vm.RunString("((o, k) => { const old = o[k]; return b => o[k] = 'checked ' + (old ** b) })")
	thrower := func(kind string) goja.Value {
		return vm.ToValue(func(c goja.FunctionCall) goja.Value { panic(vm.NewTypeError(kind + " " + c.Argument(0).String())) })
	}
	return []goja.Value{vm.ToValue(mark), vm.ToValue(markAll), vm.ToValue(scope), vm.ToValue(link), vm.ToValue(export), vm.ToValue(update), dynamic, goja.Undefined(),
		vm.ToValue(func(c goja.FunctionCall) goja.Value { return c.Argument(0) }), vm.ToValue("unset"), thrower("early"), thrower("noargs"), power("**"), powerOf, power("<<"), power("*"), vm.ToValue(func(c goja.FunctionCall) goja.Value { return c.Argument(0) }), vm.ToValue(func(c goja.FunctionCall) goja.Value { return c.Argument(0) })}
}

func TestModuleSyntax(t *testing.T) {
	for _, c := range []struct{ text, exports string }{
		{`export const a = 1, {b, c: [d]} = {b: 2, c: [3]}`, "a=1; b=2; d=3;"},
		{`export let n = 0; n++; n += 5; [n] = [9]; ({n} = {n: 10})`, "n=0;1;6;9;10;"},
		{`export function f() { return 1 } export class C {} export async function g() {}`, "C=class C {}; f=function f() { return 1 }; g=async function g() {};"},
		{`let a = 1, b = 2; export { a, b as default, a as "x y" };`, "a=1; default=2; x y=1;"},
		{`export default 1 + 2`, "default=3;"},
		{`export default /x}'/.test("x}'")`, "default=true;"},
		{`export /* c */ default function f() { return 7 }; f.x = 1`, "default=function f() { return 7 };"},
		{`export default function () { return 7 }`, "default=function () { return 7 };"},
		{`export default class extends Object {}`, "default=class extends Object {};"},
		{"export default class { m() { return {} } } /x/.test('x')", "default=class { m() { return {} } };"},
		{"export default function () {}\n(1)", "default=function () {};"},
		{"export default function ({ a } = {}) {} 1", "default=function ({ a } = {}) {};"},
		{`import d, { a, b as c } from 'm'; import * as ns from "n"; export const r = [d, a, c, ns].join()`,
			"r=default of m,a of m,b of m,* of n;"},
		{"import 'side'\nimport cfg from './c.json' with { type: 'json' }\nexport const r = cfg", "r=default of ./c.json;"},
		{"let a = 1\nimport x from 'y'\n;(0, [a])\nexport { a }", "a=1;"},
		{"export const s = `import x from 'y' ${`${1}export`} }`, r = typeof /import \\/[/]export/", "r=object; s=import x from 'y' 1export };"},
		{`const o = {import: 1, export: 2}; export const r = o.import + o.export`, "r=3;"},
		{`export const r = import('./x') + ' ' + import.meta.url`, "r=module ./x file:///t.js;"},
		{"#!/usr/bin/env orepl\nexport const r = 1", "r=1;"},
		{`export var v = 1; { v = 2 }`, "v=undefined;1;2;2;"},
		{`export const r = (function () { return typeof this })()`, "r=undefined;"},
	} {
		_, exports, _, _ := run(t, c.text, Options{})
		var got []string
		for name, v := range exports {
			got = append(got, name+"="+v)
		}
		slices.Sort(got)
		if s := strings.Join(got, " "); s != c.exports {
			t.Errorf("%s\n got %s\nwant %s", c.text, s, c.exports)
		}
	}
}

// TestModulesPause checks that a module's functions exist before its code runs, and other declarations do not.
func TestModulesPause(t *testing.T) {
	u, err := Compile("t.js", `import { a } from 'm'; export { f }; export const c = a; export let l; export var v = 1; export class K {}
		function f() { return c }
		export default function () { return f }
		globalThis.ran = true`, Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := &host{vm: goja.New(), marks: map[*goja.Object]goja.Value{}, exports: map[string]string{}}
	wrapper, err := h.vm.RunProgram(u.Program)
	if err != nil {
		t.Fatal(err)
	}
	fn, _ := goja.AssertFunction(wrapper)
	module, err := fn(nil, h.parameters(u)...)
	if err != nil {
		t.Fatal(err)
	}
	next, _ := goja.AssertFunction(module.(*goja.Object).Get("next"))
	if _, err := next(module); err != nil {
		t.Fatal(err)
	}
	if len(h.exports) != 3 || h.exports["v"] != "undefined;" || !strings.HasPrefix(h.exports["f"], "function f") || !strings.HasPrefix(h.exports["default"], "function ()") {
		t.Errorf("at the pause there are %q", h.exports)
	}
	if len(h.marks) != 1 || h.vm.Get("ran") != nil {
		t.Errorf("%d marks, ran %v", len(h.marks), h.vm.Get("ran"))
	}
	if err := h.finish(module); err != nil || h.exports["c"] != "a of m;" {
		t.Errorf("%v, %q", err, h.exports)
	}
}

// TestPowers checks that powers, except of literals, and shifts in texts with BigInts become calls.
func TestPowers(t *testing.T) {
	for text, want := range map[string]string{
		"export const r = 2 ** 3 + (1 << 4)":                    "24;",
		"export const r = 2n ** 3n":                             "checked 8;",
		"let x = 2n; x **= 3n; export const r = x":              "checked 8;",
		"let x = 2n; export const r = (x <<= 1n)":               "checked 4;",
		"const o = { x: 2n }; o.x **= 3n; export const r = o.x": "checked 8;",
		"const o = { x: 2 }; let n = 0; export const r = (() => (n++, o))()['x'] **= 3; if (n !== 1) throw n":      "checked 8;",
		"const o = { x: 2n }; o.x <<= 3n; export const r = o.x":                                                    "16;",
		"let x = 2; export const r = x ** 3 ** 2":                                                                  "checked 512;",
		"export const r = [2 ** -1, (-2) ** 3, 2 ** 3 ** 2, 2 ** 0.5].join()":                                      "0.5,-8,512,1.4142135623730951;",
		"class C { #x = 2; go() { return this.#x **= 3 } }; export const r = new C().go()":                         "8;",
		"class C extends class { x = 1 } { go() { super.x **= 3; return this.x } }; export const r = new C().go()": "NaN;",
		"export const r = (1 << 4) + ''":                                                                           "16;",
		"export const r = BigInt(2) << BigInt(3)":                                                                  "checked 16;",
		"export let r = 2n; r **= 3n":                                                                              "2;checked 8;",
		"let n = 1n; export { n as r }; (n = 2n) ** (await 3n)":                                                    "1;2;",
		"export const r = [1n].map(x => x << 2n)[0]":                                                               "checked 4;",
		"export const r = (x => [x ** 2n, () => x << 1n])(3n)[1]() + ''":                                           "checked 6;",
	} {
		_, exports, _, _ := run(t, text, Options{})
		if exports["r"] != want {
			t.Errorf("%s: %q", text, exports["r"])
		}
	}
}

// TestReplacedNames checks that top-level uses of arguments are rejected but those of functions are not, and that imports of a
// cycle are checked.
func TestReplacedNames(t *testing.T) {
	for _, c := range []struct {
		text, want string
		check      bool
	}{
		{"export const r = typeof arguments", "undefined;", false},
		{"try { arguments } catch (e) { globalThis.e = e.message }; export const r = e", "noargs undefined;", false},
		{"export const r = (() => { try { return { arguments } } catch (e) { return e.message } })()", "noargs undefined;", false},
		{"export const r = (function () { return (() => arguments.length + arguments[0])() })(7)", "8;", false},
		{"export const r = { m() { return arguments.length } }.m(1, 2)", "2;", false},
		{"import { a } from 'm'; export const r = [a, { a }.a, typeof a, `${a}`, a.length].join()", "a of m,a of m,string,a of m,6;", true},
		{"import { a } from 'm'; export const r = (a => a)(5) + { a: 1 }.a", "6;", true},
	} {
		_, exports, _, _ := run(t, c.text, Options{CheckImports: c.check})
		if exports["r"] != c.want {
			t.Errorf("%s: %q", c.text, exports["r"])
		}
	}
	u, err := Compile("t.js", "import { a } from 'm'; a()", Options{CheckImports: true})
	if err != nil {
		t.Fatal(err)
	}
	h := &host{vm: goja.New(), marks: map[*goja.Object]goja.Value{}, exports: map[string]string{}}
	wrapper, _ := h.vm.RunProgram(u.Program)
	fn, _ := goja.AssertFunction(wrapper)
	parameters := h.parameters(u)
	parameters[3] = h.vm.ToValue(func(goja.FunctionCall) goja.Value { return goja.Undefined() }) // links nothing
	module, err := fn(nil, parameters...)
	if err == nil {
		err = h.finish(module)
	}
	if err == nil || !strings.Contains(err.Error(), "early 0") {
		t.Errorf("got %v", err)
	}
}

func TestTypeScriptAndLoweredSyntax(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"enum E { A = 3 }\nexport const r: number = E.A as number", "3;"},
		{"import type { T } from 't'\nexport const r = (<T>(x: T): T => x)<number>(4)", "4;"},
	} {
		_, exports, u, _ := run(t, c.text, Options{TypeScript: true})
		if exports["r"] != c.want || len(u.Imports) != 0 {
			t.Errorf("%s: %v, imports %v", c.text, exports, u.Imports)
		}
	}
	u, err := Compile("t.js", "for await (const x of y) x()\nawait using z = w", Options{})
	if err != nil || !u.Async || !u.Lowered {
		t.Errorf("for await: %v", err)
	}
}

func TestPrompt(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"let a = 1; const b = 2; a + b", "3"},
		{"var {x, y: [z]} = {x: 1, y: [2]}; x + z + globalThis.z", "5"},
		{"class A {}; new A().constructor.name", "A"},
		{"f(); function f() { return 5 }", "undefined"},
		{"const r = f(); function f() { return 5 }; r", "5"},
		{"{a: 1, b: 2}", "[object Object]"},
		{"{ let q = 4; globalThis.out = q }; out", "4"},
		{"const g = () => 1; g.name", "g"},
		{"h = () => 1", "() => 1"},
		{"for (var i = 0; i < 3; i++) {} globalThis.i", "3"},
		{"1 +\n 2 // three", "3"},
		{"let u; u", "undefined"},
		{"try { 3 + 4 } catch {}", "7"},
		{"try { throw 2 } catch (e) { e + 1 } finally { 9 }", "3"},
		{"if (false) 1; else if (true) { let p = 6; p }", "6"},
		{"x", "1"},
	} {
		text := c.text
		if text == "x" {
			text = "var x = 1; x"
		}
		v, _, _, _ := run(t, text, Options{Kind: Prompt})
		if v.String() != c.want {
			t.Errorf("%s: got %s, want %s", text, v, c.want)
		}
	}
	v, _, u, _ := run(t, "const w = await 1; w", Options{Kind: Prompt})
	if _, ok := v.Export().(*goja.Promise); !ok || !u.Async {
		t.Errorf("top-level await gave %v", v)
	}
}

func TestPromptKnowsUnfinishedInput(t *testing.T) {
	for text, incomplete := range map[string]bool{
		"function f() {": true, "[1, 2": true, "`abc": true, "1 + ": true, "f(": true, "if (x) {": true, "/* a": true,
		"1 + * 2": false, "let 5": false, "}": false, ")": false, "foo bar": false,
	} {
		_, err := Compile("p", text, Options{Kind: Prompt})
		if err == nil || (diag.Code(err) == "syntax-incomplete") != incomplete {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// free describes the free variables of a site.
func free(s *Site) string {
	var b strings.Builder
	for _, f := range s.Free {
		where := "global"
		if f.Local >= 0 {
			where = "local"
		} else if f.Module >= 0 {
			where = "module"
		}
		fmt.Fprintf(&b, "%s:%s", f.Name, where)
		if f.Binding != nil && len(f.Binding.Assigned) > 0 {
			b.WriteString("!")
		}
		b.WriteString(" ")
	}
	return strings.TrimSpace(b.String())
}

func TestSitesAndFreeVariables(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`const k = g => x[g] + Math.PI; let x = 1`, "k: x:module Math:global"},
		{`function outer(r) { return kernel(g => r + s) } function kernel() {} var s = 1; s = 2`,
			"outer: kernel:module s:module! | : r:local s:module! | kernel: "},
		{`const o = { m(g) { return q + this.z }, f: g => g, get a() { return q }, n: { k: (a) => q } }; const q = 1`,
			"m: q:module | f:  | k: q:module"},
		{`for (const i of [1]) [g => i]; for (let j = 0; j < 1; j++) [g => j]`, ": i:local | : j:local"},
		{`for (let j = 0; j < 1; j++) { [g => j]; j += 1 }`, ": j:local!"},
		{`for (let j = 0; j < 1; (() => j++)()) [g => j]`, ": j:local!"},
		{`let j; for (j = 0; j < 1; j++) [g => j]`, ": j:module!"},
		{`for (var j = 0; j < 1; j++) [g => j]`, ": j:module!"},
		{`for (let i = 0; i < 1; i++) for (let j = 0; j < 1; i++, j++) [g => i + j]`, ": i:local! j:local"},
		{`const f = function fact(n) { return n ? fact(n - 1) : base }, base = 1`, "f: base:module"},
		{`function rec(n) { return rec(n - 1) }`, "rec: rec:module"},
		{`const f = ({a, b: [c] = d}, ...e) => { var v = a; { let w = c; v = w } return v + e + z }; let d, z; z = 1`, "f: d:module z:module!"},
		{`try { } catch (e) { [g => e] }`, ": e:local"},
		{`class A { m() { return [() => A] } }`, ": A:local"},
		{`[async g => 1, function* () { yield y }]; const y = 1`, ":  | : y:module"},
		{`const a = (g => 1)(2), f = (x = () => 5) => x, t = a ? b => a : c => a`, "f:  | : a:module | : a:module"},
		{`import { lim } from 'm'; const k = g => lim`, "k: lim:module"},
		{`const k = g => { label: for (;;) { break label } switch (g) { case v: let h = 1; h = 2; w(h) } }; const v = 1`, "k: v:module w:global"},
		{"const k = g => `${u} ${g}`; const u = 1", "k: u:module"},
	} {
		_, _, u, _ := run2(t, c.text)
		var got []string
		for _, s := range u.Sites {
			got = append(got, s.Name+": "+free(s))
		}
		if s := strings.Join(got, " | "); s != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.text, s, c.want)
		}
	}
}

// run2 only compiles, because the texts above cannot run.
func run2(t *testing.T, text string) (goja.Value, map[string]string, *Unit, *host) {
	t.Helper()
	u, err := Compile("t.js", text, Options{})
	if err != nil {
		t.Fatalf("%s\n%s", text, diag.Format(err, false))
	}
	return nil, nil, u, nil
}

// A function without a name takes that of the variable or property which its call initializes.
func TestNamesOfSites(t *testing.T) {
	_, _, u, _ := run(t, `
const f = x => x
const declared = f(a => 1)
const object = { property: f(b => 1), 'quoted-name': f(c => 1), named: f(function own() {}), ['computed']: f(d => 1), nested: f(f(e => 1)) }
let assigned = f(g => 1)
assigned = f(h => 1)
object.member = f(i => 1)
class C { static field = f(j => 1) }
f(k => 1)
`, Options{})
	want := map[string]string{"a => 1": "declared", "b => 1": "property", "c => 1": "quoted-name", "function own() {}": "own", "d => 1": "", "e => 1": "",
		"g => 1": "assigned", "h => 1": "assigned", "i => 1": "member", "j => 1": "field", "k => 1": ""}
	for _, s := range u.Sites {
		if name, listed := want[s.Source()]; listed && s.Name != name {
			t.Errorf("%s has the name %q, not %q", s.Source(), s.Name, name)
		}
		delete(want, s.Source())
	}
	if len(want) > 0 {
		t.Errorf("no sites for %v", want)
	}
}

func TestMarkedFunctionsKeepTextNameAndValues(t *testing.T) {
	text := `
const scale = 2
export const k = (g, x) => /* kept */ x * scale + 2.0
function make(r) { return function inner(g) { return r + later } }
export const i = make(7)
export const o = { m(g) { return r }, }
let r = 3
const later = 4
export const t = k.toString() + k.name + o.m.name + make.name
`
	_, exports, u, h := run(t, text, Options{})
	want := "(g, x) => /* kept */ x * scale + 2.0kmmake;"
	if exports["t"] != want {
		t.Errorf("got %s", exports["t"])
	}
	texts := map[string]bool{}
	for _, s := range u.Sites {
		texts[s.Source()] = true
	}
	for _, s := range []string{"(g, x) => /* kept */ x * scale + 2.0", "m(g) { return r }", "function inner(g) { return r + later }"} {
		if !texts[s] {
			t.Errorf("no site for %s in %v", s, texts)
		}
	}
	var thunks int
	for _, mark := range h.marks {
		if thunk, ok := goja.AssertFunction(mark); ok {
			thunks++
			id, _ := thunk(nil, h.vm.ToValue(-1))
			site := u.Sites[id.ToInteger()]
			v, _ := thunk(nil, h.vm.ToValue(0))
			if site.Name != "inner" || v.ToInteger() != 7 {
				t.Errorf("site %v reads %v", site.Name, v)
			}
		}
	}
	if thunks != 1 || h.scope == nil {
		t.Errorf("%d thunks", thunks)
	}
	for i, b := range u.Captured {
		v, err := h.scope(nil, h.vm.ToValue(i))
		if err != nil || !map[string]bool{"scale=2": true, "later=4": true, "r=3": true}[fmt.Sprintf("%s=%v", b.Name, v)] {
			t.Errorf("%s = %v, %v", b.Name, v, err)
		}
	}
}

// TestRunTimePositions checks that run-time errors have source positions in every dialect.
func TestRunTimePositions(t *testing.T) {
	for _, c := range []struct {
		text string
		ts   bool
		want string
	}{
		{"import x from 'y'; [g => g]; null.foo", false, "1:35"},
		{"\n  const k = (g) => 1; [() => k].map(f => f)[0].a.b", false, "2:50"},
		{"interface A { x: number }\n\nconst a: A = null as any;\n  a.x", true, "4:5"},
		{"const ü = 'ß'; null.foo", false, "1:23"}, // the interpreter counts bytes
	} {
		u, err := Compile("t.js", c.text, Options{TypeScript: c.ts})
		if err != nil {
			t.Fatal(err)
		}
		h := &host{vm: goja.New(), marks: map[*goja.Object]goja.Value{}, exports: map[string]string{}}
		v, _ := h.vm.RunProgram(u.Program)
		fn, _ := goja.AssertFunction(v)
		if v, err = fn(nil, h.parameters(u)...); err == nil {
			err = h.finish(v)
		}
		var ex *goja.Exception
		if !errors.As(err, &ex) {
			t.Fatalf("%s: %v", c.text, err)
		}
		p := ex.Stack()[0].Position()
		if got := fmt.Sprintf("%d:%d", p.Line, p.Column); got != c.want {
			t.Errorf("%s: got %s, want %s", c.text, got, c.want)
		}
	}
}

func TestSyntaxErrorPositions(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"let a = 1\nlet a = 2", "t.js:2:5: SyntaxError"},
		{"const x = ;", "t.js:1:11: SyntaxError"},
		{"ok()\n  return 5", "t.js:2:3: SyntaxError: return outside a function"},
		{"import { a from 'b'", "t.js:1:12"},
		{"export { nope }", `t.js:1:10: SyntaxError: "nope" is exported but declared nowhere in this file`},
		{"}); (function() {", "t.js:1:1"},
		{"function f() {", "t.js:1:15"},
		{"export const a = 1; export { a }", `t.js:1:30: SyntaxError: "a" is exported twice`},
		{"const é = 1, b = ;", "t.js:1:18"},
	} {
		_, err := Compile("t.js", c.text, Options{})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s\n got %v\nwant %s", c.text, err, c.want)
		}
		var d *diag.Diagnostic
		if errors.As(err, &d) && d.Excerpt == nil {
			t.Errorf("%s: no excerpt", c.text)
		}
	}
}

// TestLoweredPositions checks that offsets in lowered text map back to the source text.
func TestLoweredPositions(t *testing.T) {
	text := "type N = number\nconst k = (g: { x: N }, s: N) => {\n  return g.x * s\n}\nexport { k }"
	u, err := Compile("t.ts", text, Options{TypeScript: true})
	if err != nil {
		t.Fatal(err)
	}
	s := u.Sites[0]
	if p := u.Position(s.Start + strings.Index(s.Source(), "return")); p.Line != 3 || p.Column != 3 {
		t.Errorf("return is at %v", p)
	}
	if p := u.Position(s.Start); p.Line != 2 || p.Column != 11 {
		t.Errorf("function is at %v", p)
	}
}

// TestLoweredLineEnds checks positions of TypeScript behind each line end of ECMAScript, also those within literals.
func TestLoweredLineEnds(t *testing.T) {
	for _, end := range []string{"\n", "\r", "\r\n", "\u2028", "\u2029"} {
		text := strings.ReplaceAll("const s: string = `a|b` // one|/* two|*/ const k = (g: { x: number }) => {|  return g.x|}|", "|", end)
		u, err := Compile("t.ts", text, Options{TypeScript: true})
		if err != nil {
			t.Fatalf("%q: %v", end, err)
		}
		s := u.Sites[0]
		if p := u.Position(s.Start); p.Line != 4 || p.Column != 14 {
			t.Errorf("%q: the function is at %v", end, p)
		}
		if p := u.Position(s.Start + strings.Index(s.Source(), "return")); p.Line != 5 || p.Column != 3 {
			t.Errorf("%q: return is at %v", end, p)
		}
		if got := Assigned("//"+end+"const sum = total(x)", 2, 18); got != "sum" {
			t.Errorf("%q: %q is assigned", end, got)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{"export default 1", "import('x')", "`${a}`", "/[/]/", "a/b/c", "for await (x of y);", "export {a as b} from 'c'", "#!x\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range []Kind{Module, Prompt} {
			if u, err := Compile("f.js", text, Options{Kind: kind}); err == nil {
				for _, s := range u.Sites {
					_ = u.Position(s.Start)
					_ = s.Source()
				}
			}
		}
	})
}

// TestTextOfArrowFunctions checks that the text of an arrow function includes closing parentheses, before which the
// interpreter's tree ends it.
func TestTextOfArrowFunctions(t *testing.T) {
	for _, text := range []string{
		"x => x", "x => (x + 1)", "(x, n) => (x >>> n) | (x << (32 - n))", "x => ((x /* ) */))", "x => ({ a: [(x)] })",
		"x => f((x), (1))", "x => { return (x) }", "x => (y => ((y)))",
	} {
		for _, around := range []string{"const f = %s\n", "const f = %s; (1)", "g(%s)", "g((1), %s, (2))", "const o = { f: %s }"} {
			u, err := Compile("t.js", strings.Replace(around, "%s", text, 1), Options{})
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, s := range u.Sites {
				found = found || s.Source() == text
			}
			if !found {
				t.Errorf("%s in %s: the text was not kept", text, around)
			}
		}
	}
}

// TestRestoredNames checks that variables renamed by esbuild have their source names in the program.
func TestRestoredNames(t *testing.T) {
	text := `const x: number = 1, y = 2, longName = 3
export const f = (g: {x: number}, x: number[], longName: number) => {
	{ let y = x[g.x] + longName; x[0] = y; const o = { y, x }; return o }
}
enum Color { red }
for await (const y of [1]) { const x = y; void x }
throw new Error('here')`
	u, err := Compile("t.ts", text, Options{TypeScript: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{"x2", "y2", "longName2"} {
		if strings.Contains(u.Text, wrong) {
			t.Errorf("the text has %s:\n%s", wrong, u.Text)
		}
	}
	if !strings.Contains(u.Text, "(Color2) =>") || !strings.Contains(u.Text, `Color2["red"]`) { // all or none
		t.Errorf("the enum has another name here and there:\n%s", u.Text)
	}
	at := strings.LastIndex(u.Text, "throw")
	if p := u.Position(at); p.Line != 7 || p.Column != 1 {
		t.Errorf("the throw is at %v", p)
	}
	at = strings.Index(u.Text, "x[0] = y")
	if p := u.Position(at); p.Line != 3 || p.Column != 31 {
		t.Errorf("x[0] is at %v", p)
	}
}

// TestRestoredNamesBesideUsing checks source names in a text with using, which esbuild distinguishes from the names of its
// helper functions.
func TestRestoredNamesBesideUsing(t *testing.T) {
	const kernel = `const k = (value, m, _) => { const fail = () => value; function next(E) { return E + m + _ } return next(fail) }`
	const later = `const value = 1, m = 2, fail = 3, next = 4, E = 5, result = 6, it = 7`
	for _, text := range []string{
		kernel + "\nusing t = g()\n" + later,
		kernel + "\nawait using t = g()\n" + later,
		"'use strict'\n{ using t = g(); " + kernel + "\n }\n" + later,
		"const outer = () => { using t = g(); " + kernel + "\n }\n" + later,
	} {
		for _, o := range []Options{{}, {TypeScript: true}, {Kind: Prompt}} {
			u, err := Compile("t.js", text, o)
			if err != nil {
				t.Errorf("%q: %v", text, err)
				continue
			}
			program := u.Text[strings.Index(u.Text, "k = (")-1:]
			for _, wrong := range []string{"value2", "m2", "_2", "fail2", "next2", "E2"} {
				if strings.Contains(program, wrong) {
					t.Errorf("%q has %s:\n%s", text, wrong, program)
				}
			}
			if at := strings.Index(u.Text, "(fail)"); u.Position(at).Column <= 1 {
				t.Errorf("%q: the call is at %v", text, u.Position(at))
			}
		}
	}
}

func TestUnterminatedModuleName(t *testing.T) {
	for _, text := range []string{"import a from 'x\n", "import 'x", "export * from \"x\nlet a", "import a from 'x' with { type: 'json"} {
		_, err := Compile("t.js", text, Options{})
		if err == nil || !strings.Contains(err.Error(), "t.js:1:") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
