package irpage

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/offload"
)

func TestControl(t *testing.T) {
	t.Parallel()
	checkAll(t, []rule{
		// [I1.1] results, and a break that leaves several constructs
		{title: "break leaves a block from inside a loop", params: "out: i32[*]", args: []string{"0 0 0 0"}, want: []string{"10 11 7 7"},
			body: `%1: i32 = item.global.x
%2: i32 = const 2
%3: i32 = const 7
%4: bool = lt %1, %2
%5: i32 = block @1 {
  loop @2 () {
    if %4 {
      %6: i32 = const 10
      %7: i32 = add %6, %1
      break @1 %7
    }
    break @2
  }
  yield %3
}
store out[%1], %5`},
		// [I1.2] carried values that are exchanged
		{title: "continue exchanges values", params: "out: i32[*]", args: []string{"0 0"}, want: []string{"3 5"}, size: [3]int{1, 1, 1},
			body: `%1: i32 = const 0
%2: i32 = const 1
%3: i32 = const 5
%4: i32 = const 3
%5: i32, %6: i32 = loop @1 (%7: i32 = %1, %8: i32 = %3, %9: i32 = %4) {
  %10: bool = lt %7, %2
  if %10 {
    %11: i32 = add %7, %2
    continue @1 %11, %9, %8
  }
  break @1 %8, %9
}
store out[%1], %5
store out[%2], %6`},
		// [I1.3] return and unreachable
		{title: "return", params: "out: i32[*]", args: []string{"1 1 1"}, want: []string{"1 0 0"},
			body: "%1: i32 = item.global.x\n%2: i32 = const 1\n%3: i32 = const 0\n%4: bool = lt %1, %2\nif %4 {\nreturn\n}\nstore out[%1], %3"},
		{title: "unreachable", params: "out: i32[*]", args: []string{"1 1"}, want: []string{"1 0"},
			body: "%1: i32 = item.global.x\n%2: i32 = const 1\n%3: i32 = const 0\n%4: bool = lt %1, %2\nif %4 {\nunreachable\n}\nstore out[%1], %3"},
	})
}

