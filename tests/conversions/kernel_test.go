package conversions

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/plugins/opencl"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/tests/kernlang"
	"github.com/orepl/orepl/tests/ondevice"
)

var long = os.Getenv("OREPL_TEST_LONG") == "1"

// count returns a number of random values: few, or many in a long run.
func count(few, many int) int {
	if long {
		return many
	}
	return few
}

// device is a device that runs the cases beside the interpreters.
type device struct {
	name string
	*ondevice.Runner
}

// devices returns the engines of the CPU that this machine has, and the first OpenCL device.
func devices(t *testing.T) (list []device) {
	plugins := map[string]offload.Plugin{"opencl": opencl.New(opencl.Options{})}
	for _, engine := range []string{"interp", "avx2", "avx512"} {
		plugins[engine] = cpu.New(cpu.Options{Debug: "cpu-engine=" + engine})
	}
	for name, p := range plugins {
		r, err := ondevice.Open(t.Context(), p)
		if err != nil {
			t.Logf("%s: %v", name, err)
			continue
		}
		list = append(list, device{name, r})
		t.Cleanup(func() {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return list
}

// output is a buffer that a kernel fills, and what it must contain.
type output struct {
	elem ir.Type
	text string // of the statement, after the target
	want []uint64
}

// is64 reports whether the value of an element is an integer of 64 bits.
func is64(t ir.Type) bool { return t == ir.I64 || t == ir.U64 }

// outputs returns a store and an explicit conversion to each type that takes elements of from.
func outputs(from ir.Type, values []uint64) (list []output) {
	for _, to := range elements {
		exact := make([]uint64, len(values))
		if to == ir.Bool || is64(from) == is64(to) {
			for i, b := range values {
				exact[i] = stored(to, decode(from, b))
			}
			list = append(list, output{to, "x[g.x]", exact})
		}
		switch to {
		case ir.I8, ir.U8, ir.I16, ir.U16:
			continue
		}
		explicit := make([]uint64, len(values))
		for i, b := range values {
			explicit[i] = converted(from, to, decode(from, b))
		}
		list = append(list, output{to.Value(), to.String() + "(x[g.x])", explicit})
	}
	return list
}

func buffer(t ir.Type, data []byte, n int) kernlang.Arg {
	return kernlang.Arg{Arg: kernel.Arg{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: t}, Rank: 1}, Data: data, Dims: []int32{int32(n)}}
}

// program returns a kernel that fills the outputs from one buffer, which may be empty.
func program(from ir.Type, values []uint64, list []output) *kernlang.Program {
	p := &kernlang.Program{Size: [3]int{len(list[0].want), 1, 1}}
	var data []byte
	for _, b := range values {
		data = irgen.AppendElem(data, from, b)
	}
	p.Args = append(p.Args, buffer(from, data, len(values)))
	params, body := "g, x", ""
	for i, o := range list {
		params += fmt.Sprintf(", o%d", i)
		body += fmt.Sprintf("\n  o%d[g.x] = %s", i, o.text)
		p.Args = append(p.Args, buffer(o.elem, make([]byte, len(o.want)*o.elem.Size()), len(o.want)))
	}
	p.Text = fmt.Sprintf("(%s) => {%s\n}", params, body)
	return p
}

// check runs a program in all implementations, and compares its outputs with the expected ones.
func check(t *testing.T, r *kernlang.Runner, devices []device, p *kernlang.Program, list []output, describe func(i int) string) {
	t.Helper()
	res, err := r.Run(p)
	if err != nil {
		t.Fatalf("%v\n%s", err, p.Text)
	}
	for k, o := range list {
		var want []byte
		for _, b := range o.want {
			want = irgen.AppendElem(want, o.elem, b)
		}
		size, got := o.elem.Size(), res.Data[k+1]
		for i := range o.want {
			if g, w := got[i*size:(i+1)*size], want[i*size:(i+1)*size]; string(g) != string(w) {
				t.Errorf("%v = %s of %s is %x, want %x (little-endian)", o.elem, o.text, describe(i), g, w)
				break
			}
		}
	}
	for _, d := range devices {
		diff, err := d.Compare(context.Background(), res.Case)
		if err != nil || diff != "" {
			t.Errorf("%s: %s %v\n%s", d.name, diff, err, p.Text)
		}
	}
}

// TestKernels converts random elements of each type to every other by stores and conversions in kernels.
func TestKernels(t *testing.T) {
	runner, err := kernlang.NewRunner()
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	all := devices(t)
	rng := rand.New(rand.NewPCG(3, 4))
	n := 0
	for _, from := range elements {
		values := make([]uint64, count(60, 3000))
		for i := range values {
			values[i] = element(rng, from)
		}
		list := outputs(from, values)
		n += len(values) * len(list)
		on := all
		if !long && from != ir.F64 && from != ir.U64 { // a driver's compiler takes long
			on = nil
			for _, d := range all {
				if d.name != "opencl" {
					on = append(on, d)
				}
			}
		}
		check(t, runner, on, program(from, values, list), list, func(i int) string { return fmt.Sprintf("%v %#x", from, values[i]) })
	}
	if n < 10000 {
		t.Errorf("only %d conversions", n)
	}
}

// TestConstants converts literals, BigInts and captured numbers, which the compiler folds.
func TestConstants(t *testing.T) {
	runner, err := kernlang.NewRunner()
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	rng := rand.New(rand.NewPCG(5, 6))
	for range count(4, 100) {
		var list []output
		for range 8 {
			bits := element(rng, ir.F64)
			x := decode(ir.F64, bits)
			if x.r == nil {
				continue
			}
			integer := element(rng, ir.I64)
			n := decode(ir.I64, integer)
			literal, big := literal(bits), truncated(n).String()+"n"
			for _, to := range []ir.Type{ir.F16, ir.BF16, ir.F32, ir.F64} {
				list = append(list, output{to, literal, []uint64{round(to, x)}},
					output{to.Value(), fmt.Sprintf("%v(%s)", to, literal), []uint64{converted(ir.F64, to, x)}},
					output{to.Value(), fmt.Sprintf("%v(%s)", to, big), []uint64{converted(ir.I64, to, n)}})
			}
			for _, to := range []ir.Type{ir.BF16, ir.F16} { // folded by the optimizer
				list = append(list, output{ir.F32, fmt.Sprintf("%v(i64(%s) + 0n)", to, big), []uint64{converted(ir.I64, to, n)}},
					output{ir.F32, fmt.Sprintf("%v(fromBits(f64, %dn))", to, bits), []uint64{converted(ir.F64, to, x)}})
			}
		}
		check(t, runner, nil, program(ir.F32, nil, list), list, func(int) string { return "a constant" })
	}
}

// TestReference checks the reference itself with conversions that Go has.
func TestReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		bits := element(rng, ir.F64)
		x := decode(ir.F64, bits)
		if got := round(ir.F64, x); got != bits {
			t.Fatalf("%#x becomes %#x", bits, got)
		}
		if want := goFloat32(bits); !x.nan && round(ir.F32, x) != want {
			t.Fatalf("%#x as f32 is %#x, want %#x", bits, round(ir.F32, x), want)
		}
	}
	var texts []string
	for _, x := range []uint64{0x3c00, 0x7bff, 1, 0x8001} {
		texts = append(texts, decode(ir.F16, x).r.RatString())
	}
	if got := strings.Join(texts, " "); got != "1 65504 1/16777216 -1/16777216" {
		t.Error(got)
	}
}
