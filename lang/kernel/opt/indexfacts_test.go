package opt_test

import (
	"math"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
)

// TestIndexFacts lists the facts that would prove a body's unproved checks, in order.
func TestIndexFacts(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"a row of a tile", "%10: i32 = item.global.y\n%11: i32 = const 8\n%12: i32 = mul %10, %11\n%13: i32 = const 7\n%14: i32 = add %12, %13\n%15: f32 = load x[%14]",
			[]string{`-1 + 8*size.y < "x".0, -8 + 8*size.y fits, -1 + 8*size.y fits`}},
		{"a row of a width", "%10: i32 = item.global.y\n%11: i32 = item.global.x\n%12: i32 = mul %10, %0\n%14: i32 = add %12, %11\n%15: f32 = load x[%14]",
			[]string{`-1 + 1*size.x + 1*size.y*"a" + -1*"a" < "x".0, 1*size.y*"a" + -1*"a" fits, -1 + 1*size.x + 1*size.y*"a" + -1*"a" fits, "a" >= 0`}},
		{"the counter of a loop", "%7: i32 = const 0\n%8: i32 = const 1\nloop @1 (%20: i32 = %7) {\n%12: bool = lt %20, %0\nif %12 {\nyield\n} else {\nbreak @1\n}\n%13: f32 = load x[%20]\n%21: i32 = add %20, %8\ncontinue @1 %21\n}",
			[]string{`-1 + 1*"a" < "x".0, "a" >= 0`}},
		{"a counter below a number", "%7: i32 = const 0\n%8: i32 = const 1\n%9: i32 = const 100\nloop @1 (%20: i32 = %7) {\n%12: bool = lt %20, %9\nif %12 {\nyield\n} else {\nbreak @1\n}\n%13: f32 = load x[%20]\n%21: i32 = add %20, %8\ncontinue @1 %21\n}",
			[]string{`99 < "x".0`}},
		{"a counter in steps", "%7: i32 = const 3\n%8: i32 = const 48\n%9: i32 = const 100\nloop @1 (%20: i32 = %7) {\n%12: bool = lt %20, %9\nif %12 {\nyield\n} else {\nbreak @1\n}\n%13: f32 = load x[%20]\n%21: i32 = add %20, %8\ncontinue @1 %21\n}",
			[]string{`99 < "x".0`}}, // 3 and a multiple of 16
		{"a counter in steps of a power of two", "%7: i32 = const 0\n%8: i32 = const 32\n%9: i32 = const 100\nloop @1 (%20: i32 = %7) {\n%12: bool = lt %20, %9\nif %12 {\nyield\n} else {\nbreak @1\n}\n%13: f32 = load x[%20]\n%21: i32 = add %20, %8\ncontinue @1 %21\n}",
			[]string{`96 < "x".0`}},
		{"an item that the kernel compares with a parameter", "%10: i32 = item.global.x\n%12: bool = lt %10, %0\nif %12 {\n%13: f32 = load x[%10]\nyield\n}",
			[]string{`-1 + 1*"a" < "x".0, "a" >= 0`}},
		{"a row that the kernel compares with the extent", "%10: i32 = item.global.y\n%11: i32 = const 8\n%12: i32 = mul %10, %11\n%13: i32 = item.global.x\n%14: i32 = add %12, %13\n%9: i32 = extent.0 x\n%8: bool = lt %14, %9\nif %8 {\n%15: f32 = load x[%14]\nyield\n}",
			[]string{`0 < 1, -8 + 8*size.y fits, -9 + 1*size.x + 8*size.y fits`}}, // only wrapping could make it negative
		{"a neighbour", "%10: i32 = item.global.x\n%8: i32 = const 1\n%12: bool = le %8, %10\nif %12 {\n%16: i32 = sub %10, %8\n%13: f32 = load x[%16]\nyield\n}",
			[]string{`-2 + 1*size.x < "x".0`}},
		{"a place in a group", "%10: i32 = item.group.x\n%11: i32 = item.groupsize.x\n%12: i32 = mul %10, %11\n%13: i32 = item.local.x\n%14: i32 = add %12, %13\n%15: f32 = load x[%14]",
			[]string{`-1 + 1*groupsize.x*groups.x < "x".0, -1*groupsize.x + 1*groupsize.x*groups.x fits, -1 + 1*groupsize.x*groups.x fits`}},
		{"a place in shared memory", "%10: i32 = item.local.x\n%15: i32 = load s[%10]", []string{`-1 + 1*groupsize.x < 16`}},
		{"a neighbour that may not be there", "%10: i32 = item.global.x\n%8: i32 = const 1\n%16: i32 = sub %10, %8\n%13: f32 = load x[%16]", nil},
		{"a counter of which the first guess proves wrong", // the counter is not a multiple of its initial value
			"%16: i32 = const 6\n%7: i32 = const 3\n%8: i32 = const 1\nloop @1 (%20: i32 = %7) {\n%13: f32 = load x[%20]\n%12: bool = lt %20, %0\nif %12 {\nyield\n} else {\nbreak @1\n}\n%21: i32 = xor %20, %16\ncontinue @1 %21\n}",
			nil},
		{"a number of bits", "%10: i32 = item.global.x\n%16: i32 = xor %10, %0\n%13: f32 = load x[%16]", nil},
		{"an unsigned number", "%13: f32 = load x[%2]", nil},
		{"what is in memory", "%10: i32 = load n[%0][%1]\n%13: f32 = load x[%10]", []string{`1*"a" < "n".0, "a" >= 0`, `1*"b" < "n".1, "b" >= 0`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := parseBody(t, c.body)
			k := m.Kernels[0]
			facts := opt.IndexFacts(k, nil)
			var got []string
			for i := range facts {
				got = append(got, facts[i].String())
			}
			if len(got) != len(c.want) {
				t.Fatalf("facts %q, want %q", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("fact %s, want %s", got[i], c.want[i])
				}
			}
			opt.Prove(k, &opt.Facts{Index: facts})
			proved := 0
			k.Body.Walk(func(in *ir.Instr) {
				for i := range in.NumIndices() {
					proved += int(in.Proved >> i & 1)
				}
			})
			if proved < len(facts) {
				t.Errorf("%d facts prove %d checks", len(facts), proved)
			}
		})
	}
}