func TestMemory(t *testing.T) {
	t.Parallel()
	checkAll(t, []rule{
		// [I5.1] conversions of loads and stores
		elementwise("i8", "i8", "i32", "add %a, %a", "0xff 0x80 0x7f", "-2 -256 254"),
		elementwise("u8", "u8", "i32", "add %a, %a", "0xff 0x80", "510 256"),
		elementwise("u16", "u16", "i32", "add %a, %a", "0xffff", "131070"),
		elementwise("i16", "i16", "i32", "add %a, %a", "0xffff", "-2"),
		elementwise("bool", "bool", "bool", "not %a", "0x02 0", "0 1"),
		elementwise("store i8", "i32", "i8", "add %a, %a", "200", "0x90"),
		elementwise("store u16", "i32", "u16", "add %a, %a", "40000", "0x3880"),
		elementwise("store f16", "f32", "f16", "mul %a, %a", "255.9375 255.99 0.000244140625", "0x7bff 0x7c00 0x0001"),
		elementwise("load f16", "f16", "f32", "add %a, %a", "0x0001 0x7c00 0xbc00", "0x34000000 inf -2"),
		elementwise("bf16", "bf16", "bf16", "add %a, %a", "0x3f81 0x0001", "0x4001 0x0002"),
		elementwise("store bf16", "f32", "bf16", "mul %a, %a", "0x3f804000 0x7f7f8000", "0x3f81 0x7f80"),
		// [I5.2] records: R is u8 at 0, u32[2] at 4, u16 at 12, 16 bytes
		{title: "a store leaves padding", params: "out: R[*]", args: []string{strings.Repeat("0xee ", 32)}, size: [3]int{1, 1, 1},
			body: "%1: i32 = const 1\n%2: i32 = const 0\nstore out[%1].a, %1\nstore out[%1].c, %1\n%3: u32 = const 1\nstore out[%1].b[%1], %3",
			want: []string{strings.Repeat("0xee ", 16) + "1 0xee 0xee 0xee 0xee 0xee 0xee 0xee 1 0 0 0 1 0 0xee 0xee"}},
		// [I5.3] row-major order, flat indices and fields' own dimensions
		{title: "rows", params: "x: i32[*, *], out: i32[*]", args: []string{"10 11 12 20 21 22", "0 0 0"}, dims: []int32{2, 3}, size: [3]int{1, 1, 1},
			body: "%1: i32 = const 1\n%2: i32 = const 2\n%3: i32 = const 0\n%4: i32 = load x[%1][%2]\nstore out[%3], %4\n%5: i32 = load x[flat %2]\nstore out[%1], %5\n%6: i32 = const 3\n%7: i32 = load x[flat %6]\nstore out[%2], %7",
			want: []string{"22 12 20"}},
		// [I5.4] indices of 64 bits
		{title: "an index of 64 bits", params: "n %0: i64, out: i32[*]", args: []string{"0x100000000", "1 2"}, want: []string{"1 2"}, size: [3]int{1, 1, 1},
			body: "%1: i32 = const 9\nstore out[%0], %1 !3", fault: "out-of-bounds at 3 by [0 0 0]: index 0 of out is 4294967296 of 2"},
		{title: "a u64 index beyond 2^63", params: "n %0: u64, out: i32[*]", args: []string{"0xffffffffffffffff", "1 2"}, want: []string{"1 2"}, size: [3]int{1, 1, 1},
			body: "%1: i32 = const 9\nstore out[%0], %1 !3", fault: "out-of-bounds at 3 by [0 0 0]: index 0 of out is -1 of 2"},
		{title: "a negative index", params: "n %0: i32, out: i32[*]", args: []string{"-1", "1 2"}, want: []string{"1 2"}, size: [3]int{1, 1, 1},
			body: "%1: i32 = const 9\nstore out[%0], %1 !3", fault: "out-of-bounds at 3 by [0 0 0]: index 0 of out is -1 of 2"},
		// [I5.5] extents; memory beyond them
		{title: "extents", params: "x: i32[*, *], out: i32[*]", args: []string{"0 0 0 0 0 0 0", "5 5 5"}, dims: []int32{2, 3}, size: [3]int{1, 1, 1},
			body:  "%1: i32 = extent.0 x\n%2: i32 = extent.1 x\n%3: i32 = const 0\n%4: i32 = const 1\nstore out[%3], %1\nstore out[%4], %2\n%5: i32 = const 6\n%6: i32 = load x[flat %5] !2\n%7: i32 = const 2\nstore out[%7], %6",
			want:  []string{"2 3 5"},
			fault: "out-of-bounds at 2 by [0 0 0]: index 0 of x is 6 of 6"},
		{title: "an extent of 0", params: "x: i32[*, *], out: i32[*]", args: []string{"", "0"}, dims: []int32{0, 3}, body: "%1: i32 = const 0\n%2: i32 = extent.1 x\nstore out[%1], %2\n%3: i32 = load x[%1][%1] !2",
			want: []string{"3"}, fault: "out-of-bounds at 2 by [0 0 0]: index 0 of x is 0 of 0"},
		// [I5.7] shared arrays start at zero in each group
		{title: "shared arrays", params: "out: i32[*]", args: []string{"9 9 9 9"}, want: []string{"0 0 0 0"}, group: [3]int{2, 1, 1}, arrays: "shared s: i32[2]",
			body: "%1: i32 = item.local.x\n%2: i32 = item.global.x\n%3: i32 = load s[%1]\nstore out[%2], %3\n%4: i32 = const 7\nstore s[%1], %4"},
		// [I5.8] private arrays start at zero
		{title: "private arrays", params: "out: i32[*]", args: []string{"9 9 9"}, want: []string{"0 0 0"}, arrays: "private p: i32[2]",
			body: "%1: i32 = item.global.x\n%2: i32 = const 1\n%3: i32 = load p[%2]\n%4: i32 = const 7\nstore p[%2], %4\nzero p\n%5: i32 = load p[%2]\n%6: i32 = or %3, %5\nstore out[%1], %6\nstore p[%2], %4"},
		// [I5.9] tables
		{title: "tables", params: "out: i32[*]", args: []string{"0 0"}, want: []string{"258 -1"}, arrays: "table c: i16[2] = hex \"0201ffff\"",
			body: "%1: i32 = item.global.x\n%2: i32 = load c[%1]\nstore out[%1], %2"},
	})
}

