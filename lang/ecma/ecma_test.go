package ecma

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/dop251/goja/ast"
)

// TestEarlyErrors checks texts that the language refuses before they run, with the offset of each error.
func TestEarlyErrors(t *testing.T) {
	for _, c := range []struct{ text, message string }{ // § marks the place of the error
		{"§010", "Octal literals"}, {"§09", "begin with 0"}, {"'§\\07'", "Octal escape"}, {"1§_", "separator"}, {"3§in []", "directly"},
		{"class F { x = §arguments }", "'arguments' is not allowed"}, {"class F { x = () => §arguments }", "'arguments' is not allowed"},
		{"class F { static { §await } }", "await"}, {"[§arguments] = []", "Assignment to eval or arguments"}, {"§eval = 1", "Assignment to eval or arguments"},
		{"§import.meta = 1", "left-hand side"}, {"new §import('./x.js')", "new with import"}, {"import(§...[])", "Unexpected token"},
		{"do §import { y } from './y.js'; while (0)", "top level"}, {"if (1) { §export const x = 1 }", "top level"},
		{"let a; let §a", "already been declared"}, {"var v; function §v() {}", "already been declared"}, {"try {} catch (e) { let §e }", "already been declared"},
		{"switch (1) { case 0: let a; case 1: let §a }", "already been declared"}, {"function f(a) { let §a }", "already been declared"},
		{"(a, §a) => 1", "Duplicate parameter"}, {"function f(a = 1) { §'use strict' }", "non-simple"},
		{"x: §x: 1", "already been declared"}, {"§break", "Illegal break"}, {"x: { §continue x }", "iteration"}, {"while (1) (() => { §break })", "Illegal break"},
		{"§return", "outside a function"}, {"§new.target", "not allowed"}, {"§super.x", "unexpected"}, {"class A { constructor() { §super() } }", "unexpected"},
		{"a.§#x", "enclosing class"}, {"class A { #x; §#x }", "already been declared"}, {"class A { #x; f() { §delete this.#x } }", "Private fields"}, {"delete §x", ""},
		{"class A { constructor() {} §constructor() {} }", "one constructor"}, {"class A { static §prototype() {} }", "prototype"},
		{"a §?? b || c", "mixed"}, {"-1 §** 2", "parentheses"}, {"({ a §= 1 })", "shorthand"}, {"({ __proto__: 1, §__proto__: 2 })", "__proto__"},
		{"§({ a }) = 1", "target"}, {"[§(a = 1)] = 1", "target"}, {"[...a§,] = 1", "last one"}, {"({ ...§{ a } } = {})", "rest element"}, {"a?.b §= 1", ""},
		{"for (let x §= 1 of []) ;", ""}, {"for (§let of []) ;", ""}, {"for (let x, §y of []) ;", "one name"}, {"if (1) §function f() {}", "declared here"},
		{"while (0) §class A {}", "declaration cannot stand"}, {"if (1) x: §function f() {}", "declared here"}, {"async () => { (§await) => 1 }", ""},
		{"function* g(a = §yield) {}", "formal parameter"}, {"async function f(a = §await 1) {}", "formal parameters"}, {"§with (1) ;", "Strict mode"},
		{"/a/g§g", "flags"}, {"`§\\07`", "template"}, {"export { §nope }", "declared nowhere"}, {"let a; export { a, §a }", "exported twice"},
		{"import { a } from 'a'; import { §a } from 'b'", "imported twice"}, {"switch (1) { case 0: §using x = 1 }", "switch"}, {"await using §[a] = 1", ""},
		{"{ function f() {} var §f }", "already been declared"}, {"<§!-- html", ""}, {"var §yi\\u0065ld", "reserved"}, {"§thr\\u006fw 1", ""},
	} {
		want := strings.Index(c.text, "§")
		text := strings.Replace(c.text, "§", "", 1)
		_, err := Parse(text, Options{Module: true})
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: accepted", text)
			continue
		}
		if c.message != "" && (!strings.Contains(e.Message, c.message) || e.Offset != want) {
			t.Errorf("%s: %q at %d, want %q at %d", text, e.Message, e.Offset, c.message, want)
		}
	}
}

