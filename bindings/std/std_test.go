package std

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

func engine(t *testing.T, o lang.Options) (*lang.Engine, *bytes.Buffer, *bindings.Registry) {
	t.Helper()
	r, err := bindings.NewRegistry(Modules()...)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	o.Stdout, o.Stderr, o.Modules = &out, &out, r.Engine()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	e, err := lang.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e, &out, r
}

// TestEverythingIsDocumented checks that each exported name has an entry, and that each entry exists.
func TestEverythingIsDocumented(t *testing.T) {
	e, _, r := engine(t, lang.Options{})
	for _, m := range r.Modules() {
		err := e.Do(context.Background(), func(*goja.Runtime) error {
			for _, problem := range bindings.Check(e, &m) {
				t.Error(problem)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestUndocumentedNamesAreFound(t *testing.T) {
	m := bindings.Module{
		Module: lang.Module{Name: "m", Globals: []string{"g"}, Instantiate: func(e *lang.Engine) (*goja.Object, error) {
			x := bindings.NewExports(e)
			x.Set("extra", 1)
			x.Set("number", 2)
			return x.Done()
		}},
		Help: "m", Entries: func() []bindings.Entry {
			return []bindings.Entry{
				{Name: "gone", Kind: bindings.Constant, Signature: "gone: number", Help: "x"},
				{Name: "number", Kind: bindings.Function, Signature: "numb(): void", Help: ""},
			}
		},
	}
	e, err := lang.New(lang.Options{Modules: []lang.Module{m.Module}})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(bindings.Check(e, &m), "\n")
	for _, want := range []string{
		"m.extra is exported without an entry", "m.gone is documented but does not exist", "m.number lacks help",
		"signature of m.number does not name it", "m.number is documented as a function but cannot be called", "the global g of module m has no entry",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// TestExamplesRun runs every example in the registry.
func TestExamplesRun(t *testing.T) {
	_, _, r := engine(t, lang.Options{})
	var walk func(list []bindings.Entry)
	n := 0
	walk = func(list []bindings.Entry) {
		for i := range list {
			if ex := list[i].Example; ex != "" {
				n++
				e, _, _ := engine(t, lang.Options{Args: []string{"orepl"}, Stdin: strings.NewReader("a line\n")})
				if _, err := e.Run(context.Background(), "example.js", ex); err != nil {
					t.Errorf("%s: %s", list[i].Name, diag.Format(err, false))
				}
			}
			walk(list[i].Members)
		}
	}
	for _, m := range r.Modules() {
		walk(m.Entries())
	}
	if n < 10 {
		t.Errorf("only %d examples", n)
	}
}

func TestRegistryLookup(t *testing.T) {
	_, _, r := engine(t, lang.Options{})
	for path, want := range map[string]string{
		"fs.readText": "readText", "readText": "readText", "setTimeout": "setTimeout", "console.log": "log", "URL.searchParams": "searchParams",
		"URL.canParse": "canParse", "web.URL.href": "href", "process.exit()": "exit", "AbortSignal.prototype.aborted": "aborted", "nope": "", "fs.nope": "", "fs": "",
	} {
		e, m, ok := r.Lookup(path)
		got := ""
		if e != nil {
			got = e.Name
		}
		if got != want || path == "fs" && (m == nil || !ok) {
			t.Errorf("%s: got %q %v", path, got, ok)
		}
	}
	if names := strings.Join(r.Names(), " "); !strings.Contains(names, "fs.readTextSync") || !strings.Contains(names, "console.log") {
		t.Error(names)
	}
}

// TestScripts runs scripts and compares their output.
func TestScripts(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"console": {`console.log('a', 1, { b: 'c' }); console.error('%s is %d%%, %i, %f, %j, %o, %x', 'x', 5.5, 5.9, 0.1, {a: 1}, 'q', 7, 'rest')
			console.group('g'); console.warn('in\nside'); console.groupEnd(); console.log(); console.assert(1); console.assert(false, 'no', 2)
			console.count(); console.count(); console.countReset(); console.countReset(); console.count('x'); console.dir({ a: { b: 1 } }, { depth: 0 })`,
			"a 1 { b: 'c' }\nx is 5.5%, 5, 0.1, {\"a\":1}, 'q', %x 7 rest\ng\n  in\n  side\n\nAssertion failed: no 2\ndefault: 1\ndefault: 2\nconsole: there is no count \"default\"\nx: 1\n{ a: [Object] }\n"},
		"leading numbers": {`console.log('%i %i %i %i %i %i', '12px', ' -0x1f', '1e3', 'x1', '5.9', '-0'); console.log('%f %f %f %f %f %f', '1.5x', '-.5e1', 'Infinityx', '', '1e', '.'); console.log('%d %d', '12px', ' 12 ')`,
			"12 -31 1 NaN 5 -0\n1.5 -5 Infinity NaN 1 NaN\nNaN 12\n"},
		"table of a map": {`console.table(new Map([['k', 1]])); console.table(new Set([2]), ['a']); console.table(5)`, "Map(1) { 'k' => 1 }\nSet(1) { 2 }\n5\n"},
		"table": {`console.table([{ a: 1, b: 'x' }, { a: 22, c: true }]); console.table([5]); console.table([{ a: 1, b: 2 }], ['b'])`,
			"┌─────────┬────┬─────┬──────┐\n│ (index) │ a  │ b   │ c    │\n├─────────┼────┼─────┼──────┤\n│ 0       │ 1  │ 'x' │      │\n│ 1       │ 22 │     │ true │\n└─────────┴────┴─────┴──────┘\n" +
				"┌─────────┬────────┐\n│ (index) │ Values │\n├─────────┼────────┤\n│ 0       │ 5      │\n└─────────┴────────┘\n" +
				"┌─────────┬───┐\n│ (index) │ b │\n├─────────┼───┤\n│ 0       │ 2 │\n└─────────┴───┘\n"},
		"printed": {`console.log(new URL('http://b/x?q=1'), new URLSearchParams("a=1&b=it's"), new AbortController(), AbortSignal.abort())`,
			"URL {\n  href: 'http://b/x?q=1',\n  origin: 'http://b',\n  protocol: 'http:',\n  username: '',\n  password: '',\n  host: 'b',\n  hostname: 'b',\n  port: '',\n  pathname: '/x',\n  search: '?q=1',\n  searchParams: URLSearchParams { 'q' => '1' },\n  hash: ''\n} URLSearchParams { 'a' => '1', 'b' => 'it\\'s' } AbortController { signal: AbortSignal { aborted: false } } AbortSignal { aborted: true }\n"},
		"timers": {`const log = []
			setImmediate(() => log.push('immediate')); queueMicrotask(() => log.push('micro'))
			const stopped = setTimeout(() => log.push('never'), 1); clearTimeout(stopped); { using t = setTimeout(() => log.push('disposed'), 1) }
			let n = 0; await new Promise(done => { const i = setInterval(() => { if (++n == 2) { clearInterval(i); done() } }, 1) })
			setTimeout((...x) => { log.push(...x); console.log(log.join()) }, 1, 'timeout'); log.push('sync'); clearTimeout(undefined)`, "micro,immediate,sync,timeout\n"},
		"abort": {`const c = new AbortController(), seen = []
			c.signal.addEventListener('abort', e => seen.push(e.type)); c.signal.onabort = () => seen.push('on'); c.abort(); c.abort()
			console.log(seen.join(), c.signal.aborted, c.signal.reason.name)
			try { c.signal.throwIfAborted() } catch (e) { console.log(e.message) }
			const s = AbortSignal.timeout(5); await new Promise(r => s.addEventListener('abort', r)); console.log(s.reason.name, AbortSignal.any([s]).aborted)
			try { new AbortSignal() } catch (e) { console.log(e.name) }`, "abort,on true AbortError\nThis operation was aborted\nTimeoutError true\nTypeError\n"},
		"clone": {`const a = { d: new Date(0), m: new Map([[1, { x: 1 }]]), s: new Set([2]), r: /a/gi, f: new Float32Array([1, 2]), e: new RangeError('m'), n: null, h: [1, , 3] }
			a.self = a; const b = structuredClone(a)
			console.log(b !== a, b.self === b, b.d.getTime(), b.m.get(1), b.s, b.r, b.f, b.e instanceof RangeError, b.h, b.f.buffer !== a.f.buffer)
			for (const v of [() => 1, Symbol('s'), Promise.resolve()]) try { structuredClone(v) } catch (e) { console.log(e.name) }`,
			"true true 0 { x: 1 } Set(1) { 2 } /a/gi Float32Array(2) [ 1, 2 ] true [ 1, <1 empty item>, 3 ] true\nDataCloneError\nDataCloneError\nDataCloneError\n"},
		"clones of objects with hidden state": {`const disposed = new DisposableStack(), later = new AsyncDisposableStack()
			for (const v of [new WeakRef({}), new FinalizationRegistry(() => {}), [1].values(), [1].values().map(x => x), 'ab'.matchAll(/a/g), disposed, later, new WeakMap()])
				try { console.log(structuredClone(v)) } catch (e) { console.log(e.name) }
			const o = { get a() { delete o.b; o.d = 4; return 1 }, b: 2, c: 3 }; console.log(structuredClone(o))`,
			strings.Repeat("DataCloneError\n", 8) + "{ a: 1, c: 3 }\n"},
		"clone of exceptions": {`const c = structuredClone({ a: new DOMException('late', 'AbortError'), s: AbortSignal.abort().reason })
			console.log(c.a.name, c.a.message, c.a.code, c.a instanceof DOMException, c.s.name, Object.keys(c.a), structuredClone(new TypeError('m')).name, Object.keys(DOMException))`,
			"AbortError late 20 true AbortError [] TypeError []\n"},
		"text of halves": {`const s = new TextDecoder('utf-16le'), half = [0x3d, 0xd8]
			console.log(s.decode(new Uint8Array([65, 0, ...half])), s.decode(new Uint8Array([...half, 65])), s.decode(new Uint8Array([...half, 65, 0])), s.decode(new Uint8Array([65])))
			console.log(s.decode(new Uint8Array([...half, 0]), { stream: true }) + s.decode(new Uint8Array([0xde])), s.decode(new Uint8Array([...half, 65]), { stream: true }) + s.decode())`,
			"A\ufffd \ufffd \ufffdA \ufffd\n😀 \ufffd\n"},
		"clone of nested data": {`let d = {}, n = {}; for (let i = 0; i < 1900; i++) d = { d, n: [i] }
			for (let i = 0; i < 5000; i++) n = [n]
			let c = structuredClone(d), depth = 0; while (c.d) { c = c.d; depth++ } console.log(depth)
			try { structuredClone(n) } catch (e) { console.log(e.name, e instanceof RangeError, e.message) }
			console.log(structuredClone(Object(7n)) == 7n); try { structuredClone(Object(Symbol())) } catch (e) { console.log(e.name) }`,
			"1900\nRangeError true structuredClone: the value is nested more than 2000 deep\ntrue\nDataCloneError\n"},
		"text": {`const e = new TextEncoder(), d = new TextDecoder()
			console.log(e.encode('aé€😀').length, d.decode(e.encode('aé€😀')), d.decode(new Uint8Array([0xef, 0xbb, 0xbf, 65, 0xff])))
			const s = new TextDecoder(); console.log(s.decode(new Uint8Array([0xe2, 0x82]), { stream: true }) + s.decode(new Uint8Array([0xac])))
			console.log(e.encodeInto('a€b', new Uint8Array(3)), new TextDecoder('utf-16le').decode(new Uint8Array([65, 0, 66, 0])))
			try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])) } catch (x) { console.log(x.name) }
			try { new TextDecoder('klingon') } catch (x) { console.log(x.name, x.hint) }
			console.log(btoa('hi\xff'), atob('aGn/').length); try { atob('*') } catch (x) { console.log(x.code) }`,
			"10 aé€😀 A\ufffd\n€\n{ read: 1, written: 1 } AB\nTypeError\nRangeError the encodings are utf-8, utf-16le, utf-16be and windows-1252, which latin1 is a name of\naGn/ 3\n5\n"},
		"url": {`const u = new URL('../b%20c?x=1&y=a+b#h', 'https://User:pw@Example.org:443/a/d/e')
			console.log(u.href); console.log(u.origin, u.host, u.pathname, u.search, u.hash, u.username)
			u.searchParams.append('z', 'ä&'); u.port = '8080'; u.hash = ''; u.pathname = 'p'; console.log(String(u), u.searchParams.get('y'), u.searchParams.size)
			const p = new URLSearchParams({ b: 2, a: 1 }); p.sort(); p.set('b', 3); p.delete('a'); console.log(p.toString(), [...p], p.has('b'), [...p.keys()])
			try { new URL('nope') } catch (e) { console.log(e.name, e.code) }
			console.log(URL.canParse('x:y'), URL.canParse('/x'), new URL('file:///a/b').href, new URL('http://[::1]:80/').host, JSON.stringify(new URL('http://a')))`,
			"https://User:pw@example.org/a/b%20c?x=1&y=a+b#h\nhttps://example.org example.org /a/b%20c ?x=1&y=a+b #h User\nhttps://User:pw@example.org:8080/p?x=1&y=a+b&z=%C3%A4%26 a b 3\nb=3 [ [ 'b', '3' ] ] true [ 'b' ]\nTypeError invalid-url\ntrue false file:///a/b [::1] \"http://a/\"\n"},
		"crypto and clock": {`const a = crypto.getRandomValues(new Uint32Array(8)); console.log(a.some(x => x > 0), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()))
			const before = Date.now(); while (Date.now() - before < 3);
			const t = performance.now(); await new Promise(r => setTimeout(r, 5)); console.log(t > 1, performance.now() - t >= 4, performance.timeOrigin > 1e12)
			try { crypto.getRandomValues(5) } catch (e) { console.log(e.name, e.message) }`,
			"true true\ntrue true true\nTypeError crypto.getRandomValues: array must be a typed array or ArrayBuffer, not 5\n"},
		"process": {`process.stdout.write('x'); process.stdout.write(new Uint8Array([121, 10])); console.log(process.argv.slice(1), process.env.HOME, typeof process.hrtime(), process.memoryUsage().heapUsed > 0)`,
			"xy\n[ 'orepl', 'a.js' ] /root bigint true\n"},
		"polyfills": {`console.log(Object.groupBy([1, 2, 3], x => x % 2 ? 'odd' : 'even'), Map.groupBy([1, 2], x => x > 1).get(true))
			const { promise, resolve } = Promise.withResolvers(); setTimeout(resolve, 1, 'done'); console.log(await promise, typeof Symbol.dispose)`,
			"[Object: null prototype] { odd: [ 1, 3 ], even: [ 2 ] } [ 2 ]\ndone symbol\n"},
	} {
		t.Run(name, func(t *testing.T) {
			e, out, _ := engine(t, lang.Options{Args: []string{"orepl", "a.js"}, Env: map[string]string{"HOME": "/root"}})
			if _, err := e.Run(context.Background(), "t.js", c.script); err != nil {
				t.Fatal(diag.Format(err, false))
			}
			if out.String() != c.want {
				t.Errorf("got\n%s\nwant\n%s", out, c.want)
			}
		})
	}
}

func TestFiles(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"text": {`await fs.writeText('a.txt', 'hé\n'); await fs.appendText('a.txt', 'x'); console.log(await fs.readText('a.txt'), await fs.exists('a.txt'), fs.existsSync('b'))
			fs.mkdirSync('d/e'); fs.writeTextSync('d/e/f', '12345'); console.log(await fs.list('d'), fs.listSync(), (await fs.stat('d/e/f')).size, fs.statSync('d').isDirectory)
			await fs.remove('d', { recursive: true }); console.log(await fs.list())`,
			"hé\nx true false\n[ 'e/' ] [ 'a.txt', 'd/' ] 5 true\n[ 'a.txt' ]\n"},
		"bytes": {`const b = new Uint16Array([1, 2, 3]).subarray(1); const w = fs.writeBytes('b', b); b[0] = 9; await w; console.log(await fs.readBytes('b'))`, "Uint8Array(4) [ 2, 0, 3, 0 ]\n"},
		"json":  {`await fs.writeJSON('j.json', { a: [1] }); console.log(await fs.readJSON('j.json'), fs.readTextSync('j.json').length)`, "{ a: [ 1 ] } 23\n"},
		"png": {`const data = new Uint8Array([255, 0, 0, 255, 0, 255, 0, 128]); await fs.writeImage('i.png', { width: 2, height: 1, data })
			console.log(await fs.readImage('i.png')); await fs.writeImage('g.png', { width: 2, height: 1, data: new Float32Array([0.5, 2]) })
			console.log(await fs.readImage('g.png'), (await fs.readImage('i.png', { channels: 1 })).channels)
			await fs.writeImage('r.jpg', { width: 8, height: 8, data: new Uint8Array(192).fill(200) }, { quality: 95 }); const j = fs.readImageSync('r.jpg'); console.log(j.width, j.channels, Math.abs(j.data[0] - 200) < 4)`,
			"{\n  width: 2,\n  height: 1,\n  channels: 4,\n  data: Uint8Array(8) [ 255, 0, 0, 255, 0, 255, 0, 128 ]\n}\n" +
				"{ width: 2, height: 1, channels: 1, data: Uint8Array(2) [ 128, 255 ] } 1\n8 4 true\n"},
		"npy": {`for (const a of [new Float32Array([1, 2.5, 3, 4, 5, 6]), new BigInt64Array([-1n, 2n]), new Uint8Array(0)]) { await fs.writeNPY('a.npy', a, a.length === 6 ? [2, 3] : undefined); const r = await fs.readNPY('a.npy'); console.log(r.dtype, r.shape, r.data) }`,
			"<f4 [ 2, 3 ] Float32Array(6) [ 1, 2.5, 3, 4, 5, 6 ]\n<i8 [ 2 ] BigInt64Array(2) [ -1n, 2n ]\n|u1 [ 0 ] Uint8Array(0) []\n"},
		"csv": {`fs.writeTextSync('c.csv', 'x,name,n\n1.5,"a,b",7\n,c,\n-2e3,d,9\n'); const t = await fs.readCSV('c.csv', { types: { n: 'i32' } }); console.log(t.rows, t.names, t.columns)
			fs.writeTextSync('c.csv', '1;2\n3;4\n'); console.log((await fs.readCSV('c.csv', { header: false, separator: ';', types: { 1: 'f32' } })).columns)`,
			"3 [ 'x', 'name', 'n' ] {\n  x: Float64Array(3) [ 1.5, NaN, -2000 ],\n  name: [ 'a,b', 'c', 'd' ],\n  n: Int32Array(3) [ 7, 0, 9 ]\n}\n{ '0': Float64Array(2) [ 1, 3 ], '1': Float32Array(2) [ 2, 4 ] }\n"},
	} {
		t.Run(name, func(t *testing.T) {
			e, out, _ := engine(t, lang.Options{})
			if _, err := e.Run(context.Background(), "t.js", "import fs from 'fs'; "+c.script); err != nil {
				t.Fatal(diag.Format(err, false))
			}
			if out.String() != c.want {
				t.Errorf("got\n%s\nwant\n%s", out, c.want)
			}
		})
	}
}

// TestFileErrors checks that errors of file functions have a code and the name as the script wrote it.
func TestFileErrors(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"bad.json": "{\n]", "bad.png": "\x89PNG nonsense", "bad.npy": "\x93NUMPY\x01\x00", "bad.csv": "a\n1\nx\n", "ragged.csv": "a,b\n1\n", "text": "hello"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	e, _, _ := engine(t, lang.Options{Dir: dir, Policy: lang.Policy{Write: func(string) error { return os.ErrPermission }}})
	for script, want := range map[string]string{
		"fs.readText('none')":                      "not-found: read none: there is no such file",
		"fs.readText()":                            "invalid-argument: fs.readText: path is missing: expected a string",
		"fs.readText(5)":                           "invalid-argument: fs.readText: path must be a string, not 5",
		"fs.writeText('x', 'y')":                   "permission-denied: x: permission denied",
		"fs.readJSON('bad.json')":                  "syntax: this is no JSON",
		"fs.readImage('bad.png')":                  "invalid-image: read bad.png",
		"fs.readImage('text')":                     "invalid-image: read text: it is no picture that is known here",
		"fs.readNPY('bad.npy')":                    "invalid-file: read bad.npy: this is no NPY file",
		"fs.readCSV('bad.csv')":                    "invalid-file: read bad.csv, line 3: column \"a\": \"x\" is no number",
		"fs.readCSV('ragged.csv')":                 "invalid-file: read ragged.csv, line 2: the row has 1 field, and line 1 has 2",
		"fs.readCSV('text', { separator: 'ab' })":  "invalid-argument: fs.readCSV: separator must be one character",
		"fs.list('none')":                          "not-found: list none",
		"fs.writeImage('x.png', {})":               "permission-denied",
		"Promise.resolve(fs.readTextSync('none'))": "not-found",
		"fs.readText('a'.repeat(5000))":            "io-error",
	} {
		t.Run(script, func(t *testing.T) {
			_, err := e.Run(context.Background(), "t.js", "import fs from 'fs'\nawait "+script)
			var got string
			if err != nil {
				got = diag.Code(err) + ": " + strings.TrimPrefix(diag.Format(err, false), "error: ")
			}
			for _, class := range []string{"SyntaxError: ", "TypeError: "} {
				got = strings.Replace(got, class, "", 1)
			}
			if !strings.HasPrefix(got, want) {
				t.Errorf("got %s\nwant %s", got, want)
			}
		})
	}
}
