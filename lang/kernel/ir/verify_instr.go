package ir

import "slices"

// instr checks an instruction and its nested blocks.
func (v *verifier) instr(in *Instr) {
	v.check(in.Op.isKnown(), "there is no such operation")
	v.check(in.Site >= 0 && in.Site < max(len(v.k.Sites), 1), "site %d of %d", in.Site, len(v.k.Sites))
	v.atMost(len(in.Args), MaxOperands, "operands")
	v.atMost(len(in.Results), MaxOperands, "results")
	for _, a := range in.Args {
		v.use(a)
	}
	nested := in.Op.IsStructured()
	v.check(nested || in.Then == nil && in.Else == nil, "only block, if and loop have nested blocks")
	v.check((in.Target != nil) == (in.Op == Break || in.Op == Continue), "only break and continue have a target, and need one")
	v.check(in.Array == nil || in.Op.IsMemory(), "the operation has no array")
	v.check(len(in.Arrays) == 0 || in.Op == Lib, "the operation has no arrays")
	v.fields(in)
	switch {
	case in.Op == Const:
		v.args(0)
		t := v.result()
		v.check(t.IsValue(), "the result is of type %v, which no register can hold", t)
		v.check(t == Bool && in.Bits <= 1 || t.Size() == 8 || t.Size() == 4 && in.Bits>>32 == 0, "%#x are no bits of a %v", in.Bits, t)
	case in.Op.IsArith():
		v.arithmetic(in)
	case in.Op.IsMemory():
		v.memory(in)
	case in.Op.IsItem():
		v.group = v.group || in.Op != Item
		v.item(in)
	case in.Op.IsHost():
		v.host(in)
	case nested:
		v.nested(in)
	case in.Op.IsVersion2():
		v.extended(in)
	default:
		v.jump(in)
	}
	if !nested {
		for _, r := range in.Results {
			v.define(r, in)
		}
	}
}

// fields checks that unused fields of the operation are zero, so that equal instructions are encoded equally.
func (v *verifier) fields(in *Instr) {
	unused := func(ok bool, what string) { v.check(ok, "%v has no %s", in.Op, what) }
	unused(in.Bits == 0 || in.Op == Const, "constant bits")
	unused(len(in.Path) == 0 || in.Op == Load || in.Op == Store || in.Op == Atomic, "path")
	unused(in.Axis == 0 || in.Op == Item || in.Op == Extent, "axis")
	unused(in.Item == 0 || in.Op == Item, "coordinate")
	unused(in.Combine == 0 || in.Op == Reduce || in.Op == Scan, "combining operation")
	unused(!in.Exclusive || in.Op == Scan, "exclusive form")
	unused(in.Atomic == 0 || in.Op == Atomic, "atomic operation")
	unused(in.Subgroup == 0 || in.Op == Subgroup, "subgroup operation")
	unused(in.Assert == 0 || in.Op == Assert && in.Assert < numAssertKinds, "kind of assertion")
	unused(in.Elem == Void || in.Op == Quant || v.lowered && len(in.Path) == 1 && in.Path[0].Kind == StepByte, "element type")
	unused(in.Fn == "" || in.Op == Math || in.Op == Call || in.Op == Lib || in.Op == Region, "function")
	unused(in.Order == 0 && in.Reach == 0 || in.Op == Fence, "order")
	unused(len(in.Text) == 0 || in.Op == Print || in.Op == Assert, "text")
}

func (v *verifier) args(n int) {
	v.check(len(v.in.Args) == n, "%v takes %d operands, not %d", v.in.Op, n, len(v.in.Args))
}

// result returns the type of the only result, and fails if there is not exactly one.
func (v *verifier) result() Type {
	v.check(len(v.in.Results) == 1 && v.in.Results[0] != nil, "%v has one result", v.in.Op)
	return v.in.Results[0].Type
}

func (v *verifier) noResult() {
	v.check(len(v.in.Results) == 0, "%v has no result", v.in.Op)
}

