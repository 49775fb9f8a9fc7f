package esm_test

import (
	"testing"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

// TestNamespaces checks that a namespace follows the exports and that scripts cannot change it.
func TestNamespaces(t *testing.T) {
	e, out := testEngine(t, lang.Options{Dir: files(t, map[string]string{
		"m.js": "export let n = 1; export const c = 'c'; export function f() { n++ }; export default class K {}; export var v",
		"main.js": `import * as ns from './m.js'
			ns.f()
			print(ns.n, ns.v, Object.keys(ns), Object.isExtensible(ns), Object.isSealed(ns), Object.getPrototypeOf(ns), 'c' in ns)
			const refused = {
				assign: () => { ns.c = 2 }, assignLet: () => { ns.n = 2 }, add: () => { ns.x = 1 }, delete: () => delete ns.c, deleteLet: () => delete ns.n,
				define: () => Object.defineProperty(ns, 'n', { value: 5 }), proto: () => Object.setPrototypeOf(ns, {}),
			}
			for (const name in refused) try { refused[name](); print(name, 'is allowed') } catch (e) { if (e.name !== 'TypeError') print(name, e) }
			print(ns, { ...ns }.n, ns === await import('./m.js'))
			const attributes = o => Object.entries(o).map(([k, v]) => typeof v === 'object' ? k + '(' + attributes(v) + ')' : k + ':' + v).join()
			print(attributes(Object.getOwnPropertyDescriptor(ns, 'n')), attributes(Reflect.getOwnPropertyDescriptor(ns, 'c')), Object.getOwnPropertyDescriptor(ns, 'x'))
			print(Object.getOwnPropertyDescriptors(ns).n.value, Object.isFrozen(ns), Reflect.ownKeys(ns).length)
			print([{}, { value: 2 }, { writable: true, enumerable: true, configurable: false }, { value: 3 }, { writable: false }, { configurable: true }, { get() {} }].map(d => Reflect.defineProperty(ns, 'n', d)))
			print(Reflect.defineProperty(ns, 'x', {}), Reflect.defineProperty(ns, Symbol.toStringTag, { value: 'Module' }), Object.defineProperty(ns, 'c', { value: 'c' }) === ns)
			try { Object.freeze(ns) } catch (e) { print(e.name) }
			print(Reflect.ownKeys(() => 1), Object.getOwnPropertySymbols(class { static [Symbol.iterator] = 1 }))`,
	})})
	exports, err := e.RunFile(t.Context(), "main.js")
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	const want = "2 undefined [ 'c', 'default', 'f', 'n', 'v' ] false true null true\n" +
		"[Module] { c: 'c', default: [class K], f: [Function: f], n: 2, v: undefined } 2 true\n" +
		"value:2,writable:true,enumerable:true,configurable:false value:c,writable:true,enumerable:true,configurable:false undefined\n" +
		"2 false 6\n[ true, true, true, false, false, false, false ]\nfalse true true\nTypeError\n" +
		"[ 'length', 'name' ] [ Symbol(Symbol.iterator) ]\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
	if len(exports.Keys()) != 0 {
		t.Errorf("main.js exports %v", exports.Keys())
	}
}

// TestAssignedImports checks that assignments to imports throw when they run, and change nothing.
func TestAssignedImports(t *testing.T) {
	e, out := testEngine(t, lang.Options{Dir: files(t, map[string]string{
		"m.js": "export let a = 1, o = null; export function set(v) { a = v }",
		"main.js": `import { a, o, set } from './m.js'
			import * as ns from './m.js'
			const tries = [
				() => { a = 2 }, () => { a++ }, () => { a += 1 }, () => { a **= 2 }, () => { ({ a } = { a: 5 }) }, () => { ({ a = 4 } = {}) }, () => { ({ x: a } = { x: 1 }) },
				() => { [a = 3] = [] }, () => { for (a of [1]); }, () => { for (a in { k: 1 }); }, () => { a = function () {} }, () => { ns = 1 }, () => { a &&= 5 }, () => { o ??= 1 },
			]
			for (const f of tries) try { f(); print('allowed', f) } catch (e) { if (e.name !== 'TypeError') print(f, e) }
			a ||= 5
			o &&= 5
			let n = 0
			try { a = n++ } catch {}
			set(7)
			print(a, o, n);
			{ let a = 5; a = 6; print(a) }
			a = 3`,
	})})
	_, err := e.RunFile(t.Context(), "main.js")
	if want := "7 null 1\n6\n"; out.String() != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
	if want := "main.js:15:4: TypeError: a is imported and cannot be assigned"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}
