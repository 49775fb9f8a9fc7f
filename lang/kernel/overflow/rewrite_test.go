package overflow_test

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/overflow"
)

// TestRewrites checks that the expression suggested by a warning computes the same formula.
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

// TestRewritesOfProducts checks that Math.imul is suggested for a product that should wrap, because JavaScript rounds products
// beyond 2⁵³.
//
// [11.9]
func TestRewritesOfProducts(t *testing.T) {
	for text, want := range map[string]string{
		"o[0] = k[0] * k[1]":         "`Math.imul(k[0], k[1])` if",
		"o[0] = u[0] * (k[1] + 1)":   "`Math.imul(u[0], k[1] + 1) >>> 0` if",
		"o[0] = 2654435761 * u[g.x]": "`Math.imul(2654435761, u[g.x]) >>> 0` if",
		"o[0] = k[0] + k[1]":         "`(k[0] + k[1]) | 0` if",
		"o[0] = u[0] - u[1]":         "`(u[0] - u[1]) >>> 0` if",
	} {
		c := compile(t, text)
		list := overflow.Warnings(c, overflow.Assumed(c))
		if len(list) != 1 || !strings.Contains(list[0].Rewrite, want) {
			t.Errorf("%s: %v, want %s", text, list, want)
		}
	}
}