func (v *verifier) arg(i int, want Type) {
	v.check(v.in.Args[i].Type == want, "operand %d is of type %v, not %v", i+1, v.in.Args[i].Type, want)
}

// like checks that the result and the operands from index first are of type t.
func (v *verifier) like(t Type, first int) {
	for i := first; i < len(v.in.Args); i++ {
		v.arg(i, t)
	}
	v.check(v.result() == t, "the result is of type %v, not %v", v.result(), t)
}

func (v *verifier) oneOf(t Type, ok bool) {
	v.check(ok, "%v is not for type %v", v.in.Op, t)
}

func (v *verifier) arithmetic(in *Instr) {
	n := 2
	switch in.Op {
	case Neg, Not, Abs, Sqrt, Floor, Ceil, Trunc, Round, Rint, Clz, Ctz, Popcnt, Convert, Sat, Wrap, Bitcast, Quant:
		n = 1
	case FMA, Select:
		n = 3
	case Math:
		n = max(len(in.Args), 1)
	}
	v.args(n)
	t := in.Args[0].Type
	to := v.result()
	switch in.Op {
	case Neg, Abs, Add, Sub, Mul, Div, Rem, Min, Max:
		v.oneOf(t, t != Bool)
		v.like(t, 0)
	case Not, And, Or, Xor:
		v.oneOf(t, !t.IsFloat())
		v.like(t, 0)
	case Sqrt, Floor, Ceil, Trunc, Round, Rint, FMA:
		v.oneOf(t, t.IsFloat())
		v.like(t, 0)
	case Math:
		v.oneOf(t, t.IsFloat())
		v.like(t, 0)
		v.function(in)
	case MulHi:
		v.oneOf(t, t.IsInt())
		v.like(t, 0)
	case Clz, Ctz, Popcnt:
		v.oneOf(t, t.IsInt())
		v.check(to == I32, "the result is of type %v, not i32", to)
	case Shl, Shr:
		v.oneOf(t, t.IsInt())
		count := in.Args[1].Type
		v.check(count == I32 || count == U32, "the shift count is of type %v, not i32 or u32", count)
		v.check(to == t, "the result is of type %v, not %v", to, t)
	case Select:
		v.arg(0, Bool)
		v.like(in.Args[1].Type, 1)
	case Eq, Ne, Lt, Le:
		v.oneOf(t, t != Bool || in.Op == Eq || in.Op == Ne)
		v.arg(1, t)
		v.check(to == Bool, "the result is of type %v, not bool", to)
	case Convert:
		ok := to == t || to.IsFloat() || to.Size() == 8 && !t.IsFloat() || t == Bool && to.IsInt()
		v.check(ok, "convert is not for %v to %v; sat and wrap are", t, to)
	case Sat:
		v.check(t.IsFloat() && to.IsInt(), "sat is not for %v to %v", t, to)
	case Wrap:
		v.check(t != Bool && to.IsInt(), "wrap is not for %v to %v", t, to)
	case Bitcast:
		v.check(t != Bool && t.Size() == to.Size(), "bitcast is not for %v to %v", t, to)
	case Quant:
		v.check(in.Elem.IsFloat() || in.Elem == F16 || in.Elem == BF16, "quant is not for %v", in.Elem)
		v.oneOf(t, t == F64 == (in.Elem == F64) && t.IsFloat())
		v.like(t, 0)
	}
}

func (v *verifier) function(in *Instr) {
	v.check(in.Fn != "", "the function has no name")
	v.text(in.Fn, "the name of a function")
}

