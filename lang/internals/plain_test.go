package internals

import (
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// TestProperties checks which objects have properties that Properties finds, and which of their values are simple.
func TestProperties(t *testing.T) {
	vm := goja.New()
	for _, c := range []struct{ text, want string }{
		{"({ b: 1, a: 'x', c: true, d: 1.5 })", "b= a= c= d="},
		{"({})", ""},
		{"({ o: {}, n: null, u: undefined, g: 12n, long: 'é', f() {}, get x() { return 1 } })", "o! n! u! g! long! f! x!"},
		{"({ __proto__: { z: 1 }, a: 1 })", "a="},
		{"(() => { const o = { a: 1, b: 2 }; delete o.a; o.c = 3; return o })()", "b= c="},
		{"[1, 2]", "none"}, {"(() => 1)", "none"}, {"new Proxy({ a: 1 }, {})", "none"}, {"new Date()", "none"}, {"new Uint8Array(2)", "none"},
	} {
		v, err := vm.RunString(c.text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		names, values, ok := Properties(v.(*goja.Object))
		for _, name := range names {
			mark := "!"
			if IsSimple(values[name]) {
				mark = "="
			}
			got = append(got, name+mark)
		}
		if !ok {
			got = []string{"none"}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", c.text, text, c.want)
		}
	}
	if _, _, ok := Properties(nil); ok {
		t.Error("nil has properties")
	}
}
