package overflow_test

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/overflow"
)

// The expression that a warning suggests computes the same formula.
func TestRewrites(t *testing.T) {
	for text, want := range map[string]string{
		"o[0] = k[0] - (k[1] + 5)":            "f64(k[0]) - (k[1] + 5)",
		"o[0] = k[0] - (k[1] - 5)":            "f64(k[0]) - (k[1] - 5)",
		"o[0] = k[0] - (k[1] | 0)":            "f64(k[0]) - (k[1] | 0)",
		"o[0] = k[0] - (k[1] >> 1)":           "f64(k[0]) - (k[1] >> 1)",
		"o[0] = (k[0] | 0) - (k[1] | 65535)":  "f64(k[0] | 0) - (k[1] | 65535)",
		"o[0] = k[0] - (g.x * 3)":             "f64(k[0]) - g.x * 3",
		"o[0] = k[0] + k[1]":                  "f64(k[0]) + k[1]",
		"o[0] = k[0] * (k[1] % 7)":            "f64(k[0]) * (k[1] % 7)",
		"o[0] = k[0] * (b[1] + 1)":            "f64(k[0]) * (b[1] + 1)",
		"o[0] = (1 << 20) * k[0]":             "(1 << 20) * f64(k[0])",
		"o[0] = -2e9 - k[0]":                  "-2e9 - f64(k[0])",
		"o[0] = k[0] - k[(g.x + 1) * 2]":      "f64(k[0]) - k[(g.x + 1) * 2]",
		"o[0] = k[0] - Math.min(k[1] | 7, 5)": "f64(k[0]) - Math.min(k[1] | 7, 5)",
	} {
		c := compile(t, text)
		list := overflow.Warnings(c, overflow.Assumed(c))
		if len(list) != 1 || !strings.HasPrefix(list[0].Rewrite, "write `"+want+"`") {
			t.Errorf("%s: %v, want %s", text, list, want)
		}
	}
}
