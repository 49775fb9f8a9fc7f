package lang

import "testing"

// TestTextsOfEval checks texts of eval: operations that the interpreter computes differently, names of the code around the call,
// syntax that is lowered, and the value of the text.
func TestTextsOfEval(t *testing.T) {
	evalTexts(t, [][2]string{
		// Operators and statements.
		{`((x, z, e) => [eval('x | 0'), eval('x >>> 1'), eval('~x'), eval('1e20 | 0'), Object.is(eval('z * -3'), -0), eval('e ** 3'), eval('let q = 2; q **= 10')])(1e20, 0, 2)`, `1661992960,830996480,-1661992961,1661992960,true,8,1024`},
		{`(a => { eval('a[0] = 1e20; for (a[1] of [-1e20]); [a[2]] = ["1e20"]; a[3] ??= 0'); return a })(new Int32Array(4))`, `1661992960,-1661992960,1661992960,0`},
		{`(l => { try { eval('try { l.push(1) } catch { l.push(2) } finally { throw 3 }') } catch (e) { l.push(e) } return l })([])`, `1,3`},
		{`[(0, eval)('1e20 ^ 0'), Function('x', 'return x | 0')(1e20), new Function('a', 'a[0] = 1e20; return a')(new Int8Array(1)), Object.getPrototypeOf(function* () {}).constructor('yield 1e20 | 0')().next().value]`, `1661992960,1661992960,0,1661992960`},
		{`eval('0 && 1 || 2 && 3 || 4 && 5 || 6 && 7 || 8 && 9 || 10 && 11 || 12')`, `3`},
		{`[eval('2n ** 70n'), eval('1n << 65n'), eval('(2n ** 3n) * 2n'), eval('[..."ab"].length')]`, `1180591620717411303424,36893488147419103232,16,2`},
		// The object arguments.
		{`(function () { return eval('arguments.length') })(1, 2)`, `2`},
		{`(function () { return (() => eval('arguments.length'))() })(1, 2)`, `2`},
		{`(function () { return eval('(() => arguments[1])()') })(1, 2)`, `2`},
		{`(function () { return (() => () => eval('(() => eval("(() => arguments[1])()"))()'))()() })(1, 2)`, `2`},
		{`(function (a) { return eval('function f() { return [arguments.length, (() => arguments[0])()] } f(3, 4, 5)') })(1, 2)`, `3,3`},
		{`(function (a = eval('arguments.length'), b = () => eval('arguments[2]')) { return [a, b()] })(undefined, undefined, 7)`, `3,7`},
		{`(function () { return eval('typeof arguments + (() => typeof arguments)()') })()`, `objectobject`},
		{`(0, eval)('(function () { return [(() => arguments.length)(), eval("arguments[0]"), (() => eval("arguments[0]"))()] })(5, 6)')`, `2,5,5`},
		{`Function('return [(() => arguments.length)(), eval("arguments[0]"), (() => eval("(() => { \'use strict\'; return arguments[0] })()"))()]')(5, 6)`, `2,5,5`},
		{`(function () { return [eval('new.target === undefined'), (() => eval('new.target'))()] })()`, `true,`},
		{`[typeof eval('typeof arguments'), ` + failure(`eval('arguments')`) + `, ` + failure(`new class { x = eval('arguments') }`) + `]`, `string,ReferenceError,SyntaxError`},
		// Names.
		{`(() => { let a = 1; const f = () => eval('eval("a += 1; a")'); return [f(), a] })()`, `2,2`},
		{`(0, eval)('(function () { var v = 1; eval("var w = v + 1"); return eval("eval(\'w\')") })()')`, `2`},
		{`(() => { class A { m() { return 4 } } class B extends A { #p = 3; m() { return eval('eval("super.m()")') + eval('this.#p') } static s = eval('this.name') } return [new B().m(), B.s] })()`, `7,B`},
		{`(() => { const F = Function('this.t = eval("this") === this'); return new F().t })()`, `true`},
		{`(() => { (0, eval)('var viaEval = 1; let notGlobal = 2; function declared() { return viaEval }'); const r = [viaEval, typeof notGlobal, declared(), delete globalThis.viaEval]; delete globalThis.declared; return r })()`, `1,undefined,1,true`},
		{`[Object.keys(globalThis).concat(Object.getOwnPropertyNames(globalThis)).filter(n => n.includes('%')).length, ` + failure(`eval('%eval')`) + `]`, `0,SyntaxError`},
		{`(f => { globalThis.eval = x => 'mine ' + x; try { return [eval('no text'), eval(...['a', 'b']), eval()] } finally { globalThis.eval = f } })(eval)`, `mine no text,mine a,mine undefined`},
		{`[eval(...['1 + 1', 2]), eval(...[]), eval(...[[5]]), eval(), eval(7), eval('1', '2'), eval({ toString: () => 'x' })]`, `2,,5,,7,1,x`},
		{`[eval('"\\ud800"').charCodeAt(0), eval('"' + '\ud801' + '"').charCodeAt(0)]`, `55296,55297`},
		// Values.
		{`[eval('1; var a = 2'), eval('do eval("3"); while (false)'), eval('4; {}'), eval('function f() {}'), eval('async function* f() {}'), eval('5; async function* f() {}')]`, `1,3,4,,,5`},
		{`[eval('do { 1; break; 2 } while (0)'), eval('a: { 3; break a; 4 }'), eval('do { 5; try { 6 } finally { 7; break; 8 } } while (0)'), eval('switch (1) { case 1: 9; break; 10 }'), eval('var i = 0; do { i; i++; if (i < 3) continue; else break; 11 } while (1)')]`, `1,3,7,9,`},
		{`eval('for (const k of [1, 2]) { f(); continue; let a = k && 2 || 3, [b, { c = k ? 1 : 2 }] = []; const d = a; class C { static x = a && d } function f() { return typeof g } function g() { return c } } 12')`, `12`},
		{failure(`eval('a: { f(); break a; let b = 1; function f() { return b } }')`), `ReferenceError`},
		{`(() => { let n = 0; return [eval('do eval("n++"); while (n < 5)'), n] })()`, `4,5`},
		// Syntax that is lowered.
		{`Object.prototype.toString.call(eval('(async function* () { yield 1 })()'))`, `[object AsyncGenerator]`},
		{`Object.prototype.toString.call((0, eval)('async function* g() { yield 1 } g()'))`, `[object AsyncGenerator]`},
		{`Object.prototype.toString.call(Function('async function* g() { "use strict"; yield this } return g()')())`, `[object AsyncGenerator]`},
		{`(l => { eval('{ using x = { [Symbol.dispose]() { l.push(1) } }; l.push(0) }'); return l })([])`, `0,1`},
		{`eval('(async () => { for await (const x of [1]) return x })()') instanceof Promise`, `true`},
		{`(C => [C.name, C.length, Object.getPrototypeOf(C) === Function, C('a', 'yield a').toString(), Object.prototype.toString.call(new C('yield 1')()), C.prototype.constructor === C, new (class extends C {})('yield 2') instanceof C])(Object.getPrototypeOf(async function* () {}).constructor)`,
			"AsyncGeneratorFunction,1,true,async function* anonymous(a\n) {\nyield a\n},[object AsyncGenerator],true,true"},
		// Texts of Function.
		{`[Function().toString(), Function('a', 'b,c', 'return a + b + c // end').toString(), Function('a', 'b', 'return a + b')(1, 2)]`, "function anonymous(\n) {\n\n},function anonymous(a,b,c\n) {\nreturn a + b + c // end\n},3"},
		{`[null, undefined, 5, { toString: () => 'return 6' }].map(body => Function(body)())`, `,,,6`},
		{failure(`Function('/*', '*/) {')`), `SyntaxError`}, {failure(`Function('', '}, function () {')`), `SyntaxError`}, {failure(`Function('', '})(function () {')`), `SyntaxError`},
		{failure(`Function(') {', '')`), `SyntaxError`}, {failure(`Function('a = {', '}')`), `SyntaxError`}, {failure(`Function('a', '"use strict"; with (a) {}')`), `SyntaxError`}, {failure(`Function(Symbol())`), `TypeError`},
		{failure(`eval('1 +')`), `SyntaxError`}, {failure(`eval('let x; let x')`), `SyntaxError`}, {failure(`eval('await 1')`), `SyntaxError`}, {failure(`(0, eval)('new.target')`), `SyntaxError`},
		{`Reflect.construct(Function, [], Array) instanceof Array`, `true`},
	})
}
