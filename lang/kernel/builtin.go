package kernel

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/syntax"
	"github.com/orepl/orepl/lang/later"
)

var mathConstants = later.Value[map[string]float64]{Make: func() map[string]float64 {
	return map[string]float64{
		"PI": math.Pi, "E": math.E, "LN2": math.Ln2, "LN10": math.Ln10, "LOG2E": math.Log2E, "LOG10E": math.Log10E,
		"SQRT2": math.Sqrt2, "SQRT1_2": math.Sqrt2 / 2,
	}
}}

var combines = later.Value[map[string]ir.Combine]{Make: func() map[string]ir.Combine {
	return map[string]ir.Combine{"add": ir.CombineAdd, "min": ir.CombineMin, "max": ir.CombineMax}
}}

var subgroupKinds = later.Value[map[string]ir.SubgroupKind]{Make: func() map[string]ir.SubgroupKind {
	return map[string]ir.SubgroupKind{
		"add": ir.SubgroupAdd, "min": ir.SubgroupMin, "max": ir.SubgroupMax, "any": ir.SubgroupAny, "all": ir.SubgroupAll,
		"ballot": ir.SubgroupBallot, "broadcast": ir.SubgroupBroadcast, "shuffle": ir.SubgroupShuffle,
		"shuffleXor": ir.SubgroupShuffleXor, "shuffleUp": ir.SubgroupShuffleUp, "shuffleDown": ir.SubgroupShuffleDown,
		"scanAdd": ir.SubgroupScanAdd,
	}
}}

var atomicKinds = later.Value[map[string]ir.AtomicKind]{Make: func() map[string]ir.AtomicKind {
	return map[string]ir.AtomicKind{
		"add": ir.AtomicAdd, "sub": ir.AtomicSub, "min": ir.AtomicMin, "max": ir.AtomicMax, "and": ir.AtomicAnd, "or": ir.AtomicOr,
		"xor": ir.AtomicXor, "exchange": ir.AtomicExchange, "compareExchange": ir.AtomicCompareExchange,
		"load": ir.AtomicLoad, "store": ir.AtomicStore,
	}
}}

// builtinMember compiles a property of a builtin object. It reports a name that the object does not have.
func (c *compiler) builtinMember(v value, name string, at syntax.Span) value {
	object := &builtins[v.builtin]
	if axis := strings.Index("xyz", name); object.axes && axis >= 0 && len(name) == 1 {
		return c.item(object.item, axis)
	}
	path := builtinPath(v)
	switch v.builtin {
	case itemObject:
		return c.itemMember(name, at)
	case localObject, groupObject, sizeObject, groupSizeObject, groupsObject:
		c.errorf(at, diag.UnknownProperty, fmt.Sprintf("write %s"+nameAxes, path), "%s has no .%s", path, name)
		return bad
	case reduceObject, scanObject:
		if _, ok := combines.Get()[name]; ok {
			return builtin(map[builtinID]builtinID{reduceObject: reduceFamily, scanObject: scanFamily}[v.builtin], name)
		}
		c.errorf(at, diag.UnknownProperty, "write .add, .min or .max", "%s has no .%s", path, name)
		return bad
	case scanFamily:
		if name == "exclusive" {
			return builtin(exclusiveScanFamily, v.str)
		}
	case subgroupObject:
		if _, ok := subgroupKinds.Get()[name]; ok {
			return builtin(subgroupFamily, name)
		}
		c.errorf(at, diag.UnknownProperty, didYouMean(path, name, sortedNames(subgroupKinds.Get())), "%s has no .%s in a kernel", path, name)
		return bad
	case mathObject:
		return c.mathMember(name, at)
	case numberObject:
		return c.numberMember(name, at)
	case fastObject:
		return c.fastMember(name, at)
	case atomicsObject:
		if _, ok := atomicKinds.Get()[name]; ok {
			return builtin(atomicsFamily, name)
		}
		c.errorf(at, diag.UnknownProperty, didYouMean(path, name, sortedNames(atomicKinds.Get())), "%s has no .%s in a kernel", path, name)
		return bad
	}
	c.errorf(at, diag.UnknownProperty, "", "%s has no .%s in a kernel", path, name)
	return bad
}

// itemMember compiles a property of the item object other than x, y and z.
func (c *compiler) itemMember(name string, at syntax.Span) value {
	if kind, ok := itemNumbers.Get()[name]; ok {
		return c.item(kind, 0)
	}
	if id, ok := itemMembers.Get()[name]; ok {
		return builtin(id, "")
	}
	rewrite := elsewhereInItem.Get()[name]
	if rewrite == "" {
		rewrite = didYouMean("g", name, itemNames)
	}
	c.errorf(at, diag.UnknownProperty, rewrite, "the item object has no .%s", name)
	return bad
}

