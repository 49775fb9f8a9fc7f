package interp_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// host records prints and serves calls.
type host struct {
	prints []string
	calls  int
}

func (h *host) Print(site int, item [3]int, text string) {
	h.prints = append(h.prints, fmt.Sprintf("%d@%d %s", item[0], site, text))
}

func (h *host) Call(_ int, name string, item [3]int, args []interp.Scalar, result ir.Type) (uint64, error) {
	h.calls++
	if name != "double" {
		return 0, errors.New("no such thing")
	}
	if item[0] == 7 {
		return 0, errors.New("not for seven")
	}
	return args[0].Bits * 2, nil
}

// faulty are kernels with 10 items in groups of 8, in which different items fault.
var faulty = []struct {
	name, body string
	want       interp.Fault // excludes the array
	array      string
	left       []int32 // out: elements that the faulting items do not store
}{
	{name: "store out of bounds", body: `
  %k: i32 = add %i, %i
  store out[%i], %k
  store out[%k], %i
  store out[%i], %i`,
		want: interp.Fault{Kind: interp.OutOfBounds, Site: 1, Index: 10, Extent: 10, Item: [3]int{5}}, array: "out"},
	{name: "negative index", body: `
  %three: i32 = const 3
  %k: i32 = sub %i, %three
  %v: i32 = load in[%k]
  store out[%i], %v`,
		want: interp.Fault{Kind: interp.OutOfBounds, Site: 1, Index: -3, Extent: 10}, array: "in", left: []int32{-1, -1, -1, 0, 10, 20, 30, 40, 50, 60}},
	{name: "second index", body: `
  %zero: i32 = const 0
  %v: i32 = load tile[%zero][%i]
  store out[%i], %i`,
		want: interp.Fault{Kind: interp.OutOfBounds, Site: 1, Axis: 1, Index: 4, Extent: 4, Item: [3]int{4}}, array: "tile",
		left: []int32{0, 1, 2, 3, -1, -1, -1, -1, -1, -1}},
	{name: "division", body: `
  %three: i32 = const 3
  %k: i32 = and %i, %three
  %v: i32 = div %i, %k
  store out[%i], %v`,
		want: interp.Fault{Kind: interp.DivisionByZero, Site: 1}, left: []int32{-1, 1, 1, 1, -1, 5, 3, 2, -1, 9}},
	{name: "remainder", body: `
  %big: i64 = convert %i
  %five: i64 = const 5
  %d: i64 = sub %big, %five
  %v: i64 = rem %big, %d
  store out[%i], %i`,
		want: interp.Fault{Kind: interp.DivisionByZero, Site: 1, Item: [3]int{5}}, left: []int32{0, 1, 2, 3, 4, -1, 6, 7, 8, 9}},
	{name: "assert", body: `
  %six: i32 = const 6
  %ok: bool = lt %i, %six
  %f: f32 = convert %i
  assert %ok, "item " %i " is not " %f "!"
  store out[%i], %i`,
		want: interp.Fault{Kind: interp.AssertionFailed, Site: 1, Item: [3]int{6}, Text: "item 6 is not 6!"},
		left: []int32{0, 1, 2, 3, 4, 5, -1, -1, -1, -1}},
	{name: "call", body: `
  %v: i32 = call.double %i
  store out[%i], %v`,
		want: interp.Fault{Kind: interp.CallFailed, Site: 1, Item: [3]int{7}, Text: "not for seven"}, left: []int32{0, 2, 4, 6, 8, 10, 12, -1, 16, 18}},
	{name: "uniform", body: `
  %five: i32 = const 5
  %less: bool = lt %i, %five
  %u: bool = uniform %less
  store out[%i], %i`,
		want: interp.Fault{Kind: interp.DivergentUniform, Site: 1, Item: [3]int{5}}, left: []int32{0, 1, 2, 3, 4, -1, -1, -1, 8, 9}},
	{name: "reduction without those that left", body: `
  %v: i32 = div %i, %i
  %s: i32 = reduce.add %i
  store out[%i], %s`,
		want: interp.Fault{Kind: interp.DivisionByZero, Site: 1}, left: []int32{-1, 28, 28, 28, 28, 28, 28, 28, 17, 17}},
}

