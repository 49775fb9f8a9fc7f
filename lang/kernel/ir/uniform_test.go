package ir_test

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// uniformText wraps a body in a kernel with a launch-uniform (%u), a group-uniform (%g) and a varying (%v) condition.
func uniformText(body string) string {
	return `orepl-ir 1
kernel k(n %0: i32, x: i32[*], y: f32[*]) {
  shared s: i32[4]
  table t: i32[4] = [1, 2, 3, 4]
  %id.1: i32 = item.local.x
  %gr.2: i32 = item.group.x
  %u.3: bool = lt %0, %0
  %g.4: bool = lt %gr.2, %0
  %v.5: bool = lt %id.1, %0
` + body + "\n}\n"
}

func TestBarriers(t *testing.T) {
	const bad = false
	for _, c := range []struct {
		name string
		ok   bool
		body string
	}{
		{"plain", true, "barrier\nreturn"},
		{"uniform if", true, "if %u.3 {\nbarrier\nyield\n}\nreturn"},
		{"group-uniform if", true, "if %g.4 {\nbarrier\nyield\n}\nreturn"},
		{"varying if", bad, "if %v.5 {\nbarrier\nyield\n}\nreturn"},
		{"else of varying if", bad, "if %v.5 {\nyield\n} else {\nbarrier\nyield\n}\nreturn"},
		{"after varying if", true, "if %v.5 {\nyield\n}\nbarrier\nreturn"},
		{"after varying return", bad, "if %v.5 {\nreturn\n}\nbarrier\nreturn"},
		{"before varying return", true, "barrier\nif %v.5 {\nreturn\n}\nreturn"},
		{"after uniform return", true, "if %g.4 {\nreturn\n}\nbarrier\nreturn"},
		{"after varying unreachable", bad, "if %v.5 {\nunreachable\n}\nbarrier\nreturn"},
		{"after varying break, inside", bad, "block @1 {\nif %v.5 {\nbreak @1\n}\nbarrier\nyield\n}\nreturn"},
		{"after varying break, outside", true, "block @1 {\nif %v.5 {\nbreak @1\n}\nyield\n}\nbarrier\nreturn"},
		{"after varying break to the outer block", bad, "block @1 {\nblock @2 {\nif %v.5 {\nbreak @1\n}\nyield\n}\nbarrier\nyield\n}\nreturn"},
		{"uniform break after varying break", bad, "loop @1 () {\nblock @2 {\nif %v.5 {\nbreak @2\n}\nif %u.3 {\nbreak @1\n}\nyield\n}\nbarrier\ncontinue @1\n}\nreturn"},
		{"uniform break before varying break", true, "loop @1 () {\nblock @2 {\nif %u.3 {\nbreak @1\n}\nif %v.5 {\nbreak @2\n}\nyield\n}\nbarrier\ncontinue @1\n}\nreturn"},
		{"loop left apart", bad, "loop @1 () {\nbarrier\nif %v.5 {\nbreak @1\n}\ncontinue @1\n}\nreturn"},
		{"after a loop left apart", true, "loop @1 () {\nif %v.5 {\nbreak @1\n}\ncontinue @1\n}\nbarrier\nreturn"},
		{"loop left together", true, "loop @1 () {\nbarrier\nif %g.4 {\nbreak @1\n}\ncontinue @1\n}\nreturn"},
		{"varying continue, top of the loop", true, "loop @1 () {\nbarrier\nif %u.3 {\nbreak @1\n}\nif %v.5 {\ncontinue @1\n}\ncontinue @1\n}\nreturn"},
		{"varying continue, after it", bad, "loop @1 () {\nif %u.3 {\nbreak @1\n}\nif %v.5 {\ncontinue @1\n}\nbarrier\ncontinue @1\n}\nreturn"},
		{"outer loop left apart from the inner", bad, "loop @1 () {\nbarrier\nloop @2 () {\nif %v.5 {\nbreak @1\n}\nif %u.3 {\nbreak @2\n}\ncontinue @2\n}\ncontinue @1\n}\nreturn"},
		{"return in a loop", bad, "loop @1 () {\nif %v.5 {\nreturn\n}\nbreak @1\n}\nbarrier\nreturn"},
		{"both sides leave", true, "block @1 {\nif %v.5 {\nbreak @1\n} else {\nbreak @1\n}\nunreachable\n}\nbarrier\nreturn"},
		{"condition merged from varying control", bad, "%9: bool = if %v.5 {\nyield %u.3\n} else {\nyield %g.4\n}\nif %9 {\nbarrier\nyield\n}\nreturn"},
		{"condition the same on both sides", true, "%9: bool = if %v.5 {\nyield %u.3\n} else {\nyield %u.3\n}\nif %9 {\nbarrier\nyield\n}\nreturn"},
		{"count of iterations", bad, "%9: i32 = loop @1 (%8: i32 = %0) {\nif %v.5 {\nbreak @1 %8\n}\n%10: i32 = add %8, %8\ncontinue @1 %10\n}\n%11: bool = lt %9, %0\nif %11 {\nbarrier\nyield\n}\nreturn"},
		{"carried varying, a round later", bad, "loop @1 (%8: i32 = %0, %9: i32 = %0) {\n%10: bool = lt %9, %0\nif %10 {\nbarrier\nyield\n}\nif %u.3 {\nbreak @1\n}\ncontinue @1 %id.1, %8\n}\nreturn"},
		{"parameters merged from two continues", bad, "loop @1 (%8: i32 = %0) {\n%10: bool = lt %8, %0\nif %10 {\nbarrier\nbreak @1\n}\nif %v.5 {\ncontinue @1 %0\n}\n%11: i32 = neg %0\ncontinue @1 %11\n}\nreturn"},
		{"load of a table", true, "%9: i32 = load t[%0]\n%10: bool = lt %9, %0\nif %10 {\nbarrier\nyield\n}\nreturn"},
		{"load of a read-only buffer", true, "%9: i32 = load x[%gr.2]\n%10: bool = lt %9, %0\nif %10 {\nbarrier\nyield\n}\nreturn"},
		{"load beside a store", bad, "%9: i32 = load x[%gr.2]\n%f: f32 = convert %0\nstore y[%id.1], %f\n%10: bool = lt %9, %0\nif %10 {\nbarrier\nyield\n}\nreturn"},
		{"load at a varying index", bad, "%9: i32 = load x[%id.1]\n%10: bool = lt %9, %0\nif %10 {\nbarrier\nyield\n}\nreturn"},
		{"shared load", bad, "%9: i32 = load s[%0]\n%10: bool = lt %9, %0\nif %10 {\nbarrier\nyield\n}\nreturn"},
		{"shared load asserted uniform", true, "%9: i32 = load s[%0]\n%11: i32 = uniform %9\n%10: bool = lt %11, %0\nif %10 {\nbarrier\nyield\n}\nreturn"},
		{"reduced", true, "%9: i32 = reduce.add %id.1\n%10: bool = lt %9, %0\nif %10 {\nbarrier\nyield\n}\nreturn"},
		{"scanned", bad, "%9: i32 = scan.add %id.1\n%10: bool = lt %9, %0\nif %10 {\nbarrier\nyield\n}\nreturn"},
		{"voted in the subgroup", bad, "%9: bool = subgroup.any %v.5\nif %9 {\nbarrier\nyield\n}\nreturn"},
		{"reduce in varying control", bad, "if %v.5 {\n%9: i32 = reduce.add %0\nyield\n}\nreturn"},
		{"subgroup in varying control", bad, "if %v.5 {\n%9: bool = subgroup.any %v.5\nyield\n}\nreturn"},
		{"uniform in varying control", bad, "if %v.5 {\n%9: i32 = uniform %0\nyield\n}\nreturn"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := ir.ParseText("t", uniformText(strings.ReplaceAll(c.body, "%f", "%90")))
			if err != nil {
				t.Fatal(err)
			}
			err = m.Verify()
			if c.ok && err != nil {
				t.Errorf("rejected: %v", err)
			}
			if !c.ok && (err == nil || !strings.Contains(err.Error(), "may go different ways")) {
				t.Errorf("accepted, or another error: %v", err)
			}
		})
	}
}

