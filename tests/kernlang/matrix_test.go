package kernlang

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/oracle"
)

// long says that the full counts are wanted: ./tests/run --long.
var long = os.Getenv("OREPL_TEST_LONG") == "1"

// special are the values of a storage type at which operations show what they are: a choice of those of the generator
// of IR, all of them in a long run.
func special(t ir.Type) []uint64 {
	v := t.Value()
	if t != v {
		return small(t)
	}
	all := irgen.Special(t)
	if long || t == ir.Bool {
		return all
	}
	var out []uint64
	for i, b := range all {
		// Each value once with one sign, more of the first ones; zero, infinity and NaN as they come.
		if i < 12 || i%4 == i/4%2 || i >= len(all)-4 {
			out = append(out, b)
		}
	}
	return out
}

// small are the values of a 8- or 16-bit type.
func small(t ir.Type) []uint64 {
	if t.Size() == 1 {
		return []uint64{0, 1, 2, 127, 128, 255, 200}
	}
	return []uint64{0, 1, 0x7fff, 0x8000, 0xffff, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x3f80, 0x7f80, 0xff80, 0x7fc0, 0x0080, 0x83ff, 1234, 0x4248}
}

// pool runs programs on as many runners as there are processors.
type pool struct {
	t       *testing.T
	work    chan func(*Runner)
	done    sync.WaitGroup
	runners []*Runner
}

func newPool(t *testing.T) *pool {
	t.Helper()
	p := &pool{t: t, work: make(chan func(*Runner))}
	for range max(1, min(runtime.GOMAXPROCS(0), 8)) {
		r, err := NewRunner()
		if err != nil {
			t.Fatal(err)
		}
		p.runners = append(p.runners, r)
		p.done.Add(1)
		go func() {
			defer p.done.Done()
			for f := range p.work {
				f(r)
			}
		}()
	}
	if !p.runners[0].HasNode() {
		t.Log("node is not installed: nothing is compared with it")
	}
	return p
}

func (p *pool) do(f func(*Runner)) { p.work <- f }

// wait ends the pool.
func (p *pool) wait() {
	close(p.work)
	p.done.Wait()
	for _, r := range p.runners {
		if err := r.Close(); err != nil {
			p.t.Error(err)
		}
	}
}

// cell is one operation on operands of certain types: a kernel that runs over all combinations of special values.
type cell struct {
	op    operation
	types []ir.Type
	real  ir.Type
}

func (c *cell) String() string { return fmt.Sprintf("%s of %v", c.op.text, c.types) }

// operands are the combinations of the operands' special values.
func (c *cell) operands() [][]uint64 {
	rows := [][]uint64{nil}
	for _, t := range c.types {
		var next [][]uint64
		for _, row := range rows {
			for _, b := range special(t) {
				next = append(next, append(row[:len(row):len(row)], b))
			}
		}
		rows = next
	}
	return rows
}

// run checks the cell and returns the number of combinations.
func (c *cell) run(t *testing.T, r *Runner) int {
	want, id := c.op.typ(c.real, c.types)
	if id != "" {
		c.refused(t, id)
		return 1
	}
	rows := c.operands()
	p, out := c.program(want, rows)
	res, err := r.Run(p)
	if err != nil {
		t.Errorf("%v: %v\n%s", c, err, p.Text)
		return 0
	}
	if got := storedType(res.Compiled.Kernel); got != want {
		t.Errorf("%v is %v, not %v", c, want, got)
		return 0
	}
	if c.op.value == nil {
		return len(rows)
	}
	expect := *res.Outcome
	expect.Data = append([][]byte{}, res.Data...)
	expect.Data[out] = nil
	for i, row := range rows {
		x := make([]num, len(row))
		for k, b := range row {
			x[k] = fromBits(c.types[k], b)
		}
		v := c.op.value(c.real, x)
		if i == 0 && v.t != want {
			t.Fatalf("the reference of %v gives %v, not %v", c, v.t, want)
		}
		expect.Data[out] = irgen.AppendElem(expect.Data[out], want, v.bits(want))
	}
	if d := res.Case.Diff(&expect, res.Outcome); d != "" {
		t.Errorf("%v: reference and kernel differ: %s%s", c, d, c.where(d, rows))
		return 0
	}
	return len(rows)
}

