package instructions

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// TestJoins checks that the joiner of a runtime is asked before strings of each kind make a large one, with at least its size.
func TestJoins(t *testing.T) {
	vm, other := goja.New(), goja.New()
	asked := uint64(0)
	joiner := Joiner(func(n uint64) {
		asked += n
		panic(vm.NewTypeError("too large"))
	})
	WatchJoins(vm, &joiner)
	for _, text := range []string{"(a, b) => a + b", "(a, b) => { a += b; return a }", "(a, b) => `${a}${b}`", "(a, b) => `<${a}, ${b}>`", "(a, b) => { const o = { p: a }; o.p += b; return o.p }"} {
		for _, kind := range []string{"x", "€"} {
			for _, imported := range []bool{false, true} {
				for _, n := range []int{10, Large / 4, Large} {
					asked = 0
					for _, in := range []*goja.Runtime{vm, other} {
						a := in.ToValue(strings.Repeat(kind, n))
						if !imported {
							fn := call(t, in, fmt.Sprintf("() => '%s'.repeat(%d)", kind, n))
							a, _ = fn(nil)
						}
						_, err := call(t, in, text)(nil, a, a)
						bytes := 2 * n
						if kind != "x" {
							bytes *= 2
						}
						if fails := err != nil; fails != (in == vm && bytes >= Large) {
							t.Errorf("%s of two strings of %d %q, imported %v: %v", text, n, kind, imported, err)
						}
						if err != nil && asked < uint64(bytes) {
							t.Errorf("%s of two strings of %d %q: asked for %d bytes", text, n, kind, asked)
						}
					}
				}
			}
		}
	}
	runtime.KeepAlive(&joiner)
}
