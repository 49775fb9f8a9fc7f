package kernel

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
)

var (
	randomCount = flag.Int("random", 300, "random programs to compare with JavaScript")
	randomSeed  = flag.Uint64("seed", 1, "of the random programs")
)

// generator generates random kernels with the same semantics in JavaScript and the kernel language: integers are coerced at
// every operation, floats are f64.
type generator struct {
	*rand.Rand
	b      strings.Builder
	ints   []string // readable and assignable variables
	floats []string
	fixed  int // number of leading ints that cannot be assigned
	loops  int
	depth  int
	breaks []bool // for each enclosing loop, whether continue is allowed
}

func (g *generator) pick(list []string) string { return list[g.IntN(len(list))] }

func (g *generator) intExpr(depth int) string {
	if depth == 0 || g.IntN(6) == 0 {
		switch g.IntN(4) {
		case 0:
			return fmt.Sprint(g.IntN(20) - 5)
		case 1:
			return fmt.Sprintf("a[%s & 63]", g.pick(g.ints))
		}
		return g.pick(g.ints)
	}
	x, y := g.intExpr(depth-1), g.intExpr(depth-1)
	switch g.IntN(16) {
	case 0, 1:
		return fmt.Sprintf("(%s + %s | 0)", x, y)
	case 2, 3:
		return fmt.Sprintf("(%s - %s | 0)", x, y)
	case 4:
		return fmt.Sprintf("Math.imul(%s, %s)", x, y)
	case 5:
		return fmt.Sprintf("(%s %s %s)", x, g.pick([]string{"&", "|", "^"}), y)
	case 6:
		return fmt.Sprintf("(%s %s (%s & 31))", x, g.pick([]string{"<<", ">>"}), y)
	case 7:
		return fmt.Sprintf("(%s >>> (%s & 31) | 0)", x, y)
	case 8:
		return fmt.Sprintf("(%s %% (%s | 1) | 0)", x, y)
	case 9:
		return fmt.Sprintf("(%s / (%s | 1) | 0)", x, y)
	case 10:
		return fmt.Sprintf("(%s ? %s : %s)", g.cond(depth-1), x, y)
	case 11:
		return fmt.Sprintf("Math.%s(%s, %s)", g.pick([]string{"min", "max"}), x, y)
	case 12:
		return fmt.Sprintf("(%s | 0)", g.floatExpr(depth-1))
	case 13:
		return fmt.Sprintf("(%s %s %s)", x, g.pick([]string{"&&", "||"}), y)
	case 14:
		return g.pick([]string{"(- ", "(~"}) + x + " | 0)"
	}
	if len(g.ints) > g.fixed && g.IntN(2) == 0 {
		v := g.pick(g.ints[g.fixed:])
		return g.pick([]string{"(" + v + " = " + x + ")", "(" + v + " = " + v + " + 1 | 0)"})
	}
	return fmt.Sprintf("(Math.floor(%s / (%s | 1)) | 0)", x, y)
}

func (g *generator) floatExpr(depth int) string {
	if depth <= 0 || g.IntN(6) == 0 {
		switch g.IntN(4) {
		case 0:
			// not a constant: an integral constant combined with an integer would wrap
			return fmt.Sprintf("(%s > 1 ? %v : %v)", g.pick(g.floats), float64(g.IntN(100)-30)/8, float64(g.IntN(9))+0.5)
		case 1:
			return fmt.Sprintf("f[%s & 63]", g.pick(g.ints))
		}
		return g.pick(g.floats)
	}
	x, y := g.floatExpr(depth-1), g.floatExpr(depth-1)
	switch g.IntN(10) {
	case 0, 1, 2:
		return fmt.Sprintf("(%s %s %s)", x, g.pick([]string{"+", "-", "*", "/", "%"}), y)
	case 3:
		return fmt.Sprintf("Math.%s(%s, %s)", g.pick([]string{"min", "max"}), x, y)
	case 4:
		return fmt.Sprintf("Math.%s(%s)", g.pick([]string{"floor", "ceil", "trunc", "round", "abs", "sqrt", "sign"}), x)
	case 5:
		return fmt.Sprintf("(%s ? %s : %s)", g.cond(depth-1), x, y)
	case 6:
		return fmt.Sprintf("(%s + %s)", x, g.intExpr(depth-1))
	case 7:
		return fmt.Sprintf("(- %s)", x)
	case 8:
		return fmt.Sprintf("(%s %s %s)", x, g.pick([]string{"&&", "||"}), y)
	}
	return fmt.Sprintf("(%s / %s)", x, g.intExpr(depth-1))
}

