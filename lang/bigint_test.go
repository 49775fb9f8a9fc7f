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

// TestTextsOfBigInts checks that BigInt reads texts by the rules of ECMAScript, however many digits they have.
func TestTextsOfBigInts(t *testing.T) {
	e, _ := testEngine(t, Options{})
	for text, want := range map[string]string{
		"": "0", " \u00a012\ufeff\\n": "12", "-5": "-5", "+5": "5", "007": "7", "-0": "0", "0XfF": "255", "0o17": "15", "0B11": "3",
		"0123456789012345678901234567890": "123456789012345678901234567890", "00777777777777777777777": "777777777777777777777",
		"-36893488147419103232": "-36893488147419103232", "0xffffffffffffffffffff": "1208925819614629174706175",
		"36893488147419103232_0": "SyntaxError", "36893488147419103232,1": "SyntaxError", "99999999999999999999.5": "SyntaxError",
		"0x-1": "SyntaxError", "0b+1": "SyntaxError", "-0x1": "SyntaxError", "+-1": "SyntaxError", "0x": "SyntaxError", "-": "SyntaxError",
		"1_0": "SyntaxError", "12n": "SyntaxError", "1e3": "SyntaxError",
	} {
		v, err := e.Eval(t.Context(), "p", "(() => { try { return String(BigInt('"+text+"')) } catch (e) { return e.name } })()")
		if err != nil || v.String() != want {
			t.Errorf("%q: got %v, %v, want %s", text, v, err, want)
		}
	}
}
