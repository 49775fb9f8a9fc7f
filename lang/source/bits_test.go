package source

import (
	"strings"
	"testing"
)

// TestReductions checks which operands of bit operations are reduced: none that are small anyway.
func TestReductions(t *testing.T) {
	for text, want := range map[string]int{
		"let s = 1; for (let i = 0; i < 9; i++) { s ^= s << 13; s = (s + i) | 0; s >>>= 3 }": 1, // s + i
		"function f(x) { return x | 0 }":                  1,
		"function f(x, y) { return x ^ y }":               2,
		"function f(x) { x ^= 1; return x & 7 }":          2,
		"let a = [1]; a.length | 0; 5 | 3; (1 + 2) << 4":  0,
		"function f(x) { return ~~x }":                    1,
		"let t; t = f() | 0; t & t; function f() { }":     1,
		"const [a] = [1e30]; a | 0":                       1,
		"try { f } catch (e) { e | 0 } function f() {}":   1,
		"for (const x of [1e30]) x | 0":                   1,
		"let v = 1; v = g(); v ^ v; function g() { }":     2,
		"let w = 1; function h() { w = 1e30 } w | 1; h()": 1,
	} {
		u := &Unit{Name: "t.js", Original: text, Text: text, kind: Module}
		w := reductionsOf(t, u)
		if w != want {
			t.Errorf("%s: %d operands are reduced, want %d", text, w, want)
		}
	}
}

func reductionsOf(t *testing.T, u *Unit) int {
	t.Helper()
	before := reduced
	defer func() { reduced = before }()
	n := 0
	reduced = func() { n++ }
	if _, err := Compile(u.Name, u.Text, Options{Kind: Module}); err != nil {
		t.Fatal(strings.TrimSpace(err.Error()))
	}
	return n
}
