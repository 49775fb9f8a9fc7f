// Package params describes the parameters of a pipeline, and checks and documents their values.
package params

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/orepl/orepl/lang/spelling"
)

// Param is a parameter as a script declares it. Values are of type int64, float64, *big.Int, bool or string.
type Param struct {
	Name     string
	Type     string // an element type such as "f32", or "string"
	Default  any    // nil if each run needs a value
	Min, Max any    // bounds of a number, which are allowed; nil for none
	Values   []any  // the allowed values; nil for all
	Doc      string // what it means
	Unit     string // such as "px"
}

// Check returns why a value is not allowed, or nil. Its type must be right.
func (p *Param) Check(x any) error {
	if len(p.Values) > 0 && !slices.ContainsFunc(p.Values, func(v any) bool { return equal(v, x) }) {
		names := make([]string, len(p.Values))
		for i, v := range p.Values {
			names[i] = Text(v)
		}
		near := ""
		if s, ok := x.(string); ok {
			if n := spelling.Nearest(strconv.Quote(s), names); n != "" && s != "" {
				near = ": did you mean " + n + "?"
			}
		}
		return fmt.Errorf("is %s, not one of %s%s", Text(x), strings.Join(names, ", "), near)
	}
	if order, ok := compare(x, p.Min); p.Min != nil && (!ok || order < 0) {
		return fmt.Errorf("is %s, not at least %s%s", Text(x), Text(p.Min), p.unit())
	}
	if order, ok := compare(x, p.Max); p.Max != nil && (!ok || order > 0) {
		return fmt.Errorf("is %s, not at most %s%s", Text(x), Text(p.Max), p.unit())
	}
	return nil
}

// Sample returns the default, or else a value that is allowed where one is easily found. That is the first of the list, an empty
// text, true, 1, or a bound. It may be nil or not allowed.
func (p *Param) Sample() any {
	switch {
	case p.Default != nil:
		return p.Default
	case len(p.Values) > 0:
		return p.Values[0]
	case p.Type == "string":
		return ""
	case p.Type == "bool":
		return true
	case p.Check(int64(1)) == nil:
		return int64(1)
	case p.Min != nil:
		return p.Min
	}
	return p.Max
}

// Fraction returns a number that is allowed and no integer. ok is false if none is found.
func (p *Param) Fraction() (x float64, ok bool) {
	candidates := []float64{0.5, 1.5, -0.5}
	for _, near := range []any{p.Sample(), p.Min, p.Max} {
		if n, ok := number(near); ok {
			f, _ := n.Float64()
			candidates = append(candidates, f, f+0.5, f-0.5, f+0.125, f-0.125)
		}
	}
	for _, v := range p.Values {
		if f, isFloat := v.(float64); isFloat {
			candidates = append(candidates, f)
		}
	}
	for _, f := range candidates {
		if f != math.Trunc(f) && p.Check(f) == nil {
			return f, true
		}
	}
	return 0, false
}

func equal(a, b any) bool {
	order, ok := compare(a, b)
	return ok && order == 0
}

func (p *Param) unit() string {
	if p.Unit == "" {
		return ""
	}
	return " " + p.Unit
}

// String returns the parameter in one line, such as "sigma: f32 = 1.5 (0.1 to 10 px): radius of the blur".
func (p *Param) String() string {
	text := p.Name + ": " + p.Type
	if p.Default != nil {
		text += " = " + Text(p.Default)
	}
	if allowed := p.Allowed(); allowed != "" {
		text += " (" + allowed + ")"
	}
	if p.Doc != "" {
		text += ": " + p.Doc
	}
	return text
}

// Allowed returns the bounds or the list of allowed values, and the unit, such as "0.1 to 10 px", or "".
func (p *Param) Allowed() string {
	var allowed []string
	switch {
	case p.Min != nil && p.Max != nil:
		allowed = append(allowed, fmt.Sprintf("%s to %s", Text(p.Min), Text(p.Max)))
	case p.Min != nil:
		allowed = append(allowed, "at least "+Text(p.Min))
	case p.Max != nil:
		allowed = append(allowed, "at most "+Text(p.Max))
	}
	for _, v := range p.Values {
		allowed = append(allowed, Text(v))
	}
	return strings.TrimSpace(strings.Join(allowed, ", ") + p.unit())
}

// Text returns a value as a script writes it.
func Text(x any) string {
	switch v := x.(type) {
	case string:
		return strconv.Quote(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(x)
}

// compare returns the order of two numbers as -1, 0 or 1, and 0 for two equal texts or booleans. ok is false for other values and
// for NaN.
func compare(a, b any) (order int, ok bool) {
	x, xok := number(a)
	y, yok := number(b)
	if xok && yok {
		return x.Cmp(y), true
	}
	return 0, !xok && !yok && a == b
}

// number returns the exact value of a number. It returns false for NaN and for other values.
func number(x any) (*big.Float, bool) {
	switch v := x.(type) {
	case int64:
		return new(big.Float).SetInt64(v), true
	case float64:
		if v != v {
			return nil, false
		}
		return new(big.Float).SetFloat64(v), true
	case *big.Int:
		return new(big.Float).SetInt(v), v != nil
	}
	return nil, false
}
