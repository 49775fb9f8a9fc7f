package ptx

import "github.com/orepl/orepl/lang/kernel/ir"

const warpItems = 32

// members prints the computation of e.mask, the mask of the lanes that the item's warp has. The last warp of a group may have
// fewer than 32. It prints nothing for a kernel without subgroup operations.
func (e *emitter) members() {
	used := false
	e.kernel.IR.Body.Walk(func(in *ir.Instr) { used = used || in.Op == ir.Subgroup })
	if !used {
		return
	}
	items, number, size := e.fresh("b32"), e.fresh("b32"), e.fresh("b32")
	e.line("mov.u32 %s, %%ntid.%s", items, axes[e.axes-1])
	e.line("mov.u32 %s, %%tid.%s", number, axes[e.axes-1])
	for axis := e.axes - 2; axis >= 0; axis-- {
		e.line("mov.u32 %s, %%ntid.%s", size, axes[axis])
		e.line("mul.lo.u32 %s, %s, %s", items, items, size)
		e.line("mul.lo.u32 %s, %s, %s", number, number, size)
		e.line("mov.u32 %s, %%tid.%s", size, axes[axis])
		e.line("add.u32 %s, %s, %s", number, number, size)
	}
	e.mask = e.fresh("b32")
	e.line("and.b32 %s, %s, 0xffffffe0", number, number)
	e.line("sub.u32 %s, %s, %s", items, items, number)
	e.line("min.u32 %s, %s, 32", items, items)
	e.line("sub.u32 %s, 32, %s", items, items)
	e.line("mov.b32 %s, 0xffffffff", e.mask)
	e.line("shr.u32 %s, %s, %s", e.mask, e.mask, items)
}

// exchange prints a subgroup operation. Shuffles use absolute lane numbers, because distances may be negative.
func (e *emitter) exchange(in *ir.Instr, r string) {
	v := in.Args[0]
	if in.Subgroup == ir.SubgroupBallot {
		votes := e.fresh("b32")
		e.line("vote.sync.ballot.b32 %s, %s, %s", votes, register(v), e.mask)
		e.line("cvt.u64.u32 %s, %s", r, votes)
		return
	}
	lane := register(in.Args[1])
	if in.Subgroup != ir.SubgroupShuffle {
		at := e.fresh("b32")
		e.line("mov.u32 %s, %%laneid", at)
		e.line("%s.s32 %s, %s, %s", map[ir.SubgroupKind]string{ir.SubgroupShuffleUp: "sub", ir.SubgroupShuffleDown: "add"}[in.Subgroup], at, at, lane)
		lane = at
	}
	if v.Type.Size() == 4 {
		word := e.fresh("b32")
		e.line("mov.b32 %s, %s", word, register(v))
		e.line("shfl.sync.idx.b32 %s, %s, %s, 31, %s", word, word, lane, e.mask)
		e.line("mov.b32 %s, %s", r, word)
		return
	}
	whole, part, low, high := e.fresh("b64"), e.fresh("b64"), e.fresh("b32"), e.fresh("b32")
	e.line("mov.b64 %s, %s", whole, register(v))
	e.line("shr.u64 %s, %s, 32", part, whole)
	e.line("cvt.u32.u64 %s, %s", low, whole)
	e.line("cvt.u32.u64 %s, %s", high, part)
	e.line("shfl.sync.idx.b32 %s, %s, %s, 31, %s", low, low, lane, e.mask)
	e.line("shfl.sync.idx.b32 %s, %s, %s, 31, %s", high, high, lane, e.mask)
	e.line("cvt.u64.u32 %s, %s", whole, low)
	e.line("cvt.u64.u32 %s, %s", part, high)
	e.line("shl.b64 %s, %s, 32", part, part)
	e.line("or.b64 %s, %s, %s", whole, whole, part)
	e.line("mov.b64 %s, %s", r, whole)
}
