package leaf

import (
	"encoding/binary"
	"math"
	"math/bits"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/lang/later"
)

// wordBytes returns the memory of words as bytes.
func wordBytes(words []uint32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 4*len(words))
}

// set performs a parallel assignment.
func (t *item) set(to, from []*ir.Value) {
	switch len(to) {
	case 0:
	case 1:
		t.regs[to[0].ID] = t.regs[from[0].ID]
	default:
		values := make([]uint64, len(from))
		for i, v := range from {
			values[i] = t.regs[v.ID]
		}
		for i, v := range to {
			t.regs[v.ID] = values[i]
		}
	}
}

// block runs a block and returns the terminator at which it ended, of the block itself or of one nested in it.
func (t *item) block(b *ir.Block) *ir.Instr {
	for _, in := range b.Instrs {
		if limit := t.g.m.l.Steps; limit > 0 {
			if t.g.m.steps++; t.g.m.steps > limit {
				t.fail(in, "the launch takes more than %d steps", limit)
			}
		}
		switch in.Op {
		case ir.Region, ir.If:
			body := in.Then
			if in.Op == ir.If && t.regs[in.Args[0].ID] == 0 {
				body = in.Else
			}
			end := t.block(body)
			switch {
			case end.Op == ir.Yield:
				t.set(in.Results, end.Args)
			case end.Op == ir.Break && end.Target == in:
			default:
				return end
			}
		case ir.Loop:
			t.set(in.Then.Params, in.Args)
			if end := t.loop(in); end.Op != ir.Break || end.Target != in {
				return end
			}
		case ir.Break:
			t.set(in.Target.Results, in.Args)
			return in
		case ir.Continue:
			t.set(in.Target.Then.Params, in.Args)
			return in
		case ir.Yield, ir.Return, ir.Unreachable:
			return in
		case ir.Barrier, ir.Subgroup:
			t.meet(in)
		case ir.Fence: // items run one after the other
			if in.Reach == ir.ReachSystem {
				t.g.m.l.hostTurn()
			}
		case ir.Pause:
		case ir.Clock:
			t.regs[in.Results[0].ID] = uint64(time.Since(t.g.m.began))
		case ir.Load, ir.Store, ir.Atomic:
			t.access(in)
		default:
			t.regs[in.Results[0].ID] = t.compute(in)
		}
	}
	return nil // unreachable, because the verifier requires a terminator
}

func (t *item) loop(in *ir.Instr) *ir.Instr {
	for {
		if end := t.block(in.Then); end.Op != ir.Continue || end.Target != in {
			return end
		}
	}
}

// access executes a load, store or atomic.
func (t *item) access(in *ir.Instr) {
	m := t.g.m
	memory := m.memory[in.Array.ID]
	switch in.Array.Space {
	case ir.Shared:
		memory = t.g.shared[in.Array.ID]
	case ir.Private:
		memory = t.private[in.Array.ID]
	}
	at, size := int64(t.regs[in.Args[0].ID]), in.Elem.Size()
	if at < 0 || at > int64(len(memory)-size) {
		t.fail(in, "the offset %d is outside the %d bytes of the array", at, len(memory))
	}
	if at%int64(size) != 0 {
		t.fail(in, "the offset %d is not aligned", at)
	}
	p := memory[at : at+int64(size)]
	if in.Op == ir.Atomic && in.Array == m.k.Records {
		t.regs[in.Results[0].ID] = t.atomicWord(in, (*uint32)(unsafe.Pointer(&p[0])))
		return
	}
	var old uint64
	for i, b := range p {
		old |= uint64(b) << (8 * i)
	}
	put := func(bits uint64) {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], bits)
		copy(p, b[:])
	}
	operand := func(n int) uint64 { return t.regs[in.Args[n].ID] }
	switch in.Op {
	case ir.Load:
		t.regs[in.Results[0].ID] = scalar.Load(in.Elem, old)
	case ir.Store:
		put(scalar.Store(in.Elem, operand(1)))
	case ir.Atomic:
		switch in.Atomic {
		case ir.AtomicLoad:
		case ir.AtomicCompareExchange:
			if old == operand(1) {
				put(operand(2))
			}
		case ir.AtomicExchange:
			put(operand(1))
		default:
			put(update(in, old, operand(1)))
		}
		t.regs[in.Results[0].ID] = old
	}
}

// atomicWord executes an atomic operation on a word of the records and returns the old value. The host may access the word at the
// same time.
func (t *item) atomicWord(in *ir.Instr, p *uint32) uint64 {
	for {
		old := atomic.LoadUint32(p)
		x := old
		switch in.Atomic {
		case ir.AtomicLoad:
			return uint64(old)
		case ir.AtomicCompareExchange:
			if uint64(old) != t.regs[in.Args[1].ID] {
				return uint64(old)
			}
			x = uint32(t.regs[in.Args[2].ID])
		case ir.AtomicExchange:
			x = uint32(t.regs[in.Args[1].ID])
		default:
			x = uint32(update(in, uint64(old), t.regs[in.Args[1].ID]))
		}
		if atomic.CompareAndSwapUint32(p, old, x) {
			return uint64(old)
		}
	}
}

var updates = later.Value[map[ir.AtomicKind]ir.Op]{Make: func() map[ir.AtomicKind]ir.Op {
	return map[ir.AtomicKind]ir.Op{ir.AtomicAdd: ir.Add, ir.AtomicSub: ir.Sub, ir.AtomicMin: ir.Min, ir.AtomicMax: ir.Max,
		ir.AtomicAnd: ir.And, ir.AtomicOr: ir.Or, ir.AtomicXor: ir.Xor}
}}

