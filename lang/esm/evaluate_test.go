package esm_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

// TestEvaluationOrder checks that modules run in the order of ECMA-262, including cycles and top-level await; the expected
// output is Node's.
func TestEvaluationOrder(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"functions of a ring exist before its code runs": {map[string]string{
			"main.js": `import { b } from './b.js'; print('main', b); export function early() { return 'early ' + typeof later }
				export default function () { return 'default' } export var later = 1`,
			"b.js": `import main, { early, later } from './main.js'; export const b = 'b'; print(early(), main(), later)`,
		}, "early undefined default undefined\nmain b\n"},
		"what a ring has not declared is an error": {map[string]string{
			"main.js": `import './b.js'; export const a = 1; export let l = 2; export class K {}; export default class {}; export function f() { return a }`,
			"b.js": `import main, { a, l, K, f } from './main.js'; import * as ns from './main.js'
				for (const use of [() => a, () => typeof l, () => new K(), () => ({ l }), () => main, () => f(), () => ns.a])
					try { use(); print('no') } catch (e) { print(e.name + ': ' + e.message) }
				setTimeoutLike(() => print(a, l, K.name, main.name, f(), ns.a))`,
		}, "ReferenceError: Cannot access 'a' before initialization\n" +
			"ReferenceError: Cannot access 'l' before initialization\n" +
			"ReferenceError: Cannot access 'K' before initialization\n" +
			"ReferenceError: Cannot access 'l' before initialization\n" +
			"ReferenceError: Cannot access 'main' before initialization\n" +
			"ReferenceError: a is used before its declaration has run\n" + // in the module's own scope
			"ReferenceError: Cannot access 'a' before initialization\n" +
			"1 2 K default 1 1\n"},
		"siblings of a module that awaits go on": {map[string]string{
			"main.js": `import './slow.js'; import './quick.js'; import './user.js'; print('main')`,
			"slow.js": `print('slow begins'); await sleep(5); print('slow ends'); export const s = 1`,
			"user.js": `import { s } from './slow.js'; print('user', s)`, "quick.js": `print('quick')`,
		}, "slow begins\nquick\nslow ends\nuser 1\nmain\n"},
		"a ring behind a module that awaits": {map[string]string{
			"main.js": `await Promise.all([import('./x.js'), import('./y.js')]); print('main')`,
			"x.js":    `import './z.js'; import './y.js'; print('x')`,
			"y.js":    `import './z.js'; import './x.js'; print('y')`,
			"z.js":    `print('z'); await sleep(5)`,
		}, "z\ny\nx\nmain\n"},
		"an import of oneself": {map[string]string{
			"main.js": `import * as me from './main.js'; print(me.f()); export function f() { return 'f' }; import('./main.js').then(m => print(m === me))`,
		}, "f\ntrue\n"},
		"an import without await in a ring": {map[string]string{
			"main.js": `const later = import('./b.js'); print('main'); later.then(m => print(m.b))`,
			"b.js":    `const { a } = await import('./a.js'); export const b = a + 1`,
			"a.js":    `import('./b.js').then(m => print('a sees', m.b)); export const a = 1`,
		}, "main\n2\na sees 2\n"},
		"what a module throws is no error": {map[string]string{
			"main.js": `globalThis.o = {}; for (const f of ['./x.js', './x.js', './y.js', './z.js']) try { await import(f) } catch (e) { print(typeof e, e === o || e) }
				import('./x.js').catch(e => print(typeof e))`,
			"x.js": `throw 'x'`, "y.js": `await 0; throw o`, "z.js": `import './u.js'; print('no')`, "u.js": `throw undefined`,
		}, "string x\nstring x\nobject true\nundefined undefined\nstring\n"},
		"a failure is everybody's": {map[string]string{
			"main.js": `for (const f of ['./x.js', './y.js', './x.js']) try { await import(f) } catch (e) { print(e.message) }`,
			"x.js":    `import './z.js'; print('no')`, "y.js": `import './x.js'; print('no')`,
			"z.js": `await sleep(1); throw new Error('z fails')`,
		}, "z fails\nz fails\nz fails\n"},
		"a module that throws after an import that awaits": {map[string]string{
			"main.js": `for (const f of ['./x.js', './y.js', './w.js', './s.js']) try { await import(f); print('no') } catch (e) { print(f, e.message) }`,
			"s.js":    `print('s'); throw new Error('s fails')`, "z.js": `await 0; print('z')`,
			"x.js": `import './a.js'; import './z.js'; print('no x')`, "a.js": `import './z.js'; import './s.js'; print('no a')`,
			"y.js": `import './b.js'; print('no y'); await 0`, "b.js": `import './c.js'; print('no b')`,
			"c.js": `import './b.js'; import './z2.js'; print('c'); throw new Error('c fails')`, "z2.js": `await 0; print('z2')`,
			"w.js": `import './d.js'; import './e.js'; import './z3.js'; print('no w')`, "z3.js": `await 0; print('z3')`,
			"d.js": `import './z3.js'; print('d')`, "e.js": `import './d.js'; print('e'); throw new Error('e fails')`,
		}, "s\nz\n./x.js s fails\nz2\nc\n./y.js c fails\nz3\nd\ne\n./w.js e fails\n./s.js s fails\n"},
		"importers of a module that has failed": {map[string]string{
			"main.js": `const all = []; for (const f of ['./x.js', './y.js', './z.js', './w.js']) try { await import(f); print('no') } catch (e) { all.push(e) }
				print(all.map(e => e.name + ' ' + (e === all[0])).join())`,
			"x.js": `await 0; throw new EvalError('x fails')`, "y.js": `import './side.js'; import './x.js'; print('no')`,
			"z.js": `import './x.js'; import './late.js'; await 0`, "w.js": `import './y.js'`, "side.js": `print('side')`, "late.js": `print('late')`,
		}, "side\nEvalError true,EvalError true,EvalError true,EvalError true\n"},
		"unnamed functions that are exported by default": {map[string]string{
			"main.js": `import './a.js'; import './b.js'; import './c.js'; import './d.js'`,
			"see.js":  `export const see = f => { try { print(Object.prototype.toString.call(f()), f().name) } catch (e) { print(e.name) } }`,
			"a.js":    `import './a2.js'; export default async function* () {}`,
			"a2.js":   `import { see } from './see.js'; import f from './a.js'; see(() => f)`,
			"b.js":    `import './b2.js'; export default function* () {}`,
			"b2.js":   `import { see } from './see.js'; import f from './b.js'; see(() => f)`,
			"c.js":    `import './c2.js'; using x = null; export default function () {}`,
			"c2.js":   `import { see } from './see.js'; import f from './c.js'; see(() => f)`,
			"d.js":    `import './d2.js'; export default (function () {})`,
			"d2.js":   `import { see } from './see.js'; import f from './d.js'; see(() => f)`,
		}, "[object AsyncGeneratorFunction] default\n[object GeneratorFunction] default\n[object Function] default\nReferenceError\n"},
		"jobs run behind the modules": {map[string]string{
			"main.js": `import './a.js'; print('main'); Promise.resolve().then(() => print('job of main'))`,
			"a.js":    `Promise.resolve().then(() => print('job of a')); print('a')`,
		}, "a\nmain\njob of a\njob of main\n"},
		"re-exports in a ring": {map[string]string{
			"main.js": `export { c } from './c.js'; import { b } from './b.js'; print(b())`,
			"b.js":    `import { c } from './main.js'; export function b() { return c }`, "c.js": `export const c = 'c'`,
		}, "c\n"},
	} {
		t.Run(name, func(t *testing.T) {
			e, out := testEngine(t, lang.Options{Dir: files(t, c.files)})
			if _, err := e.Eval(context.Background(), "p", "globalThis.setTimeoutLike = f => { sleep(5).then(f) }"); err != nil {
				t.Fatal(err)
			}
			if _, err := e.RunFile(context.Background(), "main.js"); err != nil {
				t.Fatal(diag.Format(err, false))
			}
			if out.String() != c.want {
				t.Errorf("got\n%swant\n%s", out, c.want)
			}
		})
	}
}

