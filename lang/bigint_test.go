package lang

import (
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/lang/diag"
)

// TestPowersOfBigInts checks that an enormous BigInt is rejected before it is computed.
func TestPowersOfBigInts(t *testing.T) {
	free, _ := testEngine(t, Options{})
	bound, _ := testEngine(t, Options{Limits: Limits{Time: time.Hour}})
	for _, c := range []struct {
		text    string
		bounded bool // rejected only by engines with limits
	}{
		{"3n ** 30000000000n", false}, {"1n << 100000000000n", false}, {"(-2n) ** (2n ** 40n)", false}, {"let x = 3n; x **= x ** 40n", false},
		{"let x = 3n; x <<= 1n << 62n", false}, {"BigInt(2) ** BigInt(2 ** 50)", false}, {"[2n].map(x => x << 2n ** 33n)", false},
		{"3n ** 20000000n", true}, {"1n << 20000000n", true},
	} {
		for _, e := range []*Engine{free, bound} {
			if c.bounded && e == free {
				continue
			}
			_, err := e.Eval(t.Context(), "p", c.text)
			if diag.Code(err) != "out-of-memory" || !strings.Contains(err.Error(), "RangeError") || diag.Hint(err) == "" {
				t.Errorf("%s: %v", c.text, err)
			}
		}
	}
	const fine = `[2n ** 100n, 1n << 70n, (-3n) ** 3n, 1n ** (10n ** 30n), 0n ** 0n, 5n << -1n, 2 ** 10 + (1 << 4), (() => { try { return 2n ** -1n } catch (e) { return e.name } })(),
		(() => { try { return 2n ** 1 } catch (e) { return e.name } })()].join()`
	v, err := bound.Eval(t.Context(), "p", fine)
	if want := "1267650600228229401496703205376,1180591620717411303424,-27,1,1,2,1040,RangeError,TypeError"; err != nil || v.String() != want {
		t.Errorf("got %v, %v", v, err)
	}
}

// TestBigIntsHaveNoLength checks that BigInts inherit no properties that only functions have.
func TestBigIntsHaveNoLength(t *testing.T) {
	e, _ := testEngine(t, Options{})
	v, err := e.Eval(t.Context(), "p", "const proto = Object.getPrototypeOf(Object(5n)); [(5n).length, (5n).name, Reflect.ownKeys(proto).map(String).sort()].join()")
	if want := ",,Symbol(Symbol.toStringTag),constructor,toLocaleString,toString,valueOf"; err != nil || v.String() != want {
		t.Errorf("got %v, %v, want %s", v, err, want)
	}
}
