package analysis

import (
	"math"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
)

func TestWork(t *testing.T) {
	value := func(v *ir.Value) int64 {
		if v.Def.Op == ir.Extent {
			return 1000
		}
		return int64(int32(v.Def.Bits))
	}
	w := FindWork(parse(t, counting))
	if w == nil {
		t.Fatal("the loop has no bound")
	}
	// 50 iterations and the last test, each of at least six instructions and not many more
	if n := w.Instrs(value); n < 51*6 || n > 60*10 {
		t.Errorf("%d instructions", n)
	}
	if n := w.Instrs(func(*ir.Value) int64 { return math.MaxInt32 - 1 }); n != math.MaxInt64 {
		t.Errorf("%d instructions, although the counter may wrap", n)
	}
	nested := `  %0: i32 = const 0
  %1: i32 = const 1
  %2: i32 = extent.0 x
  loop @1 (%3: i32 = %0) {
    %4: bool = lt %3, %2
    if %4 {
      yield
    } else {
      break @1
    }
    loop @2 (%5: i32 = %0) {
      %6: bool = lt %5, %2
      if %6 {
        yield
      } else {
        break @2
      }
      %7: i32 = add %5, %1
      continue @2 %7
    }
    %8: i32 = add %3, %1
    continue @1 %8
  }
  return
`
	if w = FindWork(parse(t, nested)); w == nil {
		t.Fatal("nested loops have no bound")
	}
	if n := w.Instrs(value); n < 1000*1000*5 || n > 1100*1100*8 {
		t.Errorf("%d instructions of nested loops", n)
	}
	both := strings.Replace(nested, "if %6 {", "%9: bool = eq %3, %1\n%10: bool = and %9, %6\nif %10 {", 1)
	if w = FindWork(parse(t, both)); w == nil {
		t.Error("a loop has no bound that goes on while its counter is below a limit and something else holds")
	}
	if either := strings.Replace(both, "and %9", "or %9", 1); FindWork(parse(t, either)) != nil {
		t.Error("a loop has a bound that goes on while its counter is below a limit or something else holds")
	}
	if FindWork(parse(t, "loop @1 () {\ncontinue @1\n}\nreturn\n")) != nil {
		t.Error("an endless loop has a bound")
	}
	strided := strings.Replace(nested, "add %5, %1", "add %5, %20", 1)
	strided = strings.Replace(strided, "  loop @1", "  %20: i32 = item.size.x\n  loop @1", 1)
	if w = FindWork(parse(t, strided)); w == nil {
		t.Fatal("a loop whose counter increases by the launch's size has no bound")
	}
	step := int64(10)
	at := func(v *ir.Value) int64 {
		if v.Def.Op == ir.Item {
			return step
		}
		return value(v)
	}
	if n := w.Instrs(at); n < 1000*100*5 || n > 1100*110*8 {
		t.Errorf("%d instructions of loops whose inner counter increases by 10", n)
	}
	for _, step = range []int64{0, -1, math.MaxInt32} {
		if n := w.Instrs(at); n != math.MaxInt64 {
			t.Errorf("%d instructions, although a step of %d may not end the loop", n, step)
		}
	}
	if varying := strings.Replace(strided, "item.size.x", "item.global.x", 1); FindWork(parse(t, varying)) != nil {
		t.Error("a loop has a bound whose counter increases by an item's index")
	}
}

// TestBriefLoops finds the loops that execute at most 1000 instructions.
func TestBriefLoops(t *testing.T) {
	for _, c := range []struct {
		what, head, by string
		want           bool
	}{
		{"100 iterations", "%9: i32 = const 100", "%3", true},
		{"100000 iterations", "%9: i32 = const 100000", "%3", false},
		{"an extent", "%9: i32 = extent.0 x", "%3", false},
		{"an extent and 100", "%10: i32 = extent.0 x\n%11: i32 = const 100\n%9: i32 = min %10, %11", "%3", true},
		{"an eighth of 100", "%10: i32 = extent.0 x\n%11: i32 = const 100\n%12: i32 = min %1, %11\n%9: i32 = shr %12, %3", "%3", true},
		{"a share of i32", "%11: i32 = const 100000000\n%9: i32 = div %1, %11", "%3", true},
		{"an item's index", "%9: i32 = add %1, %3", "%3", false},
		{"the greater of two", "%10: i32 = extent.0 x\n%11: i32 = const 100\n%9: i32 = max %10, %11", "%3", false},
		{"an unknown step", "%9: i32 = const 100\n%20: i32 = item.size.x", "%20", false},
		{"an unknown step to below zero", "%9: i32 = const -5\n%20: i32 = item.size.x", "%20", false},
	} {
		body := strings.NewReplacer("%9: i32 = const 100", c.head, "add %6, %3", "add %6, "+c.by).Replace(counting)
		if strings.Contains(c.head, "-5") {
			body = strings.Replace(body, "%2: i32 = const 0", "%2: i32 = const -10", 1)
		}
		k := parse(t, body)
		if got := BriefLoops(k, 1000)[find(k, ir.Loop)[0]]; got != c.want {
			t.Errorf("%s: %t", c.what, got)
		}
	}
}

// TestCountersUp finds the counters that are never negative.
func TestCountersUp(t *testing.T) {
	for _, c := range []struct {
		what, old, new string
		want           bool
	}{
		{"steps of 2 to 100", "", "", true},
		{"a start below 0", "const 0", "const -1", false},
		{"steps down", "%3: i32 = const 2", "%3: i32 = const -2", false},
		{"an item's index as start", "@1 (%6: i32 = %2)", "@1 (%6: i32 = %1)", true},
		{"steps of 1 to an extent", "%3: i32 = const 2\n  %9: i32 = const 100", "%3: i32 = const 1\n  %9: i32 = extent.0 x", true},
		{"steps of 2 to an extent, which may wrap", "%9: i32 = const 100", "%9: i32 = extent.0 x", false},
	} {
		body := strings.Replace(counting, c.old, c.new, 1)
		if body == counting && c.old != "" {
			t.Fatalf("%s: the text lacks %q", c.what, c.old)
		}
		k := parse(t, body)
		if up := CountersUp(k); up[find(k, ir.Loop)[0].Then.Params[0]] != c.want {
			t.Errorf("%s: %v", c.what, up)
		}
	}
}