// TestOverlap stores through one name of a buffer and loads through another, of another type.
//
// [I5.6] buffers that overlap
func TestOverlap(t *testing.T) {
	t.Parallel()
	r := rule{title: "overlap", params: "x: f32[*], y: u16[*], out: u32[*]", args: []string{"1 2", "0 0", "0"}, want: []string{"0x4000"}, size: [3]int{1, 1, 1},
		body: "%1: i32 = const 0\n%2: f32 = const 2\nstore x[%1], %2\n%3: i32 = const 1\n%4: i32 = load y[%3]\n%5: u32 = wrap %4\nstore out[%1], %5"}
	overlapped := r.launch(t)
	overlapped.Args[1].Of = 1 // y is x by another name
	for name, run := range ways {
		if out, err := run(overlapped); err != nil || read(out.Data[2]) != 0x4000 {
			t.Errorf("the %s: %+v, %v", name, out, err)
		}
	}
}

func TestAtomics(t *testing.T) {
	t.Parallel()
	atomic := func(kind, elem, before, x, after string) rule {
		operands := ""
		body := "%1: i32 = const 0\n"
		for i, s := range strings.Fields(x) {
			body += "%" + string(rune('2'+i)) + ": " + elem + " = const " + s + "\n"
			operands += ", %" + string(rune('2'+i))
		}
		body += "%9: " + elem + " = atomic." + kind + " out[%1]" + operands + "\n%10: i32 = const 1\n%11: " + elem + " = atomic.exchange out[%10], %9"
		return rule{title: "atomic " + kind, params: "out: " + elem + "[*]", body: body, args: []string{before + " 0"}, want: []string{after + " " + before}, size: [3]int{1, 1, 1}}
	}
	checkAll(t, []rule{
		// [I6.1] kinds, and the old value
		atomic("add", "i32", "2147483647", "1", "-2147483648"),
		atomic("sub", "u64", "0", "1", "0xffffffffffffffff"),
		atomic("min", "u32", "5", "4294967295", "5"),
		atomic("max", "i64", "-5", "3", "3"),
		atomic("and", "u32", "12", "10", "8"),
		atomic("or", "u32", "12", "10", "14"),
		atomic("xor", "i64", "12", "10", "6"),
		atomic("exchange", "f64", "1", "2", "2"),
		atomic("store", "f32", "1", "2", "2"),
		atomic("load", "f32", "1", "", "1"),
		atomic("cmpxchg", "i32", "5", "5 6", "6"),
		atomic("cmpxchg", "i32", "5", "4 6", "5"),
		atomic("cmpxchg", "f32", "0", "-0 6", "0"),
		atomic("cmpxchg", "f32", "nan", "nan 6", "6"),
		// [I6.2] floats, and scalars of records
		atomic("add", "f32", "16777216", "1", "16777216"),
		atomic("add", "f32", "0x1", "1e-45", "0x2"),
		atomic("min", "f64", "0", "-0", "-0"),
		atomic("max", "f32", "-0", "0", "0"),
		atomic("max", "f32", "nan", "0", "nan"),
		{title: "an atomic in a record", params: "out: R[*]", args: []string{strings.Repeat("0 ", 16)}, want: []string{"0 0 0 0 0 0 0 0 3 0 0 0 0 0 0 0"},
			size: [3]int{3, 1, 1}, body: "%1: i32 = const 0\n%2: i32 = const 1\n%3: u32 = const 1\n%4: u32 = atomic.add out[%1].b[%2], %3"},
	})
}

