package lang

import (
	"testing"

	"github.com/orepl/orepl/lang/diag"
)

// TestNamespaces checks that a namespace follows the exports and that scripts cannot change it.
func TestNamespaces(t *testing.T) {
	e, out := testEngine(t, Options{Dir: files(t, map[string]string{
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
