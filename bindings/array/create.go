package array

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/runtime/offload"
)

// elements returns the number of elements of a shape, or an error if it is too large for a launch along x.
func (r *Run) elements(dims []int) (int, error) {
	n := product(dims)
	if n > math.MaxInt32 {
		return 0, r.fail(offload.InvalidSize, "the shape %s has %d elements, more than %d", Shape(dims), n, math.MaxInt32).
			WithHint("make several arrays")
	}
	return n, nil
}

// create makes an array whose element i the text computes, as in "out[g.x] = …".
func (r *Run) create(op string, t ir.Type, dims []int, text string, bind func(*program), args ...arg) (Array, error) {
	end, err := r.begin(op)
	if err != nil {
		return Array{}, err
	}
	defer end()
	n, err := r.elements(dims)
	if err != nil {
		return Array{}, err
	}
	out, err := r.make(t, dims)
	if err != nil {
		return Array{}, err
	}
	flat, err := r.flat(out)
	if err == nil && n > 0 {
		p := &program{name: op, text: text, real: realFor(t)}
		p.with("upper", "(a, b) => Math.mulhi(u32(a), u32(b))")
		if bind != nil {
			bind(p)
		}
		err = r.launch(p, []int{n}, nil, append([]arg{in(flat)}, args...)...)
	}
	if err != nil {
		_ = out.Free() // the error takes precedence
		return Array{}, err
	}
	return out, nil
}

// Full returns an array whose elements all have one value, in bits.
func (r *Run) Full(t ir.Type, dims []int, bits uint64) (Array, error) {
	end, err := r.begin("full")
	if err != nil {
		return Array{}, err
	}
	defer end()
	out, err := r.make(t, dims)
	if err != nil {
		return Array{}, err
	}
	pattern := binary.LittleEndian.AppendUint64(nil, bits)[:t.Size()]
	if err := r.Queue.Fill(out.Buffer, pattern); err != nil {
		_ = out.Free() // the error takes precedence
		return Array{}, err
	}
	r.records.filled(out.Buffer, pattern)
	return out, nil
}

// Eye returns a matrix with ones in a diagonal, which begins at column k, or at row −k if k is negative.
func (r *Run) Eye(t ir.Type, rows, columns, k int) (Array, error) {
	text := "(g, out, columns, k) => { out[g.x] = i64((g.x / columns) | 0) + i64(k) === i64(g.x % columns) ? 1 : 0 }"
	if is64(t) {
		text = fmt.Sprintf("(g, out, columns, k) => { out[g.x] = i64((g.x / columns) | 0) + i64(k) === i64(g.x %% columns) ? %[1]s(1) : %[1]s(0) }", t)
	}
	return r.create("eye", t, []int{rows, columns}, text, nil, i32(columns), i32(k))
}

func is64(t ir.Type) bool { return t == ir.I64 || t == ir.U64 }

// Arange returns the numbers from + i × step that are less than to, or greater for a negative step. The step 0, numbers without
// an end, more than 2³¹−1 numbers, and numbers beyond an integer type are errors.
func (r *Run) Arange(t ir.Type, from, to, step float64) (Array, error) {
	count := math.Ceil((to - from) / step)
	switch {
	case step == 0 || math.IsNaN(count) || math.IsInf(count, 0):
		return Array{}, offload.Errorf(offload.InvalidArgument, "arange", "the numbers from %s to %s in steps of %s have no end", scalar.Text(from), scalar.Text(to), scalar.Text(step)).
			WithHint("write arange(type, from, to, step) with finite numbers and a step that is not 0")
	case count > math.MaxInt32:
		return Array{}, offload.Errorf(offload.InvalidSize, "arange", "%.0f elements are more than %d", count, math.MaxInt32)
	}
	n := []int{int(max(count, 0))}
	if last := from + (count-1)*step; count > 0 && t.IsInt() {
		for _, x := range []float64{from, last} {
			least, greatest := scalar.Integers(t)
			if n := big.NewFloat(x); n.Cmp(new(big.Float).SetInt(least)) < 0 || n.Cmp(new(big.Float).SetInt(greatest)) > 0 {
				return Array{}, offload.Errorf(offload.InvalidArgument, "arange", "the numbers from %s to %s are not in the range of %s: %v to %v", scalar.Text(from), scalar.Text(last), t, least, greatest).
					WithHint("take a wider type, as in arange(i32, …)")
			}
		}
	}
	if t.IsFloat() || from != math.Trunc(from) || step != math.Trunc(step) {
		v, convert := MeanType(t), ""
		if t.IsInt() {
			convert = t.Value().String()
		}
		return r.create("arange", t, n, fmt.Sprintf("(g, out, from, step) => { const moved = g.x * step; out[g.x] = %s(from + moved) }", convert), nil, number(v, numberBits(v, from)), number(v, numberBits(v, step)))
	}
	convert := "i32"
	if is64(t) {
		convert = t.String()
	}
	return r.create("arange", t, n, "(g, out, from, step) => { out[g.x] = "+convert+"(from + i64(g.x) * step) }", nil,
		number(ir.I64, scalar.IntegerBits(from)), number(ir.I64, scalar.IntegerBits(step)))
}