func (v *verifier) memory(in *Instr) {
	a := in.Array
	v.check(a != nil && a.ID >= 0 && a.ID < len(v.k.Arrays) && v.k.Arrays[a.ID] == a, "the array is not one of the kernel's")
	switch in.Op {
	case Zero:
		v.args(0)
		v.noResult()
		v.check(a.Space == Private, "%s is in %v memory; zero is for private arrays", quoteName(a.Name), a.Space)
		return
	case Extent:
		v.args(0)
		v.check(a.Space == Global, "%s is in %v memory; its extents are known", quoteName(a.Name), a.Space)
		v.check(in.Axis >= 0 && in.Axis < a.Rank, "%s has rank %d and no extent %d", quoteName(a.Name), a.Rank, in.Axis)
		v.check(v.result() == I32, "the result is of type %v, not i32", v.result())
		return
	}
	v.atMost(len(in.Path), MaxPath, "steps in a path")
	for _, s := range in.Path {
		v.check(s.Kind == StepField || s.Field == 0, "an index names a field")
		v.check(s.Kind != StepByte || v.lowered && len(in.Path) == 1, "an offset in bytes is for lowered kernels")
	}
	scalar := in.Accessed()
	v.check(scalar != Void, "the path does not lead from %s of rank %d to a scalar", quoteName(a.Name), a.Rank)
	n := in.NumIndices()
	v.check(len(in.Args) >= n, "the path has %d indices; there are %d operands", n, len(in.Args))
	for i := range n {
		v.check(in.Args[i].Type.IsInt(), "index %d is of type %v, not an integer", i+1, in.Args[i].Type)
	}
	t := scalar.Value()
	switch in.Op {
	case Load:
		v.args(n)
		v.like(t, n)
	case Store:
		v.args(n + 1)
		v.arg(n, t)
		v.noResult()
		v.check(a.Space != Table, "%s is a table; tables are constant", quoteName(a.Name))
	case Atomic:
		v.check(in.Atomic < numAtomicKinds, "there is no such atomic operation")
		v.args(n + in.Atomic.Operands())
		v.like(t, n)
		v.check(a.Space == Global || a.Space == Shared, "%s is in %v memory; atomics are for global and shared memory", quoteName(a.Name), a.Space)
		v.check(scalar == t && t != Bool, "there are no atomics on elements of type %v", scalar)
		bitwise := in.Atomic == AtomicAnd || in.Atomic == AtomicOr || in.Atomic == AtomicXor
		v.check(!bitwise || t.IsInt(), "atomic %v is not for type %v", in.Atomic, t)
	}
}

func (v *verifier) item(in *Instr) {
	switch in.Op {
	case Item:
		v.args(0)
		v.check(in.Item < numItemKinds, "there is no such coordinate")
		v.check(in.Axis >= 0 && in.Axis < 3 && (in.Axis == 0 || in.Item.HasAxis()), "%v has no axis %d", in.Item, in.Axis)
		v.check(v.result() == I32, "the result is of type %v, not i32", v.result())
	case Barrier:
		v.args(0)
		v.noResult()
	case Reduce, Scan:
		v.args(1)
		v.check(in.Combine < numCombines, "there is no such combining operation")
		t := in.Args[0].Type
		v.oneOf(t, t != Bool)
		v.like(t, 0)
	case Subgroup:
		v.subgroup(in)
	case Uniform:
		v.args(1)
		v.like(in.Args[0].Type, 0)
	}
}

func (v *verifier) subgroup(in *Instr) {
	v.check(in.Subgroup < numSubgroupKinds, "there is no such subgroup operation")
	n := 1
	if in.Subgroup >= SubgroupBroadcast && in.Subgroup <= SubgroupShuffleDown {
		n = 2
	}
	v.args(n)
	t := in.Args[0].Type
	switch in.Subgroup {
	case SubgroupAny, SubgroupAll:
		v.like(Bool, 0)
	case SubgroupBallot:
		v.arg(0, Bool)
		v.check(v.result() == U64, "the result is of type %v, not u64", v.result())
	case SubgroupAdd, SubgroupMin, SubgroupMax, SubgroupScanAdd:
		v.oneOf(t, t != Bool)
		v.like(t, 0)
	default:
		v.arg(1, I32)
		v.check(v.result() == t, "the result is of type %v, not %v", v.result(), t)
	}
}

