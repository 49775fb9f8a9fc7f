package analysis

import (
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
)

func parse(t *testing.T, body string) *ir.Kernel {
	t.Helper()
	m, err := ir.ParseText("test", "orepl-ir 1\nkernel k(x: f32[*], y: f32[*]) real f32 {\n"+body+"}\n")
	if err == nil {
		err = m.Verify()
	}
	if err != nil {
		t.Fatal(err)
	}
	return m.Kernels[0]
}

func find(k *ir.Kernel, op ir.Op) (list []*ir.Instr) {
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op == op {
			list = append(list, in)
		}
	})
	return list
}

const counting = `  %1: i32 = item.global.x
  %2: i32 = const 0
  %3: i32 = const 2
  %9: i32 = const 100
  %4: f32 = load x[%1]
  %5: i32 = loop @1 (%6: i32 = %2) {
    %7: bool = lt %6, %9
    if %7 {
      yield
    } else {
      break @1 %6
    }
    %8: i32 = add %6, %3
    continue @1 %8
  }
  store y[%1], %4
  return
`

func TestStructure(t *testing.T) {
	k := parse(t, counting)
	s := StructureOf(k)
	loop, branch := find(k, ir.Loop)[0], find(k, ir.If)[0]
	if s.Parent[branch] != loop || s.Parent[loop] != nil {
		t.Error("the if is in the loop, which is outermost")
	}
	if ends := s.Ends(loop); len(ends) != 1 || ends[0].Op != ir.Break {
		t.Errorf("ends of the loop: %v", ends)
	}
	if ends := s.Ends(branch); len(ends) != 1 || ends[0].Op != ir.Yield {
		t.Errorf("ends of the if: %v", ends)
	}
	if step, ok := s.Step(loop, 0); !ok || step != 2 {
		t.Errorf("step %d, %v", step, ok)
	}
	if !s.Finite(loop) || !s.Falls(loop) {
		t.Error("the loop ends")
	}
	bound := find(k, ir.Lt)[0].Args
	if s.Invariant(bound[0], loop) || !s.Invariant(bound[1], loop) {
		t.Error("the bound is invariant, the counter is not")
	}
	if !ContinuesOnlyAtEnd(loop) || len(ExitsOf(loop)) != 1 || !LeavesLoop(branch) {
		t.Error("the loop has one continue at its end, and one exit in an if")
	}
}

func TestAccesses(t *testing.T) {
	k := parse(t, counting)
	a := FindAffine(k, k.Uniformity(ir.Scope{}))
	load := find(k, ir.Load)[0]
	if got := Stride(a, load, 0); got != 4 {
		t.Errorf("stride %d along x", got)
	}
	if got := Stride(a, load, 1); got != 0 {
		t.Errorf("stride %d along y", got)
	}
	if !EndsEarly(k, false) || EndsEarly(k, true) {
		t.Error("a checked access may end an item early")
	}
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op == ir.Load || in.Op == ir.Store {
			in.Proved = AllProved(in)
		}
	})
	if EndsEarly(k, false) {
		t.Error("a proved access cannot end an item")
	}
}

func TestIntRange(t *testing.T) {
	for _, c := range []struct {
		t      ir.Type
		lo, hi int64
	}{{ir.I8, -128, 127}, {ir.U16, 0, 65535}, {ir.I32, -1 << 31, 1<<31 - 1}, {ir.U32, 0, 1<<32 - 1}} {
		if lo, hi, ok := IntRange(c.t); !ok || lo != c.lo || hi != c.hi {
			t.Errorf("%v: %d to %d", c.t, lo, hi)
		}
	}
	for _, typ := range []ir.Type{ir.U64, ir.F32, ir.Bool} {
		if _, _, ok := IntRange(typ); ok {
			t.Errorf("%v has an interval", typ)
		}
	}
}
