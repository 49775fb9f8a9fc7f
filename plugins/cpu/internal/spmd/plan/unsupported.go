package plan

import (
	"fmt"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// UnsupportedError describes a part of a kernel that the compiler does not support.
type UnsupportedError struct {
	Kernel string
	Site   int // the position in [ir.Kernel.Sites]; 0 if the cause is not one operation
	What   string
}

// Error returns the message.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("kernel %s: not compiled to vector code: %s", e.Kernel, e.What)
}

// FastRsqrt is the function of the device library that package values expands itself.
const FastRsqrt = "fast.rsqrt"

// Supported returns an [*UnsupportedError] if an operation or function of a kernel is not supported in any variant.
func Supported(k *ir.Kernel) error {
	var err error
	k.Body.Walk(func(in *ir.Instr) {
		switch {
		case err != nil:
		case !lowered(in.Op):
			err = &UnsupportedError{Kernel: k.Name, Site: in.Site, What: in.Op.String()}
		case in.Op == ir.Math && (in.Fn != FastRsqrt || in.Type() != ir.F32):
			err = &UnsupportedError{Kernel: k.Name, Site: in.Site, What: fmt.Sprintf("the function %s of %v", in.Fn, in.Type())}
		}
	})
	return err
}

// lowered reports whether package grid, or isel with the packages below it, lowers an operation.
func lowered(op ir.Op) bool {
	switch op {
	case ir.Const, ir.Neg, ir.Not, ir.Abs, ir.Sqrt, ir.Floor, ir.Ceil, ir.Trunc, ir.Round, ir.Rint, ir.Clz, ir.Ctz, ir.Popcnt,
		ir.Add, ir.Sub, ir.Mul, ir.Div, ir.Rem, ir.Min, ir.Max, ir.MulHi, ir.And, ir.Or, ir.Xor, ir.Shl, ir.Shr, ir.FMA, ir.Select,
		ir.Eq, ir.Ne, ir.Lt, ir.Le, ir.Convert, ir.Sat, ir.Wrap, ir.Bitcast, ir.Quant, ir.Math,
		ir.Load, ir.Store, ir.Atomic, ir.Zero, ir.Extent,
		ir.Item, ir.Barrier, ir.Reduce, ir.Scan, ir.Subgroup, ir.Uniform,
		ir.Print, ir.Assert, ir.Call, ir.Fence, ir.Clock, ir.Pause,
		ir.Region, ir.If, ir.Loop, ir.Yield, ir.Break, ir.Continue, ir.Return, ir.Unreachable:
		return true
	}
	return false
}

// Ordered reports whether an operation must keep its place in program order. Transformations that reorder accesses or items
// skip kernels or loops with such operations.
func Ordered(op ir.Op) bool {
	switch op {
	case ir.Print, ir.Call, ir.Fence, ir.Clock, ir.Pause:
		return true
	}
	return false
}

// maxFrame is the maximum size of a gang's frame in bytes.
const maxFrame = 16 << 20

// Supported returns an [*UnsupportedError] if this variant cannot be compiled. It cannot if its gangs need too much memory, or
// if a one-gang group has a reduction with a non-uniform result.
func (a *Analysis) Supported() error {
	if y := a.LayOut(); y.Frame > maxFrame {
		bytes := 0
		for _, array := range a.Kernel.Arrays {
			if array.Space == ir.Private {
				bytes += array.Bytes()
			}
		}
		return &UnsupportedError{Kernel: a.Kernel.Name, What: fmt.Sprintf("%d bytes of private arrays", bytes)}
	}
	if !a.Spec.IsOneGang() {
		return nil
	}
	var err error
	a.Kernel.Body.Walk(func(in *ir.Instr) {
		if in.Op == ir.Reduce && !a.IsUniform(in.Result()) {
			err = &UnsupportedError{Kernel: a.Kernel.Name, Site: in.Site, What: "a reduction with a non-uniform result"}
		}
	})
	return err
}
