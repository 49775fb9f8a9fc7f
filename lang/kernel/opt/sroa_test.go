package opt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
)

// TestPromoteIsBounded writes many private elements in nested conditions. The promoted elements, which every enclosing
// condition carries, must not exceed the IR's limits.
func TestPromoteIsBounded(t *testing.T) {
	const arrays, elements, depth = 60, 255, 20
	var b strings.Builder
	b.WriteString("orepl-ir 1\nkernel k(a %0: i32, c %1: bool, y: i32[*]) {\n")
	for i := range arrays {
		fmt.Fprintf(&b, "private p%d: i32[%d]\n", i, elements)
	}
	for i := range elements {
		fmt.Fprintf(&b, "%%%d: i32 = const %d\n", 10+i, i)
	}
	b.WriteString(strings.Repeat("if %1 {\n", depth))
	for i := range arrays * elements {
		fmt.Fprintf(&b, "store p%d[%%%d], %%0\n", i/elements, 10+i%elements)
	}
	b.WriteString(strings.Repeat("yield\n}\n", depth))
	for i := range arrays * elements {
		fmt.Fprintf(&b, "%%%d: i32 = load p%d[%%%d]\nstore y[%%10], %%%d\n", 1000+i, i/elements, 10+i%elements, 1000+i)
	}
	b.WriteString("return\n}\n")
	m, err := ir.ParseText("nested", b.String())
	if err != nil {
		t.Fatal(err)
	}
	before := privates(m.Kernels[0])
	opt.SROA(m.Kernels[0], nil)
	if err := m.Verify(); err != nil {
		t.Fatalf("after SROA: %.300v", err)
	}
	if after := privates(m.Kernels[0]); after == 0 || after >= before {
		t.Errorf("%d of %d arrays are left; some should become values, and not all", after, before)
	}
	opt.Run(m, opt.Default, nil)
	if err := m.Verify(); err != nil {
		t.Fatalf("after all passes: %.300v", err)
	}
}
