package lang

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/diag"
)

// TestCaughtErrors checks the messages of errors of the interpreter's that a script catches, and that one thrown again is explained like one
// that was not caught.
func TestCaughtErrors(t *testing.T) {
	run := func(text string) (message string, err error) {
		e, _ := testEngine(t, Options{})
		defer func() { _ = e.Close() }()
		_, err = e.Run(context.Background(), "t.js", text)
		return e.VM().Get("message").String(), err
	}
	for text, want := range map[string]string{
		"const o = {}; o.foo()": "o.foo is not a function", "const o = { a: 3 }; o.a?.()": "o.a is not a function: it is 3", "const o = { a: 3 }; o?.a?.()": "o?.a is not a function: it is 3",
		"const o = { a: 3 }; (o.a)()": "o.a is not a function: it is 3", "const o = { a: 3 }; ((o?.a))()": "o?.a is not a function: it is 3",
		"const o = { a: 3 }; (0, o.a)()": "(0, o.a) is not a function: it is 3", "const o = { a: 3 }; (o.b || o.a)?.()": "(o.b || o.a) is not a function: it is 3",
		"const o = { a() { return 3 } }; o.a()()": "what o.a() returns is not a function: it is 3", "(() => 3)()()": "what (() => 3)() returns is not a function: it is 3", "let u; u()": "u is not a function: it is undefined",
		"let u; u.x": "Cannot read property 'x': u is undefined or null", "null.x": "Cannot read property 'x' of null", "const n = 5; new n()": "n is not a constructor: it is 5",
		"const o = {}; o.a.b()": "Cannot read property 'b': o.a is undefined or null", "const o = { a: {} }; o.a.b.c()": "Cannot read property 'c': o.a.b is undefined or null",
		"const o = {}; o.a.a()": "Cannot read property 'a': o.a is undefined or null", "const o = { a: {} }; o.a.b.c.d()": "Cannot read property 'c': o.a.b is undefined or null",
		"const o = {}; o.a[0]()": "Cannot read property '0': o.a is undefined or null", "const o = {}; o['a'].b()": "Cannot read property 'b': o['a'] is undefined or null",
		"const o = {}; o.a[0].b": "Cannot read property '0': o.a is undefined or null", "const o = []; o[0][1]()": "Cannot read property '1': o[0] is undefined or null",
		"const o = {}; o.a.b++": "Cannot read property 'b': o.a is undefined or null", "const o = {}; delete o.a.b": "Cannot delete property 'b': o.a is undefined or null",
		"const o = { f() {} }; o.f().b()": "Cannot read property 'b': o.f() is undefined or null", "const o = { f() {} }; o.f(o.b()).c()": "o.b is not a function",
		"const o = {}; o\n  .a\n  .b()": "Cannot read property 'b': o.a is undefined or null", "const o = {}; o\n  .a.b\n  .c()": "Cannot read property 'b': o.a is undefined or null",
		"class C { #p; f() { this.#p.q() } }; new C().f()": "Cannot read property 'q': this.#p is undefined or null", "let u; u.f()": "Cannot read property 'f': u is undefined or null",
		"const o = {}; for (const v of o.a) ;": "o.a is undefined or null, and cannot be iterated over",
		"let u; u.x = 1":                       "Cannot set property 'x': u is undefined or null", "[...5]": "5 is not iterable", "new Set(5)": "the value is not iterable",
		"const [p] = 5": "the value is not iterable", "x; let x": "x is used before its declaration has run", "'a' in 5": "an object is wanted here, not 5",
		"({}) instanceof 5": "the right side of instanceof is 5, which is no class", "Object.freeze([1])[0] = 2": "the element or property cannot be changed",
		"''.at.call(null)": "the method is called on undefined or null", "[].reduce((a, b) => a)": "reduce is called on an empty array without a first value",
		"new WeakMap().set(1, 2)": "set takes an object here, not 1", "new Map([1])": "new Map takes an object here, not 1", "Promise.resolve.call(1)": "Promise.resolve.call takes an object here, not 1",
		"[1].map(5)": "map takes a function, not 5", "new Promise(5)": "new Promise takes a function, not 5", "const f = () => 'a' in 5; f()": "the right side of in is 5, which is no object",
		"'abc'.foo = 1": "a property of abc cannot be set: it is no object", "throw new TypeError('Value is not an object: mine')": "Value is not an object: mine",
		"const o = {}; o.a.b ||= 1": "Cannot set property 'b': o.a is undefined or null", "const o = {}; [o.a.b] = [1]": "Cannot set property 'b': o.a is undefined or null",
		"const o = {}; ({ p: o.a.b } = { p: 1 })": "Cannot set property 'b': o.a is undefined or null", "const o = {}; o.a['b'] ??= 1": "Cannot set property 'b': o.a is undefined or null",
		"const o = 3; o`a${1}`": "o is not a function: it is 3", "const o = {}; o.f`a`": "o.f is not a function", "const o = {}; o`a`": "o is not a function: it is [object Object]",
		"class C { #p; static f(o) { o.#p } }; C.f(3)": "Cannot access private member #p of 3", "class C { #p; static f(o) { o.#p = 1 } }; C.f(3)": "Cannot access private member #p of 3",
		"const o = {}; const [p] = o.a": "o.a is undefined or null, and cannot be iterated over", "let u; const [p] = u": "u is undefined or null, and cannot be iterated over",
		"let u; for (const v of u) ;": "u is undefined or null, and cannot be iterated over", "const o = {}; [...o.a]": "o.a is undefined or null, and cannot be iterated over",
		"function f() { const [p] = 5 } f()": "the value is not iterable", "let u; u[0] = 1": "Cannot convert undefined or null to object",
		"throw new TypeError('')": "",
	} {
		code := "\n\n\n" + text + "\n\n" // at the same place in both programs
		got, again := run("globalThis.message = undefined; try {" + code + "} catch (e) { message = e.message; throw e }")
		_, plain := run("globalThis.message = undefined; {" + code + "}")
		if got != want {
			t.Errorf("%s: the message is %q, want %q", text, got, want)
		}
		if plain == nil || again == nil || diag.Format(plain, false) != strings.Replace(diag.Format(again, false), "try {", "{", 1) {
			t.Errorf("%s: not caught:\n%v\nthrown again:\n%v", text, diag.Format(plain, false), diag.Format(again, false))
		}
	}
}