// update returns the value that an optional atomic operation other than exchange stores, from the old value and its operand x.
func update(in *ir.Instr, old, x uint64) uint64 {
	v := in.Results[0]
	r, _ := scalar.Eval(&ir.Instr{Op: updates.Get()[in.Atomic], Args: []*ir.Value{v, v}, Results: in.Results}, old, x)
	return r
}

// compute returns the result of an operation on values.
func (t *item) compute(in *ir.Instr) uint64 {
	var x, y, z uint64
	var typ ir.Type
	switch len(in.Args) {
	case 3:
		z = t.regs[in.Args[2].ID]
		fallthrough
	case 2:
		y = t.regs[in.Args[1].ID]
		fallthrough
	case 1:
		x, typ = t.regs[in.Args[0].ID], in.Args[0].Type
	}
	to := in.Results[0].Type
	switch in.Op {
	case ir.Const:
		return in.Bits
	case ir.Item:
		return t.coordinate(in)
	case ir.Extent:
		return uint64(uint32(t.g.m.dims[in.Array.ID][in.Axis]))
	case ir.Select:
		if x != 0 {
			return y
		}
		return z
	case ir.Bitcast:
		return x
	case ir.Wrap, ir.Convert:
		if typ.IsInt() && to.IsInt() {
			if typ == ir.I32 {
				x = uint64(int64(int32(x)))
			}
			return low(to, x)
		}
		return scalar.Convert(typ, to, x)
	case ir.Not:
		if typ == ir.Bool {
			return x ^ 1
		}
		return low(to, ^x)
	case ir.And:
		return x & y
	case ir.Or:
		return x | y
	case ir.Xor:
		return x ^ y
	}
	if typ.IsFloat() {
		return t.float(in, typ, x, y, z)
	}
	return t.integer(in, typ, x, y)
}

func low(t ir.Type, b uint64) uint64 {
	if t.Size() == 4 {
		return uint64(uint32(b))
	}
	return b
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func (t *item) coordinate(in *ir.Instr) uint64 {
	m, n := t.g.m, 0
	switch in.Item {
	case ir.LocalID:
		n = t.local[in.Axis]
	case ir.GroupID:
		n = t.g.at[in.Axis]
	case ir.GlobalSize:
		n = m.l.Size[in.Axis]
	case ir.GroupSize:
		n = m.l.GroupSize[in.Axis]
	case ir.NumGroups:
		n = m.groups[in.Axis]
	case ir.SubgroupSize:
		n = m.k.SubgroupSize
	}
	return uint64(uint32(n))
}

func (t *item) integer(in *ir.Instr, typ ir.Type, x, y uint64) uint64 {
	width := 8 * typ.Size()
	sx, sy := int64(x), int64(y)
	if typ == ir.I32 {
		sx, sy = int64(int32(x)), int64(int32(y))
	}
	switch in.Op {
	case ir.Add:
		return low(typ, x+y)
	case ir.Sub:
		return low(typ, x-y)
	case ir.Mul:
		return low(typ, x*y)
	case ir.Div, ir.Rem:
		any := t.g.m.target.Has(in.Op.String()+".any", typ)
		switch {
		case y == 0 && any:
			return 0
		case y == 0 || typ.IsSigned() && sy == -1 && !any:
			t.fail(in, "the divisor is %d", sy)
		}
		switch {
		case typ.IsSigned() && in.Op == ir.Div:
			return low(typ, uint64(sx/sy))
		case typ.IsSigned():
			return low(typ, uint64(sx%sy))
		case in.Op == ir.Div:
			return x / y
		}
		return x % y
	case ir.Shl, ir.Shr:
		if y >= uint64(width) {
			t.fail(in, "the count is %d of %d bits", int32(y), width)
		}
		switch {
		case in.Op == ir.Shl:
			return low(typ, x<<y)
		case typ.IsSigned():
			return low(typ, uint64(sx>>y))
		}
		return x >> y
	case ir.Clz:
		return uint64(bits.LeadingZeros64(x) - (64 - width))
	case ir.Popcnt:
		return uint64(bits.OnesCount64(x))
	case ir.Eq:
		return truth(x == y)
	case ir.Ne:
		return truth(x != y)
	case ir.Lt:
		return truth(typ.IsSigned() && sx < sy || !typ.IsSigned() && x < y)
	case ir.Le:
		return truth(typ.IsSigned() && sx <= sy || !typ.IsSigned() && x <= y)
	}
	return t.optional(in, x, y, 0)
}

func (t *item) float(in *ir.Instr, typ ir.Type, x, y, z uint64) uint64 {
	a, b := math.Float64frombits(x), math.Float64frombits(y)
	if typ == ir.F32 {
		a, b = float64(math.Float32frombits(uint32(x))), float64(math.Float32frombits(uint32(y)))
	}
	switch in.Op {
	case ir.Eq:
		return truth(a == b)
	case ir.Ne:
		return truth(a != b)
	case ir.Lt:
		return truth(a < b)
	case ir.Le:
		return truth(a <= b)
	case ir.Sat:
		least, beyond := -math.Ldexp(1, 8*in.Type().Size()-1), math.Ldexp(1, 8*in.Type().Size()-1)
		if !in.Type().IsSigned() {
			least, beyond = 0, 2*beyond
		}
		if !(a >= least && a < beyond) && !t.g.m.target.Has("sat.any", typ) {
			t.fail(in, "%v is no value of %v", a, in.Type())
		}
	}
	return t.optional(in, x, y, z)
}

// optional evaluates the operations that package scalar implements, among them roundings and all optional leaves.
func (t *item) optional(in *ir.Instr, args ...uint64) uint64 {
	r, ok := scalar.Eval(in, args[:len(in.Args)]...)
	if !ok {
		t.fail(in, "there is no such leaf")
	}
	return r
}
