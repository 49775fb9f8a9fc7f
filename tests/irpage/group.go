package irpage

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/oracle"
)

// launch is a launch of a kernel.
type launch struct {
	k         *ir.Kernel
	size      [3]int
	groupSize [3]int
	groups    [3]int
	subgroup  int
	unchecked bool
	scalars   []uint64 // indexed by scalar parameter
	buffers   [][]byte // indexed by Array.ID
	dims      [][]int
	limits    Limits
	steps     int
	meets     bool       // the kernel has group operations
	regs      [][]uint64 // registers of items, reused
	out       *oracle.Outcome
	began     time.Time
}

// group is a work-group.
type group struct {
	l      *launch
	at     [3]int
	shared [][]byte // by Array.ID
	items  []*item  // by item number; nil if absent
}

// Run evaluates a launch of a kernel. It encodes and decodes the kernel first, as an image would be.
func Run(c *oracle.Case) (*oracle.Outcome, error) {
	m := irgen.Module(c.Kernel)
	for _, s := range c.Kernel.Sites {
		for s.File >= len(m.Files) {
			m.Files = append(m.Files, fmt.Sprint("file", len(m.Files)))
		}
	}
	data, err := m.MarshalBinary()
	if err != nil {
		return nil, err
	}
	if m, err = ir.DecodeBinary(data); err != nil {
		return nil, err
	}
	decoded := *c
	decoded.Kernel = m.Kernels[0]
	_, buffers := c.Bind(func(n int) []byte { return make([]byte, n) })
	return Evaluate(&decoded, buffers, Limits{Call: oracle.Serve})
}

// Limits are the limits of an evaluation, and its connection to the host.
type Limits struct {
	Steps int // instructions of all items; 0 means no limit

	// Call serves the kernel's calls of services; nil if there are none.
	Call func(name string, args []uint64) (uint64, error)
}

// ErrTooLong reports that an evaluation exceeded its steps.
var ErrTooLong = errors.New("the launch takes too many steps")

// Evaluate evaluates the launch of c on buffers, indexed by parameter, instead of the buffers of c. It stores results in them.
func Evaluate(c *oracle.Case, buffers [][]byte, limits Limits) (out *oracle.Outcome, err error) {
	k := c.Kernel
	l := &launch{k: k, size: c.Size, subgroup: c.SubgroupSize, unchecked: c.Unchecked, limits: limits, out: &oracle.Outcome{Data: buffers}, began: time.Now()}
	if l.subgroup == 0 {
		l.subgroup = 32
	}
	defer func() {
		if r := recover(); r != nil {
			if r != ErrTooLong {
				panic(r)
			}
			err = ErrTooLong
		}
	}()
	l.buffers, l.dims = make([][]byte, len(k.Arrays)), make([][]int, len(k.Arrays))
	for i, p := range k.Params {
		if p.Array == nil {
			bits := c.Args[i].Bits
			if p.Type == ir.Bool {
				bits = boolBits(bits != 0)
			}
			l.scalars = append(l.scalars, bits)
			continue
		}
		l.buffers[p.Array.ID] = buffers[i]
		for _, d := range c.Args[i].Dims {
			l.dims[p.Array.ID] = append(l.dims[p.Array.ID], int(d))
		}
	}
	k.Body.Walk(func(in *ir.Instr) { l.meets = l.meets || in.Op.IsGroup() || in.Op == ir.Subgroup })
	l.groupSize = [3]int{1, 1, 1} // any size is valid
	if k.ObservesGroup() {
		l.groupSize = c.GroupSize
	}
	for axis := range l.groups {
		l.groups[axis] = (l.size[axis] + l.groupSize[axis] - 1) / l.groupSize[axis]
	}
	for z := range l.groups[2] {
		for y := range l.groups[1] {
			for x := range l.groups[0] {
				if err := l.group([3]int{x, y, z}); err != nil {
					return nil, err
				}
			}
		}
	}
	return l.out, nil
}

// arrays returns zeroed memory for the arrays of a space, by Array.ID.
func (l *launch) arrays(s ir.Space) [][]byte {
	out := make([][]byte, len(l.k.Arrays))
	for _, a := range l.k.Arrays {
		if a.Space == s {
			out[a.ID] = make([]byte, a.Bytes())
		}
	}
	return out
}