// TestRingsOfAwaits checks that modules that wait for each other get an error, even while other work keeps the engine busy.
func TestRingsOfAwaits(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		place string
		names string
	}{
		"both await": {map[string]string{
			"main.js": "await import('./b.js')", "b.js": "1\nawait import('./main.js')",
		}, "b.js:2:", "b.js → main.js → b.js"},
		"one is imported": {map[string]string{
			"main.js": "await import('./plugin.js')\nexport const a = 1", "plugin.js": "import { a } from './main.js'",
		}, "main.js:1:", "main.js → plugin.js → main.js"},
		"three": {map[string]string{
			"main.js": "await import('./b.js')", "b.js": "import './c.js'", "c.js": "await import('./main.js')",
		}, "c.js:1:", "c.js → main.js → b.js → c.js"},
		"itself":           {map[string]string{"main.js": "await import('./main.js')"}, "main.js:1:", "main.js waits for itself"},
		"behind a promise": {map[string]string{"main.js": "await import('./b.js').then(b => b)", "b.js": "await import('./main.js').then(m => m)"}, ".js:1:", "main.js"},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := testEngine(t, lang.Options{Dir: files(t, c.files)})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := e.RunFile(ctx, "main.js")
			if diag.Code(err) != "import-ring" || !strings.Contains(err.Error(), c.place) || !strings.Contains(err.Error(), c.names) || diag.Hint(err) == "" {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestAwaitsAreInTheStack checks that an error of a top-level await shows the position of the await below the calls.
func TestAwaitsAreInTheStack(t *testing.T) {
	e, _ := testEngine(t, lang.Options{})
	_, err := e.Run(t.Context(), "t.js", `
async function f() { await sleep(1); return g() }
function g() { throw new Error('late') }
await sleep(1)
await f()`)
	text := diag.Format(err, false)
	for _, part := range []string{"t.js:3:22", "at g (t.js:3:22)", "at f (t.js:2:", "at t.js:5:1"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	if _, err := e.Run(t.Context(), "t.js", "await sleep(1)\n\nnull.x"); err == nil || strings.Contains(diag.Format(err, false), "t.js:1:") {
		t.Errorf("behind an await: %s", diag.Format(err, false))
	}
}

// TestResolution checks exports that several modules give, and loops for await, generators and arguments that need lowering.
func TestResolution(t *testing.T) {
	for _, c := range []struct{ main, want string }{
		{"import { x } from './both.js'", `SyntaxError: "./both.js" exports different things named "x"`},
		{"import * as ns from './both.js'; print('x' in ns, ns.y)", "false 1\n"},
		{"export { x } from './ring1.js'", `SyntaxError: "./ring2.js" has no export named "x"`},
		{"import { a } from './same.js'; print(a)", "1\n"},
		{"export { nope } from './a.js'", `SyntaxError: "./a.js" has no export named "nope"`},
		{"await import({ toString() { throw new RangeError('x') } }).catch(e => print(e.name))", "RangeError\n"},
		{"await import(Symbol()).catch(e => print(e.name))", "TypeError\n"},
		{"for await (const a of [1, 2]) for await (const b of [8, 9]) print(a, b)\nconst temp = 1, more = 2", "1 8\n1 9\n2 8\n2 9\n"},
		{"for (const i of [0, 1]) try { for await (const x of [i]) { if (i === 0) throw new Error('once'); print(x) } } catch (e) { print(e.message) }", "once\n1\n"},
		{"for (const i of [0, 1]) try { using r = { [Symbol.dispose]() { print('d') } }; if (i === 0) throw new Error('once') } catch (e) { print(e.message) }", "d\nonce\nd\n"},
		{"function f(a) { return (() => () => arguments.length)()() }; print(f(1, 2))", "2\n"},
		{"let k; const p = new Proxy(function () {}, { apply(t, s, a) { k = a } }); p(1, 2); ((x, y, z) => x)(7, 8, 9); print(k.join())", "1,2\n"},
		{"class B { x() { return 1 } } class A extends B { async *m() { yield super.x(); yield* [2]; return arguments.length } }\nfor await (const v of new A().m()) print(v)", "1\n2\n"},
		{"const C = class { x = eval('1'); m = super.toString }; print(new C().x, C.name)", "1 C\n"},
		{"switch (1) { case 1: let a = 2; print(eval('a')); function f() {} default: print(typeof f) }", "2\nfunction\n"},
		{"async function* g() { try { yield 1; yield 2 } finally { print('end') } }\nfor await (const x of g()) break\nprint(Object.prototype.toString.call(g()))", "end\n[object AsyncGenerator]\n"},
		{"const i = (async function* () { yield* { [Symbol.iterator]: () => ({ next: () => ({ value: 1 }), throw: () => ({ value: Promise.reject(2), done: false }) }) } })()\nawait i.next(); try { await i.throw(0) } catch (e) { print(e) }", "2\n"},
	} {
		e, out := testEngine(t, lang.Options{Dir: files(t, map[string]string{
			"a.js": "export const x = 1, y = 1", "b.js": "export const x = 2", "both.js": "export * from './a.js'; export * from './b.js'",
			"ring1.js": "export { x } from './ring2.js'", "ring2.js": "export { x } from './ring1.js'",
			"same.js": "export * from './one.js'; export * from './two.js'", "one.js": "export * from './base.js'", "two.js": "export * from './base.js'",
			"base.js": "export const a = 1", "main.js": c.main,
		})})
		_, err := e.RunFile(t.Context(), "main.js")
		got := out.String()
		if err != nil {
			got = diag.Format(err, false)
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s\ngot  %swant %s", c.main, got, c.want)
		}
	}
}
