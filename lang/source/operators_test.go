package source

import (
	"math/rand/v2"
	"regexp"
	"testing"
)

// TestCallsOperators checks which texts need the functions of operators.
func TestCallsOperators(t *testing.T) {
	for text, want := range map[string]bool{
		"a * b": false, "a << b": false, "a ** b": true, "o.x **= 2": true, "2n * a": true, "BigInt(a) << b": true, "0xfn": false, "a *= 3n": true, "": false,
	} {
		if CallsOperators(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// TestUsesBigInts compares the search of texts that may create BigInts with a regular expression, and checks that it allocates nothing.
func TestUsesBigInts(t *testing.T) {
	pattern := regexp.MustCompile(`[\da-fA-F]n\b|\bBig(?:Int|Uint)`)
	parts := []string{"n", "N", "0", "9", "a", "f", "F", "g", "z", "_", "$", " ", "Big", "Int", "Uint", "BigInt64Array", "\u00e4", "\xff", ".", "@", "[", "`", "{"}
	found := 0
	for range 20000 {
		text := ""
		for range rand.IntN(6) {
			text += parts[rand.IntN(len(parts))]
		}
		want := pattern.MatchString(text)
		if usesBigInts(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
		if want {
			found++
		}
	}
	if found < 1000 || found > 19000 {
		t.Errorf("%d texts of 20000 have BigInts", found)
	}
	if n := testing.AllocsPerRun(10, func() { usesBigInts("function turn(n) { return n * BigNumber(3) }") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
