package source

import "testing"

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
