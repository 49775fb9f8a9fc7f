package arrayjs

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/array"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
)

// constructors returns the methods of devices.
func constructors() []constructor {
	return []constructor{
		lists(),
		{Entry: bindings.NewMethod("zeros", "Returns a buffer of zeros.", "<T, const E extends Extents>(type: Type<T>, shape: E, options?: ArrayOptions): Buffer<T, Rank<E>>"),
			run: func(c *call) (array.Array, error) { return c.filled(2, nil) }},
		{Entry: bindings.NewMethod("ones", "Returns a buffer of ones.", "<T, const E extends Extents>(type: Type<T>, shape: E, options?: ArrayOptions): Buffer<T, Rank<E>>"),
			run: func(c *call) (array.Array, error) { return c.filled(2, c.Engine().VM().ToValue(1)) }},
		{Entry: bindings.NewMethod("full", "Returns a buffer in which every element has the same value.", "<T, const E extends Extents>(type: Type<T>, shape: E, value: Input<T>, options?: ArrayOptions): Buffer<T, Rank<E>>"),
			run: func(c *call) (array.Array, error) { return c.filled(3, c.arg(2)) }},
		{Entry: bindings.NewMethod("eye", "Returns a matrix with ones in a diagonal and zeros elsewhere. The diagonal begins at column k, by default 0, or at row −k for a negative k. The default of columns is rows.", "<T>(type: Type<T>, rows: number, columns?: number, k?: number, options?: ArrayOptions & { k?: number }): Buffer<T, 2>", "<T>(type: Type<T>, rows: number, options: ArrayOptions & { k?: number }): Buffer<T, 2>"),
			options: []string{"k"}, run: (*call).eye},
		{Entry: bindings.NewMethod("arange", "Returns the numbers from + i * step, for i = 0, 1, …, that are below to, or above it for a negative step. Rounding may add one that is not. The default step is 1. With one number, they begin at 0.", "<T>(type: Type<T>, to: number, options?: ArrayOptions): Buffer<T, 1>", "<T>(type: Type<T>, from: number, to: number, step?: number, options?: ArrayOptions): Buffer<T, 1>"),
			run: (*call).arange},
		{Entry: bindings.NewMethod("linspace", "Returns count numbers of a float type at equal distances, of which the first is from and the last is to. A count of 1 is from alone.", "<T>(type: Type<T>, from: number, to: number, count: number, options?: ArrayOptions): Buffer<T, 1>"),
			run: func(c *call) (array.Array, error) {
				c.most(4)
				t, from, to, count := c.scalarType(c.arg(0)), c.number("from", c.arg(1)), c.number("to", c.arg(2)), c.integer("count", c.arg(3))
				if c.err == nil && count < 0 {
					c.fail("count is %d; it must be 0 or more", count)
				}
				if err := finiteRange(t, from, to); c.err == nil && err != nil {
					c.fail("%v", err)
				}
				if c.err != nil {
					return array.Array{}, c.err
				}
				return c.Linspace(t, from, to, count)
			}},
		{Entry: bindings.NewMethod("random", "Returns random numbers of the uniform distribution over [from, to), by default [0, 1). Float types round the options from and to. Integer types need the option to. Booleans ignore both options, and are true with probability 1/2. Element i is a function of the seed, the range and i, with the same bits on every device. For f32, [0, 1) and a seed below 2**32, it is random(seed, 0, i) of the module 'kernels'. Without a seed each call uses a different one.", "<T, const E extends Extents>(type: Type<T>, shape: E, options?: RandomOptions): Buffer<T, Rank<E>>"),
			options: []string{"seed", "from", "to"}, run: (*call).random},
		{Entry: bindings.NewMethod("normal", "Returns random numbers of a float type of the normal distribution, by default with mean 0 and standard deviation 1. Element i is a function of the seed, the options and i. Without a seed each call uses a different one.", "<T, const E extends Extents>(type: Type<T>, shape: E, options?: NormalOptions): Buffer<T, Rank<E>>"),
			options: []string{"seed", "mean", "deviation"}, run: func(c *call) (array.Array, error) {
				c.oneShape(2)
				t, dims, seed := c.scalarType(c.arg(0)), c.shape(c.arg(1)), c.seed()
				mean, deviation := c.numberOption("mean", 0), c.numberOption("deviation", 1)
				if c.err == nil && !(math.Abs(mean) <= math.MaxFloat64 && deviation >= 0 && deviation <= math.MaxFloat64) {
					c.fail("mean %s and deviation %s are not those of a normal distribution", scalar.Text(mean), scalar.Text(deviation))
				}
				if c.err != nil {
					return array.Array{}, c.err
				}
				return c.Normal(t, dims, seed, mean, deviation)
			}},
		{Entry: bindings.NewMethod("permutation", "Returns the integers from 0 to n - 1, as i32, in a random order, which is a function of n and the seed. Without a seed each call uses a different one. x.take(d.permutation(n, { seed: 1 }), 0) shuffles the n rows of x.", "(n: number, options?: ArrayOptions & { seed?: number }): Buffer<'i32', 1>"),
			options: []string{"seed"}, run: (*call).permutation},
	}
}

