package lang

import (
	"errors"
	"testing"

	"github.com/orepl/orepl/lang/diag"
)

// evalTexts checks the texts of the values of expressions.
func evalTexts(t *testing.T, cases [][2]string) {
	t.Helper()
	e, _ := testEngine(t, Options{})
	for _, c := range cases {
		v, err := e.Eval(t.Context(), "t.js", "String("+c[0]+")")
		if err != nil {
			t.Errorf("%s: %v", c[0], err)
		} else if got := v.String(); got != c[1] {
			t.Errorf("%s: %q, want %q", c[0], got, c[1])
		}
	}
}

// failure returns a script's expression for the name of the error that an expression throws.
func failure(expression string) string {
	return "(() => { try { return 'no error: ' + (" + expression + ") } catch (e) { return e.name } })()"
}

// TestRegExp checks regular expressions in literals and at run time.
func TestRegExp(t *testing.T) {
	const crlf = `'a=1\r\nb=2\r\n\r\nc=3'`
	evalTexts(t, [][2]string{
		{`JSON.stringify(` + crlf + `.match(/^.*$/gm))`, `["a=1","","b=2","","","","c=3"]`},
		{`JSON.stringify(` + crlf + `.replace(/^/gm, '>'))`, `">a=1\r>\n>b=2\r>\n>\r>\n>c=3"`},
		{`JSON.stringify('x\u2028y'.match(/^./gm))`, `["x","y"]`},
		{`JSON.stringify([.../(?:(a)|b)*/.exec('ab')])`, `["ab",null]`},
		{`'key=1;flag;'.replace(/(?:(\w+)(?:=(\d+))?;)+/, '[$1|$2]')`, `[flag|]`},
		{`[/\u017f/i.test('s'), /[a-z]/i.test('\u212a'), /\u017f/iu.test('s'), /ß/i.test('ẞ')]`, `false,false,true,false`},
		{`'naïve é'.match(/\b\w/g)`, `n,v`},
		{`/\p{Lu}\p{Script=Greek}/u.exec('xÄα')[0] + /[\p{L}--[a-z]]/v.exec('aé')[0]`, `Äαé`},
		{`JSON.stringify(/a(?<n>b)|(?<n>c)/d.exec('xab').indices.groups)`, `{"n":[2,3]}`},
		{`[/(?<y>a)|(?<y>b)/.exec('b').groups.y, /(?i:a)b/.test('Ab'), /(?<=\$)\d+/.exec('$42')[0]]`, `b,true,42`},
		{`[new RegExp('a', 'dgimsuy').flags, /a/v.unicodeSets, /a/d.hasIndices, String(new RegExp('/\n'))]`, `dgimsuy,true,true,/\/\n/`},
		{`(() => { const r = /a/gy; return [r.test('aab'), r.lastIndex, r.test('aab'), r.lastIndex, r.test('aab'), r.lastIndex] })()`, `true,1,true,2,false,0`},
		{`'A<B>bold</B>and'.split(/<(\/)?([^<>]+)>/)`, `A,,B,bold,/,B,and`},
		{`['aab'.replace(/(?<x>a)/g, '[$<x>$1$&$$]'), 'abc'.replace(/(a)(z)?/, '<$2$3$01>'), 'ab'.replace(/b/, "$` + "`" + `$'")]`, `[aaa$][aaa$]b,<$3a>bc,aa`},
		{`'abc'.replace(/(?<m>b)/, (...a) => JSON.stringify(a))`, `a["b","b",1,"abc",{"m":"b"}]c`},
		{`[...'a1b2'.matchAll(/[a-z](\d)/g)].map(m => m.index + m[1])`, `01,22`},
		{`['x😀y'.match(/./gu).length, 'x😀y'.match(/./g).length, [...'😀a'.matchAll(/(?:)/gv)].length, '\ud83d'.search(/[\ud800-\udbff]/)]`, `3,4,3,0`},
		{`(() => { class R extends RegExp { exec(s) { const m = super.exec(s); if (m) m[0] = m[0].toUpperCase(); return m } } return 'abc'.replace(new R('b'), '<$&>') })()`, `a<B>c`},
		{`(() => { const r = /b/g; r.exec = () => null; return 'abc'.replace(r, 'x') })()`, `abc`},
		{`(() => { const l = []; for (let i = 0; i < 3; i++) { const r = /a(?=b)/g; l.push(r.test('ab'), r.lastIndex) } return l })()`, `true,1,true,1,true,1`},
		{`RegExp.escape('a.b-c d') + RegExp.prototype.toString.call({ source: 'x', flags: 'y' }) + RegExp.prototype.source`, `\x61\.b\x2dc\x20d/x/y(?:)`},
		{`eval('/\\p{L}/u.test("é")') + ' ' + new Function('return /[\\p{L}]/v.source')()`, `true [\p{L}]`},
		{`(function () { return /a\/(?<x>)/g }).toString()`, `function () { return /a\/(?<x>)/g }`},
		{`'aaa'.lastIndexOf('a') + RegExp('a', 'g')[Symbol.replace]('aaa', '$0')`, `2$0$0$0`},
		{failure("new RegExp('(')"), "SyntaxError"}, {failure("RegExp('a', 'gg')"), "SyntaxError"}, {failure(`eval("/[b-a]/")`), "SyntaxError"},
		{failure(`RegExp.prototype.exec.call({}, '')`), "TypeError"}, {failure(`''.match.call(null, /a/)`), "TypeError"}, {failure(`'a'.matchAll(/a/)`), "TypeError"},
		{failure("''.isWellFormed.call(Symbol())"), "TypeError"}, {failure(`RegExp(Symbol())`), "TypeError"},
		{`['isWellFormed', 'toWellFormed'].map(m => [5, 1.5, true, { toString: () => 5 }].map(v => ''[m].call(v)))`, `true,true,true,true,5,1.5,true,5`},
		{`['isWellFormed', 'toWellFormed'].map(m => ['\ud800', 'a\udc00b', { toString: () => 'a\ud800' }].map(v => ''[m].call(v)))`, `false,false,false,�,a�b,a�`},
	})
}

// TestRegExpErrors checks that invalid literals are syntax errors at their place, also in functions that do not run.
func TestRegExpErrors(t *testing.T) {
	for _, literal := range []string{`/(/`, `/a**/`, `/[b-a]/`, `/\1/u`, `/(?<a>.)(?<a>.)/`, `/\p{Foo}/u`, `/a/gg`, `/(?<=a)*/`, `/[[a]/v`, `/{1}/`} {
		e, _ := testEngine(t, Options{})
		_, err := e.Run(t.Context(), "t.js", "function f() {\n  return "+literal+"\n}")
		var d *diag.Diagnostic
		if !errors.As(err, &d) || d.Name != "SyntaxError" || d.Line != 2 || d.Column < 10 {
			t.Errorf("%s: %v", literal, err)
		}
	}
}