func (g *generator) cond(depth int) string {
	if depth <= 0 {
		return g.pick(g.ints) + " > " + g.pick(g.ints)
	}
	op := g.pick([]string{"<", "<=", ">", ">=", "===", "!=="})
	switch g.IntN(6) {
	case 0:
		return fmt.Sprintf("(%s %s %s)", g.floatExpr(depth-1), op, g.floatExpr(depth-1))
	case 1:
		return fmt.Sprintf("(%s %s %s)", g.cond(depth-1), g.pick([]string{"&&", "||"}), g.cond(depth-1))
	case 2:
		return fmt.Sprintf("!%s", g.intExpr(depth-1))
	case 3:
		return g.floatExpr(depth - 1)
	}
	return fmt.Sprintf("(%s %s %s)", g.intExpr(depth-1), op, g.intExpr(depth-1))
}

func (g *generator) line(format string, args ...any) {
	g.b.WriteString(strings.Repeat("  ", g.depth+1))
	fmt.Fprintf(&g.b, format+"\n", args...)
}

// block generates statements; their declarations go out of scope at its end
func (g *generator) block(n int) {
	ints, floats := len(g.ints), len(g.floats)
	g.depth++
	for range n {
		g.stmt()
	}
	g.depth--
	g.ints, g.floats = g.ints[:ints], g.floats[:floats]
}

func (g *generator) stmt() {
	nested := g.depth < 4
	switch k := g.IntN(14); {
	case k < 2:
		name := fmt.Sprintf("i%d", len(g.ints))
		g.line("let %s = %s", name, g.intExpr(2))
		g.ints = append(g.ints, name)
	case k < 3:
		name := fmt.Sprintf("d%d", len(g.floats))
		g.line("let %s = %s + 0.5", name, g.floatExpr(2))
		g.floats = append(g.floats, name)
	case k < 6 && len(g.ints) > g.fixed:
		g.line("%s = %s", g.pick(g.ints[g.fixed:]), g.intExpr(3))
	case k < 7:
		g.line("%s = %s", g.pick(g.floats), g.floatExpr(3))
	case k < 8:
		g.line("y[g.x] ^= %s", g.intExpr(2))
	case k < 10 && nested:
		g.line("if (%s) {", g.cond(2))
		g.block(1 + g.IntN(3))
		if g.IntN(2) == 0 {
			g.line("} else {")
			g.block(1 + g.IntN(3))
		}
		g.line("}")
	case k < 11 && nested && g.loops < 4:
		g.loop()
	case k < 12 && nested:
		g.line("switch (%s & 3) {", g.intExpr(1))
		for c := range 1 + g.IntN(4) {
			if g.IntN(5) == 0 && c == 1 {
				g.line("default:")
			} else {
				g.line("case %d:", c)
			}
			g.line("{")
			g.block(1 + g.IntN(2))
			g.line("}")
			if g.IntN(2) == 0 {
				g.line("break")
			}
		}
		g.line("}")
	case k < 13 && len(g.breaks) > 0:
		word := "break"
		if g.breaks[len(g.breaks)-1] && g.IntN(2) == 0 {
			word = "continue"
		}
		label := ""
		if g.IntN(3) == 0 {
			label = fmt.Sprintf(" l%d", g.IntN(len(g.breaks)))
			word = "break"
		}
		g.line("if (%s) %s%s", g.cond(1), word, label)
	default:
		g.line("if (%s) return", g.cond(1)+" && "+g.cond(1)+" && y[g.x] & 8")
	}
}

func (g *generator) loop() {
	g.loops++
	label, k := fmt.Sprintf("l%d", len(g.breaks)), fmt.Sprintf("k%d", g.loops)
	g.breaks = append(g.breaks, true)
	name := k
	// the counter is readable and precedes the assignable variables
	g.ints = append([]string{name}, g.ints...)
	g.fixed++
	if g.IntN(2) == 0 {
		g.line("%s: for (let %s = 0; %s < %d; %s++) {", label, k, k, 2+g.IntN(5), k)
		g.block(1 + g.IntN(4))
		g.line("}")
	} else {
		g.line("let %s = %d", k, 2+g.IntN(5))
		g.line("%s: do {", label)
		g.block(1 + g.IntN(4))
		g.line("} while (%s-- > 0 && %s)", k, g.cond(1))
	}
	g.breaks = g.breaks[:len(g.breaks)-1]
	g.ints = g.ints[1:]
	g.fixed--
}

