package lower_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/lang/kernel/lower/leaf"
	"github.com/orepl/orepl/lang/kernel/oracle"
)

var update = flag.Bool("update", false, "write the table of leaves in the manual")

// kernel parses a kernel with the given parameters and body.
func kernel(t *testing.T, params, arrays, body string) *ir.Kernel {
	t.Helper()
	sites := ""
	for i := range 10 {
		sites += fmt.Sprintf("  site %d = 0:%d:1 \"\"\n", i, i+1)
	}
	m, err := ir.ParseText("test", "orepl-ir 1\nfile 0 \"f\"\nkernel k("+params+") real f32 {\n"+arrays+"\n"+sites+body+"\nreturn\n}\n")
	if err == nil {
		err = m.Verify()
	}
	if err != nil {
		t.Fatal(err)
	}
	return m.Kernels[0]
}

func words(values ...uint32) (data []byte) {
	for _, v := range values {
		data = append(data, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	return data
}

// launch returns a case that runs a kernel on size items in groups along one axis, with these buffers.
func launch(k *ir.Kernel, size, group int, buffers ...[]byte) *oracle.Case {
	c := &oracle.Case{Kernel: k, Size: [3]int{size, 1, 1}, GroupSize: [3]int{group, 1, 1}, SubgroupSize: 4}
	for i, b := range buffers {
		c.Args = append(c.Args, oracle.Arg{Data: b, Dims: []int32{int32(len(b) / k.Params[i].Array.Elem.Size())}})
	}
	return c
}

func TestRules(t *testing.T) {
	for _, r := range []struct {
		title, params, arrays, body string
		size, group                 int
		buffers                     [][]byte
		fault                       string
	}{
		{title: "items that had a fault reach later barriers", params: "x: i32[*], out: i32[*]", size: 10, group: 4, fault: "out-of-bounds",
			buffers: [][]byte{words(1, 2, 3, 4, 5, 6, 7), words(make([]uint32, 10)...)},
			body: "%1: i32 = item.global.x\n%2: i32 = load x[%1] !1\n%3: i32 = reduce.add %2\nbarrier\n%4: i32 = scan.add %2\n%5: i32 = add %3, %4\n" +
				"store out[%1], %5"},
		{title: "a loop of a group ends whose items all had a fault", params: "x: i32[*], out: i32[*]", size: 4, group: 4, fault: "out-of-bounds",
			buffers: [][]byte{words(1), words(0, 0, 0, 0)},
			body: "%1: i32 = item.global.x\n%2: i32 = const 7\n%3: i32 = const 10\n%4: i32 = add %1, %2\n%5: i32 = load x[%4] !1\n%6: i32 = const 1\n" +
				"loop @1 () {\n%7: i32 = reduce.max %6\n%8: bool = lt %3, %7\nif %8 {\nbreak @1\n}\nbarrier\ncontinue @1\n}\nstore out[%1], %5"},
		{title: "a loop of an item ends that had a fault", params: "x: i32[*], out: i32[*]", size: 6, group: 4, fault: "out-of-bounds",
			buffers: [][]byte{words(1, 1, 9, 1, 1, 1), words(make([]uint32, 6)...)},
			body: "%1: i32 = item.global.x\n%2: i32 = const 0\n%3: i32 = loop @1 (%4: i32 = %1) {\n%5: i32 = load x[%4] !2\n%6: bool = lt %4, %2\n" +
				"if %6 {\nbreak @1 %5\n}\n%7: i32 = add %4, %5\ncontinue @1 %7\n}\n%8: i32 = reduce.add %3\nstore out[%1], %8"},
		{title: "uniform values of absent items", params: "n: i32[*], out: i32[*]", size: 5, group: 4, buffers: [][]byte{words(3), words(0, 0, 0, 0, 0)},
			arrays: "table steps: i32[2] = [2, 3]",
			body: "%1: i32 = item.global.x\n%2: i32 = const 1\n%3: i32 = load steps[%2]\n%4: i32 = const 0\n%5: i32 = loop @1 (%6: i32 = %4, %7: i32 = %1) {\n" +
				"%8: bool = lt %6, %3\nif %8 {\nyield\n} else {\nbreak @1 %7\n}\n%9: i32 = reduce.add %7\n%10: i32 = add %6, %2\ncontinue @1 %10, %9\n}\nstore out[%1], %5"},
		{title: "the identity is combined", params: "x: f32[*], out: f32[*]", size: 3, group: 3, buffers: [][]byte{words(1<<31, 1<<31, 1<<31), words(1, 1, 1)},
			body: "%1: i32 = item.global.x\n%2: f32 = load x[%1]\n%3: f32 = reduce.add %2\nstore out[%1], %3"},
		{title: "a jump out of several loops", params: "out: i32[*]", size: 9, group: 4, buffers: [][]byte{words(make([]uint32, 9)...)},
			body: "%1: i32 = item.global.x\n%2: i32 = const 0\n%3: i32 = const 1\n%20: i32 = const 3\n" +
				"%4: i32 = loop @1 (%5: i32 = %2, %6: i32 = %2) {\n%7: i32 = loop @2 (%8: i32 = %2) {\n%9: i32 = add %5, %8\n" +
				"%10: bool = eq %9, %1\nif %10 {\n%11: i32 = mul %5, %20\nbreak @1 %11\n}\n%12: bool = lt %20, %8\nif %12 {\n%13: i32 = add %5, %3\n%14: i32 = add %6, %9\n" +
				"continue @1 %13, %14\n}\n%15: i32 = add %8, %3\ncontinue @2 %15\n}\nunreachable\n}\nstore out[%1], %4"},
		{title: "a jump out of several blocks, and then none", params: "out: i32[*]", size: 9, group: 4, buffers: [][]byte{words(make([]uint32, 9)...)},
			body: "%1: i32 = item.global.x\n%2: i32 = const 0\n%3: i32 = const 1\n%4: i32 = const 5\n" +
				"%5: i32 = loop @1 (%6: i32 = %2, %7: i32 = %2) {\n%8: bool = lt %6, %4\nif %8 {\nyield\n} else {\nbreak @1 %7\n}\n%9: i32 = add %6, %3\n" +
				"block @2 {\n%10: i32 = and %6, %3\n%11: bool = eq %10, %2\nif %11 {\ncontinue @1 %9, %9\n}\nyield\n}\n" +
				"%12: i32 = add %7, %1\ncontinue @1 %9, %12\n}\nstore out[%1], %5"},
		{title: "uniform reports other values than the first item's", params: "x: i32[*], out: i32[*]", size: 6, group: 4, fault: "divergent-uniform",
			buffers: [][]byte{words(5, 5, 6, 5, 7, 7), words(make([]uint32, 6)...)},
			body:    "%1: i32 = item.global.x\n%2: i32 = load x[%1]\n%3: i32 = uniform %2 !3\nbarrier\nstore out[%1], %3"},
		{title: "messages of asserts have their operands", params: "x: i32[*]", size: 6, group: 4, fault: "assertion",
			buffers: [][]byte{words(5, 5, 6, 5, 5, 5)},
			body: "%1: i32 = item.global.x\n%2: i32 = load x[%1]\n%3: i32 = const 5\n%4: bool = eq %2, %3\n%5: f64 = const 0.5\n%6: i64 = const -9\n" +
				"assert %4, \"x is \" %2 \", \" %5 \" \" %6 \"!\" !3"},
		{title: "64-bit and small atomics", params: "out: i32[*]", arrays: "shared n: f32[2]", size: 7, group: 4, buffers: [][]byte{words(make([]uint32, 7)...)},
			body: "%1: i32 = item.global.x\n%2: f32 = convert %1\n%3: i32 = const 0\n%4: f32 = atomic.max n[%3], %2\nbarrier\n%5: f32 = load n[%3]\n" +
				"%6: i32 = sat %5\nstore out[%1], %6"},
		{title: "names that lowering uses", params: "\".records\": i32[*], \".alive\": i32[*]", arrays: "private \".ticks\": i32[1]", size: 5, group: 4,
			buffers: [][]byte{words(1, 2, 3, 4, 5), words(0, 0, 0, 0, 0)},
			body: "%1: i32 = item.global.x\n%2: i32 = load \".records\"[%1]\n%3: i32 = const 0\nzero \".ticks\"\nstore \".ticks\"[%3], %2\n%4: i32 = reduce.add %2\n" +
				"%5: i32 = load \".ticks\"[%3]\n%6: i32 = add %4, %5\nstore \".alive\"[%1], %6"},
		{title: "calls of the host", params: "x: i32[*], y: f64[*], z: i32[*]", size: 10, group: 4,
			buffers: [][]byte{words(0, 2, 4, 6, 8, 10, 12, 14, 16, 1<<31), make([]byte, 80), make([]byte, 40)},
			body: "%1: i32 = item.global.x\n%2: i32 = load x[%1]\n%3: i32 = call.half %2 !3\nstore x[%1], %3\n%4: f64 = convert %3\n%5: f64 = neg %4\n" +
				"%6: f64 = call.first %5, %2 !3\nstore y[%1], %6\n%7: bool = lt %5, %6\n%8: bool = call.first %7\n%9: i32 = convert %8\nstore z[%1], %9"},
		{title: "calls of items of a group, some of which the host refuses", params: "x: i32[*], out: i32[*]", size: 10, group: 4, fault: "call-failed",
			buffers: [][]byte{words(0, 2, 5, 6, 8, 10, 12, 14, 17, 18), words(make([]uint32, 10)...)},
			body:    "%1: i32 = item.global.x\n%2: i32 = load x[%1]\n%3: i32 = call.half %2 !3\n%4: i32 = reduce.add %3\n%5: i32 = call.half %2 !4\nstore out[%1], %5"},
		{title: "a service that there is not", params: "x: i32[*]", size: 3, group: 4, fault: "call-failed", buffers: [][]byte{words(1, 2, 3)},
			body: "%1: i32 = item.global.x\ncall.log %1 !3\nstore x[%1], %1"},
	} {
		for _, target := range targets(t) {
			if strings.Contains(r.body, "call.") && !target.CallsHost() {
				continue // tested by TestUnsupported
			}
			for _, known := range []bool{false, true} {
				c := launch(kernel(t, r.params, r.arrays, r.body), r.size, r.group, r.buffers...)
				out, diff := compare(c, target, known)
				if diff != "" {
					t.Errorf("%s, target %s: %s", r.title, target.Name, diff)
					continue
				}
				fault := ""
				if out.Fault != nil {
					fault = out.Fault.Kind
				}
				if fault != r.fault {
					t.Errorf("%s, target %s: fault %q, want %q", r.title, target.Name, fault, r.fault)
				}
			}
		}
	}
}

// TestOffsets reads at identifiers plus constants, in bounds and not, with proofs where the index is in bounds.
func TestOffsets(t *testing.T) {
	const size, extent = 6, 12
	for _, offset := range []int64{0, 1, 2, 6, 7, 12, math.MaxInt32, -1, -5, -6, math.MinInt32} {
		for _, sum := range []string{"add %1, %2", "add %2, %1", "sub %1, %2"} {
			for _, meeting := range []string{"", "%5: i32 = reduce.add %4\nbarrier\n"} {
				for _, target := range targets(t) {
					from := make([]uint32, extent)
					for i := range from {
						from[i] = uint32(100 + i)
					}
					k := kernel(t, "x: i32[*], out: i32[*]", "", fmt.Sprintf("%%1: i32 = item.global.x\n%%2: i32 = const %d\n%%3: i32 = %s\n%%4: i32 = load x[%%3] !1\n%sstore out[%%1], %%4",
						offset, sum, meeting))
					first := offset
					if strings.HasPrefix(sum, "sub") {
						first = -offset
					}
					within := first >= 0 && first <= extent-size
					k.Body.Walk(func(in *ir.Instr) {
						if in.Op == ir.Load && within {
							in.Proved = 1
						}
					})
					out, diff := compare(launch(k, size, 4, words(from...), words(make([]uint32, size)...)), target, true)
					if diff != "" {
						t.Fatalf("%s of %d, target %s: %s", sum, offset, target.Name, diff)
					}
					if within != (out.Fault == nil) {
						t.Errorf("%s of %d, target %s: fault %v", sum, offset, target.Name, out.Fault)
					}
				}
			}
		}
	}
}

// TestStop sets the stop word before launches of endless kernels.
func TestStop(t *testing.T) {
	for title, body := range map[string]string{
		"an item":             "loop @1 () {\ncontinue @1\n}",
		"a group":             "%2: i32 = const 1\nloop @1 () {\nbarrier\n%3: i32 = reduce.add %2\ncontinue @1\n}",
		"an item of a group":  "%2: i32 = item.local.x\n%3: i32 = const 0\n%9: bool = eq %2, %3\nif %9 {\nloop @1 () {\n%4: bool = lt %2, %3\nif %4 {\nbreak @1\n}\ncontinue @1\n}\nyield\n}\nbarrier",
		"loops within a loop": "%2: i32 = const 1\n%3: i32 = const 0\nloop @1 () {\nloop @2 (%4: i32 = %3) {\n%5: bool = lt %4, %2\nif %5 {\nbreak @2\n}\ncontinue @2 %2\n}\ncontinue @1\n}",
	} {
		k := kernel(t, "x: i32[*]", "", "%1: i32 = item.global.x\n"+body)
		for _, target := range targets(t) {
			l, err := lower.Lower(k, target, lower.Options{MaxGroup: 4})
			if err != nil {
				t.Fatal(err)
			}
			run := &leaf.Launch{Size: [3]int{6, 1, 1}, GroupSize: [3]int{4, 1, 1}, Args: []leaf.Arg{{Data: words(1), Dims: []int32{1}}}, Records: l.NewRecords(16), Steps: 3_000_000}
			if err := leaf.Run(l, target, run); err == nil {
				t.Errorf("%s, target %s: ends without being stopped", title, target.Name)
			}
			run.Records = l.NewRecords(16)
			run.Records[lower.StopWord] = 1
			if err := leaf.Run(l, target, run); err != nil {
				t.Errorf("%s, target %s: is not stopped: %v", title, target.Name, err)
			}
		}
	}
}

// TestLostPrints exceeds the space of the records.
func TestLostPrints(t *testing.T) {
	k := kernel(t, "", "", "%1: i32 = item.global.x\nprint \"item \" %1 \"\" !4")
	target := targets(t)[0]
	l, err := lower.Lower(k, target, lower.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range []int{0, 4, 5, 12, 1000} {
		run := &leaf.Launch{Size: [3]int{10, 1, 1}, GroupSize: [3]int{4, 1, 1}, Records: l.NewRecords(room)}
		if err := leaf.Run(l, target, run); err != nil {
			t.Fatal(err)
		}
		_, prints, lost := l.Read(run.Records, lower.Geometry{Size: run.Size, GroupSize: run.GroupSize})
		if len(prints) != min(room/5, 10) || lost != 10-len(prints) {
			t.Errorf("room for %d words: %d prints, %d lost", room, len(prints), lost)
		}
		for i, p := range prints {
			if p.Text != fmt.Sprint("item ", i) || p.Site != 4 {
				t.Errorf("print %d is %q at site %d", i, p.Text, p.Site)
			}
		}
	}
}

// TestPrintsAtOnce runs launches that print records of different lengths at once. Words of an item whose record does not fit must not
// be read as one.
func TestPrintsAtOnce(t *testing.T) {
	k := kernel(t, "", "", "%1: i32 = item.global.x\nprint \"short\" !3\nprint \"\" %1 \" and \" %1 \"\" !4")
	target := targets(t)[0]
	l, err := lower.Lower(k, target, lower.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const launches, items = 4, 8
	for round := range 400 {
		records := l.NewRecords(20 + round%100)
		var all sync.WaitGroup
		for range launches {
			all.Go(func() {
				if err := leaf.Run(l, target, &leaf.Launch{Size: [3]int{items, 1, 1}, GroupSize: [3]int{4, 1, 1}, Records: records}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		_, prints, lost := l.Read(records, lower.Geometry{Size: [3]int{items, 1, 1}, GroupSize: [3]int{4, 1, 1}})
		if n := len(prints) + lost; n != 2*launches*items {
			t.Fatalf("room for %d words: %d prints and %d lost of %d", 20+round%100, len(prints), lost, 2*launches*items)
		}
	}
}

// clears returns the number of stores of constants to the named array.
func clears(k *lower.Kernel, name string) (n int) {
	k.IR.Body.Walk(func(in *ir.Instr) {
		if in.Op == ir.Store && in.Array.Name == name && in.Args[1].Def != nil && in.Args[1].Def.Op == ir.Const {
			n++
		}
	})
	return n
}

// TestFirstStores checks the proofs that shared memory is written before it is read.
func TestFirstStores(t *testing.T) {
	tile := "shared s: f32[4]"
	read := "%1: i32 = item.global.x\n%2: i32 = item.local.x\n%3: i32 = item.groupsize.x\n%9: i32 = const 1\n%4: i32 = sub %3, %9\n%5: i32 = sub %4, %2\n"
	for _, r := range []struct {
		title, body string
		proved      bool
	}{
		{"a tile", read + "%6: f32 = load x[%1] !1\nstore s[%2], %6\nbarrier\n%7: f32 = load s[%5]\nstore out[%1], %7", true},
		{"a tile in a loop", read + "%10: i32 = const 0\nloop @1 (%11: i32 = %10) {\n%12: bool = lt %11, %3\nif %12 {\nyield\n} else {\nbreak @1\n}\n" +
			"%6: f32 = load x[%1] !1\nstore s[%2], %6\nbarrier\n%7: f32 = load s[%5]\nstore out[%1], %7\nbarrier\n%13: i32 = add %11, %9\ncontinue @1 %13\n}", true},
		{"a fault after the first store", read + "%10: i32 = const 0\n%20: i32 = const 2\nloop @1 (%11: i32 = %10) {\n%12: bool = lt %11, %20\nif %12 {\nyield\n} else {\nbreak @1\n}\n" +
			"%6: f32 = convert %1\nstore s[%2], %6\nbarrier\n%7: f32 = load s[%5]\nstore out[%1], %7\n%14: f32 = load x[%1] !1\nbarrier\n%13: i32 = add %11, %9\ncontinue @1 %13\n}", true},
		{"a read before the barrier", read + "%6: f32 = load x[%1] !1\nstore s[%2], %6\n%7: f32 = load s[%5]\nbarrier\nstore out[%1], %7", false},
		{"a store of some items", read + "%6: f32 = load x[%1] !1\n%8: bool = lt %2, %9\nif %8 {\nstore s[%2], %6\nyield\n}\nbarrier\n%7: f32 = load s[%5]\nstore out[%1], %7", false},
		{"another place", read + "%6: f32 = load x[%1] !1\nstore s[%9], %6\nbarrier\n%7: f32 = load s[%5]\nstore out[%1], %7", false},
		{"a second store", read + "%6: f32 = load x[%1] !1\nstore s[%2], %6\nbarrier\n%7: f32 = load s[%5]\nbarrier\nstore s[%5], %7\nstore out[%1], %7", false},
	} {
		k := kernel(t, "x: f32[*], out: f32[*]", tile, r.body)
		for _, target := range targets(t) {
			l, err := lower.Lower(k, target, lower.Options{MaxGroup: 4, GroupSize: [3]int{4, 1, 1}})
			if err != nil {
				t.Fatal(err)
			}
			if proved := clears(l, "s") == 0; proved != r.proved {
				t.Errorf("%s, target %s: proved %v\n%s", r.title, target.Name, proved, l.IR)
			}
			if r.title == "a read before the barrier" {
				continue // a race
			}
			c := launch(k, 6, 4, words(1, 2, 3), words(make([]uint32, 6)...)) // items 3 to 5 fault, 6 and 7 are absent
			if _, diff := compare(c, target, true); diff != "" {
				t.Errorf("%s, target %s: %s", r.title, target.Name, diff)
			}
		}
	}
}

func TestUnsupported(t *testing.T) {
	target := targets(t)[2] // without calls
	for body, want := range map[string]string{
		"%1: f32 = const 1\n%2: f32 = math.sin %1 !3": "function sin",
		"call.log !3": "service log",
		"%1: f32 = const 1\n%3: f32 = loop @1 (%2: f32 = %1) {\nbreak @1 %2\n}\n":          "",
		"%1: i32 = item.local.x\n%2: i32 = subgroup.shuffle_up %1, %1\nprint \"\" %2 \"\"": "",
	} {
		_, err := lower.Lower(kernel(t, "", "", body), target, lower.Options{})
		var u *lower.UnsupportedError
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", body, err)
		case want != "" && (!errors.As(err, &u) || u.Site != 3 || u.Code() != "unsupported" || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v", body, err)
		}
	}
	for depth, ok := range map[int]bool{200: true, 215: true, 216: false, 254: false} {
		inner := "store x[%1][%1][%1], %1 !1\n%3: i32 = atomic.min x[%1][%1][%1], %1 !2\n%4: i32 = reduce.max %1\n"
		body := "%1: i32 = item.global.x\n%2: bool = const true\n" + strings.Repeat("if %2 {\n", depth) + inner + "yield\n" + strings.Repeat("}\nyield\n", depth-1) + "}"
		deep := kernel(t, "x: i32[*,*,*]", "", body)
		for _, target := range targets(t) {
			l, err := lower.Lower(deep, target, lower.Options{MaxGroup: 8})
			if (err == nil) != ok {
				t.Errorf("blocks %d deep: %v", depth, err)
			}
			if err == nil {
				if err := (&ir.Module{Kernels: []*ir.Kernel{l.IR}, Files: []string{"f"}}).VerifyLowered(); err != nil {
					t.Errorf("blocks %d deep: %.200s", depth, err)
				}
			}
		}
	}
	k := kernel(t, "", "", "")
	for _, o := range []lower.Options{{SubgroupSize: 5}, {MaxGroup: 2000}, {MaxGroup: -1}} {
		if _, err := lower.Lower(k, target, o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	if _, err := lower.NewTarget("x", "add.f32"); err == nil || !strings.Contains(err.Error(), `"add.f32"`) {
		t.Errorf("a target that names a required leaf: %v", err)
	}
}

// TestLeafRefuses runs invalid lowered kernels.
func TestLeafRefuses(t *testing.T) {
	all, none := targets(t)[1], targets(t)[0]
	k := kernel(t, "x: i32[*], y: i32[*]", "", "%1: i32 = item.global.x\n%2: i32 = load x[%1]\n%3: i32 = load y[%1]\n%4: i32 = div %2, %3\nstore y[%1], %4")
	l, err := lower.Lower(k, all, lower.Options{})
	if err != nil {
		t.Fatal(err)
	}
	args := []leaf.Arg{{Data: words(4), Dims: []int32{1}}, {Data: words(0), Dims: []int32{1}}}
	run := &leaf.Launch{Size: [3]int{1, 1, 1}, GroupSize: [3]int{1, 1, 1}, Args: args, Records: l.NewRecords(0)}
	if err := leaf.Run(l, all, run); err != nil {
		t.Error(err)
	}
	broken := func(change func(in *ir.Instr)) error {
		c := *l
		c.IR = l.IR.Clone()
		c.Records = c.IR.Params[len(c.IR.Params)-1].Array
		c.IR.Body.Walk(change)
		run.Records = l.NewRecords(0)
		return leaf.Run(&c, none, run)
	}
	if err := broken(func(in *ir.Instr) {
		if in.Op == ir.If {
			in.Then.Instrs = []*ir.Instr{{Op: ir.Yield}}
		}
	}); err == nil || !strings.Contains(err.Error(), "divisor") {
		t.Errorf("a division by zero that nothing guards: %v", err)
	}
	if err := broken(func(in *ir.Instr) {
		if in.Op == ir.Mul && in.Type() == ir.I64 {
			in.Op = ir.Min
		}
	}); err == nil || !strings.Contains(err.Error(), "no leaf") {
		t.Errorf("an operation that the target lacks: %v", err)
	}
	if err := broken(func(in *ir.Instr) {
		if in.Op == ir.Const && in.Type() == ir.I64 && in.Bits == 4 {
			in.Bits = 5
		}
	}); err == nil || !strings.Contains(err.Error(), "aligned") {
		t.Errorf("an offset that is not aligned: %v", err)
	}
	run.Size = [3]int{2, 1, 1}
	if err := broken(func(in *ir.Instr) {
		if in.Op == ir.If {
			in.Then.Instrs = []*ir.Instr{{Op: ir.Yield}}
		}
	}); err == nil {
		t.Error("an access out of bounds that nothing guards")
	}
}

// TestManual compares the table of leaves in the manual with the package.
func TestManual(t *testing.T) {
	const manual, after, before = "../../../docs/kernel-lowering.md", "<!-- leaves -->\n", "<!-- end -->"
	data, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| leaf | types | | |\n|---|---|---|---|\n")
	for _, l := range lower.Leaves {
		optional := ""
		if l.Optional {
			optional = "optional"
		}
		names := strings.Fields(l.Name)
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", strings.Join(names, "` `"), l.Types, optional, l.Meaning)
	}
	head, rest, ok := strings.Cut(string(data), after)
	got, tail, end := strings.Cut(rest, before)
	if !ok || !end {
		t.Fatalf("%s has no %q", manual, after)
	}
	if got != b.String() {
		if *update {
			if err := os.WriteFile(manual, []byte(head+after+b.String()+before+tail), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		t.Errorf("the table of leaves in %s differs; -update writes it anew", manual)
	}
}

// TestWholeLaunches checks that launches of complete groups with finite loops have no code for absent items, faults and stops.
func TestWholeLaunches(t *testing.T) {
	k := kernel(t, "x: i32[*], out: i32[*]", "", `%1: i32 = item.local.x
%2: i32 = const 0
%3: i32 = const 1
%9: i32 = const 100
%10: i32 = loop @1 (%4: i32 = %2) {
%5: bool = lt %4, %9
if %5 {
yield
} else {
break @1 %4
}
%6: i32 = reduce.add %4
%7: i32 = add %4, %3
continue @1 %7
}
%8: i32 = scan.add %10
store out[%1], %8`)
	target := targets(t)[0]
	records := func(o lower.Options) (n int) {
		l, err := lower.Lower(k, target, o)
		if err != nil {
			t.Fatal(err)
		}
		l.IR.Body.Walk(func(in *ir.Instr) {
			if in.Array == l.Records || in.Op == ir.Item && in.Item == ir.GlobalSize {
				n++
			}
		})
		return n
	}
	if n := records(lower.Options{MaxGroup: 4}); n == 0 {
		t.Error("the general form does not look at the records")
	}
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op == ir.Store {
			in.Proved = 1
		}
	})
	if n := records(lower.Options{MaxGroup: 4, Whole: true, Unpolled: true}); n != 0 {
		t.Errorf("%d leaves for absent items, faults and stops", n)
	}
}

// TestPolls counts polls and barriers of a loop before a barrier. A loop with a small constant bound has no poll. Items that
// may leave separately poll individually; otherwise the group decides.
func TestPolls(t *testing.T) {
	count := func(limit, result, inside string) (polls, barriers int) {
		k := kernel(t, "x: i32[*], out: i32[*]", "", `%1: i32 = item.local.x
%8: i32 = item.size.x
%2: i32 = const 0
%3: i32 = const 1
%9: i32 = const 100
%10: i32 = loop @1 (%4: i32 = %2) {
%5: bool = lt %4, `+limit+`
if %5 {
yield
} else {
break @1 `+result+`
}
`+inside+`%7: i32 = add %4, %3
continue @1 %7
}
barrier
store out[%1], %10`)
		l, err := lower.Lower(k, targets(t)[0], lower.Options{MaxGroup: 4})
		if err != nil {
			t.Fatal(err)
		}
		l.IR.Body.Walk(func(in *ir.Instr) {
			if in.Op == ir.Atomic && in.Array == l.Records {
				polls++
			}
			if in.Op == ir.Barrier {
				barriers++
			}
		})
		return polls, barriers
	}
	brief, barriers := count("%9", "%4", "")
	for _, test := range []struct {
		name, limit, result, inside string
		together                    bool
	}{
		{"apart", "%8", "%1", "", false},
		{"result", "%8", "%4", "", true},
		{"meeting", "%8", "%1", "barrier\n", true},
	} {
		polls, meetings := count(test.limit, test.result, test.inside)
		if polls != brief+1 || (meetings > barriers) != test.together {
			t.Errorf("%s: %d polls and %d barriers, %d and %d in a brief loop", test.name, polls, meetings, brief, barriers)
		}
	}
}