// TestValid checks texts that a parser may easily refuse.
func TestValid(t *testing.T) {
	for _, text := range []string{
		"const f = ({ a = 1 } = {}, [b = a] = []) => a", "async () => {}\n/x/g", "var async; async\n(1)", "let async = x => x; async (1)",
		"class A { import() {} get import() { return 1 } static async *#x() {} 'a' = 1; [b]; static; get; set; async; static static }",
		"try {} catch (e) { function f() { async function* g() {} } }", "x = { import: 1 }.import", "a: b: for (;;) continue a",
		"label: { break label }", "for (const [a, { b: c = a.length } = {}] of x) ;", "for await (async of x) ;", "for (var of of of) ;", "for (async => 1;;) break",
		"export default async function* () {}", "export default class extends A {}", "export { x as \\u03bc }; var x", "export * as 'a b' from 'a'; export {}",
		"import d, * as ns from 'a'; import e, { f as g, 'h i' as h } from 'b'", "import x from './x.json' with { type: 'json' }",
		"a = b\n++c", "if (a) ; else b", "do ; while (0) a", "x = a ? (b) : c => d", "x = a ? (b, c) => d : e", "`a${ `b${c}` }d`", "tag`\\unicode`", "a?.[0]?.(1)?.b",
		"using x = y; await using z = w; { using a = b, c = d }", "for (using x of y) ;", "for (await using x of y) ;", "var using; using; using.x",
		"class A { static { var a; { function f() {} } } }", "class A { #a; has(o) { return #a in o } }", "new (f())()", "new a.b().c", "new new a()()",
		"0b1n + 0xFn + 1_000n + .5 + 5. + 1e+3", "a\u2028b", "/[/]/.test(a) / 2", "x = function* () { yield; yield* a; yield\n/b/ }", "({ get() {}, set() {}, async() {}, async *[a]() {} })",
		"(a, b = 1, [c], { d, ...e }, ...[f]) => 1", "async (a, ...b) => await a", "(x) => { 'use strict' }", "var { a, ...b } = c; ({ ...a.b } = c)",
	} {
		if _, err := Parse(text, Options{Module: true}); err != nil {
			t.Errorf("%s: %v at %d", text, err, err.(*Error).Offset)
		}
	}
	for _, text := range []string{
		"010 + 09", "'\\07'", "with (a) b", "var yield, let, static; yield\n* 2", "if (a) function f() {}", "x: function f() {}", "delete x", "function f(a, a) {}",
		"{ function f() {} function f() {} }", "<!-- html\n--> html", "arguments = 1", "let\nx", "for (var x = 1 in y) ;",
	} {
		if _, err := Parse(text, Options{}); err != nil {
			t.Errorf("sloppy %s: %v", text, err)
		}
	}
}

// TestIncomplete checks that texts which more lines could complete are recognized, as a prompt needs.
func TestIncomplete(t *testing.T) {
	for text, want := range map[string]bool{
		"f(": true, "function f() {": true, "[1,": true, "`a": true, "/* a": true, "a +": true, "class A {": true, "try {}": true, "if (a)": true,
		"f())": false, "'a": false, "a b": false, "1 = 2": false,
	} {
		_, err := Parse(text, Options{})
		var e *Error
		if !errors.As(err, &e) || e.Incomplete != want {
			t.Errorf("%s: %+v", text, err)
		}
	}
}

