package element

import (
	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/later"
)

// hostConversions maps types to the host's equivalent of their conversion in kernels.
var hostConversions = later.Value[map[ir.Type]string]{Make: func() map[ir.Type]string {
	return map[ir.Type]string{
		ir.Bool: "Boolean(x)", ir.I32: "Math.trunc(x), or x | 0", ir.U32: "Math.trunc(x), or x >>> 0", ir.I64: "BigInt(x)", ir.U64: "BigInt(x)",
		ir.F32: "Math.fround(x)", ir.F64: "Number(x)",
	}
}}

// CallError returns the error for a call of an element type on the host. Only kernels can convert that way.
func CallError(t Type, _ goja.FunctionCall) (goja.Value, error) {
	d := &diag.Diagnostic{ID: "invalid-argument", Name: "TypeError"}
	host := hostConversions.Get()[t.Elem.Scalar]
	switch {
	case t.Elem.Record != nil:
		d.Message = t.String() + " is a type, not a function"
		d.Hint = "a record is an object with the type's fields: write { field: value }"
	case host == "":
		d.Message = t.String() + " is a type of elements, not a function"
		d.Hint = "a buffer of it converts what is stored in it"
	default:
		d.Message = t.String() + " is a type; only in a kernel " + t.String() + "(x) converts"
		d.Hint = "on the host write " + host
	}
	return nil, d
}
