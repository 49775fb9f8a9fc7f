package opt_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/runtime/stopwatch"
)

// TestDeepNesting optimizes loops with maximum nesting, each with a carried value whose interval needs several assumptions. The
// loose bound excludes only exponential time.
func TestDeepNesting(t *testing.T) {
	var b strings.Builder
	b.WriteString("%10: i32 = const 1\n")
	const depth = ir.MaxDepth - 1
	for i := range depth {
		fmt.Fprintf(&b, "loop @%d (%%%d: i32 = %%10) {\nif %%5 {\nbreak @%d\n} else {\nyield\n}\n", i, 100+i, i)
	}
	b.WriteString("%11: f32 = load x[%0]\nstore y[%1], %11\n")
	for i := depth - 1; i >= 0; i-- {
		fmt.Fprintf(&b, "%%%d: i32 = sub %%0, %%%d\nstore n[%%0][%%%d], %%0\ncontinue @%d %%%d\n}\n", 1000+i, 100+i, 100+i, i, 1000+i)
	}
	m := parseBody(t, b.String())
	start := stopwatch.Start()
	opt.Run(m, opt.Default, nil)
	if took := start.Elapsed(); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	if err := m.Verify(); err != nil {
		t.Error(err)
	}
}

// TestAssumeIsBounded analyses conditions that each use the previous one twice, for which an unbounded search would take
// exponential time.
func TestAssumeIsBounded(t *testing.T) {
	for name, line := range map[string]string{
		"and": "%%%d: bool = and %%%[2]d, %%%[2]d\n",
		"or":  "%%%d: bool = or %%%[2]d, %%%[2]d\n",
		"if":  "%%%d: bool = if %%%[2]d {\nyield %%%[2]d\n} else {\n%%%[3]d: bool = const false\nyield %%%[3]d\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			b.WriteString("%10: bool = lt %0, %1\n")
			const levels = 60
			for i := range levels {
				fmt.Fprintf(&b, line, 11+i, 10+i, 100+i)
			}
			fmt.Fprintf(&b, "if %%%d {\n%%200: f32 = load x[%%0]\nyield\n} else {\n%%201: f32 = load x[%%1]\nyield\n}\n", 10+levels)
			opt.Prove(parseBody(t, b.String()).Kernels[0], nil)
		})
	}
}