func (l *launch) group(at [3]int) error {
	g := &group{l: l, at: at, shared: l.arrays(ir.Shared), items: make([]*item, product(l.groupSize[:]))}
	for len(l.regs) < len(g.items) {
		l.regs = append(l.regs, make([]uint64, l.k.NumValues()))
	}
	for n := range g.items {
		x, y := l.groupSize[0], l.groupSize[1]
		t := &item{g: g, number: n, local: [3]int{n % x, n / x % y, n / x / y}, regs: l.regs[n]}
		present := true
		for axis := range t.global {
			t.global[axis] = at[axis]*l.groupSize[axis] + t.local[axis]
			present = present && t.global[axis] < l.size[axis]
		}
		if !present {
			continue
		}
		t.private = l.arrays(ir.Private)
		t.set(l.k.Body.Params, l.scalars)
		g.items[n] = t
	}
	if err := g.run(); err != nil {
		return err
	}
	for _, t := range g.items {
		if t != nil {
			l.out.Prints = append(l.out.Prints, t.prints...)
			if l.out.Fault == nil {
				l.out.Fault = t.fault
			}
		}
	}
	return nil
}

// run runs the items from one group operation to the next. It returns an error if items wait at different operations, or for one that
// returned.
func (g *group) run() error {
	body := g.l.k.Body
	if !g.l.meets {
		for _, t := range g.items {
			if t != nil {
				t.block(body)
			}
		}
		return nil
	}
	next := make([]func() (*ir.Instr, bool), len(g.items))
	for n, t := range g.items {
		if t == nil {
			continue
		}
		var stop func()
		next[n], stop = iter.Pull(func(yield func(*ir.Instr) bool) {
			t.wait = func(in *ir.Instr) bool { return yield(in) && t.fault == nil }
			t.block(body)
		})
		defer stop()
	}
	for {
		var at *ir.Instr
		waiting := make([]*item, len(g.items)) // by item number
		returned := false
		for n, t := range g.items {
			if t == nil || next[n] == nil {
				continue
			}
			in, ok := next[n]()
			switch {
			case !ok:
				next[n] = nil
				returned = returned || t.fault == nil
				continue
			case at != nil && in != at:
				return fmt.Errorf("items of a group wait at %v and %v", at, in)
			}
			at, waiting[n] = in, t
		}
		if at == nil {
			return nil
		}
		if returned {
			return fmt.Errorf("items wait at %v for one that returned", at)
		}
		g.meet(at, waiting)
	}
}

// meet executes a group operation.
func (g *group) meet(in *ir.Instr, items []*item) {
	switch in.Op {
	case ir.Uniform:
		g.uniform(in, items)
	case ir.Reduce:
		exchange(in, items, identity(in.Combine, in.Type()), func(t []uint64) { reduce(in.Combine, in.Type(), t) })
	case ir.Scan:
		none := identity(in.Combine, in.Type())
		exchange(in, items, none, func(t []uint64) {
			scan(in.Combine, in.Type(), t)
			if in.Exclusive {
				copy(t[1:], t)
				t[0] = none
			}
		})
	case ir.Subgroup:
		for from := 0; from < len(items); from += g.l.subgroup {
			subgroup(in, items[from:min(from+g.l.subgroup, len(items))])
		}
	}
}

// exchange collects the operands of the present items, and absent for the others. It calls work on them, and distributes the
// results.
func exchange(in *ir.Instr, items []*item, absent uint64, work func(t []uint64)) {
	t := make([]uint64, len(items))
	for n := range t {
		t[n] = absent
		if items[n] != nil {
			t[n] = items[n].regs[in.Args[0].ID]
		}
	}
	work(t)
	for n, item := range items {
		if item != nil {
			item.regs[in.Results[0].ID] = t[n]
		}
	}
}

func (g *group) uniform(in *ir.Instr, items []*item) {
	t := in.Type()
	var first *uint64
	for _, item := range items {
		if item == nil {
			continue
		}
		b := item.regs[in.Args[0].ID]
		if first == nil {
			first = &b
		}
		if canonical(t, b) != canonical(t, *first) && !g.l.unchecked {
			item.fail("divergent-uniform", in)
		}
		item.regs[in.Results[0].ID] = *first
	}
}

