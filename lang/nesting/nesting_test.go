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

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"a/b/c":                "a*b*c",
		"x = /a'(/g // c'":     "x = /]aa/g      ",
		`"a\"(" + 'é'`:         `"aaa(" + 'aa'`,
		"`a${b}c${d}e` + `f'`": "[[  b],[ d]] + `aa`",
		"f`${x}`":              "f[[ x]]",
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
