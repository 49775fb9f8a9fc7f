package ir_test

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
)

func parsed(t *testing.T, text string) *ir.Module {
	t.Helper()
	m, err := ir.ParseText("test", text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestLink(t *testing.T) {
	kernel := func(name, file, fields string) *ir.Module {
		return parsed(t, `orepl-ir 1
file 0 "`+file+`"
record point `+fields+`
kernel `+name+`(p: point[*]) real f32 {
  site 0 = 0:1:1 "`+name+`"
  site 1 = 0:2:3 "p[0].x"
  %0: i32 = item.global.x
  %1: f32 = const 1
  store p[%0].x, %1 !1
  return
}
`)
	}
	const small, big = "{ x: f32 @0 } size 4 align 4", "{ x: f32 @0, y: f64 @8 } size 16 align 8"
	a, b, c := kernel("a", "one.js", small), kernel("b", "two.js", small), kernel("c", "one.js", big)
	before := a.String()
	m, err := ir.Link(a, b, c)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Verify(); err != nil {
		t.Fatal(err)
	}
	if a.String() != before {
		t.Error("the linked module was changed")
	}
	if len(m.Kernels) != 3 || len(m.Records) != 2 || m.Records[1].Name != "point_2" || len(m.Files) != 2 {
		t.Errorf("linked:\n%s", m)
	}
	if k := m.Kernel("b"); m.Files[k.Sites[0].File] != "two.js" || k.Arrays[0].Elem.Record != m.Records[0] {
		t.Errorf("kernel b of\n%s", m)
	}
	if m.Kernel("c").Arrays[0].Elem.Record != m.Records[1] {
		t.Errorf("kernel c has the other record")
	}
	data, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := ir.DecodeBinary(data); err != nil || again.String() != m.String() {
		t.Errorf("decoded: %v", err)
	}
	if _, err := ir.Link(a, a); err == nil || !strings.Contains(err.Error(), "two kernels are called a") {
		t.Errorf("a twice: %v", err)
	}
}
