package spmd

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/oracle"
)

// saxpy returns the kernel y[i] = a·x[i] + y[i].
func saxpy() *ir.Kernel {
	f32 := ir.Elem{Scalar: ir.F32}
	x := &ir.Array{Name: "x", Elem: f32, Rank: 1}
	y := &ir.Array{Name: "y", Elem: f32, Rank: 1, ID: 1}
	k := &ir.Kernel{Name: "saxpy", Real: ir.F32, Arrays: []*ir.Array{x, y}, Body: &ir.Block{}, Sites: []ir.Site{{Line: 1, Col: 1}}}
	a := k.NewValue(ir.F32, nil)
	k.Body.Params = []*ir.Value{a}
	k.Params = []ir.Param{{Name: "a", Type: ir.F32}, {Name: "x", Array: x}, {Name: "y", Array: y}}
	b := ir.Builder{Kernel: k, Block: k.Body}
	i := b.Emit(&ir.Instr{Op: ir.Item, Item: ir.GlobalID}, ir.I32)
	path := []ir.Step{{}}
	xi := b.Emit(&ir.Instr{Op: ir.Load, Array: x, Path: path, Args: []*ir.Value{i}}, ir.F32)
	yi := b.Emit(&ir.Instr{Op: ir.Load, Array: y, Path: path, Args: []*ir.Value{i}}, ir.F32)
	r := b.Op(ir.FMA, ir.F32, a, xi, yi)
	b.Emit(&ir.Instr{Op: ir.Store, Array: y, Path: path, Args: []*ir.Value{i, r}}, ir.Void)
	b.Emit(&ir.Instr{Op: ir.Return}, ir.Void)
	return k
}

func floats(n int, f func(i int) float32) []byte {
	var out []byte
	for i := range n {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(f(i)))
	}
	return out
}

func TestSaxpy(t *testing.T) {
	needMachine(t)
	for _, n := range []int{1, 15, 16, 17, 64, 65, 1000} {
		for _, gang := range []int{1, 2, 4} {
			c := &oracle.Case{Kernel: saxpy(), Size: [3]int{n, 1, 1}, GroupSize: [3]int{1, 1, 1}}
			c.Args = []oracle.Arg{{Bits: uint64(math.Float32bits(2.5))},
				{Data: floats(n, func(i int) float32 { return float32(i) * 0.1 }), Dims: []int32{int32(n)}},
				{Data: floats(n, func(i int) float32 { return float32(i) }), Dims: []int32{int32(n)}}}
			compare(t, c, gang, 1)
		}
	}
}
