// Package leaf interprets lowered kernels (package lower). It implements only leaves, verifies the precondition of each, and
// runs every item of every group, including those outside the launch's size. Tests use it to show that lowered kernels use only
// leaves and that the list of leaves is complete.
//
// An item runs alone from one barrier or subgroup operation to the next, which all items of a group must reach together.
//
// # Design
//
// Only an interpreter can report the precondition that an operation broke: a shift beyond the width has some result on every
// real processor. Shared and private arrays begin with garbage, so a kernel that relies on other contents differs.
package leaf

import (
	"fmt"
	"iter"
	"runtime"
	"time"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/lower"
)

// Arg is an argument of a launch.
type Arg struct {
	Bits uint64  // bits of a scalar
	Data []byte  // contents of a buffer
	Dims []int32 // extents of a buffer
}

// Launch is a launch of a lowered kernel.
type Launch struct {
	Size      [3]int
	GroupSize [3]int
	Args      []Arg    // arguments without the records
	Records   []uint32 // as [lower.Kernel.NewRecords] makes them
	Steps     int      // maximum number of instructions of all items; 0 means no limit

	// Host, if set, is called at each system-scope fence and may access the records. If nil, the host may serve them on another
	// goroutine.
	Host func()
}

// hostTurn calls l.Host. If that is nil, it lets other goroutines run.
func (l *Launch) hostTurn() {
	if l.Host != nil {
		l.Host()
	} else {
		runtime.Gosched()
	}
}

// machine is a running launch.
type machine struct {
	k       *lower.Kernel
	l       *Launch
	target  *lower.Target
	scalars []uint64
	dims    [][]int32 // by Array.ID
	memory  [][]byte  // memory of buffers and tables, by Array.ID
	groups  [3]int
	steps   int
	began   time.Time
}

// group is a work-group.
type group struct {
	m      *machine
	at     [3]int   // position of the group in the launch
	shared [][]byte // shared arrays, by Array.ID
	items  []*item
}

// item is a work-item.
type item struct {
	g       *group
	number  int                // index in the group
	local   [3]int             // position in the group
	regs    []uint64           // bits of values, by Value.ID
	private [][]byte           // private arrays, by Array.ID
	meet    func(in *ir.Instr) // waits for the other items of the group
}

// trap is the panic value for a broken rule; Run returns its error.
type trap struct{ err error }

func (t *item) fail(in *ir.Instr, format string, args ...any) {
	panic(trap{fmt.Errorf("item %d of group %v, '%v': %s", t.number, t.g.at, in, fmt.Sprintf(format, args...))})
}

// Run runs a launch. It returns an error for an instruction that is not a leaf of the target, or an unsatisfied precondition.
// It also returns one if a group does not meet at a group operation, or the launch exceeds [Launch.Steps].
func Run(k *lower.Kernel, target *lower.Target, l *Launch) (err error) {
	m := &machine{k: k, l: l, target: target, began: time.Now()}
	defer func() {
		if r := recover(); r != nil {
			t, ok := r.(trap)
			if !ok {
				panic(r)
			}
			err = t.err
		}
	}()
	k.IR.Body.Walk(func(in *ir.Instr) {
		if e := target.Check(in); e != nil && err == nil {
			err = e
		}
	})
	if err != nil {
		return err
	}
	m.bind()
	for axis := range m.groups {
		if l.Size[axis] == 0 {
			return nil
		}
		m.groups[axis] = (l.Size[axis]-1)/l.GroupSize[axis] + 1
	}
	for z := range m.groups[2] {
		for y := range m.groups[1] {
			for x := range m.groups[0] {
				m.group([3]int{x, y, z})
			}
		}
	}
	return nil
}

