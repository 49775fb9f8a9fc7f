package lang

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var generous = Limits{Time: time.Minute, Memory: 1 << 30, Iterations: 1 << 40}

// TestBoundsChangeNoResult checks that engines with and without limits compute equal results.
func TestBoundsChangeNoResult(t *testing.T) {
	free, _ := testEngine(t, Options{})
	bounded, _ := testEngine(t, Options{Limits: generous})
	for _, text := range []string{
		`[3, 1, 2].sort().join() + [1, [2, [3]]].flat(Infinity) + [1, 2].concat([3], 4) + Array.from('abc') + Array.from({ length: 3 }, (_, i) => i)`,
		`'ab'.repeat(3) + 'x'.padStart(5, 'ab') + 'x'.padEnd(3) + 'a-b-c'.split('-', 2) + 'aXbX'.replace(/X/g, '[$&]') + 'aXbX'.replaceAll('X', m => m + 1)`,
		"String.raw`a\\n${1}` + 'é'.normalize('NFD').length + 'a1b2'.match(/\\d/g)",
		`JSON.stringify({ a: [1, { b: undefined, c: () => 1 }], d: new Date(0), e: { toJSON: k => k } })`,
		`JSON.stringify({ a: 1, b: { a: 2, c: 3 } }, ['a', 'b'], 2)`,
		`const o = { a: 1 }; o.self = o; JSON.stringify([o, { a: 5n, b: 2, self: 1 }].slice(0, 1), ['b', 'a'])`,
		`let n = 0; JSON.stringify({ toJSON() { return { get b() { return ++n }, get a() { return ++n }, c: ++n } } }, ['a', 'b']) + n`,
		`const log = []; const list = new Proxy(['b', 1, 'a', Object('c'), 'b', {}, null], { get(t, k) { log.push(String(k)); return t[k] } }); JSON.stringify([Object.create({ b: 1 }), 1, { 1: 2, c: Object(3), a: new Proxy({ c: 4 }, {}), d: 5 }, () => 1, new Map()], list) + log`,
		`const o = { a: {} }; o.a.a = [o]; try { JSON.stringify(o, ['a']) } catch (e) { e.message }`,
		`['x'.concat('y', 1, null), [1, null, 'a', [2]].join('-'), String.raw({ raw: ['a', 'b'] }, 1, 2), JSON.stringify({ a: 1 }, [])].join()`,
		`JSON.stringify([1, { x: 2 }], function (k, v) { return Array.isArray(this) && k === '0' ? 'first' : v })`,
		`JSON.stringify(undefined) + JSON.stringify('\ud800') + JSON.stringify(Object(1)) + JSON.stringify(null, null, 4)`,
		`JSON.stringify(JSON.parse('{"a":[1,{"b":"]["}]}', (k, v) => k === 'b' ? v + '!' : v))`,
		`class Mine extends Float32Array { sum() { return this.reduce((a, b) => a + b, 0) } }; const m = Mine.from([1, 2]); [m instanceof Mine, m instanceof Float32Array, m.constructor === Mine, m.sum(), new Mine(3).length]`,
		`[new Uint8Array(2), new Uint8Array([1, 2]), new Float64Array(new ArrayBuffer(16), 8, 1), Uint8Array.of(1, 2), new Uint8Array(new Set([1]))].map(a => a.constructor.name + a.length).join()`,
		`[Array.prototype.fill.name, Array.prototype.fill.length, JSON.stringify.length, eval.name, Uint8Array.name, Uint8Array.BYTES_PER_ELEMENT, Uint8Array.prototype.constructor === Uint8Array]`,
		`[new Map([[1, 2]]).get(1), new Set('aab').size, Math.max.apply(null, [1, 5, 3]), Reflect.apply(Math.min, null, [2, 1]), Reflect.construct(Date, [0]).getTime()]`,
		`[new Function('a', 'b', 'return a + b')(1, 2), (0, eval)('1 + 1'), (() => {}).constructor === Function, (() => {}) instanceof Function, BigInt('12') + BigInt(3), BigInt.asUintN(8, 257n)].join()`,
		`const p = new Proxy({}, { get: (t, k) => k }); p.name + typeof Proxy`,
		`try { [].reduce((a, b) => a) } catch (e) { e instanceof TypeError ? e.message : e }`,
		`try { 'x'.repeat(-1) } catch (e) { e.name }`,
		`let n = 0; for (let i = 0; i < 5; i++) n += i; for (const x of [1, 2]) n += x; while (n < 20) n++; do n++; while (n < 25); for (const k in { a: 1 }) n++; n`,
		`let fs = []; for (let i = 0; i < 3; i++) fs.push(() => i); outer: for (const a of [1, 2]) { for (;;) { if (a > 1) break outer; continue outer } } fs.map(f => f()).join()`,
	} {
		a, err := free.Eval(t.Context(), "p", text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		b, err := bounded.Eval(t.Context(), "p", text)
		if err != nil {
			t.Errorf("%s: with bounds: %v", text, err)
			continue
		}
		if a.String() != b.String() {
			t.Errorf("%s\n  %s\nwith bounds\n  %s", text, a, b)
		}
	}
}

// TestChecksKeepBuiltins checks that a checked builtin is the interpreter's own object and has one check.
func TestChecksKeepBuiltins(t *testing.T) {
	e, _ := testEngine(t, Options{Limits: Limits{Memory: 64 << 20}}) // allows 4 Mi elements
	for text, want := range map[string]string{
		"Array.prototype.toString === Uint8Array.prototype.toString":                     "true",
		"new Uint8Array(3000).toString().length":                                         "5999",
		"[].indexOf.call({ length: 900, 899: 7 }, 7)":                                    "899",
		"Object.getOwnPropertyNames(Array.prototype.map).join()":                         "length,name",
		"(() => { try { Array(5e6).toString() } catch (e) { return e.message } })()":     "join would visit 5000000 elements at once; the limits of the engine allow 4194304",
		"(() => { try { String(new Uint8Array(36e6)) } catch (e) { return e.name } })()": "RangeError",
		"(() => { try { [].indexOf.call({ length: 5e6 }) } catch (e) { return 1 } })()":  "1",
		"(() => { try { new (Array.prototype.map) } catch (e) { return e.name } })()":    "TypeError",
	} {
		if v, err := e.Eval(t.Context(), "p", text); err != nil || v.String() != want {
			t.Errorf("%s: %v, %v; want %s", text, v, err, want)
		}
	}
}

func TestIterations(t *testing.T) {
	for text, code := range map[string]string{
		"for (let i = 0; i < 90; i++) {}":                                                          "",
		"for (let i = 0; i < 10; i++) for (let j = 0; j < 10; j++);":                               "iterations",
		"let i = 0; while (true) try { i++ } catch {}":                                             "iterations",
		"let i = 0; do i++; while (i < 1000)":                                                      "iterations",
		"for (const x of new Array(1000).keys()) {}":                                               "iterations",
		"const f = () => { for (let i = 0; i < 60; i++); }; f(); f()":                              "iterations",
		"eval('for (let i = 0; i < 200; i++);')":                                                   "iterations",
		"(0, eval)('eval(\"while (true);\")')":                                                     "iterations",
		"new Function('let i = 0; do i++; while (i < 200)')()":                                     "iterations",
		"eval('for (let i = 0; i < 60; i++);')":                                                    "",
		"for (const k in Object.fromEntries([...Array(99).keys(), 200, 201].map(i => [i, i]))) {}": "iterations",
	} {
		endsWith(t, Limits{Iterations: 100}, text, code, "for (let i = 0; i < 90; i++) {}")
	}
}

func TestLinksDoNotLeadOutside(t *testing.T) {
	dir := t.TempDir()
	inside := filepath.Join(dir, "in")
	if err := os.MkdirAll(filepath.Join(inside, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"out": "..", "file": "../secret", "chain": "file", "self": "self", "home": "sub"} {
		if err := os.Symlink(target, filepath.Join(inside, name)); err != nil {
			t.Fatal(err)
		}
	}
	allow, err := Inside(inside)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := testEngine(t, Options{Dir: inside, Policy: Policy{Read: allow}})
	for name, ok := range map[string]bool{
		".": true, "sub": true, "new.txt": true, "sub/new/deep": true, "home/x": true, "..": false, "../in/sub": true, "../in2": false,
		"out": false, "out/secret": false, "file": false, "chain": false, "self": false, "/": false, "/etc/passwd": false, "sub/../../x": false,
	} {
		if _, err := e.ReadPath(name); (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadFileWithinLimits(t *testing.T) {
	e, _ := testEngine(t, Options{Limits: Limits{Memory: 64 << 20}})
	if _, err := e.ReadFile(t.Context(), "/dev/zero"); err == nil {
		t.Error("an endless file was read")
	}
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 1<<30); err != nil {
		t.Fatal(err)
	}
	if _, err := e.ReadFile(t.Context(), large); err == nil || !strings.Contains(err.Error(), "larger than the memory limit") {
		t.Errorf("got %v", err)
	}
}

// TestWatchedJSON checks that limits do not change the output of JSON.stringify for random data.
func TestWatchedJSON(t *testing.T) {
	free, _ := testEngine(t, Options{})
	bounded, _ := testEngine(t, Options{Limits: generous})
	r := rand.New(rand.NewPCG(1, 2))
	var value func(depth int) string
	value = func(depth int) string {
		if depth == 0 || r.IntN(3) == 0 {
			return []string{"1", "'a\\n'", "null", "undefined", "true", "NaN", "() => 1", "-0"}[r.IntN(8)]
		}
		var parts []string
		array := r.IntN(2) == 0
		for i := range r.IntN(4) {
			v := value(depth - 1)
			if !array {
				v = string(rune('a'+i)) + ": " + v
			}
			parts = append(parts, v)
		}
		if array {
			return "[" + strings.Join(parts, ", ") + "]"
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	for range 200 {
		text := "JSON.stringify(" + value(5) + ", null, 1)"
		a, aerr := free.Eval(context.Background(), "p", text)
		b, berr := bounded.Eval(context.Background(), "p", text)
		if aerr != nil || berr != nil || a.String() != b.String() {
			t.Fatalf("%s\n%v %v\n%v %v", text, a, aerr, b, berr)
		}
	}
}

// TestGettersOfArguments checks that builtins do not read properties of an object which they only convert to a primitive value,
// or of which they only read the kind.
func TestGettersOfArguments(t *testing.T) {
	for _, limits := range []Limits{{}, generous} {
		e, _ := testEngine(t, Options{Limits: limits})
		for text, want := range map[string]string{
			"Number(of(7))":  "7",
			"Number(of(7n))": "7",
			"Number(Object.assign(Object(5), { valueOf: () => 9 }))":                  "9",
			"[3, 1, 2].sort((a, b) => of(a - b)).join()":                              "1,2,3",
			"[1, 2].fill(0, of(1)).join()":                                            "1,0",
			"new Uint8Array(2).fill(of(3)).join()":                                    "3,3",
			"typeof new Proxy(of(1), of(2))":                                          "object",
			"of(2) * of(3)":                                                           "6",
			"of(2n) * of(3n)":                                                         "6",
			"try { ArrayBuffer.prototype.transfer.call(of(1)) } catch (e) { e.name }": "TypeError",
		} {
			code := "{ const of = v => ({ get a() { throw new Error('read') }, valueOf: () => v }); " + text + " }"
			if v, err := e.Eval(t.Context(), "p", code); err != nil || v.String() != want {
				t.Errorf("%s: %v, %v; want %s", code, v, err, want)
			}
		}
	}
	e, _ := testEngine(t, Options{Limits: Limits{Memory: 64 << 20}})
	if v, err := e.Eval(t.Context(), "p", "new Proxy(new Array(2 ** 31), {}).length"); err != nil || v.String() != "2147483648" {
		t.Errorf("proxy of a long array: %v, %v", v, err)
	}
}

// TestLengthsOfIterables checks that builtins which read an object by its iterator, or add it as it is, do not read its length.
func TestLengthsOfIterables(t *testing.T) {
	for _, limits := range []Limits{{}, generous} {
		e, _ := testEngine(t, Options{Limits: limits})
		for text, want := range map[string]string{
			"Array.from(way).length":                    "1",
			"Uint8Array.from(way).length":               "1",
			"new Float64Array(way).length":              "1",
			"new BigInt64Array([1n].concat(1n)).length": "2",
			"Uint8Array.of(way).length":                 "1",
			"Object.keys(Object.fromEntries(way))[0]":   "a",
			"new Set(way).size":                         "1",
			"new Map(way).get('a')":                     "1",
			"[0].concat(way, [1, [2]]).length":          "4",
			"[].concat.call(way, way).length":           "2",
			"[].concat({ length: 2, [Symbol.isConcatSpreadable]: true }, new Proxy([1, 2], {})).length":                                      "4",
			"new WeakSet({ __proto__: way, *[Symbol.iterator]() { yield way } }).has(way)":                                                   "true",
			"Promise.all(way) instanceof Promise":                                                                                            "true",
			"(() => { let n = 0; return 'a-b-c'.split('-', { valueOf() { n++; return 2 } }).length + n })()":                                 "3",
			"Array.from({ length: 2, [Symbol.iterator]: null }).length + new Uint8Array({ length: 3, [Symbol.iterator]: undefined }).length": "5",
		} {
			for _, length := range []string{"1e12", "5n", "Symbol()", "{ valueOf() { throw 1 } }", "read.length"} {
				const way = "(read => ({ get length() { const n = %; return n }, *[Symbol.iterator]() { yield ['a', 1] } }))(null)"
				code := "{ const way = " + strings.Replace(way, "%", length, 1) + "; " + text + " }"
				if v, err := e.Eval(t.Context(), "p", code); err != nil || v.String() != want {
					t.Errorf("%s: %v, %v; want %s", code, v, err, want)
				}
			}
		}
	}
	for _, code := range []string{"Array.from(new Proxy({ length: 1e12 }, {}))", "Array.from(Object('a'.repeat(2 ** 27)))", "[].concat(new Proxy(new Array(2 ** 31), {}))", "new Set(new Array(2 ** 31))", "new Float64Array({ length: 1e12 })"} {
		e, _ := testEngine(t, Options{Limits: Limits{Memory: 64 << 20}})
		if v, err := e.Eval(t.Context(), "p", "try { "+code+" } catch (e) { e.name }"); err == nil && v.String() != "RangeError" || err != nil && !strings.Contains(err.Error(), "memory") {
			t.Errorf("%s: %.20v, %v", code, v, err)
		}
	}
}

// TestLongResults checks that builtins which join strings refuse results that exceed the memory limit, before they make them.
func TestLongResults(t *testing.T) {
	for _, code := range []string{
		"'a'.concat(...new Array(200).fill('a'.repeat(2 ** 20)))",
		"new Array(200).fill('a'.repeat(2 ** 20)).join()",
		"new Array(200).fill('').join('a'.repeat(2 ** 20))",
		"String(new Array(200).fill('a'.repeat(2 ** 20)))",
		"String.raw({ raw: new Array(200).fill('a'.repeat(2 ** 20)) })",
		"String.raw({ raw: new Array(200).fill('') }, ...new Array(200).fill('a'.repeat(2 ** 20)))",
	} {
		e, _ := testEngine(t, Options{Limits: Limits{Memory: 64 << 20}})
		if v, err := e.Eval(t.Context(), "p", "try { "+code+" } catch (e) { e.code }"); err != nil || v.String() != "out-of-memory" {
			t.Errorf("%s: %.20v, %v", code, v, err)
		}
	}
}

// TestListsOfNames checks the length of the list of names that JSON.stringify gets, also of a proxy that reports any length.
func TestListsOfNames(t *testing.T) {
	for _, limits := range []Limits{{}, {Memory: 64 << 20}} {
		e, _ := testEngine(t, Options{Limits: limits})
		const code = "try { JSON.stringify({}, new Proxy([], { get: (t, k) => k === 'length' ? 2 ** 50 : 1 })) } catch (e) { e.code }"
		if v, err := e.Eval(t.Context(), "p", code); err != nil || v.String() != "out-of-resources" {
			t.Errorf("%v, %v", v, err)
		}
	}
}

// TestUnlimitedBuiltinsAreBounded checks that without limits builtins reject arrays that only have a large length property.
func TestUnlimitedBuiltinsAreBounded(t *testing.T) {
	for _, code := range []string{"new Array(3e8).fill(0)", "new Array(3e8).map(x => x)", "Array.from({ length: 3e8 })", "Array.from(new Array(3e8))", "new Array(3e8).toLocaleString()", "[...new Array(3e8)]"} {
		e, _ := testEngine(t, Options{})
		_, err := e.Run(context.Background(), "a.js", code)
		if err == nil || !strings.Contains(err.Error(), "would visit 300000000 elements") && !strings.Contains(err.Error(), "would allocate") {
			t.Errorf("%s: %v", code, err)
		}
	}
	e, _ := testEngine(t, Options{})
	if _, err := e.Run(context.Background(), "a.js", "if (new Array(1e6).fill(0).length + Array.from({ length: 1e6 }).length !== 2e6) throw 1"); err != nil {
		t.Error(err)
	}
}
