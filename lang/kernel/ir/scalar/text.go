package scalar

import (
	"math"
	"strconv"
	"strings"
)

// Text formats a number as JavaScript does.
func Text(x float64) string {
	switch a := math.Abs(x); {
	case x != x:
		return "NaN"
	case math.IsInf(x, 0):
		return strings.TrimPrefix(strconv.FormatFloat(x, 'f', -1, 64), "+") + "inity"
	case a == 0:
		return "0"
	case a >= 1e-6 && a < 1e21:
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strings.Replace(strconv.FormatFloat(x, 'e', -1, 64), "e-0", "e-", 1)
}
