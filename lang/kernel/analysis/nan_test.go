package analysis

import (
	"math"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
)

// floatSets returns sets of floats around the values for which operations return NaN.
func floatSets(t ir.Type) (list []floats) {
	most := math.MaxFloat64
	if t == ir.F32 {
		most = math.MaxFloat32
	}
	ends := []float64{math.Inf(-1), -most, -1.5, 0, 0.1, 3, most, math.Inf(1)}
	for i, lo := range ends {
		for _, hi := range ends[i:] {
			for _, nan := range []bool{false, true} {
				list = append(list, floats{roundTo(t, lo), roundTo(t, hi), nan, nan, true})
			}
		}
	}
	return list
}

// members returns some values of a set, including both zeros and NaNs.
func (r floats) members() (list []float64) {
	for _, x := range []float64{r.lo, r.hi, 0, math.Copysign(0, -1), 1, -1, 0.5, 2, math.SmallestNonzeroFloat32, math.MaxFloat32, -math.MaxFloat32, 3e38} {
		if r.has(x) {
			list = append(list, x)
		}
	}
	if r.nan {
		list = append(list, math.NaN())
	}
	return list
}

// TestFloatSets computes the result set of every operation on sets of floats, and checks that it contains the results for
// sample operands.
func TestFloatSets(t *testing.T) {
	neverNaN := 0
	for _, typ := range []ir.Type{ir.F32, ir.F64} {
		sets := floatSets(typ)
		k := &ir.Kernel{Body: &ir.Block{}}
		a, b, c := k.NewValue(typ, nil), k.NewValue(typ, nil), k.NewValue(typ, nil)
		n := &NaNs{NewValues[floats](k)}
		check := func(in *ir.Instr, sets ...floats) {
			for i, v := range []*ir.Value{a, b, c}[:len(sets)] {
				n.ranges.Set(v, sets[i])
			}
			r := n.result(in, in.Results[0].Type)
			if !r.nan {
				neverNaN++
			}
			var args [3]uint64
			var each func(i int)
			each = func(i int) {
				if i < len(sets) {
					for _, x := range sets[i].members() {
						args[i] = ir.FloatBits(typ, x)
						if y := floatOf(typ, args[i]); x == x && !sets[i].has(y) {
							continue
						}
						each(i + 1)
					}
					return
				}
				given := args[:len(sets)]
				if in.Op < ir.Clz || in.Op == ir.Quant || in.Op == ir.Convert {
					given = args[:1]
				} else if len(in.Args) == 2 && in.Args[0] == in.Args[1] {
					given = []uint64{args[0], args[0]}
				}
				bits, ok := scalar.Eval(in, given...)
				if !ok {
					t.Fatalf("%v has no value", in.Op)
				}
				if x := floatOf(in.Results[0].Type, bits); x != x && !r.nan || x == x && !r.has(x) {
					t.Fatalf("%v of %v in %v is %v, which is not in %v", in.Op, given, sets, x, r)
				}
			}
			each(0)
		}
		make := func(op ir.Op, elem, to ir.Type, args ...*ir.Value) *ir.Instr {
			return &ir.Instr{Op: op, Elem: elem, Args: args, Results: []*ir.Value{k.NewValue(to, nil)}}
		}
		for _, x := range sets {
			for _, op := range []ir.Op{ir.Neg, ir.Abs, ir.Sqrt, ir.Floor, ir.Ceil, ir.Trunc, ir.Round, ir.Rint} {
				check(make(op, 0, typ, a), x)
			}
			check(make(ir.Convert, 0, ir.F32, a), x)
			check(make(ir.Convert, 0, ir.F64, a), x)
			check(make(ir.Quant, typ, typ, a), x)
			if typ == ir.F32 {
				check(make(ir.Quant, ir.F16, typ, a), x)
				check(make(ir.Quant, ir.BF16, typ, a), x)
			}
			check(make(ir.Mul, 0, typ, a, a), x)
			check(make(ir.Sub, 0, typ, a, a), x)
			check(make(ir.Div, 0, typ, a, a), x)
			for j, y := range sets {
				for _, op := range []ir.Op{ir.Add, ir.Sub, ir.Mul, ir.Div, ir.Rem, ir.Min, ir.Max} {
					check(make(op, 0, typ, a, b), x, y)
				}
				if z := sets[(7*j+3)%len(sets)]; j%3 == 0 {
					check(make(ir.FMA, 0, typ, a, b, c), x, y, z)
				}
			}
		}
	}
	if neverNaN < 5000 {
		t.Errorf("only %d results are never NaN", neverNaN)
	}
	t.Logf("%d results are never NaN", neverNaN)
}