// Linspace returns count numbers of a float type at equal distances. The first is from, and of several the last is to. The product of
// an index and the step is rounded before it is added, so that sums that should be 0 are.
func (r *Run) Linspace(t ir.Type, from, to float64, count int) (Array, error) {
	if !t.IsFloat() {
		return Array{}, offload.Errorf(offload.InvalidArgument, "linspace", "the type is %s; it must be a float type", t).WithHint("write linspace(f32, from, to, count), or arange for integers")
	}
	v := MeanType(t)
	step := 0.0
	if count > 1 {
		step = (to - from) / float64(count-1)
	}
	return r.create("linspace", t, []int{count}, "(g, out, from, to, step) => { const moved = g.x * step; out[g.x] = g.x > 0 && g.x === out.length - 1 ? to : from + moved }", nil,
		number(v, numberBits(v, from)), number(v, numberBits(v, to)), number(v, numberBits(v, step)))
}

// words is the text that computes four random words from the seed and the element's index.
const words = "const [w0, w1, w2, w3] = philox(g.x, 0, 0, 0, seed, seedHigh); "

// Random returns numbers of the uniform distribution over [from, to). Floats have as many random bits as the type has
// precision. They round from and to, whose difference must be finite in the type. Integers need integers from and to, with
// from < to and a difference of at most 2⁵³. Values that t does not hold wrap. Booleans are true with a probability of one half,
// whatever from and to are. Element i is a function of the seed and i, by the generator Philox.
func (r *Run) Random(t ir.Type, dims []int, seed uint64, from, to float64) (Array, error) {
	seeds := []arg{u32(uint32(seed)), u32(uint32(seed >> 32))}
	unit := map[ir.Type]string{
		ir.F16: "(w0 >>> 21) * 0.00048828125", ir.BF16: "(w0 >>> 24) * 0.00390625", ir.F32: "(w0 >>> 8) * 5.9604644775390625e-8",
		ir.F64: "(f64(w0 >>> 5) * 67108864 + (w1 >>> 6)) * 1.1102230246251565e-16",
	}[t]
	switch {
	case t == ir.Bool:
		return r.create("random", t, dims, "(g, out, seed, seedHigh) => { "+words+"out[g.x] = (w0 >>> 31) === 1 }", nil, seeds...)
	case t.IsFloat() && from == 0 && to == 1:
		return r.create("random", t, dims, "(g, out, seed, seedHigh) => { "+words+"out[g.x] = "+unit+" }", nil, seeds...)
	case t.IsFloat():
		v, limit := MeanType(t), "min" // a sum that rounds to the end of the range becomes the number before it
		if to < from {
			limit = "max"
		}
		return r.create("random", t, dims, "(g, out, seed, seedHigh, from, range, last) => { "+words+"out[g.x] = Math."+limit+"(from + "+unit+" * range, last) }", nil,
			append(seeds, number(v, numberBits(v, from)), number(v, numberBits(v, to-from)), number(v, numberBits(v, scalar.Towards(t, to, from))))...)
	}
	if from != math.Trunc(from) || to != math.Trunc(to) || !(to > from) || to-from > 1<<53 {
		return Array{}, offload.Errorf(offload.InvalidArgument, "random", "integers need a range of integers, not [%s, %s)", scalar.Text(from), scalar.Text(to)).
			WithHint("write random(%s, shape, { from: 0, to: 100, seed: 1 })", t)
	}
	convert := "i32"
	if is64(t) {
		convert = t.String()
	}
	text := "out[g.x] = " + convert + "(from + i64(Math.mulhi((u64(w0) << 32n) | u64(w1), range))) }"
	return r.create("random", t, dims, "(g, out, seed, seedHigh, from, range) => { "+words+text, nil,
		append(seeds, number(ir.I64, scalar.IntegerBits(from)), number(ir.U64, uint64(to-from)))...)
}

// Normal returns numbers of the normal distribution, of the float type t. Element i is a function of the seed and i; see Box and
// Muller, "A note on the generation of random normal deviates", 1958.
func (r *Run) Normal(t ir.Type, dims []int, seed uint64, mean, deviation float64) (Array, error) {
	if !t.IsFloat() {
		return Array{}, offload.Errorf(offload.InvalidArgument, "normal", "the type is %s; it must be a float type", t).WithHint("write normal(f32, shape)")
	}
	v := MeanType(t)
	u, angle := "((w0 >>> 8) + 1) * 5.9604644775390625e-8", "(w1 >>> 8) * 5.9604644775390625e-8"
	if v == ir.F64 {
		u, angle = "(f64(w0 >>> 5) * 67108864 + (w1 >>> 6) + 1) * 1.1102230246251565e-16", "(f64(w2 >>> 5) * 67108864 + (w3 >>> 6)) * 1.1102230246251565e-16"
	}
	text := fmt.Sprintf("(g, out, seed, seedHigh, mean, deviation) => { %sout[g.x] = mean + Math.sqrt(-2 * Math.log(%s)) * Math.cos(6.283185307179586 * (%s)) * deviation }", words, u, angle)
	return r.create("normal", t, dims, text, nil, u32(uint32(seed)), u32(uint32(seed>>32)), number(v, numberBits(v, mean)), number(v, numberBits(v, deviation)))
}
