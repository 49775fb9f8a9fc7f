package spmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/exec"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// host serves calls. It records the calling items and printed texts.
type host struct {
	serve func(item [3]int, args []interp.Scalar, result ir.Type) (uint64, error)
	items [][3]int
	texts []string
}

func (h *host) Print(_ int, item [3]int, text string) {
	h.items, h.texts = append(h.items, item), append(h.texts, text)
}

func (h *host) Call(_ int, _ string, item [3]int, args []interp.Scalar, result ir.Type) (uint64, error) {
	h.items = append(h.items, item)
	return h.serve(item, args, result)
}

// serviceKernel calls the host for items with an odd number, and computes a flat index from all coordinates.
const serviceKernel = `orepl-ir 1
kernel k(x: T[*], y: T[*]) real f32 {
OBSERVE  %0: i32 = item.global.x
  %1: i32 = item.global.y
  %2: i32 = item.global.z
  %3: i32 = item.size.x
  %4: i32 = item.size.y
  %5: i32 = mul %2, %4
  %6: i32 = add %5, %1
  %7: i32 = mul %6, %3
  %8: i32 = add %7, %0
  %9: T = load x[%8]
  %10: i32 = const 1
  %11: i32 = and %8, %10
  %12: bool = eq %11, %10
  if %12 {
    %13: T = call.turn %9, %8
    store y[%8], %13
    yield
  } else {
    yield
  }
  return
}
`

// turnedBits returns the host's result for a value: its complement. A bool is returned as 0 or 2, since any nonzero number
// is true.
func turnedBits(t ir.Type, bits uint64) uint64 {
	if t == ir.Bool {
		return 2 * (1 - bits)
	}
	return ^bits & (1<<(8*t.Size()-1)<<1 - 1)
}

// TestCalls calls the host with values of each type, from some lanes of gangs, in groups of several shapes.
func TestCalls(t *testing.T) {
	needMachine(t)
	size, group := [3]int{37, 3, 2}, [3]int{10, 2, 1}
	n := size[0] * size[1] * size[2]
	for m, typ := range irgen.Values {
		special := irgen.Special(typ)
		for _, observe := range []string{"", "  barrier\n"} {
			k := parse(t, strings.NewReplacer("T[*]", typ.String()+"[*]", ": T", ": "+typ.String(), "OBSERVE", observe).Replace(serviceKernel))
			for _, target := range targets() {
				gang := []int{1, 2, 4}[m%3]
				p, err := Compile(k, plan.Options{Features: target.Features, Gang: gang})
				if err != nil {
					t.Fatal(err)
				}
				x, y := exec.Aligned(8*n), exec.Aligned(8*n)
				data := x[:0]
				for i := range n {
					data = irgen.AppendElem(data, typ, special[i%len(special)])
				}
				elem := len(data) / n
				g := launchFor(size, group, n, n)
				g.Args[0].Base, g.Args[1].Base = unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
				h := &host{serve: func(item [3]int, args []interp.Scalar, result ir.Type) (uint64, error) {
					i := (item[2]*size[1]+item[1])*size[0] + item[0]
					want := []interp.Scalar{{Type: typ, Bits: special[i%len(special)]}, {Type: ir.I32, Bits: uint64(i)}}
					if !slices.Equal(args, want) || result != typ {
						t.Errorf("%v, %s: item %v calls with %v for a result of %v, want %v", typ, target.Name, item, args, result, want)
					}
					return turnedBits(typ, args[0].Bits), nil
				}}
				g.Services = h
				fault, err := runUnits(p, g)
				if fault != nil || err != nil {
					t.Fatalf("%v, %s: %v, %v", typ, target.Name, fault, err)
				}
				if len(h.items) != n/2 {
					t.Errorf("%v, %s: %d calls, want %d", typ, target.Name, len(h.items), n/2)
				}
				var want []byte
				for i := range n {
					bits := uint64(0)
					if i%2 == 1 {
						if bits = turnedBits(typ, special[i%len(special)]); typ == ir.Bool {
							bits = min(bits, 1)
						}
					}
					want = irgen.AppendElem(want, typ, bits)
				}
				if !slices.Equal(y[:n*elem], want) {
					t.Errorf("%v, %s, gangs of %d registers: got %x, want %x", typ, target.Name, gang, y[:n*elem], want)
				}
			}
		}
	}
}

