package table

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/lang/later"
)

// missing are the texts of a value that is not there.
var missing = later.Value[map[string]bool]{Make: func() map[string]bool {
	return map[string]bool{
		"": true, "NA": true, "N/A": true, "n/a": true, "#N/A": true, "<NA>": true, "null": true, "NULL": true, "None": true,
		"NaN": true, "nan": true, "-NaN": true, "-nan": true,
	}
}}

// Missing reports whether a field stands for a value that is not there, such as NA: NaN in a column of floats.
func Missing(text string) bool { return missing.Get()[strings.TrimSpace(text)] }

// IsNumber reports whether a field is a decimal number, or the name of NaN or of an infinity.
func IsNumber(text string) bool {
	_, err := parse64(strings.TrimSpace(text))
	return err == nil
}

// Changes reports whether a field is an integer in digits that float64 does not represent.
func Changes(text string) bool {
	text = strings.TrimSpace(text)
	if strings.Trim(text, "+-0123456789") != "" {
		return false
	}
	x, err := parse64(text)
	return err == nil && x != 0 && compareDigits(text, x) != 0
}

// ParseFloat returns the bits of a number rounded once from its decimal digits to an element type of floats. A missing value is
// NaN, and a number beyond the range is infinite.
func ParseFloat(t ir.Type, text string) (uint64, error) {
	text = strings.TrimSpace(text)
	if missing.Get()[text] {
		return scalar.Round(t, math.NaN()), nil
	}
	x, err := parse64(text)
	switch {
	case err != nil:
		return 0, err
	case t == ir.F64:
		return math.Float64bits(x), nil
	case t == ir.F32:
		single, _ := strconv.ParseFloat(text, 32) // the syntax was checked; an infinite result is right
		return uint64(math.Float32bits(float32(single))), nil
	}
	below, above := math.Nextafter(x, math.Inf(-1)), math.Nextafter(x, math.Inf(1))
	if scalar.Round(t, below) == scalar.Round(t, above) {
		return scalar.Round(t, x), nil
	}
	return scalar.Round(t, odd(x, text)), nil
}

// parse64 parses a decimal number, or NaN or an infinity by name. A number beyond the range is infinite.
func parse64(text string) (float64, error) {
	if strings.ContainsAny(text, "xXpP_") {
		return 0, fmt.Errorf("%q is no number", text)
	}
	x, err := strconv.ParseFloat(text, 64)
	if numError, ok := err.(*strconv.NumError); ok && numError.Err != strconv.ErrRange {
		return 0, fmt.Errorf("%q is no number", text)
	}
	return x, nil
}

// odd returns x, the float64 nearest to a number in decimal, or its neighbour on the number's side whose last bit is 1.
// Rounding that to f16 or bf16 is rounding the number.
func odd(x float64, text string) float64 {
	b := math.Float64bits(x)
	if b&1 == 1 || x == 0 || math.IsInf(x, 0) { // beyond the range of the narrow types
		return x
	}
	switch compareDigits(text, x) {
	case -1:
		return math.Float64frombits(b - 1)
	case 1:
		return math.Float64frombits(b + 1)
	}
	return x
}

// compareDigits compares the magnitudes of a decimal number and of x, the float64 nearest to it, which must not be 0. It returns
// -1 if the number is less, 1 if it is greater, and 0 if they are equal.
func compareDigits(text string, x float64) int {
	digits, point := decimal(text)
	exact, exactPoint := decimal(strconv.FormatFloat(math.Abs(x), 'e', 780, 64)) // all digits
	if point != exactPoint {
		return sign(point - exactPoint)
	}
	return strings.Compare(digits, exact)
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

// mostExponent bounds exponents in texts, so that their sums with numbers of digits do not overflow.
const mostExponent = 1 << 50

// decimal returns the digits of a number without zeros at either end. point is the number of digits before the decimal point,
// negative for zeros behind it.
func decimal(text string) (digits string, point int) {
	text = strings.TrimLeft(text, "+-")
	if e := strings.IndexAny(text, "eE"); e >= 0 {
		point, _ = strconv.Atoi(text[e+1:])
		point = min(max(point, -mostExponent), mostExponent)
		text = text[:e]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	point += len(whole) - (len(whole) + len(fraction) - len(digits))
	return strings.TrimRight(digits, "0"), point
}

// ParseInt returns an integer of a type, a negative one in two's complement of 64 bits. Forms such as 2.0 and 1e3 are integers too. An
// empty field is 0; other missing values are errors.
func ParseInt(t ir.Type, text string) (uint64, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, nil
	}
	width := 8 * t.Size()
	if t.IsSigned() {
		if n, err := strconv.ParseInt(text, 10, width); err == nil {
			return uint64(n), nil
		}
	} else if n, err := strconv.ParseUint(strings.TrimPrefix(text, "+"), 10, width); err == nil {
		return n, nil
	}
	if missing.Get()[text] {
		return 0, fmt.Errorf("%q is a missing value, which %s has not", text, t)
	}
	low, high := big.NewInt(0), new(big.Int).Lsh(big.NewInt(1), uint(width))
	if t.IsSigned() {
		high.Rsh(high, 1)
		low.Neg(high)
	}
	high.Sub(high, big.NewInt(1))
	x, err := parse64(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no integer", text)
	}
	if math.Abs(x) < 1<<65 {
		digits, point := decimal(text)
		if digits == "" {
			return 0, nil
		}
		if len(digits) > max(point, 0) {
			return 0, fmt.Errorf("%q is no integer", text)
		}
		n, _ := new(big.Int).SetString("0"+digits+strings.Repeat("0", point-len(digits)), 10)
		if strings.HasPrefix(text, "-") {
			n.Neg(n)
		}
		if n.Cmp(low) >= 0 && n.Cmp(high) <= 0 {
			return new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64(), nil
		}
	}
	return 0, fmt.Errorf("%s is not between %v and %v", text, low, high)
}

// ParseBool parses true and false, also as True and TRUE, and 1 and 0. An empty field is false.
func ParseBool(text string) (uint64, error) {
	switch strings.TrimSpace(text) {
	case "true", "True", "TRUE", "1":
		return 1, nil
	case "false", "False", "FALSE", "0", "":
		return 0, nil
	}
	return 0, fmt.Errorf("%q is neither true nor false", strings.TrimSpace(text))
}

// AppendFloat appends a number in the form of scripts, with the fewest digits that round to its bits in its element type. NaN is
// an empty field.
func AppendFloat(to []byte, t ir.Type, bits uint64) []byte {
	x := scalar.Shortest(t, bits)
	switch a := math.Abs(x); {
	case x != x:
		return to
	case math.IsInf(x, 1):
		return append(to, "Infinity"...)
	case math.IsInf(x, -1):
		return append(to, "-Infinity"...)
	case a == 0 || a >= 1e-6 && a < 1e21:
		return strconv.AppendFloat(to, x, 'f', -1, 64)
	}
	to = strconv.AppendFloat(to, x, 'e', -1, 64)
	if n := len(to); n >= 4 && to[n-2] == '0' && (to[n-3] == '-' || to[n-3] == '+') { // e-07
		to = append(to[:n-2], to[n-1])
	}
	return to
}
