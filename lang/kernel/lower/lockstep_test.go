package lower_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/lower"
)

// TestLockstep counts the barriers that lowering inserts into loops.
func TestLockstep(t *testing.T) {
	const (
		head = "%g.1: i32 = item.global.x\n%zero.2: i32 = const 0\n%one.3: i32 = const 1\n%n.4: i32 = const 40\n%none.5: f32 = const 0\n"
		exit = "%in.6: bool = lt %j.7, %n.4\nif %in.6 {\nyield\n} else {\nbreak @1 %s.8\n}\n"
		tail = "%t.11: f32 = mul %a.9, %b.10\n%u.12: f32 = add %s.8, %t.11\n%k.13: i32 = add %j.7, %one.3\ncontinue @1 %k.13, %u.12\n}\nstore out[%g.1], %sum.14\n"
	)
	loop := "%sum.14: f32 = loop @1 (%j.7: i32 = %zero.2, %s.8: f32 = %none.5) {\n"
	loads := "%a.9: f32 = load x[%j.7]\n%b.10: f32 = load m[%j.7][%g.1]\n"
	whole := lower.Options{MaxGroup: 64, Whole: true, Unpolled: true, Unchecked: true, Lockstep: true}
	partial, checked := whole, whole
	partial.Whole, checked.Unchecked = false, false
	for _, c := range []struct {
		title, body string
		options     lower.Options
		barriers    int
	}{
		{"a sum", head + loop + exit + loads + tail, whole, 1},
		{"a launch that may have absent items", head + loop + exit + loads + tail, partial, 0},
		{"accesses that may fault", head + loop + exit + loads + tail, checked, 0},
		{"items that leave in different iterations", strings.Replace(head, "const 40", "load n[%g.1]", 1) + loop + exit + loads + tail, whole, 0},
		{"a column", head + loop + exit + "%a.9: f32 = load x[%j.7]\n%b.10: f32 = load m[%g.1][%j.7]\n" + tail, whole, 0},
		{"a store", head + loop + exit + loads + "store out[%g.1], %a.9\n" + tail, whole, 0},
		{"little work", head + loop + exit + strings.Replace(strings.Replace(tail, "%t.11: f32 = mul %a.9, %b.10\n", "", 1), "%s.8, %t.11", "%s.8, %none.5", 1), whole, 0},
		{"a kernel with group operations", head + "barrier\n" + loop + exit + loads + tail, whole, 0},
	} {
		l, err := lower.Lower(kernel(t, "x: f32[*], m: f32[*,*], n: i32[*], out: f32[*]", "", c.body), targets(t)[2], c.options)
		if err != nil {
			t.Fatalf("%s: %v", c.title, err)
		}
		n := 0
		var walk func(b *ir.Block, loops int)
		walk = func(b *ir.Block, loops int) {
			if b == nil {
				return
			}
			for _, in := range b.Instrs {
				if in.Op == ir.Barrier && loops > 0 {
					n++
				}
				inner := loops
				if in.Op == ir.Loop {
					inner++
				}
				walk(in.Then, inner)
				walk(in.Else, inner)
			}
		}
		walk(l.IR.Body, 0)
		if n != c.barriers {
			t.Errorf("%s: %d barriers in loops, want %d", c.title, n, c.barriers)
		}
	}
}

// TestSums compares kernels with simple loops with the interpreter.
func TestSums(t *testing.T) {
	met := 0
	for seed := range uint64(number("OREPL_RANDOM_KERNELS", 200)) {
		c, err := irgen.SumCase(rand.New(rand.NewPCG(seed, 31)))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		target := targets(t)[seed%4]
		if _, diff := compare(c, target, true); diff != "" {
			t.Errorf("seed %d, target %s: %s", seed, target.Name, diff)
		}
		l, err := lower.Lower(c.Kernel, target, lower.Options{MaxGroup: 64, Whole: true, Unpolled: true, Unchecked: true, Lockstep: true})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if l.Meets {
			met++
		}
	}
	if met == 0 {
		t.Error("no loop has a barrier")
	}
}
