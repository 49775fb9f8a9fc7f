package nesting

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dop251/goja/parser"
)

func parses(text string) error {
	_, err := parser.ParseFile(nil, "t.js", "(async function*(){"+text+"\n})", 0, parser.WithDisableSourceMaps)
	return err
}

// A bundle, as bundlers write it, in one line: long sums, many arms of else if, long switches, tables, chains of calls.
func bundle() string {
	var b strings.Builder
	b.WriteString(`(function(e,t){"use strict";var n={},r=/['"\/(]+/g,`)
	for i := range 3000 {
		fmt.Fprintf(&b, `a%d=function(e,t){if(!e)return t/2;for(var n=0,r=e.length;n<r;n++)e[n]&&t(e[n]/r,n);return function(){return a%d.apply(this,arguments)}},`, i, i)
	}
	b.WriteString(`z=0;var s="a"`)
	for i := range 5000 {
		fmt.Fprintf(&b, `+"line %d ((( \n"`, i)
	}
	b.WriteString(";if(z===0)z=1")
	for i := range 2000 {
		fmt.Fprintf(&b, `;else if(z===%d)z=f(z,%d)`, i, i)
	}
	b.WriteString(";switch(z){")
	for i := range 5000 {
		fmt.Fprintf(&b, `case %d:z=%d;break;`, i, i)
	}
	b.WriteString("}if(z)z=1;/['\"(]/.test(s)&&(z=`${z}${`a${z/2}`}`);")
	b.WriteString("new Promise(function(e){e()})")
	for range 1500 {
		b.WriteString(`.then(function(e){return e+1})`)
	}
	b.WriteString(";var t={")
	for i := range 20000 {
		fmt.Fprintf(&b, `k%d:[%d,"(",{a:%d}],`, i, i, i)
	}
	b.WriteString("}})();")
	return b.String()
}

func TestBundlePasses(t *testing.T) {
	text := bundle()
	if p := Check(text, Max); p != nil {
		t.Errorf("%d of %d bytes: %s", p.Offset, len(text), p.Message)
	}
	if err := parses(text); err != nil {
		t.Fatal(err)
	}
	if err := parses(Plain(text)); err != nil {
		t.Error(err)
	}
}

// What a parser could mistake has no effect: the count is that of the parser, or the plain text is refused.
func TestTokensThatLookLikeOthers(t *testing.T) {
	deep := strings.Repeat("(", 3000)
	for _, start := range []string{
		`x = a++ / "/" + `, `x = function(){} / "/" + `, "//\u2028", "//\r", "x = 1 /* \n */ + ", "new\u00a0new\ufeff", `x = 0x1e+`, "`${`${1}`}`;", `x = {} / "/" + `,
		`if (a) /"/.test(b); `, `do x; while (y) /"/.test(z); `, `a.if (x) / "/" + `, `'\` + "\r\n" + `'; `, "x = a ? /\"/ : ", `async () => {}` + "\n" + `/"/.test(`, "<!-- )\n", "a\n-->)\n",
		`x = class {} / "/" + `, `yield /"/.test(`, `x = y.return / "/" + `, "`\\`${", `/[/"]/.test(`, `/\/"/.test(`, "x = '\u2028' + ",
	} {
		if Check(start+deep, 2000) == nil && parses(Plain(start+"1")) == nil {
			t.Errorf("%q hides what follows", start)
		}
	}
}

func TestHiddenByComments(t *testing.T) {
	for _, line := range []string{"(<!-- )\n", "(\n--> )\n"} {
		if Check(strings.Repeat(line, 3000), 2000) == nil {
			t.Errorf("%q repeated passes", line)
		}
	}
}

func TestRepeatedParameters(t *testing.T) {
	nested := func(n int) string {
		s := "a=1"
		for range n {
			s = "(a=" + s + ")=>1"
		}
		return s
	}
	if p := Check(nested(10), Max); p != nil {
		t.Error(p.Message)
	}
	if Check(nested(40), Max) == nil {
		t.Error("40 arrow functions in parameters pass")
	}
}

// Statements go on behind commas, the while of a do, and type arguments: their depth is not forgotten.
func TestDepthBehindCommas(t *testing.T) {
	for _, part := range []string{
		"if(0)a,b;else ", "if(0)do;while(0);else ", "for(;;)for(;;)a,function(){", "l:if(0)m:a,b;else ",
		"A<B,", "f<A,", "A<B,C<D>>(", "(a=>b,",
	} {
		if Check("let x:"+strings.Repeat(part, 3000), 2000) == nil {
			t.Errorf("%q repeated passes", part)
		}
	}
	statements := strings.Repeat("for(;;)", 900)
	if Check(strings.Repeat(statements+"a,function(){", 3), 2000) == nil {
		t.Error("statements that a comma goes on with are forgotten")
	}
	for _, part := range []string{"a<b,", "c>d,a<b,", "a?b:c,", "if(a)b,c;", "x:", "if(a)do;while(b);else c;", "do a,b;while(c);"} {
		if p := Check("{"+strings.Repeat(part+"\n", 1500)+"}", 2000); p != nil && part != "x:" {
			t.Errorf("%q repeated: %s", part, p.Message)
		}
	}
	if p := Check("x={"+strings.Repeat("a:1,", 9000)+"}", 2000); p != nil {
		t.Errorf("a long object: %s", p.Message)
	}
}