func (m *machine) bind() {
	k := m.k.IR
	m.dims, m.memory = make([][]int32, len(k.Arrays)), make([][]byte, len(k.Arrays))
	for i, p := range k.Params {
		switch {
		case p.Array == m.k.Records:
			m.memory[p.Array.ID] = wordBytes(m.l.Records)
			m.dims[p.Array.ID] = []int32{int32(len(m.l.Records))}
		case p.Array != nil:
			m.memory[p.Array.ID], m.dims[p.Array.ID] = m.l.Args[i].Data, m.l.Args[i].Dims
		default:
			bits := m.l.Args[i].Bits
			if p.Type == ir.Bool && bits != 0 {
				bits = 1
			}
			m.scalars = append(m.scalars, bits)
		}
	}
	for _, a := range k.Arrays {
		if a.Space == ir.Table {
			m.memory[a.ID] = a.Data
		}
	}
}

// garbage returns the initial memory of an uncleared array.
func garbage(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(0xa5 + 7*i)
	}
	return b
}

func (m *machine) arrays(s ir.Space) [][]byte {
	out := make([][]byte, len(m.k.IR.Arrays))
	for _, a := range m.k.IR.Arrays {
		if a.Space == s {
			out[a.ID] = garbage(a.Bytes())
		}
	}
	return out
}

func (m *machine) group(at [3]int) {
	size := m.l.GroupSize
	g := &group{m: m, at: at, shared: m.arrays(ir.Shared), items: make([]*item, size[0]*size[1]*size[2])}
	for n := range g.items {
		t := &item{g: g, number: n, local: [3]int{n % size[0], n / size[0] % size[1], n / size[0] / size[1]}}
		t.regs, t.private = make([]uint64, m.k.IR.NumValues()), m.arrays(ir.Private)
		for i, v := range m.k.IR.Body.Params {
			t.regs[v.ID] = m.scalars[i]
		}
		g.items[n] = t
	}
	if !m.k.Meets {
		for _, t := range g.items {
			t.block(m.k.IR.Body)
		}
		return
	}
	g.run()
}

// run runs all items of the group to their end, each in turn from one group operation to the next.
func (g *group) run() {
	next := make([]func() (*ir.Instr, bool), len(g.items))
	for n, t := range g.items {
		var stop func()
		next[n], stop = iter.Pull(func(yield func(*ir.Instr) bool) {
			t.meet = func(in *ir.Instr) { yield(in) }
			t.block(g.m.k.IR.Body)
		})
		defer stop()
	}
	for {
		var at *ir.Instr
		for n, t := range g.items {
			in, ok := next[n]()
			switch {
			case n == 0 && ok:
				at = in
			case n > 0 && ok != (at != nil):
				g.items[0].fail(at, "item %d of the group is at its end or waits, the first one does not", n)
			case ok && in != at:
				t.fail(in, "the first item of the group waits at '%v'", at)
			}
		}
		if at == nil {
			return
		}
		if at.Op == ir.Subgroup {
			g.subgroup(at)
		}
	}
}

// subgroup executes a subgroup operation. Absent lanes read as an arbitrary pattern, which reveals their use.
func (g *group) subgroup(in *ir.Instr) {
	width := g.m.k.SubgroupSize
	operand := func(t *item, n int) uint64 { return t.regs[in.Args[n].ID] }
	for from := 0; from < len(g.items); from += width {
		lanes := g.items[from:min(from+width, len(g.items))]
		results := make([]uint64, len(lanes))
		for i, t := range lanes {
			if in.Subgroup == ir.SubgroupBallot {
				for j, other := range lanes {
					results[i] |= operand(other, 0) << j
				}
				continue
			}
			j := int(int32(operand(t, 1)))
			switch in.Subgroup {
			case ir.SubgroupShuffleUp:
				j = i - j
			case ir.SubgroupShuffleDown:
				j += i
			}
			results[i] = 0x7b7b7b7b
			if j >= 0 && j < len(lanes) {
				results[i] = operand(lanes[j], 0)
			}
		}
		for i, t := range lanes {
			t.regs[in.Results[0].ID] = results[i]
		}
	}
}
