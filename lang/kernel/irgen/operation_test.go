package irgen

import (
	"slices"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// TestOperations compares the list with the verifier: it has each arithmetic operation on exactly the types that are valid.
// The tests of interpreters and back ends take their operations from the list, and would not notice one that it lacks.
func TestOperations(t *testing.T) {
	listed := map[ir.Op][]Operation{}
	for _, o := range Operations() {
		listed[o.Op] = append(listed[o.Op], o)
	}
	for op := range ir.Op(255) {
		if !op.IsArith() || op == ir.Const || op == ir.Math {
			continue
		}
		if len(listed[op]) == 0 {
			t.Errorf("Operations lacks %v: add it to operation.go; its tests then name the back ends that lack it (ARCHITECTURE.md lists their files)", op)
			continue
		}
		for _, types := range typeLists(len(listed[op][0].Args) + 1) {
			o := Operation{Op: op, Args: types[1:], To: types[0]}
			for _, elem := range elemsOf(op) {
				o.Elem = elem
				is := func(l Operation) bool { return l.To == o.To && l.Elem == o.Elem && slices.Equal(l.Args, o.Args) }
				if err := verify(&o); (err == nil) != slices.ContainsFunc(listed[op], is) {
					t.Errorf("%v: listed in operation.go: %v; verifier (arithmetic in ir/verify_instr.go): %v", &o, err != nil, err)
				}
			}
		}
	}
}

// elemsOf returns the element types that Quant rounds to, and Void for other operations.
func elemsOf(op ir.Op) []ir.Type {
	if op == ir.Quant {
		return []ir.Type{ir.F16, ir.BF16, ir.F32, ir.F64}
	}
	return []ir.Type{ir.Void}
}

// typeLists returns all lists of n value types.
func typeLists(n int) [][]ir.Type {
	if n == 0 {
		return [][]ir.Type{nil}
	}
	var out [][]ir.Type
	for _, rest := range typeLists(n - 1) {
		for _, t := range Values {
			out = append(out, append(slices.Clip(rest), t))
		}
	}
	return out
}

// verify returns the verifier's error for a kernel of one operation on constants.
func verify(o *Operation) error {
	k := &ir.Kernel{Name: "one", Real: ir.F32, Body: &ir.Block{}, Sites: []ir.Site{{}}}
	b := ir.Builder{Kernel: k, Block: k.Body}
	var args []*ir.Value
	for _, t := range o.Args {
		args = append(args, b.Const(t, 0))
	}
	b.Emit(&ir.Instr{Op: o.Op, Elem: o.Elem, Args: args}, o.To)
	b.Emit(&ir.Instr{Op: ir.Return}, ir.Void)
	return (&ir.Module{Kernels: []*ir.Kernel{k}}).Verify()
}
