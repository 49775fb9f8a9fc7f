package irpage

import "testing"

func TestArithmetic(t *testing.T) {
	t.Parallel()
	checkAll(t, []rule{
		// [I2.1] types and bool arguments
		{title: "a bool argument", params: "n %0: bool, out: i32[*]", body: "%1: i32 = const 0\n%2: i32 = convert %0\nstore out[%1], %2",
			args: []string{"0x80", "0"}, want: []string{"1"}},
		// [I2.2] wrapping
		elementwise("add wraps", "i32 i32", "i32", "add %a, %b", "2147483647 -5", "1 3", "-2147483648 -2"),
		elementwise("mul wraps", "u64 u64", "u64", "mul %a, %b", "0xffffffffffffffff", "2", "0xfffffffffffffffe"),
		elementwise("neg wraps", "i64", "i64", "neg %a", "0x8000000000000000 7", "0x8000000000000000 -7"),
		elementwise("neg of unsigned", "u32", "u32", "neg %a", "1 0", "0xffffffff 0"),
		elementwise("abs wraps", "i32", "i32", "abs %a", "-2147483648 -3 3", "-2147483648 3 3"),
		// [I2.3] division of integers
		elementwise("div", "i32 i32", "i32", "div %a, %b", "-7 7 -2147483648", "2 -2 -1", "-3 -3 -2147483648"),
		elementwise("rem", "i64 i64", "i64", "rem %a, %b", "-7 7 0x8000000000000000", "2 -2 -1", "-1 1 0"),
		elementwise("unsigned div", "u32 u32", "u32", "div %a, %b", "0xffffffff", "2", "0x7fffffff"),
		// [I2.4] rounding, subnormals, fusing
		elementwise("add rounds to even", "f32 f32", "f32", "add %a, %b", "16777216 16777216 0x1", "1 3 0x1", "16777216 16777220 0x2"),
		elementwise("mul of subnormals", "f32 f32", "f32", "mul %a, %b", "0x1 0x3", "0.5 0.5", "0 0x2"),
		elementwise("div", "f32 f32", "f32", "div %a, %b", "1 1 0", "3 0 0", "0x3eaaaaab inf nan"),
		elementwise("sqrt", "f32", "f32", "sqrt %a", "2 -0 -1 0x1", "0x3fb504f3 -0 nan 0x1a3504f3"),
		elementwise("fma rounds once", "f32 f32 f32", "f32", "fma %a, %b, %c", "0x3f800001 0x3f800001 1", "0x3f800001 0x3f800001 0", "0xbf800002 0x33800000 -0", "0x28800000 0x3f800003 0"),
		elementwise("mul and sub are not fused", "f32 f32", "f32", "%111: f32 = mul %a, %a\nsub %111, %b", "0x3f800001", "0x3f800002", "0"),
		// [I2.5] rem of floats
		elementwise("rem", "f64 f64", "f64", "rem %a, %b", "5.5 -5.5 -4 4 inf 1 3 nan -0 1e300", "2 2 2 -2 2 0 inf 1 5 7", "1.5 -1.5 -0 0 nan nan 3 nan -0 1"),
		elementwise("rem", "f32 f32", "f32", "rem %a, %b", "0x1 -5 1e38", "0x3 inf 0x1", "0x1 -5 0"),
		// [I2.6] min and max of floats
		elementwise("min", "f32 f32", "f32", "min %a, %b", "nan 1 0 -0 1", "1 nan -0 0 2", "nan nan -0 -0 1"),
		elementwise("max", "f64 f64", "f64", "max %a, %b", "nan 1 0 -0 1", "1 nan -0 0 2", "nan nan 0 0 2"),
		// [I2.7] rounding to integers
		elementwise("floor", "f32", "f32", "floor %a", "-0 0.5 -0.5 -inf", "-0 0 -1 -inf"),
		elementwise("ceil", "f64", "f64", "ceil %a", "-0.5 0.2 -0", "-0 1 -0"),
		elementwise("trunc", "f32", "f32", "trunc %a", "-0.9 1.9 inf", "-0 1 inf"),
		elementwise("rint", "f64", "f64", "rint %a", "0.5 1.5 -0.5 2.5", "0 2 -0 2"),
		elementwise("round", "f64", "f64", "round %a", "0.5 -0.5 -0.6 2.5 -2.5 0.49999999999999994 -0 4503599627370495.5", "1 -0 -1 3 -2 0 -0 4503599627370496"),
		// [I2.8] shift counts
		elementwise("shl", "i32 i32", "i32", "shl %a, %b", "1 1 1", "33 -1 31", "2 -2147483648 -2147483648"),
		elementwise("shr", "i64 u32", "i64", "shr %a, %b", "-8 -8", "65 64", "-4 -8"),
		elementwise("logical shr", "u32 i32", "u32", "shr %a, %b", "0x80000000", "31", "1"),
		elementwise("logical shr of 64 bits", "u64 i32", "u64", "shr %a, %b", "0x8000000000000000", "60", "8"),
		// [I2.9] mulhi
		elementwise("mulhi", "i32 i32", "i32", "mulhi %a, %b", "-1 65536", "1 65536", "-1 1"),
		elementwise("unsigned mulhi", "u64 u64", "u64", "mulhi %a, %b", "0xffffffffffffffff", "0xffffffffffffffff", "0xfffffffffffffffe"),
		elementwise("signed mulhi of 64 bits", "i64 i64", "i64", "mulhi %a, %b", "-1 0x8000000000000000", "-1 2", "0 -1"),
		// [I2.10] comparisons
		elementwise("lt", "f32 f32", "bool", "lt %a, %b", "nan 1 -0", "1 nan 0", "0 0 0"),
		elementwise("le", "f32 f32", "bool", "le %a, %b", "nan -0", "nan 0", "0 1"),
		elementwise("ne", "f64 f64", "bool", "ne %a, %b", "nan 0", "nan -0", "1 0"),
		elementwise("eq", "f64 f64", "bool", "eq %a, %b", "nan 0", "nan -0", "0 1"),
		elementwise("unsigned lt", "u64 u64", "bool", "lt %a, %b", "1", "0x8000000000000000", "1"),
	})
}

