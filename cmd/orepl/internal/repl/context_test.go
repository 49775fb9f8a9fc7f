package repl

import (
	"fmt"
	"reflect"
	"testing"
)

func TestLocate(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"f(a, 'x", "string ' x; ((1)"},
		{"f(a, [1, 2], {b: `${", "string ` ${; ((2) {(0)"},
		{"f('(', \"[\", `{`)", ""},
		{"f( // (", "comment; ((0)"},
		{"f( /* ( */ [", "((0) [(0)"},
		{"f(a,\n/* ", "comment; ((1)"},
		{"'it\\'s", "string ' it\\'s;"},
		{")]}", ""},
	} {
		p := locate(c.text)
		got := ""
		if p.quote != 0 {
			got = fmt.Sprintf("string %c %s;", p.quote, c.text[p.text:])
		}
		if p.comment {
			got = "comment;"
		}
		for _, b := range p.open {
			if got != "" {
				got += " "
			}
			got += fmt.Sprintf("%c(%d)", b.char, b.commas)
		}
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

func TestChainBefore(t *testing.T) {
	for _, c := range []struct {
		text   string
		chain  []step
		word   string
		dotted bool
	}{
		{"con", nil, "con", false},
		{"1 + con", nil, "con", false},
		{"a.b", []step{{memberStep, "a"}}, "b", true},
		{"f(x?.y.", []step{{memberStep, "x"}, {memberStep, "y"}}, "", true},
		{"device('(').q", []step{{memberStep, "device"}, {callStep, "'('"}}, "q", true},
		{"a[f(1)][0] . b", []step{{memberStep, "a"}, {indexStep, "f(1)"}, {indexStep, "0"}}, "b", true},
		{"(a + b).c", nil, "c", true},
		{"12.", nil, "", true},
		{"größe.x", []step{{memberStep, "größe"}}, "x", true},
	} {
		chain, word, dotted := chainBefore(c.text)
		if !reflect.DeepEqual(chain, c.chain) || word != c.word || dotted != c.dotted {
			t.Errorf("%q: got %v %q %v", c.text, chain, word, dotted)
		}
	}
}

func FuzzContext(f *testing.F) {
	f.Add("a.b(c, ['d', `${e}`")
	f.Fuzz(func(_ *testing.T, text string) {
		locate(text)
		chainBefore(text)
		broken(text, 20)
	})
}

func TestSilent(t *testing.T) {
	for text, want := range map[string]bool{
		"1": false, "1;": true, "1; // why": true, "1 // ;": false, "1; // a // b\n// c": true, "a\n/* 1 */ // 2": false, "f('//;')": false, "'a//b';": true,
		"1; /* ; */": true, "1 /* a */": false, "1;\n\n": true, "`\n//;`": false, "": false,
	} {
		if silent(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestIncomplete(t *testing.T) {
	for text, want := range map[string]bool{
		"1 +": true, "f(": true, "`a\n": true, "/* a": true, "await f(": true, "for await (const x of y) {": true,
		"import { a": true, "interface A {": true, "1": false, "f(}": false, "'a": false, "?f(": false, "// a": false, "": false,
	} {
		if incomplete(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestBroken(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"short", "short"},
		{"one two three four five", "one two three four\nfive"},
		{"  one two three four five", "  one two three\n  four five"},
		{"  name  one two three", "  name  one two\n        three"},
		{"  1 | let one = two + three", "  1 | let one = two + three"},
		{"\x1b[1mone two three four\x1b[0m five", "\x1b[1mone two three four\x1b[0m\nfive"},
		{"averyveryverylongwordindeed x", "averyveryverylongwordindeed\nx"},
	} {
		if got := broken(c.text, 20); got != c.want {
			t.Errorf("%q:\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}
