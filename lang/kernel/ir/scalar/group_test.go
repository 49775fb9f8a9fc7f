package scalar

import (
	"math"
	"slices"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// pairs is a monoid whose values show the order of combination; the identity is "e".
type pairs struct{}

func (pairs) Identity() string         { return "e" }
func (pairs) Apply(x, y string) string { return "(" + x + y + ")" }
func (p pairs) Zip(x, y []string) {
	for i := range y {
		x[i] = p.Apply(x[i], y[i])
	}
}

func TestOrderOfReduction(t *testing.T) {
	for text, want := range map[string]string{
		"a": "a", "ab": "(ab)", "abc": "((ac)(be))", "abcd": "((ac)(bd))", "abcde": "(((ae)(ce))((be)(de)))",
	} {
		v := make([]string, len(text))
		for i := range v {
			v[i] = text[i : i+1]
		}
		Reduce(pairs{}, v)
		if slices.ContainsFunc(v, func(x string) bool { return x != want }) {
			t.Errorf("%s: %q, want %s", text, v, want)
		}
	}
}

func TestOrderOfScan(t *testing.T) {
	v := []string{"a", "b", "c", "d"}
	HillisSteele(pairs{}, v)
	if want := []string{"a", "(ab)", "(a(bc))", "((ab)(cd))"}; !slices.Equal(v, want) {
		t.Errorf("%q, want %q", v, want)
	}
	long := make([]string, 70)
	for i := range long {
		long[i] = "x"
	}
	blocks := slices.Clone(long)
	for from := 0; from < len(blocks); from += 32 {
		HillisSteele(pairs{}, blocks[from:min(from+32, len(blocks))])
	}
	totals := []string{blocks[31], blocks[63]}
	HillisSteele(pairs{}, totals)
	exclusive := slices.Clone(long)
	Scan(pairs{}, long)
	ScanExclusive(pairs{}, exclusive)
	for i, x := range long {
		want := blocks[i]
		if i >= 32 {
			want = "(" + totals[i/32-1] + want + ")"
		}
		before := "e"
		if i > 0 {
			before = long[i-1]
		}
		if x != want || exclusive[i] != before {
			t.Fatalf("item %d: %s and %s, want %s and %s", i, x, exclusive[i], want, before)
		}
	}
}

// TestCombiner checks that each operation's identity preserves values, and for −0 in sums that Neutral does.
func TestCombiner(t *testing.T) {
	for _, typ := range []ir.Type{ir.I32, ir.U32, ir.I64, ir.U64, ir.F32, ir.F64} {
		for _, op := range []ir.Op{ir.Add, ir.Min, ir.Max} {
			c := Combiner{typ, op}
			values := []uint64{0, 1, ir.IntBits(typ, -1), ir.IntBits(typ, math.MinInt32)}
			if typ.IsFloat() {
				values = []uint64{0, ir.FloatBits(typ, 1.5), ir.FloatBits(typ, math.Inf(1)), ir.FloatBits(typ, math.Inf(-1)), ir.FloatBits(typ, math.Copysign(0, -1))}
			}
			for i, v := range values {
				got := c.Apply(c.Identity(), v)
				if want := v; got != want && (i != 4 || op != ir.Add || got != 0) {
					t.Errorf("%v.%v: %#x with the identity is %#x", typ, op, v, got)
				}
				if got := c.Apply(v, c.Neutral()); got != v {
					t.Errorf("%v.%v: %#x with the neutral value is %#x", typ, op, v, got)
				}
			}
		}
	}
}
