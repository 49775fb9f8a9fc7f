package inspect

import (
	"strings"
	"testing"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/builtins"
	"github.com/orepl/orepl/lang/diag"
)

func show(t *testing.T, script string, o Options) string {
	t.Helper()
	vm := goja.New()
	in := New(vm, func(o *goja.Object, _ Options) (string, bool) {
		return "Host!", o.Get("isHost") != nil && goja.IsNull(o.Get("isHost"))
	})
	set, err := builtins.Install(builtins.Host{
		VM: vm, Calls: calls, Poll: func() {}, Throw: func(err error) { panic(err) }, Allocate: func(string, uint64) {}, MostFrames: 1 << 10,
		Post: func(func() error) {}, Run: vm.RunScript,
	})
	if err != nil {
		t.Fatal(err)
	}
	in.Calls = set.Calls
	v, err := vm.RunScript("t.js", script)
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return in.Value(v, o)
}

// calls converts a stack of the interpreter.
func calls(stack []goja.StackFrame) (frames []diag.Frame) {
	for i := range stack {
		at, name := stack[i].Position(), stack[i].FuncName()
		if name == "<anonymous>" {
			name = ""
		}
		frames = append(frames, diag.Frame{Function: name, Position: diag.Position{File: at.Filename, Line: at.Line, Column: at.Column}})
	}
	return frames
}

func TestValues(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{`1`, `1`}, {`-0`, `-0`}, {`0`, `0`}, {`1.5e300`, `1.5e+300`}, {`10n`, `10n`}, {`NaN`, `NaN`},
		{`undefined`, `undefined`}, {`null`, `null`}, {`true`, `true`}, {`Symbol('a b')`, `Symbol(a b)`},
		{`'it\'s'`, `"it's"`}, {`'a\n\t\x01'`, `'a\n\t\x01'`}, {`'\'"'`, "`'\"`"}, {`'é日'`, `'é日'`},
		{`({})`, `{}`}, {`[]`, `[]`}, {`({a: 1, 'b c': 'x', [Symbol('s')]: 1})`, `{ a: 1, 'b c': 'x' }`},
		{`({[Symbol.for('nodejs.util.inspect.custom')]() { return 'mine' }})`, `mine`},
		{`[{[Symbol.for('nodejs.util.inspect.custom')]() { return {self: this} }}]`, `[ <ref *1> { self: [Circular *1] } ]`},
		{`({a: 1, [Symbol.for('nodejs.util.inspect.custom')]() { throw 1 }})`, `{ a: 1 }`},
		{`new WeakMap()`, `WeakMap { <items unknown> }`},
		{`[1, , , 'a', undefined]`, `[ 1, <2 empty items>, 'a', undefined ]`},
		{`a = [1]; a.name = 2; a`, `[ 1, name: 2 ]`},
		{`({get a() { throw 1 }, set a(v) {}, get b() { throw 1 }, set c(v) {}})`, `{ a: [Getter/Setter], b: [Getter], c: [Setter] }`},
		{`o = {n: 1}; o.self = o; o.list = [o]; o`, `<ref *1> { n: 1, self: [Circular *1], list: [ [Circular *1] ] }`},
		{`s = {}; ({a: s, b: s})`, `{ a: {}, b: {} }`},
		{`class P { constructor() { this.x = 1 } }; new P`, `P { x: 1 }`},
		{`class A {}; class B extends A { static s = 1 }; [A, B, class {}]`, `[ [class A], [class B extends A] { s: 1 }, [class (anonymous)] ]`},
		{`[function f() {}, () => {}, async x => x]`, `[ [Function: f], [Function (anonymous)], [AsyncFunction (anonymous)] ]`},
		{`Object.create(null)`, `[Object: null prototype] {}`},
		{`new Map([['a', {b: 1}], [2, new Set([1])]])`, `Map(2) { 'a' => { b: 1 }, 2 => Set(1) { 1 } }`},
		{`new Float32Array([1, 0.5, -0])`, `Float32Array(3) [ 1, 0.5, -0 ]`},
		{`new BigInt64Array(2)`, `BigInt64Array(2) [ 0n, 0n ]`},
		{`new Uint8Array([1, 255]).buffer`, `ArrayBuffer { [Uint8Contents]: <01 ff>, byteLength: 2 }`},
		{`new Date(0)`, `1970-01-01T00:00:00.000Z`}, {`new Date(NaN)`, `Invalid Date`}, {`/a\/b/gi`, `/a\/b/gi`},
		{`[Promise.resolve(4), new Promise(() => {})]`, `[ Promise { 4 }, Promise { <pending> } ]`},
		{`[new Number(3), new String('x')]`, `[ [Number: 3], [String: 'x'] ]`},
		{`({a: {b: {c: {d: {e: {f: 1}}}}}})`, "{ a: { b: { c: { d: { e: [Object] } } } } }"},
		{`({[Symbol.toStringTag]: 'Tag'})`, `Object [Tag] {}`},
		{`({isHost: null})`, `Host!`},
		{`e = new RangeError('bad'); e.code = 'x'; ({e})`, "{\n  e: RangeError: bad\n      at t.js:1:5 {\n    code: 'x'\n  }\n}"},
		{`e = new RangeError('bad'); e.stack = ''; ({e})`, `{ e: [RangeError: bad] }`},
		{`new DataView(new ArrayBuffer(3), 1)`, "DataView {\n  byteLength: 2,\n  byteOffset: 1,\n  buffer: ArrayBuffer { [Uint8Contents]: <00 00 00>, byteLength: 3 }\n}"},
		{`Object.defineProperty(new DataView(new ArrayBuffer(1)), 'buffer', {get() { throw 1 }})`, "DataView {\n  byteLength: 1,\n  byteOffset: 0,\n  buffer: ArrayBuffer { [Uint8Contents]: <00>, byteLength: 1 }\n}"},
		{`Object.defineProperty(/a/gy, 'flags', {get() { throw 1 }})`, `/a/gy`},
		{`Object.defineProperty(new Uint8Array(2), 'length', {get() { throw 1 }})`, `Uint8Array(2) [ 0, 0 ]`},
		{`new (class DataView { x = 1 })`, `DataView { x: 1 }`},
		{`a = {}; b = {a}; a.b = b; ({a, b})`, "{\n  a: <ref *1> { b: { a: [Circular *1] } },\n  b: <ref *2> { a: <ref *1> { b: [Circular *2] } }\n}"},
		{`a = []; a[5] = 1; a[4294967290] = 2; a`, `[ <5 empty items>, 1, <4294967284 empty items>, 2 ]`},
		{`new Array(4294967295)`, `[ <4294967295 empty items> ]`},
		{`[, 1]`, `[ <1 empty item>, 1 ]`},
		{`m = new Map([[1, 2]]); m.extra = 1; m`, `Map(1) { 1 => 2, extra: 1 }`},
		{`[new (class Foo extends Map {})([[1, 2]]), new (class Bar extends Set {})()]`, `[ Foo(1) [Map] { 1 => 2 }, Bar(0) [Set] {} ]`},
		{`[function* f() {}, {* g() {}}.g, Object(1n), Object(Symbol('s'))]`, "[\n  [GeneratorFunction: f],\n  [GeneratorFunction: g],\n  [BigInt: 1n],\n  [Symbol: Symbol(s)]\n]"},
		{`[[].values(), new Map().keys(), (function* () {})()]`, "[\n  Object [Array Iterator] {},\n  Object [Map Iterator] {},\n  Object [Generator] {}\n]"},
		{`(function () { return arguments })(1, 'x')`, `[Arguments] { '0': 1, '1': 'x' }`},
		{`new Proxy({}, {get() { throw 1 }, ownKeys() { throw 2 }})`, `[Proxy]`},
		{`({toString() { throw 1 }, valueOf() { throw 1 }, toJSON() { throw 1 }}).toString.name`, `'toString'`},
	} {
		if got := show(t, c.script, Options{}); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.script, got, c.want)
		}
	}
}