func (v *verifier) host(in *Instr) {
	v.atMost(len(in.Text), MaxOperands+1, "pieces of a message")
	for _, s := range in.Text {
		v.text(s, "a piece of a message")
	}
	switch in.Op {
	case Print:
		v.noResult()
		v.check(len(in.Text) == len(in.Args)+1, "a message with %d values has %d pieces around them, not %d", len(in.Args), len(in.Args)+1, len(in.Text))
	case Assert:
		v.noResult()
		v.check(len(in.Args) > 0 && in.Args[0].Type == Bool, "the first operand is not a bool")
		v.check(len(in.Text) == len(in.Args), "a message with %d values has %d pieces around them, not %d", len(in.Args)-1, len(in.Args), len(in.Text))
	case Call:
		v.function(in)
		v.check(len(in.Results) <= 1, "a call has at most one result")
	}
}

// extended checks an operation of version 2.
func (v *verifier) extended(in *Instr) {
	switch in.Op {
	case Fence:
		v.args(0)
		v.noResult()
		v.check(in.Order < numFenceOrders && in.Reach < numFenceReaches, "there is no such fence")
	case Clock:
		v.args(0)
		v.check(v.result() == U64, "the result is of type %v, not u64", v.result())
	case Pause:
		v.args(0)
		v.noResult()
	case Lib:
		v.function(in)
		v.atMost(len(in.Arrays), MaxOperands, "arrays")
		for _, a := range in.Arrays {
			v.check(a != nil && a.ID >= 0 && a.ID < len(v.k.Arrays) && v.k.Arrays[a.ID] == a, "an array is not one of the kernel's")
			v.check(a.Space != Table, "%s is a table; tables are constant", quoteName(a.Name))
		}
	}
}

func (v *verifier) nested(in *Instr) {
	v.check(len(v.around) < MaxDepth, "blocks nest deeper than %d", MaxDepth)
	v.around = append(v.around, in)
	switch in.Op {
	case Region:
		if in.Fn == "" {
			v.args(0)
		}
		v.text(in.Fn, "the name of an extension")
		v.check(in.Else == nil, "block has one nested block")
		v.block(in.Then, nil)
	case If:
		v.args(1)
		v.arg(0, Bool)
		v.block(in.Then, nil)
		v.block(in.Else, nil)
	case Loop:
		v.check(in.Else == nil, "loop has one nested block")
		v.check(in.Then != nil && len(in.Then.Params) == len(in.Args), "loop takes an operand for each parameter of its block")
		for i, p := range in.Then.Params {
			v.check(p != nil, "a parameter is nil")
			v.arg(i, p.Type)
		}
		v.block(in.Then, in.Then.Params)
	}
	v.around = v.around[:len(v.around)-1]
	for _, r := range in.Results {
		v.define(r, in)
	}
}

func (v *verifier) jump(in *Instr) {
	v.noResult()
	var want []*Value
	switch in.Op {
	case Yield:
		v.check(len(v.around) > 0 && v.around[len(v.around)-1].Op != Loop, "yield ends a block of if or block only")
		want = v.around[len(v.around)-1].Results
	case Break, Continue:
		v.check(slices.Contains(v.around, in.Target), "the target is not around this")
		v.check(in.Target.Op == Loop || in.Target.Op == Region && in.Op == Break, "%v does not go to %v", in.Op, in.Target.Op)
		want = in.Target.Results
		for i := len(v.around) - 1; v.around[i] != in.Target; i-- {
			v.check(v.lowered || v.around[i].Op != Region || v.around[i].Fn == "", "%v leaves the extension operation %s", in.Op, quoteName(v.around[i].Fn))
		}
		if in.Op == Continue {
			want = in.Target.Then.Params
		}
	}
	if in.Op == Return {
		for _, outer := range v.around {
			v.check(v.lowered || outer.Op != Region || outer.Fn == "", "return leaves the extension operation %s", quoteName(outer.Fn))
		}
	}
	v.args(len(want))
	for i, w := range want {
		v.check(w != nil, "a result is nil")
		v.arg(i, w.Type)
	}
}
