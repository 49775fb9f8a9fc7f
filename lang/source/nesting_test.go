package source

import (
	"strings"
	"testing"
)

func TestNesting(t *testing.T) {
	const n = 30000
	r := strings.Repeat
	for text, ok := range map[string]bool{
		r("(", n) + r(")", n):                    false,
		r("[", n):                                false,
		"1" + r("+1", n):                         false,
		"1" + r("\n+1", n):                       false,
		r("!", n) + "1":                          false,
		r("- ", n) + "1":                         false,
		r("x=>", n) + "1":                        false,
		r("if(1)", n) + ";":                      false,
		r("if(1)\n", n) + ";":                    false,
		r("if(1){}else ", n) + ";":               false,
		r("a:", n) + ";":                         false,
		r("a=", n) + "1":                         false,
		r("a?1:", n) + "1":                       false,
		r("new ", n) + "x":                       false,
		r("typeof\n", n) + "x":                   false,
		r("`${", n):                              false,
		"[" + r("1,", n) + "]":                   true,
		r("const a = f(1) + 2\n", n):             true,
		r("a = b;", n):                           true,
		r("f(a, b)\n", n):                        true,
		r("if (a) { b() } else { c() }\n", n):    true,
		r("function f() { return [1, 2] }\n", n): true,
		r("function f() { return 1 }", n):        true,
		"[" + r("{ a: 1, b: 'x' },\n", n) + "]":  true,
		r("s += `a${b}c`\n", n):                  true,
		"'" + r("(", n) + "'":                    true,
		"/*" + r("(", n) + "*/":                  true,
	} {
		if err := CheckNesting("t.js", text); (err == nil) != ok {
			t.Errorf("%.40s…: %v", text, err)
		}
	}
}

// TestColumnsOfALongLine checks that source map columns in a long line are computed incrementally, also after characters of two
// units.
func TestColumnsOfALongLine(t *testing.T) {
	text := strings.Repeat("a😀é", 50000)
	c := newColumns(text)
	for i := range 50000 { // a takes one unit and byte, 😀 two and four, é one and two
		for column, offset := range []int{0, 1, 5, 5} {
			if got := c.offset(0, 4*i+column); column != 2 && got != 7*i+offset {
				t.Fatalf("column %d is at %d, not %d", 4*i+column, got, 7*i+offset)
			}
		}
	}
}