func TestIndexFactHolds(t *testing.T) {
	size := opt.Term{Kind: opt.TermSize}
	n := opt.Term{Kind: opt.TermScalar, Name: "n"}
	f := opt.IndexFact{Buffer: "x", Most: opt.Bound{{-1, nil}, {1, []opt.Term{size, n}}}, Fits: []opt.Bound{{{1, []opt.Term{n, n}}}}, Counts: []string{"n"}}
	for _, c := range []struct {
		size, n, extent int64
		want            bool
	}{
		{4, 3, 12, true}, {4, 3, 11, false}, {4, -3, 12, false}, {4, 0, 1, true}, {1, 46340, 1 << 30, true}, {1, 46341, 1 << 31, false},
		{1 << 40, 1 << 40, 1, false}, {math.MaxInt64, 2, math.MaxInt64, false},
	} {
		value := func(t opt.Term) int64 {
			switch t.Kind {
			case opt.TermSize:
				return c.size
			case opt.TermScalar:
				return c.n
			}
			return c.extent
		}
		got := f.Holds(value)
		f := f
		f.Buffer, f.Extent = "", int(c.extent)
		if f.Holds(value) != got {
			t.Errorf("size %d, n %d: the number %d makes a difference", c.size, c.n, c.extent)
		}
		if got != c.want {
			t.Errorf("size %d, n %d, extent %d: holds %v", c.size, c.n, c.extent, got)
		}
	}
}