func TestItems(t *testing.T) {
	t.Parallel()
	ids := func(item string) string {
		return "%1: i32 = item." + item + "\n%2: i32 = item.global.x\n%3: i32 = item.global.y\n%4: i32 = const 3\n%5: i32 = mul %3, %4\n%6: i32 = add %5, %2\n" +
			"%7: i32 = item.lane\nstore out[%6], %1"
	}
	of := func(item, want string) rule {
		return rule{title: item, params: "out: i32[*]", body: ids(item), args: []string{"9 9 9 9 9 9 9 9 9"}, want: []string{want}, size: [3]int{3, 3, 1}, group: [3]int{2, 2, 1}, width: 4}
	}
	checkAll(t, []rule{
		// [I7.1] the number of groups, rounded up
		{title: "a size of 0", params: "out: i32[*]", body: "%1: i32 = const 0\nstore out[%1], %1", args: []string{"5"}, want: []string{"5"}, size: [3]int{0, 1, 1}, group: [3]int{1, 1, 1}},
		of("groups.x", "2 2 2 2 2 2 2 2 2"),
		of("groups.z", "1 1 1 1 1 1 1 1 1"),
		// [I7.2] coordinates
		of("global.y", "0 0 0 1 1 1 2 2 2"),
		of("local.x", "0 1 0 0 1 0 0 1 0"),
		of("group.x", "0 0 1 0 0 1 0 0 1"),
		of("size.x", "3 3 3 3 3 3 3 3 3"),
		of("groupsize.y", "2 2 2 2 2 2 2 2 2"),
		of("subgroupsize", "4 4 4 4 4 4 4 4 4"),
		// [I7.3] the number of an item, x first
		of("lane", "0 1 0 2 3 2 0 1 0"),
		// [I7.6] a barrier orders shared memory and buffers
		{title: "barrier", params: "x: i32[*], out: i32[*]", args: []string{"0 0 0 0", "0 0 0 0"}, want: []string{"3 2 1 0", "6 4 2 0"}, arrays: "shared s: i32[4]",
			body: "%1: i32 = item.local.x\n%2: i32 = const 3\n%3: i32 = sub %2, %1\nstore s[%1], %1\nstore x[%3], %1\nbarrier\n%4: i32 = load s[%3]\n%5: i32 = load x[%1]\n%6: i32 = add %4, %5\nstore out[%1], %6"},
		// [I8.1] absent items
		{title: "absent items", params: "n %0: i32, out: i32[*]", args: []string{"0", "0 0 0"}, want: []string{"3 3 3"}, size: [3]int{3, 1, 1}, group: [3]int{4, 1, 1},
			body: "%1: i32 = item.global.x\n%2: i32 = const 1\nprint \"\" %1 \"\"\n%3: i32 = load out[%1]\n%4: i32 = reduce.add %2\nstore out[%1], %4", prints: []string{"0", "1", "2"}},
		// [I8.2] items that a fault has ended
		{title: "an item with a fault", params: "out: i32[*]", args: []string{"5 0 5 5"}, want: []string{"3 0 3 3"},
			body:  "%1: i32 = item.global.x\n%2: i32 = load out[%1]\n%3: i32 = const 1\n%4: i32 = div %3, %2 !2\n%5: i32 = reduce.add %3\nstore out[%1], %5",
			fault: "division-by-zero at 2 by [1 0 0]"},
	})
}

// TestDefaultGroup checks the group sizes that the page states.
//
// [I7.5] the default
func TestDefaultGroup(t *testing.T) {
	t.Parallel()
	for size, want := range map[[3]int][3]int{{5, 1, 1}: {256, 1, 1}, {5, 2, 1}: {16, 16, 1}, {5, 1, 2}: {8, 8, 4}, {1, 1, 1}: {256, 1, 1}} {
		if got := offload.DefaultGroupSize(size); got != want {
			t.Errorf("the default for %v is %v, want %v", size, got, want)
		}
	}
}