// TestTree checks positions, values and sources in the tree.
func TestTree(t *testing.T) {
	p, err := Parse("const f = async (a, b = 1) => (a + b);  class C { static m() { return '\\u{1F600}' } }", Options{Module: true})
	if err != nil {
		t.Fatal(err)
	}
	f := p.Body[0].(*ast.LexicalDeclaration).List[0].Initializer.(*ast.ArrowFunctionLiteral)
	if f.Source != "async (a, b = 1) => (a + b)" || f.Start != 11 || !f.Async {
		t.Errorf("%q at %d", f.Source, f.Start)
	}
	m := p.Body[1].(*ast.ClassDeclaration).Class.Body[0].(*ast.MethodDefinition)
	if m.Body.Source != `m() { return '\u{1F600}' }` {
		t.Errorf("%q", m.Body.Source)
	}
	if s := m.Body.Body.List[0].(*ast.ReturnStatement).Argument.(*ast.StringLiteral); s.Value.String() != "😀" {
		t.Errorf("%q", s.Value.String())
	}
	p, err = Parse("a < b < c; a ** b ** c; 1 + 0x10 + 1e400 + 9007199254740993", Options{})
	if err != nil {
		t.Fatal(err)
	}
	less := p.Body[0].(*ast.ExpressionStatement).Expression.(*ast.BinaryExpression)
	if _, left := less.Left.(*ast.BinaryExpression); !left {
		t.Error("a < b < c does not associate to the left")
	}
	power := p.Body[1].(*ast.ExpressionStatement).Expression.(*ast.BinaryExpression)
	if _, right := power.Right.(*ast.BinaryExpression); !right {
		t.Error("a ** b ** c does not associate to the right")
	}
	var values []any
	for e := p.Body[2].(*ast.ExpressionStatement).Expression; ; {
		b, ok := e.(*ast.BinaryExpression)
		if !ok {
			values = append(values, e.(*ast.NumberLiteral).Value)
			break
		}
		values = append(values, b.Right.(*ast.NumberLiteral).Value)
		e = b.Left
	}
	if want := []any{float64(9007199254740992), inf(), int64(16), int64(1)}; !reflect.DeepEqual(values, want) {
		t.Errorf("%v, want %v", values, want)
	}
}

func inf() float64 { x := 1e308; return x * 10 }

// TestDepth checks that no text exhausts the stack.
func TestDepth(t *testing.T) {
	for _, part := range []string{"(", "[", "{", "a => ", "- ", "new ", "a ? ", "a ** ", "if (1) ", "a: ", "`${", "function f() {", "class A { x = ", "async (", "a("} {
		if _, err := Parse(strings.Repeat(part, 40_000), Options{}); err == nil {
			t.Errorf("%q is accepted", part)
		}
	}
	if _, err := Parse("a"+strings.Repeat(" + a", 40_000), Options{}); err == nil {
		t.Error("a long chain is accepted")
	}
}

func FuzzParse(f *testing.F) {
	f.Add("class A { async *m() { for await (using x of y) yield x } }", true)
	f.Add("(a, [b = a] = []) => `${a}` / /b/u", false)
	f.Fuzz(func(t *testing.T, text string, module bool) {
		p, err := Parse(text, Options{Module: module, Await: true})
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Offset < 0 || e.Offset > len(text) || e.Message == "") {
			t.Fatalf("%+v", err)
		}
		if err == nil && p == nil {
			t.Fatal("no program")
		}
	})
}

// TestIdentifiers checks names with letters of versions of Unicode that package unicode does not know.
func TestIdentifiers(t *testing.T) {
	for _, name := range []string{"\u30fb", "\u0897"} { // parts, from 15.1 and 16
		for _, text := range []string{"var a" + name, fmt.Sprintf("var a\\u%04x", []rune(name)[0]), "class A { #a" + name + " }"} {
			if _, err := Parse(text, Options{}); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
	for _, text := range []string{"var \u1c89", "var \U0002ebf0", `var \u1c89`, `var \u{2ebf0}`} {
		if _, err := Parse(text, Options{}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"var \u2603", "var \u30fb", `var a\u2603`} {
		if _, err := Parse(text, Options{}); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}
