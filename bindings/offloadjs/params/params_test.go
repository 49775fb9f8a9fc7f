package params

import (
	"math"
	"math/big"
	"strings"
	"testing"
)

// TestCheck checks bounds and lists with values of every type, at the bounds and beyond 2⁵³.
func TestCheck(t *testing.T) {
	large := new(big.Int).Lsh(big.NewInt(1), 63)
	ranged := Param{Min: 0.5, Max: int64(10), Unit: "px"}
	wide := Param{Min: int64(0), Max: large}
	listed := Param{Values: []any{"fast", "exact"}}
	numbers := Param{Values: []any{int64(1), 2.5}}
	for _, c := range []struct {
		p    Param
		x    any
		want string // part of the error, or ""
	}{
		{ranged, 0.5, ""}, {ranged, int64(10), ""}, {ranged, 0.4999, "is 0.4999, not at least 0.5 px"}, {ranged, int64(11), "is 11, not at most 10 px"},
		{ranged, math.NaN(), "NaN"}, {ranged, math.Inf(1), "at most"}, {ranged, math.Inf(-1), "at least"},
		{wide, large, ""}, {wide, new(big.Int).Add(large, big.NewInt(1)), "is 9223372036854775809, not at most 9223372036854775808"}, {wide, int64(math.MaxInt64), ""},
		{listed, "fast", ""}, {listed, "fats", `is "fats", not one of "fast", "exact": did you mean "fast"?`}, {listed, int64(1), "is 1, not one of"},
		{numbers, 1.0, ""}, {numbers, big.NewInt(1), ""}, {numbers, 2.5, ""}, {numbers, int64(2), "not one of 1, 2.5"}, {numbers, "1", "not one of"},
		{Param{}, math.NaN(), ""}, {Param{}, true, ""},
	} {
		err := c.p.Check(c.x)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.x, err, c.want)
		}
	}
}

func TestString(t *testing.T) {
	for _, c := range []struct {
		p    Param
		want string
	}{
		{Param{Name: "sigma", Type: "f32", Default: 1.5, Min: 0.1, Max: int64(10), Unit: "px", Doc: "radius of the blur"}, "sigma: f32 = 1.5 (0.1 to 10 px): radius of the blur"},
		{Param{Name: "mode", Type: "string", Default: "fast", Values: []any{"fast", "exact"}}, `mode: string = "fast" ("fast", "exact")`},
		{Param{Name: "n", Type: "i32", Min: int64(1)}, "n: i32 (at least 1)"},
		{Param{Name: "t", Type: "f64", Unit: "s"}, "t: f64 (s)"},
		{Param{Name: "on", Type: "bool", Default: true}, "on: bool = true"},
	} {
		if got := c.p.String(); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		typ, text string
		want      any // nil if the text has no value
	}{
		{"f32", "1.5", 1.5}, {"f32", "1e3", 1e3}, {"f32", "0x1p1", nil}, {"f32", "0x10", nil}, {"f32", "1_0", nil}, {"f32", "x", nil},
		{"i32", "2", int64(2)}, {"i32", "1e3", int64(1000)}, {"i32", "2.0", int64(2)}, {"i32", "2.5", nil}, {"i32", "0x2", nil}, {"i32", "1_0", nil}, {"i32", "", nil},
	} {
		if got, ok := Parse(c.typ, c.text); ok != (c.want != nil) || ok && got != c.want {
			t.Errorf("%s %q: %v, %v", c.typ, c.text, got, ok)
		}
	}
}
