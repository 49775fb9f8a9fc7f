package arrayjs

import (
	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/array"
	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/runtime/offload"
)

// matrices returns the methods of vectors and matrices.
func matrices() []method {
	return []method{
		{Entry: bindings.NewMethod("matmul", "Returns the product of matrices of one type other than bool. A buffer of three dimensions is a list of matrices; the lists have equal lengths, or one has the length 1. A buffer of one dimension is a row on the left and a column on the right. Each element is a sum in the order of the inner index, in the type that kernels compute with. The product of two vectors is a promise of a number, or of a BigInt for i64 and u64. using: 'openblas' selects the system's OpenBLAS, for f32 and f64 on the CPU, and needs the permission for native code. Its bits differ between machines, and a time limit acts only between its calls.", "<Q extends number>(other: Buffer<any, Q>, options?: ArrayOptions & { using?: 'openblas' }): Product<R, Q>"),
			options: []string{"using"}, run: matmul},
		{Entry: bindings.NewMethod("dot", "Returns a promise of the sum of the products of the elements of two vectors, in the types of sum. If one of the buffers has more than one dimension, dot returns the product of matmul.", "<Q extends number>(other: Buffer<any, Q>, options?: ArrayOptions): Product<R, Q>"),
			run: func(c *call, x array.Array) (goja.Value, error) { return c.product(x, (*array.Run).Dot) }},
		{Entry: bindings.NewMethod("outer", "Returns the matrix of the products of the elements of this buffer, one for each row, and of another one, one for each column. Both are taken in row-major order.", "(other: Buffer, options?: ArrayOptions): Buffer<any, 2>"),
			run: func(c *call, x array.Array) (goja.Value, error) {
				c.most(1)
				other := c.buffer("the other operand", c.arg(0))
				if c.err != nil {
					return nil, c.err
				}
				return c.result(c.Outer(x, other))
			}},
		{Entry: bindings.NewMethod("trace", "Returns a promise of the sum of a diagonal of a matrix, in the types of sum. It begins at column k, by default 0, or at row −k for a negative k.", "(k?: number, options?: ArrayOptions): Promise<Total<T>>", "(options: ArrayOptions): Promise<Total<T>>"),
			run: func(c *call, x array.Array) (goja.Value, error) {
				c.most(1)
				k := 0
				if c.has(0) {
					k = c.integer("k", c.arg(0))
				}
				if c.err != nil {
					return nil, c.err
				}
				a, err := c.Trace(x, k)
				return c.value(a, err, x.Elem.Scalar.Size() < 8)
			}},
		{Entry: bindings.NewMethod("norm", "Computes the square root of the sum of the squares, in the types of mean. The norm of no elements is 0. An axis, or an array of axes, selects what is reduced, all axes by default. The result is a buffer of the other axes. If there are none, it is a promise of the value. With keepDims the result is always a buffer, in which the reduced axes have the extent 1.", reducedAxes("number")...),
			joins: true, options: []string{"axis", "keepDims"}, run: func(c *call, x array.Array) (goja.Value, error) {
				c.most(1)
				return c.reduce(x, 0, (*array.Run).Norm)
			}},
	}
}

// matmul multiplies matrices by kernels, or by the library that the caller names.
func matmul(c *call, x array.Array) (goja.Value, error) {
	v := c.option("using")
	if v == nil {
		return c.product(x, (*array.Run).MatMul)
	}
	if s, ok := v.(goja.String); !ok || s.String() != "openblas" {
		c.failHint("write { using: 'openblas' }, or leave it out for orepl's own kernels", "using must be 'openblas', not %s", convert.Describe(v))
		return nil, c.err
	}
	if why := c.Engine().AllowNative("OpenBLAS"); why != nil {
		return nil, offload.Errorf(offload.PermissionDenied, c.op, "the script may not load native code such as OpenBLAS: %v", why).WithHint("leave { using } out")
	}
	return c.product(x, (*array.Run).MatMulByOpenBLAS)
}

// product returns a product: a buffer, or of two vectors a promise of a number.
func (c *call) product(x array.Array, fn func(r *array.Run, a, b array.Array) (array.Array, error)) (goja.Value, error) {
	c.most(1)
	other := c.buffer("the other operand", c.arg(0))
	if c.err != nil {
		return nil, c.err
	}
	a, err := fn(c.Run, x, other)
	if err == nil && len(x.Dims()) == 1 && len(other.Dims()) == 1 {
		return c.value(a, err, x.Elem.Scalar.Size() < 8)
	}
	return c.result(a, err)
}