func TestFaults(t *testing.T) {
	for _, c := range faulty {
		t.Run(c.name, func(t *testing.T) {
			lines := strings.Split(c.body, "\n")
			for i, l := range lines {
				for _, op := range []string{"store out[%k]", "load ", "div ", "rem ", "assert ", "call", "uniform "} {
					if strings.Contains(l, op) {
						lines[i] += " !1"
					}
				}
			}
			text := "kernel f(in: i32[*], out: i32[*]) real f32 {\n  shared tile: i32[2,4]\n  site 0 = 0:0:0 \"\"\n  site 1 = 0:2:1 \"here\"\n" +
				"  %i: i32 = item.global.x" + strings.Join(lines, "\n") + "\n  return\n}"
			p := compile(t, "file 0 \"f.js\"\n"+text, interp.Options{})
			for _, unchecked := range []bool{false, true} {
				in, out := make([]int32, 10), make([]int32, 10)
				for i := range in {
					in[i], out[i] = int32(i)*10, -1
				}
				l := interp.Launch{Size: size(10), GroupSize: size(8), Args: []interp.Arg{buffer(in), buffer(out)}, Services: &host{},
					Unchecked: unchecked}
				got := run(t, p, &l)
				if unchecked && c.want.Kind != interp.CallFailed {
					if got != nil {
						t.Errorf("checks off: %v", got)
					}
					continue
				}
				if got == nil {
					t.Fatal("no fault")
				}
				if got.Kind != c.want.Kind || got.Site != c.want.Site || got.Axis != c.want.Axis || got.Index != c.want.Index ||
					got.Extent != c.want.Extent || got.Item != c.want.Item || got.Text != c.want.Text {
					t.Errorf("fault %+v, want %+v", got, c.want)
				}
				if c.array != "" && got.Array.Name != c.array {
					t.Errorf("array %s, want %s", got.Array.Name, c.array)
				}
				if c.left != nil && !slices.Equal(out, c.left) {
					t.Errorf("out %v, want %v", out, c.left)
				}
			}
		})
	}
}

func TestUncheckedStaysInBounds(t *testing.T) {
	p := compile(t, `
kernel f(x: i32[*], y: i32[*]) real f32 {
  site 0 = 0:0:0 ""
  %i: i32 = item.global.x
  %k: i32 = mul %i, %i
  %v: i32 = load x[%k]
  store y[%i], %v
  store x[%k], %i
  %one: i32 = const 1
  %old: i32 = atomic.add x[%k], %one
  %q: i32 = div %one, %i
  store y[%k], %q
  return
}`, interp.Options{})
	x, y := []int32{9, 9, 9, 9, 9}, make([]int32, 5)
	l := interp.Launch{Size: size(5), Unchecked: true, Args: []interp.Arg{buffer(x), buffer(y)}}
	if f := run(t, p, &l); f != nil {
		t.Fatal(f)
	}
	if want := []int32{1, 2, 9, 9, 3}; !slices.Equal(x, want) {
		t.Errorf("x %v, want %v", x, want)
	}
	if want := []int32{0, 1, 9, 0, 0}; !slices.Equal(y, want) {
		t.Errorf("y %v, want %v", y, want)
	}
}

func TestPrintsComeByItem(t *testing.T) {
	p := compile(t, `
kernel f() real f32 {
  site 0 = 0:0:0 ""
  %i: i32 = item.global.x
  %one: i32 = const 1
  %f: f32 = const 0.1
  %big: i64 = const -5
  %odd: i32 = and %i, %one
  %is: bool = eq %odd, %one
  print "first " %i " " %is " " %f ""
  if %is {
    print "odd " %big ""
    yield
  } else {
    yield
  }
  return
}`, interp.Options{})
	var h host
	run(t, p, &interp.Launch{Size: size(3), Services: &h})
	want := []string{"0@0 first 0 false 0.10000000149011612", "1@0 first 1 true 0.10000000149011612", "1@0 odd -5",
		"2@0 first 2 false 0.10000000149011612"}
	if !slices.Equal(h.prints, want) {
		t.Errorf("%q", h.prints)
	}
}

func TestAppendScalar(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 1: "1", -1.5: "-1.5", 1e21: "1e+21", 1e20: "100000000000000000000", 1e-6: "0.000001",
		1e-7: "1e-7", 1.25e-10: "1.25e-10", 1.7976931348623157e308: "1.7976931348623157e+308", 123456789.125: "123456789.125"} {
		got := string(interp.AppendScalar(nil, interp.Scalar{Type: ir.F64, Bits: ir.FloatBits(ir.F64, x)}))
		if got != want {
			t.Errorf("%v is written %s, want %s", x, got, want)
		}
	}
}