func randomKernel(seed uint64) string {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0)), ints: []string{"i", "v"}, floats: []string{"d0"}, fixed: 1}
	g.b.WriteString("(g, a, f, y, z) => {\n  const i = g.x\n  let v = a[i], d0 = f[i] + 0.25\n")
	for range 8 {
		g.stmt()
	}
	g.b.WriteString("  y[g.x] ^= v\n  z[g.x] = d0\n}")
	return g.b.String()
}

// TestRandom compares random kernels with the same text executed by Node, the reference.
func TestRandom(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	args := parseArgs(t, "i32[1], f64[1], i32[1], f64[1]")
	var list []*chunk
	for n := range uint64(*randomCount) {
		list = append(list, &chunk{line: 1, text: randomKernel(*randomSeed*1_000_000 + n), args: args, options: Options{NoContract: true}})
	}
	for i, err := range nodeDifferences(t, node, list) {
		if err == nil {
			continue
		}
		c := list[i]
		reduce(c, func(less *chunk) bool {
			again := nodeDifferences(t, node, []*chunk{less})[0]
			return errors.Is(err, errDifferent) == errors.Is(again, errDifferent) && again != nil
		})
		t.Fatalf("program %d of seed %d: %v; reduced:\n%s", i, *randomSeed, err, c.text)
	}
}

// nodeDifferences runs kernels in the interpreter and in one Node process, and returns the difference of the results for each.
func nodeDifferences(t *testing.T, node string, list []*chunk) []error {
	var script strings.Builder
	script.WriteString(`const run = (text, types, data) => {
		try {
			const kernel = (0, eval)('(' + text + ')')
			const args = data.map((d, i) => new globalThis[types[i]](Uint8Array.from(Buffer.from(d, 'hex')).buffer))
			for (let x = 0; x < ` + fmt.Sprint(items) + `; x++) kernel({x}, ...args)
			console.log(args.map(a => Buffer.from(a.buffer).toString('hex')).join(' '))
		} catch (e) { console.log('error ' + e.message.split('\n')[0]) }
	}
`)
	results := make([][][]byte, len(list))
	errs := make([]error, len(list))
	for i, c := range list {
		var types, data []string
		var values []any
		for j, a := range c.args {
			m := newMemory(t, fill(a.Elem.Scalar, uint64(j)))
			values = append(values, m)
			types = append(types, map[ir.Type]string{ir.F64: "Float64Array", ir.I32: "Int32Array"}[a.Elem.Scalar])
			data = append(data, hex.EncodeToString(m.data()))
		}
		quoted, _ := json.Marshal([]any{c.text, types, data})
		fmt.Fprintf(&script, "run(...%s)\n", quoted)
		out, err := c.compile()
		if err != nil {
			errs[i] = err
			continue
		}
		if f := launch(t, out, [3]int{items, 1, 1}, values...); f != nil {
			errs[i] = f
			continue
		}
		for _, v := range values {
			results[i] = append(results[i], v.(*memory).data())
		}
	}
	cmd := exec.Command(node, "-")
	cmd.Stdin = strings.NewReader(script.String())
	output, err := cmd.Output()
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	if err != nil || len(lines) != len(list) {
		t.Fatalf("node: %v, %d results for %d programs", err, len(lines), len(list))
	}
	for i, line := range lines {
		if errs[i] != nil {
			continue
		}
		if message, ok := strings.CutPrefix(line, "error "); ok {
			errs[i] = errors.New(message)
			continue
		}
		var want [][]byte
		for _, s := range strings.Fields(line) {
			b, _ := hex.DecodeString(s)
			want = append(want, b)
		}
		errs[i] = compareBuffers(list[i], results[i], want)
	}
	return errs
}

// reduce removes lines while the kernel still fails.
func reduce(c *chunk, fails func(*chunk) bool) {
	for again := true; again; {
		again = false
		lines := strings.Split(c.text, "\n")
		for size := len(lines) / 2; size > 0; size /= 2 {
			for i := 1; i+size < len(lines); {
				less := *c
				less.text = strings.Join(append(append([]string{}, lines[:i]...), lines[i+size:]...), "\n")
				if fails(&less) {
					*c, again = less, true
					lines = strings.Split(c.text, "\n")
				} else {
					i++
				}
			}
		}
	}
}
