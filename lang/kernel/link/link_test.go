package link_test

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/link"
	"github.com/orepl/orepl/lang/kernel/oracle"
)

// library is functions by name, for f32 only.
type library map[string]*ir.Kernel

func (l library) Function(name string, t ir.Type) *ir.Kernel {
	if t != ir.F32 {
		return nil
	}
	return l[name]
}

func parse(t *testing.T, body string) *ir.Kernel {
	t.Helper()
	m, err := ir.ParseText("test.ir", "orepl-ir 1\n"+body)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Verify(); err != nil {
		t.Fatal(err)
	}
	return m.Kernels[0]
}

// functions: cube uses square, power has a loop and a table, and loop uses itself.
func functions(t *testing.T) library {
	return library{
		"square": parse(t, `kernel square(x %x.0: f32, out: f32[*]) real f32 {
  site 0 = 0:0:0 ""
  %z.1: i32 = const 0
  %y.2: f32 = mul %x.0, %x.0
  store out[%z.1], %y.2
  return
}`),
		"cube": parse(t, `kernel cube(x %x.0: f32, out: f32[*]) real f32 {
  site 0 = 0:0:0 ""
  %z.1: i32 = const 0
  %s.2: f32 = math.square %x.0
  %y.3: f32 = mul %s.2, %x.0
  store out[%z.1], %y.3
  return
}`),
		"polynomial": parse(t, `kernel polynomial(x %x.0: f32, y %y.1: f32, out: f32[*]) real f32 {
  table c: f32[3] = [1, 2, 3]
  site 0 = 0:0:0 ""
  %z.2: i32 = const 0
  %one.3: i32 = const 1
  %n.4: i32 = const 3
  %r.5: f32 = loop @1 (%k.6: i32 = %z.2, %s.7: f32 = %y.1) {
    %more.8: bool = lt %k.6, %n.4
    if %more.8 {
      yield
    } else {
      break @1 %s.7
    }
    %c.9: f32 = load c[%k.6]
    %t.10: f32 = fma %s.7, %x.0, %c.9
    %k2.11: i32 = add %k.6, %one.3
    continue @1 %k2.11, %t.10
  }
  store out[%z.2], %r.5
  return
}`),
		"itself": parse(t, `kernel itself(x %x.0: f32, out: f32[*]) real f32 {
  site 0 = 0:0:0 ""
  %z.1: i32 = const 0
  %y.2: f32 = math.itself %x.0
  store out[%z.1], %y.2
  return
}`),
		"effect": parse(t, `kernel effect(x %x.0: f32, out: f32[*]) real f32 {
  site 0 = 0:0:0 ""
  %z.1: i32 = const 0
  print "x"
  store out[%z.1], %x.0
  return
}`),
	}
}

func user(t *testing.T, typ, call string) *ir.Kernel {
	return parse(t, strings.NewReplacer("T", typ, "CALL", call).Replace(`kernel user(x: T[*]) real f32 {
  site 0 = 0:0:0 ""
  %i.0: i32 = item.global.x
  %v.1: T = load x[%i.0]
  %b.2: bool = lt %v.1, %v.1
  %r.3: T = if %b.2 {
    yield %v.1
  } else {
    %c.4: T = CALL
    %d.6: T = CALL
    %e.7: T = add %c.4, %d.6
    yield %e.7
  }
  store x[%i.0], %r.3
  return
}`))
}

func TestLink(t *testing.T) {
	for _, c := range []struct {
		call string
		want func(x float32) float32
	}{
		{"math.square %v.1", func(x float32) float32 { return x * x }},
		{"math.cube %v.1", func(x float32) float32 { return x * x * x }},
		{"math.polynomial %v.1, %v.1", func(x float32) float32 {
			for _, c := range []float64{1, 2, 3} {
				x = float32(float64(x)*float64(x0) + c)
			}
			return x
		}},
	} {
		k := user(t, "f32", c.call)
		if err := link.Link(k, functions(t)); err != nil {
			t.Fatal(err)
		}
		m := &ir.Module{Kernels: []*ir.Kernel{k}, Files: []string{""}}
		if err := m.Verify(); err != nil {
			t.Fatalf("%v\n%s", err, k)
		}
		test := oracle.Case{Kernel: k, Size: [3]int{1, 1, 1}, Args: []oracle.Arg{
			{Data: binary.LittleEndian.AppendUint32(nil, math.Float32bits(x0)), Dims: []int32{1}}}}
		out, err := test.Interp(interp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := math.Float32frombits(binary.LittleEndian.Uint32(out.Data[0]))
		if want := 2 * c.want(x0); got != want {
			t.Errorf("%s is %v, want %v", c.call, got, want)
		}
	}
}

const x0 = float32(1.25)

func TestLinkRefuses(t *testing.T) {
	for _, c := range []struct{ typ, call, want string }{
		{"f32", "math.sin %v.1", "no such function"},
		{"f64", "math.square %v.1", "Math.square of f64: there is no such function"},
		{"f32", "math.square %v.1, %v.1", "takes 1 operands, not 2"},
		{"f32", "math.itself %v.1", "uses itself"},
		{"f32", "math.effect %v.1", "operation print"},
	} {
		err := link.Link(user(t, c.typ, c.call), functions(t))
		var f *link.FunctionError
		if !errors.As(err, &f) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.call, err)
		}
	}
}