// mathMember compiles a property of Math. It reports names that kernels do not have.
func (c *compiler) mathMember(name string, at syntax.Span) value {
	if x, ok := mathConstants.Get()[name]; ok {
		return number(x)
	}
	if name == "fast" {
		return builtin(fastObject, "")
	}
	if _, ok := mathFuncOf(name); ok {
		return builtin(mathFamily, name)
	}
	rewrite := elsewhereInMath.Get()[name]
	if near := nearest(name, mathNames.Get()); rewrite == "" && near != "" {
		rewrite = fmt.Sprintf("did you mean Math.%s?", near)
	} else if rewrite == "" {
		rewrite = "write it as a function of your own, which the kernel calls"
	}
	c.errorf(at, diag.UnknownMath, rewrite, "Math.%s is not in kernels", name)
	return bad
}

// fastMember compiles a property of Math.fast.
func (c *compiler) fastMember(name string, at syntax.Span) value {
	if f, ok := mathFuncOf(name); ok && f.library {
		return builtin(fastFamily, name)
	}
	rewrite := "write it as a function of your own, which the kernel calls"
	if near := nearest(name, fastNames()); near != "" {
		rewrite = fmt.Sprintf("did you mean Math.fast.%s?", near)
	}
	if slices.Contains(mathNames.Get(), name) {
		rewrite = "write Math." + name
	}
	c.errorf(at, diag.UnknownMath, rewrite, "Math.fast.%s is not in kernels", name)
	return bad
}

func (c *compiler) item(kind ir.ItemKind, axis int) value {
	return register(c.b.Emit(&ir.Instr{Op: ir.Item, Item: kind, Axis: axis}, ir.I32))
}

// builtinCall compiles the call of a builtin function. effect is set if the result is unused. builtinCall reports a call of a
// builtin that is no function.
func (c *compiler) builtinCall(fn value, x *syntax.Call, effect bool) value {
	switch fn.builtin {
	case numberFamily, globalTest:
		return c.numberTest(fn, x)
	case numberObject:
		return c.numberCall(x)
	case booleanFunc:
		return c.convertCall(ir.Elem{Scalar: ir.Bool}, x)
	case mathFamily:
		return c.mathCall(fn.str, x)
	case fastFamily:
		f, _ := mathFuncOf(fn.str)
		return c.libraryCall("fast."+fn.str, f, c.args(x), x)
	case atomicsFamily:
		return c.atomic(fn.str, x)
	case reduceFamily, scanFamily, exclusiveScanFamily:
		return c.groupCall(fn.builtin, fn.str, x)
	case subgroupFamily:
		return c.subgroupCall(fn.str, x)
	case bitsFunc:
		return c.bits(x)
	case fromBitsFunc:
		return c.fromBits(x)
	case barrierFunc:
		if c.arity(x, 0, 0) {
			before := c.at(x.Span)
			c.emit(&ir.Instr{Op: ir.Barrier})
			c.b.Site = before
		}
		return value{kind: kVoid}
	case sharedFunc:
		return c.newArray(ir.Shared, x)
	case privateFunc:
		return c.newArray(ir.Private, x)
	case uniformFunc:
		return c.uniform(x)
	case printFunc:
		return c.print(x)
	case assertFunc:
		return c.assert(x)
	case fenceFunc:
		return c.fence(x)
	case clockFunc:
		if !c.arity(x, 0, 0) {
			return bad
		}
		before := c.at(x.Span)
		v := c.b.Emit(&ir.Instr{Op: ir.Clock}, ir.U64)
		c.b.Site = before
		return register(v)
	case callFunc:
		return c.hostCall(x, ir.Void, effect)
	}
	path, rewrite := builtinPath(fn), builtins[fn.builtin].rewrite
	if fn.builtin == subgroupObject {
		rewrite = "name the operation: g.subgroup has " + strings.Join(sortedNames(subgroupKinds.Get()), ", ")
	}
	c.errorf(x.Fn.Range(), diag.NotCallable, rewrite, "%s is no function", path)
	return bad
}

// args compiles the arguments of a call, in order.
func (c *compiler) args(x *syntax.Call) []value {
	args := make([]value, len(x.Args))
	for i, a := range x.Args {
		args[i] = c.expr(a)
	}
	return args
}

// scalars compiles the arguments of a call that takes numbers. ok is false if an argument is no number, BigInt or bool, which
// scalars reports as an error.
func (c *compiler) scalars(x *syntax.Call) (args []value, ok bool) {
	args, ok = c.args(x), true
	for i, a := range args {
		ok = c.wantScalar(a, x.Args[i].Range()) && ok
	}
	return args, ok
}