// TestObserves checks which instructions make a kernel observe its group.
//
// [I7.4] instructions that observe the group
func TestObserves(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		"%1: i32 = item.global.x":                          false,
		"%1: i32 = item.size.y":                            false,
		"%1: i32 = item.local.x":                           true,
		"%1: i32 = item.lane":                              true,
		"%1: i32 = item.groups.x":                          true,
		"barrier":                                          true,
		"%1: i32 = const 0\n%2: i32 = uniform %1":          true,
		"%1: i32 = const 0\n%2: i32 = subgroup.add %1":     true,
		"%1: i32 = const 0\n%2: i32 = load s[%1]":          true,
		"%1: i32 = const 0\nstore p[%1], %1\nprint \"no\"": false,
	} {
		r := rule{title: body, params: "out: i32[*]", arrays: "shared s: i32[1]\nprivate p: i32[1]", args: []string{"0"}, body: body}
		if got := r.launch(t).Kernel.ObservesGroup(); got != want {
			t.Errorf("%s: observes its group: %v, want %v", body, got, want)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	const item = "%1: i32 = item.global.x\n%2: i32 = const 1\n%3: i32 = const 0\n"
	checkAll(t, []rule{
		// [I11.1] contents of faults
		{title: "flat", params: "x: i32[*, *], out: i32[*]", args: []string{"0 0 0 0 0 0", "0"}, dims: []int32{2, 3}, body: item + "%4: i32 = const 6\n%5: i32 = load x[flat %4] !3",
			want: []string{"0"}, fault: "out-of-bounds at 3 by [0 0 0]: index 0 of x is 6 of 6"},
		{title: "division", params: "out: i32[*]", args: []string{"0"}, body: item + "%5: i32 = rem %2, %1 !4", want: []string{"0"}, fault: "division-by-zero at 4 by [0 0 0]"},
		{title: "assert", params: "out: i32[*]", args: []string{"0"}, body: item + "%4: bool = eq %1, %2\nassert %4, \"x is \" %1 \"!\" !5", want: []string{"0"}, fault: "assertion at 5 by [0 0 0]: x is 0!"},
		{title: "overflow", params: "out: i32[*]", args: []string{"0"}, body: item + "%4: bool = eq %1, %2\nassert.overflow %4, \"too much\" !5", want: []string{"0"}, fault: "overflow at 5 by [0 0 0]: too much"},
		{title: "uniform", params: "out: i32[*]", args: []string{"0 0"}, body: item + "%4: i32 = uniform %1 !6", want: []string{"0 0"}, fault: "divergent-uniform at 6 by [1 0 0]"},
		{title: "call", params: "out: i32[*]", args: []string{"0"}, body: item + "%4: i32 = call.there %1 !7", want: []string{"0"}, fault: "call-failed at 7 by [0 0 0]: there is no service there"},
		// [I11.2] indices from left to right
		{title: "the first index", params: "x: i32[*, *], out: i32[*]", args: []string{"0 0 0 0 0 0", "0"}, dims: []int32{2, 3}, want: []string{"0"},
			body: item + "%4: i32 = const 7\nstore x[%4][%4], %4 !3", fault: "out-of-bounds at 3 by [0 0 0]: index 0 of x is 7 of 2"},
		{title: "the second index", params: "x: i32[*, *], out: i32[*]", args: []string{"0 0 0 0 0 0", "0"}, dims: []int32{2, 3}, want: []string{"0"},
			body: item + "%4: i32 = const 7\nstore x[%2][%4], %4 !3", fault: "out-of-bounds at 3 by [0 0 0]: index 1 of x is 7 of 3"},
		// [I11.3] a fault ends its item alone, from there on
		{title: "before and after", params: "x: i32[*], out: i32[*]", args: []string{"0 0", "0 0"}, want: []string{"1 1", "0 1"},
			body: item + "store x[%1], %2\n%4: i32 = div %2, %1 !2\nstore out[%1], %2", fault: "division-by-zero at 2 by [0 0 0]"},
		// [I11.4] the fault that is reported
		{title: "two faults", params: "out: i32[*]", args: []string{"0 0 0 0"}, want: []string{"0 0 0 0"}, group: [3]int{2, 1, 1},
			body: item + "%4: i32 = item.local.x\n%5: i32 = const 5\n%6: bool = lt %2, %1\nif %6 {\n%7: i32 = load out[%5] !1\nyield\n}\n%8: i32 = sub %4, %2\nbarrier\n%9: i32 = div %2, %8 !2", fault: "division-by-zero at 2 by [1 0 0]"},
		// [I13.1] checks off
		{title: "checks off", params: "out: i32[*]", args: []string{"9 9"}, want: []string{"0 0"}, off: true,
			body: item + "%4: i32 = div %2, %3\n%5: i32 = rem %2, %3\n%6: bool = eq %2, %3\nassert %6, \"no\"\n%7: i32 = uniform %1\n%8: i32 = or %4, %5\n%9: i32 = or %8, %7\nstore out[%1], %9"},
		{title: "calls with checks off", params: "out: i32[*]", args: []string{"9"}, want: []string{"9"}, off: true,
			body: item + "call.there !7\nstore out[%1], %3", fault: "call-failed at 7 by [0 0 0]: there is no service there"},
		// [I14.1] an instruction without a site
		{title: "site 0", params: "out: i32[*]", args: []string{"0"}, body: item + "%5: i32 = rem %2, %1", want: []string{"0"}, fault: "division-by-zero at 0 by [0 0 0]"},
	})
}

func TestPrints(t *testing.T) {
	t.Parallel()
	print := func(elem, value, want string) rule {
		return rule{title: "print of " + elem, params: "x: " + elem + "[*]", args: []string{value}, prints: []string{want},
			body: "%1: i32 = const 0\n%2: " + elemType(elem).Value().String() + " = load x[%1]\nprint \"\" %2 \"\""}
	}
	checkAll(t, []rule{
		// [I12.1] pieces and values
		{title: "pieces", params: "x: i32[*]", args: []string{"1"}, prints: []string{"a1b1c\n", "ends"}, body: "%1: i32 = const 0\n%2: i32 = load x[%1]\nprint \"a\" %2 \"b\" %2 \"c\\n\"\nprint \"ends\""},
		// [I12.2] the text of values
		print("bool", "1", "true"), print("i32", "-5", "-5"), print("u64", "0xffffffffffffffff", "18446744073709551615"), print("i64", "0x8000000000000000", "-9223372036854775808"),
		print("f32", "0.1", "0.10000000149011612"), print("f64", "0.1", "0.1"), print("f64", "-0", "0"), print("f64", "nan", "NaN"), print("f32", "-inf", "-Infinity"),
		print("f64", "1e21", "1e+21"), print("f64", "1e20", "100000000000000000000"), print("f64", "0.000001", "0.000001"), print("f64", "1.5e-7", "1.5e-7"), print("f32", "0x1", "1.401298464324817e-45"),
		// [I12.3] the order in a group, and prints before a fault
		{title: "sites and items of prints", params: "out: i32[*]", args: []string{"0 0"}, want: []string{"0 0"}, prints: []string{"a", "a"}, places: []string{"4 [0 0 0]", "4 [1 0 0]"}, body: "print \"a\" !4"},
		{title: "the order of prints", params: "out: i32[*]", args: []string{"0 1"}, want: []string{"0 1"}, prints: []string{"0 first", "1 first", "1 second"}, fault: "division-by-zero at 1 by [0 0 0]",
			body: "%1: i32 = item.local.x\nprint \"\" %1 \" first\"\nbarrier\n%2: i32 = div %1, %1 !1\nprint \"\" %1 \" second\""},
	})
}

// TestCall calls a service of the host that adds. The interpreter's own tests call services in the interpreter.
//
// [I12.4] calls
func TestCall(t *testing.T) {
	t.Parallel()
	r := rule{title: "call", params: "out: i32[*]", args: []string{"0 0 0"}, body: "%1: i32 = item.global.x\n%2: i32 = const 5\n%3: i32 = call.sum %1, %2\n%4: i32 = call.sum %1, %2\nstore out[%1], %4"}
	calls := 0
	c := r.launch(t)
	_, buffers := c.Bind(func(n int) []byte { return make([]byte, n) })
	out, err := Evaluate(c, buffers, Limits{Call: func(name string, args []uint64) (uint64, error) {
		calls++
		return args[0] + args[1], nil
	}})
	if err != nil || string(out.Data[0]) != string(elements(ir.I32, "5 6 7")) || calls != 6 {
		t.Errorf("after %d calls the buffer is % x, %v", calls, out.Data[0], err)
	}
}