// TestCallsThatFail checks that a failed call ends its item with the host's text.
func TestCallsThatFail(t *testing.T) {
	needMachine(t)
	const n = 100
	k := parse(t, strings.NewReplacer("T[*]", "i32[*]", ": T", ": i32", "OBSERVE", "").Replace(serviceKernel))
	for _, target := range targets() {
		for _, gang := range []int{1, 4} {
			p, err := Compile(k, plan.Options{Features: target.Features, Gang: gang})
			if err != nil {
				t.Fatal(err)
			}
			x, y := make([]int32, n), make([]int32, n)
			g := launchFor([3]int{n, 1, 1}, [3]int{1, 1, 1}, n, n)
			g.Args[0].Base, g.Args[1].Base = unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
			h := &host{serve: func(item [3]int, _ []interp.Scalar, _ ir.Type) (uint64, error) {
				if item[0] >= 37 {
					return 0, fmt.Errorf("no more for %d", item[0])
				}
				return 5, nil
			}}
			g.Services = h
			fault, err := runUnits(p, g)
			if err != nil || fault == nil || fault.Kind != interp.CallFailed || fault.Item != [3]int{37, 0, 0} || fault.Text != "no more for 37" {
				t.Errorf("%s: %+v, %v", target.Name, fault, err)
			}
			if last := h.items[len(h.items)-1]; last != [3]int{37, 0, 0} {
				t.Errorf("%s: the last call is of %v", target.Name, last)
			}
			g.Services = nil
			if fault, err = runUnits(p, g); err != nil || fault == nil || fault.Item != [3]int{1, 0, 0} || fault.Text != "there is no service turn" {
				t.Errorf("%s: without a host: %+v, %v", target.Name, fault, err)
			}
		}
	}
}

// TestPrints prints values of each type from some lanes, twice per item. The lines must arrive in order for each item.
func TestPrints(t *testing.T) {
	needMachine(t)
	k := anyRank(t, `(g, x, y) => {
  for (let i = 0; i < 2 + g.x % 2; i++) if (g.x % 3 == 1) g.print('a', g.x, i, x[g.x], g.x % 2 == 1, i == 0)
  if (g.x % 5 == 1) g.print('z')
}`)
	for _, target := range targets() {
		for _, gang := range []int{1, 2, 4} {
			const n = 100
			c := &oracle.Case{Kernel: k, Size: [3]int{n, 1, 1}, GroupSize: [3]int{10, 1, 1}, SubgroupSize: 32, Args: []oracle.Arg{
				{Data: floats(n, func(i int) float32 { return float32(i) / 4 }), Dims: []int32{n}}, {Data: floats(n, func(int) float32 { return 0 }), Dims: []int32{n}}}}
			want, err := c.Interp(interp.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := runAtOnce(c, target, gang)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Prints) == 0 || !slices.Equal(got.Prints, want.Prints) {
				t.Errorf("%s, gangs of %d registers: prints\n%v, want\n%v", target.Name, gang, got.Prints, want.Prints)
			}
		}
	}
}

// TestMuchText prints more than the buffer of a run holds. The text must arrive in parts, complete and in order.
func TestMuchText(t *testing.T) {
	needMachine(t)
	const n = interp.MaxPending/16 + 100
	k := anyRank(t, `(g, x) => { g.print(g.x) }`)
	p, err := Compile(k, plan.Options{Features: vcode.Least})
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float32, n)
	g := launchFor([3]int{n, 1, 1}, [3]int{1, 1, 1}, n)
	g.Args[0].Base = unsafe.Pointer(&x[0])
	h := &host{}
	g.Services = h
	if fault, err := runUnits(p, g); fault != nil || err != nil {
		t.Fatal(fault, err)
	}
	if len(h.texts) != n {
		t.Fatalf("%d texts, want %d", len(h.texts), n)
	}
	for i, text := range h.texts {
		if text != fmt.Sprint(i) || h.items[i] != [3]int{i, 0, 0} {
			t.Fatalf("text %d is %q, of %v", i, text, h.items[i])
		}
	}
}

// runUnits runs all units of a launch in one run.
func runUnits(p *Program, g *interp.Launch) (*interp.Fault, error) {
	v, units, err := p.Prepare(g)
	if err != nil {
		return nil, err
	}
	if units == 0 {
		return nil, errors.New("nothing to run")
	}
	w := v.Acquire(g)
	defer v.Release(w)
	return w.Run(0, units, false)
}