var combineOps = map[ir.Combine]ir.Op{ir.CombineAdd: ir.Add, ir.CombineMin: ir.Min, ir.CombineMax: ir.Max}

func combine(c ir.Combine, t ir.Type, a, b uint64) uint64 { return binaryOp(combineOps[c], t, a, b) }

func identity(c ir.Combine, t ir.Type) uint64 {
	switch {
	case c == ir.CombineAdd:
		return 0
	case t.IsFloat() && c == ir.CombineMin:
		return floatBits(t, math.Inf(1))
	case t.IsFloat():
		return floatBits(t, math.Inf(-1))
	case !t.IsSigned() && c == ir.CombineMax:
		return 0
	}
	most := low(t, math.MaxUint64)
	if t.IsSigned() {
		most >>= 1
	}
	if c == ir.CombineMin {
		return most
	}
	return most + 1
}

// reduce sets all values to their reduction.
func reduce(c ir.Combine, t ir.Type, values []uint64) {
	p := 1
	for p < len(values) {
		p *= 2
	}
	padded := make([]uint64, p)
	for l := range padded {
		padded[l] = identity(c, t)
	}
	copy(padded, values)
	for s := p / 2; s > 0; s /= 2 {
		for l := range s {
			padded[l] = combine(c, t, padded[l], padded[l+s])
		}
	}
	for l := range values {
		values[l] = padded[0]
	}
}

// scanBlock computes the inclusive scan of values in place, with steps that double while they are below most.
func scanBlock(c ir.Combine, t ir.Type, values []uint64, most int) {
	for s := 1; s < most; s *= 2 {
		before := append([]uint64(nil), values...)
		for l := s; l < len(values); l++ {
			values[l] = combine(c, t, before[l-s], before[l])
		}
	}
}

func scan(c ir.Combine, t ir.Type, values []uint64) {
	var totals []uint64
	for from := 0; from < len(values); from += 32 {
		block := values[from:min(from+32, len(values))]
		scanBlock(c, t, block, 32)
		totals = append(totals, block[len(block)-1])
	}
	scanBlock(c, t, totals, 32)
	for l := 32; l < len(values); l++ {
		values[l] = combine(c, t, totals[l/32-1], values[l])
	}
}

// subgroup executes an operation on the items of one subgroup.
func subgroup(in *ir.Instr, items []*item) {
	switch in.Subgroup {
	case ir.SubgroupAdd, ir.SubgroupMin, ir.SubgroupMax:
		c := ir.CombineAdd + ir.Combine(in.Subgroup-ir.SubgroupAdd)
		exchange(in, items, identity(c, in.Type()), func(t []uint64) { reduce(c, in.Type(), t) })
	case ir.SubgroupScanAdd:
		exchange(in, items, 0, func(t []uint64) { scanBlock(ir.CombineAdd, in.Type(), t, len(t)) })
	case ir.SubgroupAny, ir.SubgroupAll, ir.SubgroupBallot:
		var ballot, present uint64
		for lane, item := range items {
			if item != nil {
				present |= 1 << lane
				ballot |= item.regs[in.Args[0].ID] << lane
			}
		}
		b := map[ir.SubgroupKind]uint64{ir.SubgroupAny: boolBits(ballot != 0), ir.SubgroupAll: boolBits(ballot == present),
			ir.SubgroupBallot: ballot}[in.Subgroup]
		for _, item := range items {
			if item != nil {
				item.regs[in.Results[0].ID] = b
			}
		}
	default:
		shuffle(in, items)
	}
}

func shuffle(in *ir.Instr, items []*item) {
	out := make([]uint64, len(items))
	for lane, item := range items {
		if item == nil {
			continue
		}
		d := signed(ir.I32, item.regs[in.Args[1].ID])
		j := d // for broadcast and shuffle
		switch in.Subgroup {
		case ir.SubgroupShuffleXor:
			j = int64(lane) ^ d
		case ir.SubgroupShuffleUp:
			j = int64(lane) - d
		case ir.SubgroupShuffleDown:
			j = int64(lane) + d
		}
		if j >= 0 && j < int64(len(items)) && items[j] != nil {
			out[lane] = items[j].regs[in.Args[0].ID]
		}
	}
	for lane, item := range items {
		if item != nil {
			item.regs[in.Results[0].ID] = out[lane]
		}
	}
}