func TestConversions(t *testing.T) {
	t.Parallel()
	checkAll(t, []rule{
		// [I3.1] convert
		elementwise("bool to f64", "bool", "f64", "convert %a", "0 1 0xff", "0 1 1"),
		elementwise("i64 to f32, once", "i64", "f32", "convert %a", "0x4000004000000001 -1 9007199791611905", "0x5e800001 -1 9007200328482816"),
		elementwise("u64 to f64", "u64", "f64", "convert %a", "0xffffffffffffffff 0x8000000000000401", "18446744073709551616 9223372036854777856"),
		elementwise("u32 to f32", "u32", "f32", "convert %a", "16777217 16777219 0xffffffff", "16777216 16777220 4294967296"),
		elementwise("f64 to f32", "f64", "f32", "convert %a", "1e39 16777217 0x36a0000000000000 0x3690000000000000", "inf 16777216 0x1 0"),
		elementwise("i32 to u64", "i32", "u64", "convert %a", "-1 5", "0xffffffffffffffff 5"),
		elementwise("u32 to i64", "u32", "i64", "convert %a", "0xffffffff", "4294967295"),
		elementwise("u64 to i64", "u64", "i64", "convert %a", "0xffffffffffffffff", "-1"),
		// [I3.2] sat
		elementwise("sat to i32", "f64", "i32", "sat %a", "1e10 -1e10 nan -1.9 2147483647.5 inf", "2147483647 -2147483648 0 -1 2147483647 2147483647"),
		elementwise("sat to u64", "f32", "u64", "sat %a", "-1 1e30 9223372036854775808 nan", "0 0xffffffffffffffff 0x8000000000000000 0"),
		elementwise("sat to i64", "f64", "i64", "sat %a", "1e19 -1e19 -0.5", "0x7fffffffffffffff 0x8000000000000000 0"),
		elementwise("sat to u32", "f32", "u32", "sat %a", "4294967296 -0.5 7.9", "0xffffffff 0 7"),
		// [I3.3] wrap
		elementwise("wrap of floats", "f64", "i32", "wrap %a", "4294967297 -1.9 1e300 nan -inf 36893488147419107329", "1 -1 0 0 0 8192"),
		elementwise("wrap beyond 2^64", "f64", "u64", "wrap %a", "0x43f0000000000001 -1 0x4400000000000001", "4096 0xffffffffffffffff 8192"),
		elementwise("wrap of integers", "i64", "i32", "wrap %a", "0x180000001 -1", "-2147483647 -1"),
		elementwise("wrap that widens", "i32", "u64", "wrap %a", "-2 3", "0xfffffffffffffffe 3"),
		elementwise("wrap that widens unsigned", "u32", "i64", "wrap %a", "0xfffffffe", "4294967294"),
		// [I3.4] bitcast
		elementwise("bitcast to integers", "f32", "u32", "bitcast %a", "-0 0xffc00001 0x7f800001 1", "0x80000000 0x7fc00000 0x7fc00000 0x3f800000"),
		elementwise("bitcast to floats", "i64", "f64", "bitcast %a", "0x3ff0000000000000 1", "1 0x1"),
		// [I3.5] quant
		elementwise("quant.f16", "f32", "f32", "quant.f16 %a", "65519 65520 2049 -inf 1e-9 0xffc00001", "65504 inf 2048 -inf 0 nan"),
		elementwise("quant.bf16", "f32", "f32", "quant.bf16 %a", "257 259 0x7f7fffff 0xff800001", "256 260 inf nan"),
		elementwise("quant.f64", "f64", "f64", "quant.f64 %a", "0.1 0xfff0000000000001", "0.1 nan"),
		elementwise("quant.f32", "f32", "f32", "quant.f32 %a", "0x1 0xff800001", "0x1 nan"),
	})
}