// The parser of TypeScript takes exponential time for these.
func TestDoubledInTypeScript(t *testing.T) {
	for _, part := range []string{"a ? (b) : c => ", "f(a ? (b) : c => ", "A, infer B extends (", "A<B, infer C extends "} {
		if Check("let x:"+strings.Repeat(part, 30), Max) == nil {
			t.Errorf("%q repeated passes", part)
		}
	}
	for _, part := range []string{"a ? (b) : c => d,", "f((a): b => c);", "type X = A extends infer B extends C ? 1 : 2;", "a ? (b) : (c) ? (d) : "} {
		if p := Check(strings.Repeat(part, 30)+"1", Max); p != nil {
			t.Errorf("%q repeated: %s", part, p.Message)
		}
	}
}

// What looks like a regular expression could hide arrow functions in a short text, too.
func TestShortTextsWithSlashes(t *testing.T) {
	arrows := strings.Repeat("(a=", 12) + "1" + strings.Repeat(")=>1", 12)
	for _, text := range []string{"x=function(){} / " + arrows + " /1", "x <!-- `\n" + arrows} {
		if Check(text, Max) == nil && !(Ambiguous(text) && parses(Plain(text)) != nil) {
			t.Errorf("%q hides arrow functions", text)
		}
	}
	if Ambiguous("a / b / c, x => 1") {
		t.Error("a text with one arrow function is ambiguous")
	}
}

// Braces tell divisions from regular expressions: the plain text of a correct text is accepted.
func TestBracesBeforeSlashes(t *testing.T) {
	for _, text := range []string{
		`label: {} /x'/.test(y)`, `a: b: {} /x'/.test(y)`, `switch (a) { case 1: {} /x'/.test(y) }`, `switch (a) { case b ? c : d: {} /x'/.test(y); default: {} /x'/.test(y) }`,
		`x = class {} / a / b`, `x = class A extends f({}) { m() {} } / a / b`, `class A {} /x'/.test(y)`, `(class {} / a)`, `x = function () {} / a / b`,
		`x = async function* f(a = {}) { {} /x'/.test(y) } / a`, `async function f() {} /x'/.test(y)`, "a\nasync function f() {}\n/x'/.test(y)", `function f() {} /x'/.test(y)`,
		`x = { a: {} / b, c: { d: {} / e } / f }`, `x = a ? {} / b : {} / c`, `x = { class: {} / a, function: {} / b, case: {} / c, default: {} / d }`, `x.class = {} / a; x.function = {} / b`,
		`x = { class() {}, function() {}, get a() { {} /x'/.test(y) } } / a`, `x = () => { {} /x'/.test(y) }`, "f()\nlabel: {} /x'/.test(y)", `x = [class { static { {} /x'/.test(y) } } / a]`,
		`if (a) { b: {} /x'/.test(y) } else {} /x'/.test(y)`, `do {} while (a / b) /x'/.test(y)`, "x = y\nclass A {}\n/x'/.test(y)", `return function () {} / a`,
		"x = `${{ a: {} / b }}${function () {} / c}`", `x = new class {} / a`, `x = y.label ? { a: {} / 1 } : 2`, `for (const x of []) label: {} /x'/.test(y)`,
	} {
		text := strings.ReplaceAll(text, `\n`, "\n")
		if err := parses(text); err != nil {
			t.Errorf("%s: not a text of the language: %v", text, err)
		}
		if plain := Plain(text); parses(plain) != nil {
			t.Errorf("%s\nbecomes %s: %v", text, plain, parses(plain))
		}
	}
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"a/b/c":                "a*b*c",
		"x = /a'(/g // c'":     "x = /]aa/g      ",
		`"a\"(" + 'é'`:         `"aaa(" + 'aa'`,
		"`a${b}c${d}e` + `f'`": "[[  b],[ d]] + `aa`",
		"f`${x}`":              "f[[ x]]",
		"a! / b! / c":          "a! * b! * c",
		"a\n! /b/":             "a ! /]/",
		"of / 2 / of":          "of * 2 * of",
		"for (a of /b/)":       "for (a of /]/)",
	} {
		if got := Plain(text); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") || len(got) != len(text) {
			t.Errorf("%s\nis  %q\nnot %q", text, got, want)
		}
	}
}

func TestCalls(t *testing.T) {
	for text, want := range map[string]int{
		"eval(x)": 1, "eval (eval('a'))": 2, "o.eval(x)": 0, "({eval(x){}})": 0, "'eval(x)'": 0, "{eval(x)}": 1, "o?.eval(x)": 0, "if(a)eval(x)\n{}": 1,
		"evaluate(x)": 0, "eval": 0, "[...eval(x)]": 1,
	} {
		if got := len(Calls(text, "eval")); got != want {
			t.Errorf("%s: %d calls", text, got)
		}
	}
}

// Whatever the parser accepts, it accepts in its plain form.
func TestPlainOfExamples(t *testing.T) {
	n := 0
	_ = filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".js" {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil || parses(string(data)) != nil {
			return nil
		}
		n++
		if err := parses(Plain(string(data))); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		return nil
	})
	if n < 10 {
		t.Errorf("only %d files", n)
	}
}

// The parser of the interpreter takes exponential time for these, where what follows is malformed.
func TestRereadParentheses(t *testing.T) {
	for _, part := range []string{"({[a=", "(...", "a=({", "async(...", "a?({", "`${({", "({class extends ", "new function({", "let ({", "f(({a:"} {
		if p := Check(strings.Repeat(part, 24), 2000); p == nil || !strings.Contains(p.Message, "read in two ways") {
			t.Errorf("%q repeated: %v", part, p)
		}
	}
	for _, part := range []string{"f({a:", "f(...", "o.m([", "((", "x=>[", "function f({a}){", "if(a){", "({a:1}),", "new C({a:", "for(const {a} of b){"} {
		if p := Check(strings.Repeat(part, 100), 2000); p != nil {
			t.Errorf("%q repeated: %s", part, p.Message)
		}
	}
}