func TestErrorsShowStackAndCause(t *testing.T) {
	got := show(t, `function f() { return new Error('outer', {cause: new TypeError('inner')}) } f()`, Options{})
	want := "Error: outer\n    at f (t.js:1:23)\n    at t.js:1:78 {\n  [cause]: TypeError: inner\n      at f (t.js:1:50)\n      at t.js:1:78\n}"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	got = show(t, `new AggregateError([new Error('one'), 2], 'many')`, Options{})
	want = "AggregateError: many\n    at t.js:1:1 {\n  [errors]: [\n    Error: one\n        at t.js:1:21,\n    2\n  ]\n}"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		script string
		o      Options
		want   string
	}{
		{`[1,2,3,4,5]`, Options{Items: 3}, `[ 1, 2, 3, ... 2 more items ]`},
		{`({a: 1, b: 2, c: 3})`, Options{Items: 1}, `{ a: 1, ... 2 more items }`},
		{`new Set([1, 2, 3])`, Options{Items: 2}, `Set(3) { 1, 2, ... 1 more item }`},
		{`({a: {b: 1}})`, Options{Depth: -1}, `{ a: { b: 1 } }`},
		{`'x'.repeat(20)`, Options{MaxString: 5}, `'xxxxx'… 15 more bytes`},
		{`({first: 'some text', second: 'more text'})`, Options{Width: 30}, "{\n  first: 'some text',\n  second: 'more text'\n}"},
		{`Array.from({length: 10}, (_, i) => i * 100)`, Options{Width: 40}, "[\n    0, 100, 200, 300, 400, 500, 600,\n  700, 800, 900\n]"},
		{`[1, 'a', null]`, Options{Colors: true}, "[ \x1b[33m1\x1b[0m, \x1b[32m'a'\x1b[0m, \x1b[1mnull\x1b[0m ]"},
	} {
		if got := show(t, c.script, c.o); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.script, got, c.want)
		}
	}
	// printing terminates for deep objects and for objects with many cycles
	deep := show(t, `o = {}; a = o; for (let i = 0; i < 5000; i++) a = a.n = {}; o`, Options{Depth: Unlimited})
	if n := strings.Count(deep, "n: {"); n != mostDepth {
		t.Errorf("printed %d levels", n)
	}
	if got := show(t, `o = {}; for (let i = 0; i < 40; i++) o = {l: o, r: o}; o`, Options{Depth: Unlimited}); len(got) > 2*mostPrinted {
		t.Errorf("printed %d bytes", len(got))
	}
	if got := show(t, `Array.from({length: 1e4}, () => 7)`, Options{}); strings.Count(got, "7") != 100 {
		t.Errorf("printed %d elements", strings.Count(got, "7"))
	}
}

func TestTextKeepsStringsAtTheTop(t *testing.T) {
	vm := goja.New()
	in := New(vm, nil)
	if got := in.Text(vm.ToValue("a\n'b'"), Options{}); got != "a\n'b'" {
		t.Errorf("got %q", got)
	}
}