func TestNaNs(t *testing.T) {
	t.Parallel()
	const raw = "0xff812345"
	checkAll(t, []rule{
		// [I4.1] the canonical NaN
		elementwise("a store in f16", "f32", "f16", "%99: bool = const true\nselect %99, %a, %a", raw, "0x7e00"),
		elementwise("a store in bf16", "f32", "bf16", "%99: bool = const true\nselect %99, %a, %a", raw, "0x7fc0"),
		elementwise("quant", "f32", "f32", "quant.f32 %a", raw, "0x7fc00000"),
		elementwise("quant of f64", "f64", "f64", "quant.f64 %a", "0xfff8000000000001", "0x7ff8000000000000"),
		{title: "atomics", params: "out: f32[*]", body: "%1: i32 = const 0\n%2: f32 = const 1\n%3: f32 = atomic.add out[%1], %2\n%4: i32 = const 1\n%5: f32 = atomic.min out[%4], %2",
			args: []string{raw + " " + raw}, want: []string{"nan nan"}, size: [3]int{1, 1, 1}},
		// [I4.2] instructions that move bits
		elementwise("load, select, store", "f32", "f32", "%99: bool = const true\nselect %99, %a, %a", raw, raw),
		elementwise("uniform", "f32", "f32", "uniform %a", raw, raw),
		elementwise("shuffle", "f64", "f64", "subgroup.shuffle %a, %100", "0xfff0000000000001 0x7fffffffffffffff", "0xfff0000000000001 0x7fffffffffffffff"),
		{title: "parameters and control flow", params: "n %0: f32, out: f32[*]", args: []string{raw, "0 0"}, want: []string{raw + " " + raw},
			body: "%1: i32 = item.global.x\n%2: f32 = loop @1 (%3: f32 = %0) {\n%4: f32 = block @2 {\nbreak @2 %3\n}\nbreak @1 %4\n}\nstore out[%1], %2"},
		{title: "atomic exchange and cmpxchg", params: "n %0: f32, out: f32[*]", args: []string{raw, "0xff800001 " + raw}, want: []string{raw + " 0"}, size: [3]int{1, 1, 1},
			body: "%1: i32 = const 0\n%2: f32 = atomic.exchange out[%1], %0\n%3: i32 = const 1\n%4: f32 = const 0\n%5: f32 = atomic.cmpxchg out[%3], %0, %4"},
	})
}
