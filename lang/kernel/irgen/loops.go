package irgen

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/kernel/oracle"
)

// SumCase generates a launch of a kernel of one to three loops that combine elements of buffers, such as n-body sums and matrix
// products. Accesses are in bounds, all items leave a loop in the same iteration, and most launches have complete groups. It
// returns an error if the kernel is not valid, which is a fault of this package.
func SumCase(rng *rand.Rand) (*oracle.Case, error) {
	g := &sums{rng: rng, names: 10}
	size := [3]int{64 << rng.IntN(4), 1, 1}
	if rng.IntN(3) == 0 {
		size = [3]int{8 << rng.IntN(3), 4, 1}
	}
	if rng.IntN(4) == 0 {
		size[0] += rng.IntN(9)
	}
	g.length = 1 + rng.IntN(40)
	g.text.WriteString("orepl-ir 1\nfile 0 \"f\"\nkernel sums(x: f32[*], y: f32[*], m: f32[*,*], out: f32[*,*]) real f32 {\nsite 0 = 0:1:1 \"\"\n")
	g.line("%%x.1: i32 = item.global.x\n%%y.2: i32 = item.global.y\n%%zero.3: i32 = const 0\n%%one.4: i32 = const 1\n%%half.5: f32 = const 0.5")
	if rng.IntN(2) == 0 {
		g.line("%%n.6: i32 = extent.0 x")
	} else {
		g.line("%%n.6: i32 = const %d", g.length)
	}
	g.line("%%own.7: f32 = load y[%%x.1]")
	g.values = []string{"%half.5", "%own.7"}
	for range 1 + rng.IntN(3) {
		g.loop()
	}
	g.line("store out[%%y.2][%%x.1], %s\nreturn\n}", g.combined())
	m, err := ir.ParseText("sums", g.text.String())
	if err == nil {
		err = m.Verify()
	}
	if err != nil {
		return nil, fmt.Errorf("%w in\n%s", err, g.text.String())
	}
	floats := func(n int) (data []byte) {
		for range n {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(rng.IntN(200)-100)/16))
		}
		return data
	}
	plane := []int32{int32(size[1]), int32(size[0])}
	c := &oracle.Case{Kernel: m.Kernels[0], Size: size, GroupSize: [3]int{16, 1, 1}, Unchecked: rng.IntN(2) == 0}
	c.Args = []oracle.Arg{
		{Data: floats(g.length), Dims: []int32{int32(g.length)}},
		{Data: floats(size[0]), Dims: []int32{int32(size[0])}},
		{Data: floats(g.length * size[0]), Dims: []int32{int32(g.length), int32(size[0])}},
		{Data: floats(size[0] * size[1]), Dims: plane},
	}
	opt.CanonicalizeNaNs(c.Kernel)
	return c, nil
}

// sums is the state of [SumCase].
type sums struct {
	rng    *rand.Rand
	text   strings.Builder
	length int      // number of elements of x, and of iterations of each loop
	values []string // names of the floats that the next statement may use
	names  int
}

func (g *sums) line(format string, args ...any) { fmt.Fprintf(&g.text, format+"\n", args...) }

func (g *sums) name() string {
	g.names++
	return "%" + strconv.Itoa(g.names)
}

func (g *sums) value() string { return g.values[g.rng.IntN(len(g.values))] }

// operation appends an operation on random values.
func (g *sums) operation() {
	v := g.name()
	switch op := []string{"add", "sub", "mul", "min", "max", "fma", "select", "abs"}[g.rng.IntN(8)]; op {
	case "fma":
		g.line("%s: f32 = fma %s, %s, %s", v, g.value(), g.value(), g.value())
	case "abs":
		g.line("%s: f32 = abs %s", v, g.value())
	case "select":
		c := g.name()
		g.line("%s: bool = lt %s, %s\n%s: f32 = select %s, %s, %s", c, g.value(), g.value(), v, c, g.value(), g.value())
	default:
		g.line("%s: f32 = %s %s, %s", v, op, g.value(), g.value())
	}
	g.values = append(g.values, v)
}

// loop appends a loop with one to four accumulators.
func (g *sums) loop() {
	outer := len(g.values)
	counter, within := g.name(), g.name()
	var results, params, at, next []string
	for range 1 + g.rng.IntN(4) {
		r, p := g.name(), g.name()
		results, params, at = append(results, r+": f32"), append(params, fmt.Sprintf("%s: f32 = %s", p, g.value())), append(at, p)
	}
	label := g.names
	g.line("%s = loop @%d (%s: i32 = %%zero.3, %s) {", strings.Join(results, ", "), label, counter, strings.Join(params, ", "))
	g.line("%s: bool = lt %s, %%n.6\nif %s {\nyield\n} else {\nbreak @%d %s\n}", within, counter, within, label, strings.Join(at, ", "))
	g.values = append(g.values, at...)
	for range 1 + g.rng.IntN(3) {
		v := g.name()
		g.line("%s: f32 = load %s", v, []string{"x[" + counter + "]", "m[" + counter + "][%x.1]", "y[%x.1]"}[g.rng.IntN(3)])
		g.values = append(g.values, v)
	}
	for range g.rng.IntN(12) {
		g.operation()
	}
	for range at {
		g.operation()
		next = append(next, g.values[len(g.values)-1])
	}
	following := g.name()
	g.line("%s: i32 = add %s, %%one.4\ncontinue @%d %s, %s\n}", following, counter, label, following, strings.Join(next, ", "))
	g.values = g.values[:outer]
	for _, r := range results {
		g.values = append(g.values, strings.TrimSuffix(r, ": f32"))
	}
}

// combined returns the name of a sum of all floats in g.values.
func (g *sums) combined() string {
	sum := g.values[0]
	for _, v := range g.values[1:] {
		s := g.name()
		g.line("%s: f32 = add %s, %s", s, sum, v)
		sum = s
	}
	return sum
}
