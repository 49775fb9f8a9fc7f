package builtins

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"unicode"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
)

// integerTexts replaces parseInt, whose result for many digits is not the nearest number, and for a negative fraction not -0.
func (b *set) integerTexts() {
	b.wrap(b.global, "parseInt", func(c goja.FunctionCall, fn function) goja.Value {
		_, isObject := c.Argument(0).(*goja.Object)
		if _, ok := c.Argument(1).(*goja.Object); ok || isObject { // each is converted once
			c.Arguments = []goja.Value{b.text(c.Argument(0)), b.number(c.Argument(1))}
		}
		s, ok := c.Argument(0).(goja.String)
		v := fn(c)
		if f, isNumber := internals.Export(c.Argument(0)).(float64); isNumber && f < 0 && v.ToFloat() == 0 {
			return b.vm.ToValue(math.Copysign(0, -1))
		}
		if !ok || s.Length() < 2 {
			return v
		}
		if f := v.ToFloat(); f == 0 || math.Abs(f) >= 1<<53 {
			return b.vm.ToValue(parsed(strings.TrimLeftFunc(s.String(), isBlank), toUint32(c.Argument(1))))
		}
		return v
	})
}

// isBlank reports whether a character is white space or a line terminator of ECMAScript.
func isBlank(c rune) bool { return unicode.IsSpace(c) && c != '\u0085' || c == '\uFEFF' }

// bigIntOfText returns the integer of a text with no digits, with decimal ones behind an optional sign, or with others behind 0x, 0o
// or 0b. The interpreter reads leading zeros, underscores, and signs behind a prefix as Go does.
func bigIntOfText(s string) (*big.Int, bool) {
	s = strings.TrimFunc(s, isBlank)
	if s == "" {
		return new(big.Int), true
	}
	radix, digits := 10, strings.TrimLeft(s[:1], "+-")+s[1:]
	if len(s) > 2 && s[0] == '0' {
		if r := map[byte]int{'x': 16, 'o': 8, 'b': 2}[s[1]|0x20]; r != 0 {
			radix, digits = r, s[2:]
		}
	}
	if strings.ContainsAny(digits, "+-_") {
		return nil, false
	}
	n, ok := new(big.Int).SetString(digits, radix)
	if ok && s[0] == '-' {
		n.Neg(n)
	}
	return n, ok
}

// mostDigits is the number of digits from which on an integer without leading zeros is infinite in every radix.
const mostDigits = 1025

// parsed returns the integer with which s, a text that is not empty, begins, as the nearest number. The radix 0 stands for 16 after 0x,
// else for 10. The result is 0 if there is no digit.
func parsed(s string, radix uint32) float64 {
	sign := 1.0
	if s[0] == '-' || s[0] == '+' {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	if (radix == 0 || radix == 16) && len(s) > 1 && s[0] == '0' && s[1]|0x20 == 'x' {
		radix, s = 16, s[2:]
	}
	if radix == 0 {
		radix = 10
	}
	n := 0
	for n < len(s) && digit(s[n]) < radix {
		n++
	}
	s = strings.TrimLeft(s[:n], "0")
	switch {
	case s == "":
		return math.Copysign(0, sign)
	case len(s) >= mostDigits:
		return math.Inf(int(sign))
	}
	i, _ := new(big.Int).SetString(s, int(radix))
	f, _ := new(big.Float).SetInt(i).Float64()
	return sign * f
}

// digit returns the value of a digit in radix 36, or 36 for any other character.
func digit(c byte) uint32 {
	switch {
	case '0' <= c && c <= '9':
		return uint32(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'z':
		return uint32(c|0x20-'a') + 10
	}
	return 36
}

// bigIntegers makes BigInt convert objects exactly and refuse a call without a value. It makes asIntN and asUintN accept any number of
// bits, up to mostBits for asUintN of a negative integer, and parseInt any number of digits.
func (b *set) bigIntegers() error {
	b.integerTexts()
	class := b.object("BigInt")
	if native, ok := internals.NativeOf(class); ok {
		convert := *native.Call
		*native.Call = func(c goja.FunctionCall) goja.Value {
			if len(c.Arguments) == 0 {
				b.typeError("Cannot convert undefined to a BigInt")
			}
			if _, ok := c.Argument(0).(*goja.Object); ok { // the interpreter would convert a text through a number
				c.Arguments = []goja.Value{b.primitive(c.Argument(0))}
			}
			if text, ok := c.Argument(0).(goja.String); ok {
				n, ok := bigIntOfText(text.String())
				if !ok {
					b.fail("SyntaxError", "syntax", fmt.Sprintf("Cannot convert %s to a BigInt", text), "")
				}
				return b.vm.ToValue(n)
			}
			return convert(c)
		}
	}
	for _, name := range []string{"asIntN", "asUintN"} {
		signed := name == "asIntN"
		b.wrap(class, name, func(c goja.FunctionCall, fn function) goja.Value {
			count := b.number(c.Argument(0)).ToFloat()
			v := b.primitive(c.Argument(1))
			switch internals.Export(v).(type) {
			case string, bool:
				v = b.call(callable(class), nil, v)
			}
			n := bigOf(v)
			if n == nil {
				return fn(c)
			}
			if bits := float64(n.BitLen()); count <= maxSafe && count >= bits+1 {
				switch {
				case signed || n.Sign() >= 0:
					return v
				case count > mostBits:
					b.fail("RangeError", "out-of-memory", name+": the result has too many bits", "")
				}
				b.Allocate("BigInt."+name, uint64(count/8))
			}
			c.Arguments = []goja.Value{b.vm.ToValue(count), v}
			return fn(c)
		})
	}
	return nil
}

// mostBits is the maximum number of bits of the result of BigInt.asUintN for a negative integer.
const mostBits = 1 << 26