// TestTypedErrors checks the messages and columns of errors in TypeScript, where types may follow what is called.
func TestTypedErrors(t *testing.T) {
	for text, want := range map[string]string{
		"o.f(1)": "t.ts:2:1 o.f is not a function", "o.a.f<string>(1)": "t.ts:2:1 o.a.f is not a function", "o['f']<string>(1)": "t.ts:2:1 o['f'] is not a function",
		"o.a!.f!(1)": "t.ts:2:1 o.a!.f is not a function", "o.a.b<string>()": "t.ts:2:1 o.a.b is not a function: it is 3", "o.a.b!(1)": "t.ts:2:1 o.a.b is not a function: it is 3",
		"(o as any)(1)": "t.ts:2:2 o is not a function: it is [object Object]", "(<any>o.a.b)(1)": "t.ts:2:7 o.a.b is not a function: it is 3", "o?.f(1)": "t.ts:2:1 o?.f is not a function",
		"[0][1](2 as any)": "t.ts:2:1 [0][1] is not a function", "o.a.b`x`": "t.ts:2:1 o.a.b is not a function: it is 3",
		"o.x!.y ||= 1": "t.ts:2:3 Cannot set property 'y': o.x is undefined or null", "o['a']!['x']['y']": "t.ts:2:13 Cannot read property 'y': o['a']!['x'] is undefined or null",
		"const f = <T,>(x: T) => x; f<number>(missing as any)": "t.ts:2:38 missing is not defined",
	} {
		e, _ := testEngine(t, Options{})
		_, err := e.Run(context.Background(), "t.ts", "const o: any = { a: { b: 3 } as object };\n"+text)
		var d *diag.Diagnostic
		if !errors.As(err, &d) {
			t.Fatalf("%s: %v", text, err)
		}
		if got := d.Position.String() + " " + d.Message; got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		_ = e.Close()
	}
}
