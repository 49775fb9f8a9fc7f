// Package order maps the elements of arrays to unsigned integers that sort in the same order.
package order

import (
	"fmt"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// Keys describes the keys of an element type. raw is the type as which elements are loaded and stored, key that of keys. to is
// the text that computes a key, from its inverse, and width the number of a key's bits. Floats are sorted by their bits, NaN
// after all others.
func Keys(t ir.Type) (raw, key ir.Type, to, from string, width int) {
	switch t {
	case ir.Bool:
		return t, ir.U32, "v => v ? u32(1) : u32(0)", "k => k === 1", 8
	case ir.U8:
		return t, ir.U32, "v => u32(v)", "k => k", 8
	case ir.I8:
		return t, ir.U32, "v => u32(v + 128)", "k => i32(k) - 128", 8
	case ir.U16:
		return t, ir.U32, "v => u32(v)", "k => k", 16
	case ir.I16:
		return t, ir.U32, "v => u32(v + 32768)", "k => i32(k) - 32768", 16
	case ir.U32:
		return t, ir.U32, "v => v", "k => k", 32
	case ir.I32:
		return t, ir.U32, "v => u32(v ^ -2147483648)", "k => i32(k ^ -2147483648)", 32
	case ir.U64:
		return t, ir.U64, "v => v", "k => k", 64
	case ir.I64:
		return t, ir.U64, "v => u64(v) ^ 0x8000000000000000n", "k => i64(k ^ 0x8000000000000000n)", 64
	case ir.F64:
		return ir.U64, ir.U64, "v => orderOf64(v)", "k => floatOf64(k)", 64
	case ir.F32:
		raw, width = ir.U32, 32
	default:
		raw, width = ir.U16, 16
	}
	nan, infinity := nanOf(t)
	to = fmt.Sprintf("v => orderOf(v, %d, %d)", width-1, infinity)
	return raw, ir.U32, to, fmt.Sprintf("k => floatOf(k, %d, %d, %d)", width-1, infinity, nan), width
}

// nanOf returns the bits of the NaN and of infinity of a float type.
func nanOf(t ir.Type) (nan, infinity uint64) {
	switch t {
	case ir.F16:
		return 0x7e00, 0x7c00
	case ir.BF16:
		return 0x7fc0, 0x7f80
	case ir.F64:
		return 0x7ff8000000000000, 0x7ff0000000000000
	}
	return 0x7fc00000, 0x7f800000
}

// Reverse returns the text that reverses the order of keys for a descending sort, which keeps NaN last. It is its own inverse.
func Reverse(t ir.Type, descending bool) string {
	_, key, _, _, width := Keys(t)
	_, infinity := nanOf(t)
	greatest := 2*infinity + 1
	switch {
	case !descending:
		return "k => k"
	case t == ir.F64:
		return fmt.Sprintf("k => k > %dn ? k : %dn - k", greatest, greatest)
	case key == ir.U64:
		return "k => ~k"
	case t.IsFloat():
		return fmt.Sprintf("k => k > u32(%d) ? k : u32(%d) - k", greatest, greatest)
	}
	return fmt.Sprintf("k => u32(%d - k)", uint64(1)<<width-1)
}
