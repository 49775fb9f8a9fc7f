package opt

import (
	"flag"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/tests/golden"
)

// TestRanges computes the result interval of every operation from operand intervals. For sample operands the result must be in
// its interval and satisfy the bounds. Checksums in testdata/ranges.golden detect intervals that become wider.
func TestRanges(t *testing.T) {
	const file = "testdata/ranges.golden"
	var got strings.Builder
	for _, typ := range []ir.Type{ir.I32, ir.U32, ir.I64} {
		for op := ir.Const + 1; op < ir.Unreachable; op++ {
			for _, from := range []ir.Type{ir.I32, ir.U32, ir.I64} {
				if line := rangesOf(t, op, from, typ); line != "" {
					got.WriteString(line + "\n")
				}
			}
		}
	}
	golden.Compare(t, file, got.String(), flag.Lookup("update").Value.String() == "true")
}

// intervalsOf returns intervals of a type around its special values.
func intervalsOf(t ir.Type) (list []interval) {
	all := full(t)
	ends := []int64{all.lo, -5, -1, 0, 1, 3, 32, math.MaxInt32 - 1, all.hi}
	ends = slices.DeleteFunc(ends, func(n int64) bool { return n < all.lo })
	for i, lo := range ends {
		for _, hi := range ends[i:] {
			list = append(list, interval{lo, hi})
		}
	}
	return list
}

// sample returns some values of an interval.
func sample(r interval) []int64 {
	list := []int64{r.lo, r.hi}
	for _, n := range []int64{r.lo + 1, r.hi - 1, 0, 1, -1, 3, r.lo/2 + r.hi/2} {
		if n >= r.lo && n <= r.hi {
			list = append(list, n)
		}
	}
	return list
}

// rangesOf computes the intervals of an operation for an operand type and a result type. It returns "" if no such operation
// exists.
func rangesOf(t *testing.T, op ir.Op, from, to ir.Type) string {
	k := &ir.Kernel{Body: &ir.Block{}}
	a, b := k.NewValue(from, nil), k.NewValue(from, nil)
	one, two := op >= ir.Neg && op <= ir.Popcnt || op >= ir.Convert && op <= ir.Bitcast, op >= ir.Add && op <= ir.Shr
	counts := op == ir.Clz || op == ir.Ctz || op == ir.Popcnt
	switch {
	case !one && !two, op > ir.Abs && op < ir.Clz, two && from != to, counts && to != ir.I32, op <= ir.Abs && from != to, op == ir.Sat,
		op == ir.Bitcast && from.Size() != to.Size():
		return ""
	}
	args := []*ir.Value{a, b}[:1]
	others := []interval{{}}
	if two {
		args, others = []*ir.Value{a, b}, intervalsOf(from)
	}
	p := newProver(k, nil)
	var text strings.Builder
	n := 0
	check := func(in *ir.Instr, x, y interval, second *ir.Value) {
		p.begin(termOf(a), x)
		p.begin(termOf(b), y)
		r, bounds := p.result(in, to)
		n++
		fmt.Fprintln(&text, x, y, r, len(bounds))
		for _, i := range sample(x) {
			for _, j := range sample(y) {
				values := []uint64{ir.IntBits(from, i), ir.IntBits(from, j)}[:len(in.Args)]
				bits, ok := scalar.Eval(in, values...)
				if !ok {
					continue // a division by zero
				}
				v := signedOf(to, bits)
				if v < r.lo || v > r.hi {
					t.Fatalf("%v of %v: %d in %v and %d in %v give %d, which is not in %v", op, from, i, x, j, y, v, r)
				}
				for _, bound := range bounds {
					of := i
					if bound.of == termOf(second) && second != a {
						of = j
					}
					if at, ok := addOK(of, bound.plus); ok && v > at {
						t.Fatalf("%v of %v: %d in %v and %d in %v give %d, which is more than %d + %d", op, from, i, x, j, y, v, of, bound.plus)
					}
				}
			}
		}
	}
	result := k.NewValue(to, nil)
	for _, x := range intervalsOf(from) {
		for _, y := range others {
			check(&ir.Instr{Op: op, Args: args, Results: []*ir.Value{result}}, x, y, b)
			if two && y.lo == y.hi {
				c := k.NewValue(from, &ir.Instr{Op: ir.Const, Bits: ir.IntBits(from, y.lo)})
				check(&ir.Instr{Op: op, Args: []*ir.Value{a, c}, Results: []*ir.Value{result}}, x, y, c)
			}
		}
	}
	return fmt.Sprintf("%v %v → %v: %d intervals #%08x", op, from, to, n, crc32.ChecksumIEEE([]byte(text.String())))
}

func signedOf(t ir.Type, bits uint64) int64 {
	switch t {
	case ir.I32:
		return int64(int32(bits))
	case ir.U32:
		return int64(uint32(bits))
	}
	return int64(bits)
}