func TestPrepareRefuses(t *testing.T) {
	grouped := compile(t, "kernel f(a %0: i32, x: f64[*,*]) real f32 {\n site 0 = 0:0:0 \"\"\n barrier\n return\n}", interp.Options{})
	data := make([]float64, 6)
	good := func() *interp.Launch {
		return &interp.Launch{Size: size(4), GroupSize: size(2), Args: []interp.Arg{{}, buffer(data, 2, 3)}}
	}
	for name, change := range map[string]func(l *interp.Launch){
		"takes 2 arguments":      func(l *interp.Launch) { l.Args = l.Args[:1] },
		"is not in 0 to":         func(l *interp.Launch) { l.Size[1] = -1 },
		"on axis z":              func(l *interp.Launch) { l.Size[2] = 1 << 31 },
		"group size 0":           func(l *interp.Launch) { l.GroupSize[0] = 0 },
		"has 1048576 items":      func(l *interp.Launch) { l.GroupSize = size(1024, 1024) },
		"subgroup size 3":        func(l *interp.Launch) { l.SubgroupSize = 3 },
		"more than its 48 bytes": func(l *interp.Launch) { l.Args[1].Dims[0] = 3 },
		"negative extent":        func(l *interp.Launch) { l.Args[1].Dims[0] = -1 },
		"no memory":              func(l *interp.Launch) { l.Args[1].Base = nil },
		"not aligned": func(l *interp.Launch) {
			l.Args[1].Base, l.Args[1].Bytes, l.Args[1].Dims[0] = unsafe.Add(l.Args[1].Base, 4), 44, 1
		},
		"over 2^63": func(l *interp.Launch) {
			l.Size, l.GroupSize = [3]int{1<<31 - 1, 1<<31 - 1, 1<<31 - 1}, size(1)
		},
		"need more": func(l *interp.Launch) { l.Args[1].Dims = [3]int32{1<<31 - 1, 1<<31 - 1} },
	} {
		l := good()
		change(l)
		if n, err := grouped.Prepare(l); n != 0 || err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
	single := compile(t, "kernel f() real f32 {\n site 0 = 0:0:0 \"\"\n return\n}", interp.Options{})
	if n, err := single.Prepare(&interp.Launch{Size: [3]int{1<<31 - 1, 1<<31 - 1, 1<<31 - 1}}); n != 0 || err == nil {
		t.Errorf("2^93 items: %d, %v", n, err)
	}
	l := good()
	if n, err := grouped.Prepare(l); n != 2 || err != nil {
		t.Error(n, err)
	}
	l.Size[2] = 0
	if n, err := grouped.Prepare(l); n != 0 || err != nil {
		t.Error("size 0: ", n, err)
	}
}

func TestUnsupported(t *testing.T) {
	k := parse(t, "kernel f(a %0: f32) real f32 {\n site 0 = 0:0:0 \"\"\n %1: f32 = math.sin %0\n return\n}")
	var u *interp.UnsupportedError
	if _, err := interp.Compile(k, interp.Options{}); !errors.As(err, &u) || !strings.Contains(u.Error(), "math.sin") {
		t.Errorf("%v", err)
	}
}

func TestRaces(t *testing.T) {
	const tile = "store tile[%l], %i\n barrier\n "
	for _, c := range []struct {
		name, body string
		kind       interp.FaultKind
		ok         bool
	}{
		{"same element", "store out[%zero], %i", interp.Race, false},
		{"neighbour", "store out[%i], %i\n %k: i32 = load out[%left]", interp.Race, false},
		{"barrier missing", "store tile[%l], %i\n %k: i32 = load tile[%zero]\n store out[%i], %k", interp.Race, false},
		{"barrier", "store tile[%l], %i\n barrier\n %k: i32 = load tile[%zero]\n store out[%i], %k", 0, true},
		{"read, then written", "store tile[%l], %i\n barrier\n %k: i32 = load tile[%zero]\n store tile[%l], %k", interp.Race, false},
		{"barrier of another group", "store out[%l], %i\n barrier\n %k: i32 = load out[%zero]", interp.Race, false},
		{"unwritten", "%k: i32 = load tile[%l]\n store out[%i], %k", interp.Unwritten, false},
		{"unwritten, but atomics count in the array", "%m: i32 = atomic.add tile[%zero], %i\n barrier\n %k: i32 = load tile[%l]\n store out[%i], %k", 0, true},
		{"atomics", "%k: i32 = atomic.add out[%zero], %i\n %m: i32 = atomic.load out[%zero]", 0, true},
		{"atomic and plain", "%k: i32 = atomic.add out[%zero], %i\n %m: i32 = load out[%zero]", interp.Race, false},
		{"many atomics, then plain by the last of them", tile + "%k: i32 = atomic.add tile[%zero], %i\n if %last {\n store tile[%zero], %i\n yield\n}", interp.Race, false},
		{"plain, then many atomic loads, then a write by the last of them", tile + "if %first {\n %j: i32 = load tile[%zero]\n yield\n}\n" +
			"%k: i32 = atomic.load tile[%zero]\n if %last {\n %m: i32 = atomic.add tile[%zero], %i\n yield\n}", interp.Race, false},
		{"many atomics, a barrier, then plain by the last of them", tile + "%k: i32 = atomic.add tile[%zero], %i\n barrier\n if %last {\n store tile[%zero], %i\n yield\n}", 0, true},
		{"plain, a barrier, many atomic loads, a write by the last of them", tile + "if %first {\n %j: i32 = load tile[%zero]\n yield\n}\n barrier\n" +
			"%k: i32 = atomic.load tile[%zero]\n if %last {\n %m: i32 = atomic.add tile[%zero], %i\n yield\n}", 0, true},
		{"own", "store out[%i], %i\n %k: i32 = load out[%i]\n store out[%i], %k", 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := compile(t, `
kernel f(out: i32[*]) real f32 {
  shared tile: i32[4]
  site 0 = 0:0:0 ""
  %i: i32 = item.global.x
  %l: i32 = item.local.x
  %zero: i32 = const 0
  %one: i32 = const 1
  %less: i32 = sub %i, %one
  %left: i32 = max %less, %zero
  %size: i32 = item.groupsize.x
  %end: i32 = sub %size, %one
  %first: bool = eq %l, %zero
  %last: bool = eq %l, %end
  `+c.body+`
  return
}`, interp.Options{Races: true})
			out := make([]int32, 8)
			w := p.NewWorker()
			l := interp.Launch{Size: size(8), GroupSize: size(4), Args: []interp.Arg{buffer(out)}}
			for _, group := range []int{4, 2} { // the second launch has different groups and does not race with the first
				l.GroupSize = size(group)
				n, err := p.Prepare(&l)
				if err != nil {
					t.Fatal(err)
				}
				f := p.Run(w, &l, 0, n)
				if c.ok != (f == nil) || f != nil && f.Kind != c.kind {
					t.Errorf("%v", f)
				}
				if f != nil && f.Kind == interp.Race && f.OtherItem == f.Item {
					t.Errorf("%v races with itself", f)
				}
				if f != nil && f.Kind == interp.Race && f.SameGroup != (f.OtherItem[0]/group == f.Item[0]/group) {
					t.Errorf("%v: of one group: %v", f, f.SameGroup)
				}
			}
		})
	}
}

// TestWatch checks that a launch that watches an item keeps the fault of that item, whose group GroupOf returns.
func TestWatch(t *testing.T) {
	for _, group := range []string{"%l: i32 = item.local.x", ""} {
		p := compile(t, `
kernel f(n: i32[*]) real f32 {
  site 0 = 0:0:0 ""
  site 1 = 0:1:1 "n[x]"
  %i: i32 = item.global.x
  `+group+`
  %v: i32 = load n[%i] !1
  return
}`, interp.Options{})
		watched := [3]int{700}
		l := &interp.Launch{Size: size(1000), GroupSize: size(8), Args: []interp.Arg{{}}, Watch: &watched}
		if _, err := p.Prepare(l); err != nil {
			t.Fatal(err)
		}
		g := l.GroupOf(watched)
		if f := p.Run(p.NewWorker(), l, g, g+1); f == nil || f.Item != watched {
			t.Errorf("group %d: %v", g, f)
		}
	}
}
