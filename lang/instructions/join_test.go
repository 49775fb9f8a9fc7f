package instructions

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// TestJoins checks that a watcher is called before strings of each kind make a large one, with at least its size.
func TestJoins(t *testing.T) {
	vm, other := goja.New(), goja.New()
	asked := uint64(0)
	watcher := &Watcher{Join: func(n uint64) {
		asked += n
		panic(vm.NewTypeError("too large"))
	}}
	Watch(vm, watcher)
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
	runtime.KeepAlive(watcher)
}

// TestCatches checks that a watcher sees what catch blocks with a parameter catch, in functions of all kinds.
func TestCatches(t *testing.T) {
	for text, want := range map[string]string{
		"() => { try { throw 1 } catch (e) { return e } }":                                                     "1",
		"() => { try { throw 1 } catch { return 2 } }":                                                         "",
		"() => { try { throw [1, 2] } catch ([a, b]) { return () => a + b } }":                                 "1,2",
		"() => { try { throw 1 } catch (e) { return () => e } finally { } }":                                   "1",
		"() => { try { try { throw 1 } finally { } } catch (e) { try { throw 2 } catch (f) { return f } } }":   "1 2",
		"() => { for (const x of [1, 2]) { try { throw x } catch (e) { } } }":                                  "1 2",
		"() => { const g = (function* () { try { yield 1 } catch (e) { yield e } })(); g.next(); g.throw(3) }": "3",
		"() => { class A { static { try { throw 4 } catch (e) { } } } }":                                       "4",
	} {
		vm := goja.New()
		var seen []string
		watcher := &Watcher{Catch: func(v goja.Value) { seen = append(seen, v.String()) }}
		Watch(vm, watcher)
		if _, err := call(t, vm, text)(nil); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got := strings.Join(seen, " "); got != want {
			t.Errorf("%s: the watcher saw %q, want %q", text, got, want)
		}
		runtime.KeepAlive(watcher)
	}
}