// permutation makes an array of the numbers from 0 to n−1 in a random order.
func (c *call) permutation() (array.Array, error) {
	c.most(1)
	n, seed := c.integer("the number of elements", c.arg(0)), c.seed()
	if c.err == nil && (n < 0 || n > math.MaxInt32) {
		c.fail("the number of elements is %d; it must be 0 to %d", n, math.MaxInt32)
	}
	if c.err != nil {
		return array.Array{}, c.err
	}
	return c.Permutation(n, seed)
}

// filled makes an array of one value from at most n arguments; nil is zero.
func (c *call) filled(n int, v goja.Value) (array.Array, error) {
	c.oneShape(n)
	t, dims, bits := c.scalarType(c.arg(0)), c.shape(c.arg(1)), uint64(0)
	if v != nil && c.err == nil {
		bits = c.bits("the value", t, v)
	}
	if c.err != nil {
		return array.Array{}, c.err
	}
	return c.Full(t, dims, bits)
}

func (c *call) eye() (array.Array, error) {
	c.most(4)
	t, rows := c.scalarType(c.arg(0)), c.integer("rows", c.arg(1))
	columns, k := rows, 0
	if c.has(2) {
		columns = c.integer("columns", c.arg(2))
	}
	if c.has(3) {
		k = c.integer("k", c.arg(3))
	} else if v := c.option("k"); v != nil {
		k = c.integer("k", v)
	}
	if c.err == nil && (k > math.MaxInt32 || k < math.MinInt32) {
		c.failHint("the diagonal begins at column k, or at row −k", "k is %d; it must have 32 bits", k)
	}
	if c.err == nil && (rows < 0 || columns < 0) {
		c.fail("the extents %d and %d must be 0 or more", rows, columns)
	}
	if c.err != nil {
		return array.Array{}, c.err
	}
	return c.Eye(t, rows, columns, k)
}

func (c *call) arange() (array.Array, error) {
	c.most(4)
	t, from, to, step := c.scalarType(c.arg(0)), 0.0, c.number(map[bool]string{true: "from", false: "to"}[c.has(2)], c.arg(1)), 1.0
	if c.has(2) {
		from, to = to, c.number("to", c.arg(2))
	}
	if c.has(3) {
		step = c.number("step", c.arg(3))
	}
	if c.err != nil {
		return array.Array{}, c.err
	}
	return c.Arange(t, from, to, step)
}

// seed returns the option seed, or a random one.
func (c *call) seed() uint64 {
	v := c.option("seed")
	if v == nil {
		return rand.Uint64() >> 11
	}
	n := c.integer("seed", v)
	if c.err == nil && n < 0 {
		c.fail("seed is %d; it must be an integer from 0 to 2**53", n)
	}
	return uint64(n)
}

func (c *call) random() (array.Array, error) {
	c.oneShape(2)
	t, dims, seed := c.scalarType(c.arg(0)), c.shape(c.arg(1)), c.seed()
	missing := 1.0
	if t.IsInt() {
		missing = math.NaN()
	}
	from, to := c.numberOption("from", 0), c.numberOption("to", missing)
	if c.err != nil {
		return array.Array{}, c.err
	}
	if t == ir.Bool {
		from, to = 0, 1
	}
	if err := finiteRange(t, from, to); err != nil {
		c.fail("%v", err)
		return array.Array{}, c.err
	}
	if low, end := rangeOf(t); t.IsInt() && (from < low || to > end) {
		c.fail("the range [%s, %s) has numbers that are none of %s", scalar.Text(from), scalar.Text(to), t)
		return array.Array{}, c.err
	}
	return c.Random(t, dims, seed, from, to)
}

// finiteRange returns an error unless from and to are finite in the float type t. So must be their difference in the type that
// the device computes with. For other types it returns nil.
func finiteRange(t ir.Type, from, to float64) error {
	infinite := func(t ir.Type, x float64) bool { return math.IsNaN(x) || math.IsInf(scalar.Towards(t, x, x), 0) }
	if t.IsFloat() && (infinite(array.MeanType(t), to-from) || infinite(t, from) || infinite(t, to)) {
		return fmt.Errorf("from %s to %s is no range of finite length in %s", scalar.Text(from), scalar.Text(to), t)
	}
	return nil
}
