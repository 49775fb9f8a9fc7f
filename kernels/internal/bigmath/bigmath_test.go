package bigmath

import (
	"math/big"
	"strings"
	"testing"
)

// TestKnownDigits compares results with published digits of constants.
func TestKnownDigits(t *testing.T) {
	c := New()
	sin1, cos1 := c.SinCos(num(1))
	for _, x := range []struct {
		name string
		got  *big.Float
		want string
	}{
		{"π", c.pi, "3.14159265358979323846264338327950288419716939937510"},
		{"ln 2", c.ln2, "0.69314718055994530941723212145817656807550013436025"},
		{"e", c.Exp(num(1)), "2.71828182845904523536028747135266249775724709369995"},
		{"ln 10", c.Log(num(10)), "2.30258509299404568401799145468436420760110148862877"},
		{"sin 1", sin1, "0.84147098480789650665250232163029899962256306079837"},
		{"cos 1", cos1, "0.54030230586813971740093660744297660373231042061792"},
		{"4·atan 1", scale(c.Atan(num(1)), 2), "3.14159265358979323846264338327950288419716939937510"},
		{"∛2", c.Cbrt(num(2)), "1.25992104989487316476721060727822835057025146470150"},
		{"erf 1", c.Erf(num(1)), "0.84270079294971486934122063508260925929606699796630"},
		{"sinh 1", c.Sinh(num(1)), "1.17520119364380145688238185059560081515571798133409"},
	} {
		if got := x.got.Text('f', 60); !strings.HasPrefix(got, x.want) {
			t.Errorf("%s = %s, want %s…", x.name, got, x.want)
		}
	}
}