// where tells the operands of the element that a difference names.
func (c *cell) where(d string, rows [][]uint64) string {
	i := 0
	if _, err := fmt.Sscanf(d[strings.Index(d, "element ")+1:], "lement %d", &i); err != nil || i >= len(rows) {
		return ""
	}
	s := ""
	for k, b := range rows[i] {
		x := fromBits(c.types[k], b)
		if x.i != nil {
			s += fmt.Sprintf(", %v", x.i)
		} else {
			s += fmt.Sprintf(", %v", x.f)
		}
	}
	return " for " + s[2:]
}

// program makes the kernel of a cell, and says which argument has the results.
func (c *cell) program(want ir.Type, rows [][]uint64) (p *Program, out int) {
	params, operands := "", make([]string, len(c.types))
	p = &Program{Size: [3]int{len(rows), 1, 1}, Unchecked: true, Options: kernel.Options{Real: c.real}}
	for k, t := range c.types {
		name := string(rune('a' + k))
		params += name + ", "
		operands[k] = name + "[g.x]"
		var data []byte
		for _, row := range rows {
			data = irgen.AppendElem(data, t, row[k])
		}
		p.Args = append(p.Args, buffer(t, data))
	}
	p.Args = append(p.Args, buffer(want, make([]byte, len(rows)*want.Size())))
	p.Text = fmt.Sprintf("(g, %sy) => { const v = %s; y[g.x] = v }", params, c.op.of(operands...))
	return p, len(c.types)
}

func buffer(t ir.Type, data []byte) Arg {
	return Arg{Arg: kernel.Arg{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: t}, Rank: 1}, Data: data, Dims: []int32{int32(len(data) / t.Size())}}
}

// refused checks that the cell is an error with an ID.
func (c *cell) refused(t *testing.T, id diag.ID) {
	p, _ := c.program(ir.F32, [][]uint64{make([]uint64, len(c.types))})
	_, err := p.Compile()
	var list diag.List
	if !errors.As(err, &list) || list[0].ID != id {
		t.Errorf("%v: got %v, expected %s", c, err, id)
	}
}

// storedType is the type of the value that the kernel's last store takes.
func storedType(k *ir.Kernel) (t ir.Type) {
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op == ir.Store {
			t = in.Args[len(in.Args)-1].Type
		}
	})
	return t
}

// runCells runs cells and reports how many there are.
func runCells(t *testing.T, cells []cell) {
	p := newPool(t)
	var values atomic.Int64
	for i := range cells {
		c := &cells[i]
		p.do(func(r *Runner) { values.Add(int64(c.run(t, r))) })
	}
	p.wait()
	t.Logf("%d cells (operation × types) with %d combinations of values, on interpreter, optimised IR, emitted JavaScript and reference", len(cells), values.Load())
}

// realOf is the real type of a kernel whose buffers have these types.
func realOf(types ...ir.Type) ir.Type {
	for _, t := range types {
		if t == ir.F64 {
			return ir.F64
		}
	}
	return ir.F32
}

func TestBinaryOperations(t *testing.T) {
	t.Parallel()
	var cells []cell
	for _, op := range binaryOperations() {
		for _, a := range irgen.Values {
			for _, b := range irgen.Values {
				if op.text == "g.x % 3 === 1 ? A : B" {
					continue
				}
				cells = append(cells, cell{op, []ir.Type{a, b}, realOf(a, b)})
			}
		}
	}
	runCells(t, cells)
}

func TestUnaryOperations(t *testing.T) {
	t.Parallel()
	var cells []cell
	for _, op := range unaryOperations() {
		for _, a := range irgen.Values {
			cells = append(cells, cell{op, []ir.Type{a}, realOf(a)})
		}
	}
	runCells(t, cells)
}

var _ = oracle.ErrNoNode