func TestLevels(t *testing.T) {
	m, err := ir.ParseText("t", uniformText(`  %9: i32 = add %0, %gr.2
  %10: i32 = if %g.4 {
    yield %0
  } else {
    %11: i32 = neg %0
    yield %11
  }
  %12: i32 = load s[%0]
  %13: i32 = item.local.y
  %14: i32 = loop @1 (%15: i32 = %0) {
    if %v.5 {
      break @1 %15
    }
    %16: i32 = add %15, %0
    continue @1 %16
  }
  %17: i32, %18: i32 = block @2 {
    loop @3 (%19: i32 = %0) {
      if %v.5 {
        break @2 %19, %0
      }
      %20: i32 = add %19, %0
      continue @3 %20
    }
    unreachable
  }
  loop @4 (%21: i32 = %0, %22: i32 = %0) {
    loop @5 (%23: i32 = %0) {
      if %v.5 {
        continue @4 %23, %0
      }
      %24: i32 = add %23, %0
      continue @5 %24
    }
    unreachable
  }
  return`))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Verify(); err != nil {
		t.Fatal(err)
	}
	k := m.Kernels[0]
	byID := map[int]*ir.Value{0: k.Body.Params[0]}
	var loop *ir.Instr
	k.Body.Walk(func(in *ir.Instr) {
		for _, r := range in.Results {
			byID[r.ID] = r
		}
		if in.Op == ir.Loop {
			loop = in
			for _, p := range in.Then.Params {
				byID[p.ID] = p
			}
		}
	})
	const launch, group, varying = ir.LaunchUniform, ir.GroupUniform, ir.Varying
	group0 := k.Uniformity(ir.Scope{})
	lanes := k.Uniformity(ir.Scope{Lockstep: true, UniformAxis: [3]bool{false, true, true}})
	for id, want := range map[int][2]ir.Level{
		0: {launch, launch}, 1: {varying, varying}, 2: {group, group}, 3: {launch, launch}, 4: {group, group}, 9: {group, group},
		10: {group, group}, 11: {launch, launch}, 12: {varying, group}, 13: {varying, group}, 14: {varying, varying},
		15: {launch, launch}, 16: {launch, launch}, // for the items still in the loop
		17: {varying, varying}, 18: {launch, launch}, // the result of another iteration, and a result that all iterations share
		19: {launch, launch}, 21: {varying, varying}, 22: {launch, launch},
	} {
		if got := group0.Value(byID[id]); got != want[0] {
			t.Errorf("%v is %v in the group, want %v", byID[id], got, want[0])
		}
		if got := lanes.Value(byID[id]); got != want[1] {
			t.Errorf("%v is %v in lanes, want %v", byID[id], got, want[1])
		}
	}
	if !group0.Diverges(loop) {
		t.Error("the loop is left in different iterations")
	}
}
