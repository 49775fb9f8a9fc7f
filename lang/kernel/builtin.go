package kernel

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/syntax"
)

var mathConstants = map[string]float64{
	"PI": math.Pi, "E": math.E, "LN2": math.Ln2, "LN10": math.Ln10, "LOG2E": math.Log2E, "LOG10E": math.Log10E,
	"SQRT2": math.Sqrt2, "SQRT1_2": math.Sqrt2 / 2,
}

var itemKinds = map[string]ir.ItemKind{
	"g": ir.GlobalID, "g.local": ir.LocalID, "g.group": ir.GroupID, "g.size": ir.GlobalSize,
	"g.groupSize": ir.GroupSize, "g.groups": ir.NumGroups,
}

var combines = map[string]ir.Combine{"add": ir.CombineAdd, "min": ir.CombineMin, "max": ir.CombineMax}

var subgroupKinds = map[string]ir.SubgroupKind{
	"add": ir.SubgroupAdd, "min": ir.SubgroupMin, "max": ir.SubgroupMax, "any": ir.SubgroupAny, "all": ir.SubgroupAll,
	"ballot": ir.SubgroupBallot, "broadcast": ir.SubgroupBroadcast, "shuffle": ir.SubgroupShuffle,
	"shuffleXor": ir.SubgroupShuffleXor, "shuffleUp": ir.SubgroupShuffleUp, "shuffleDown": ir.SubgroupShuffleDown,
	"scanAdd": ir.SubgroupScanAdd,
}

var atomicKinds = map[string]ir.AtomicKind{
	"add": ir.AtomicAdd, "sub": ir.AtomicSub, "min": ir.AtomicMin, "max": ir.AtomicMax, "and": ir.AtomicAnd, "or": ir.AtomicOr,
	"xor": ir.AtomicXor, "exchange": ir.AtomicExchange, "compareExchange": ir.AtomicCompareExchange,
	"load": ir.AtomicLoad, "store": ir.AtomicStore,
}

// builtinMember is a property of the item object, Math or Atomics.
func (c *compiler) builtinMember(path, name string, at syntax.Span) value {
	if kind, ok := itemKinds[path]; ok {
		if axis := strings.Index("xyz", name); axis >= 0 && len(name) == 1 {
			return c.item(kind, axis)
		}
		if path != "g" {
			c.errorf(at, diag.UnknownProperty, fmt.Sprintf("write %s.x, .y or .z", path), "%s has no .%s", path, name)
			return bad
		}
	}
	full := path + "." + name
	switch path {
	case "g":
		switch name {
		case "lane":
			return c.item(ir.Lane, 0)
		case "subgroupSize":
			return c.item(ir.SubgroupSize, 0)
		case "local", "group", "size", "groupSize", "groups",
			"reduce", "scan", "subgroup", "barrier", "shared", "private", "uniform", "print", "assert", "call":
			return builtin(full)
		}
		rewrite := elsewhereInItem[name]
		if rewrite == "" {
			rewrite = didYouMean("g", name, itemNames)
		}
		c.errorf(at, diag.UnknownProperty, rewrite, "the item object has no .%s", name)
		return bad
	case "g.reduce", "g.scan":
		if _, ok := combines[name]; ok {
			return builtin(full)
		}
		c.errorf(at, diag.UnknownProperty, "write .add, .min or .max", "%s has no .%s", path, name)
		return bad
	case "g.scan.add", "g.scan.min", "g.scan.max":
		if name == "exclusive" {
			return builtin(full)
		}
	case "g.subgroup":
		if _, ok := subgroupKinds[name]; ok {
			return builtin(full)
		}
		c.errorf(at, diag.UnknownProperty, didYouMean(path, name, sortedNames(subgroupKinds)), "%s has no .%s in a kernel", path, name)
		return bad
	case "Math":
		if x, ok := mathConstants[name]; ok {
			return number(x)
		}
		if _, ok := mathFuncOf(name); ok || name == "fast" {
			return builtin(full)
		}
		rewrite := elsewhereInMath[name]
		if near := nearest(name, mathNames); rewrite == "" && near != "" {
			rewrite = fmt.Sprintf("did you mean Math.%s?", near)
		} else if rewrite == "" {
			rewrite = "write it as a function of your own, which the kernel calls"
		}
		c.errorf(at, diag.UnknownMath, rewrite, "Math.%s is not in kernels", name)
		return bad
	case "Number":
		return c.numberMember(name, at)
	case "Math.fast":
		if f, ok := mathFuncOf(name); ok && f.library {
			return builtin(full)
		}
		rewrite := "write it as a function of your own, which the kernel calls"
		if near := nearest(name, fastNames()); near != "" {
			rewrite = fmt.Sprintf("did you mean Math.fast.%s?", near)
		}
		if slices.Contains(mathNames, name) {
			rewrite = "write Math." + name
		}
		c.errorf(at, diag.UnknownMath, rewrite, "Math.fast.%s is not in kernels", name)
		return bad
	case "Atomics":
		if _, ok := atomicKinds[name]; ok {
			return builtin(full)
		}
		c.errorf(at, diag.UnknownProperty, didYouMean(path, name, sortedNames(atomicKinds)), "%s has no .%s in a kernel", path, name)
		return bad
	}
	c.errorf(at, diag.UnknownProperty, "", "%s has no .%s in a kernel", path, name)
	return bad
}

func (c *compiler) item(kind ir.ItemKind, axis int) value {
	return register(c.b.Emit(&ir.Instr{Op: ir.Item, Item: kind, Axis: axis}, ir.I32))
}

// builtinCall compiles the call of a function of the language.
func (c *compiler) builtinCall(path string, x *syntax.Call, effect bool) value {
	family, name, _ := cutLast(path)
	switch family {
	case "Number":
		return c.numberTest(path, x)
	case "Math":
		return c.mathCall(name, x)
	case "Math.fast":
		f, _ := mathFuncOf(name)
		return c.libraryCall("fast."+name, f, c.args(x), x)
	case "Atomics":
		return c.atomic(name, x)
	case "g.reduce", "g.scan":
		return c.groupCall(family, name, false, x)
	case "g.scan.add", "g.scan.min", "g.scan.max":
		_, op, _ := cutLast(family)
		return c.groupCall("g.scan", op, true, x)
	case "g.subgroup":
		return c.subgroupCall(name, x)
	}
	switch path {
	case "isNaN", "isFinite":
		return c.numberTest(path, x)
	case "Number":
		c.errorf(x.Fn.Range(), diag.NotCallable, "write f32(x), i32(x), …", "Number is no function in a kernel")
		return bad
	case "bits":
		return c.bits(x)
	case "fromBits":
		return c.fromBits(x)
	case "g.barrier":
		if c.arity(x, 0, 0) {
			before := c.at(x.Span)
			c.emit(&ir.Instr{Op: ir.Barrier})
			c.b.Site = before
		}
		return value{kind: kVoid}
	case "g.shared":
		return c.newArray(ir.Shared, x)
	case "g.private":
		return c.newArray(ir.Private, x)
	case "g.uniform":
		return c.uniform(x)
	case "g.print":
		return c.print(x)
	case "g.assert":
		return c.assert(x)
	case "g.call":
		return c.hostCall(x, ir.Void, effect)
	}
	rewrite := ""
	switch path {
	case "g.reduce", "g.scan":
		rewrite = fmt.Sprintf("write %s.add(…), .min or .max", path)
	case "g.subgroup":
		rewrite = "name the operation: g.subgroup has " + strings.Join(sortedNames(subgroupKinds), ", ")
	case "g", "g.local", "g.group", "g.size", "g.groupSize", "g.groups":
		rewrite = fmt.Sprintf("write %s.x, .y or .z", path)
	case "Math", "Math.fast", "Atomics":
		rewrite = "name the function: " + path + ".…"
	}
	c.errorf(x.Fn.Range(), diag.NotCallable, rewrite, "%s is no function", path)
	return bad
}

func cutLast(path string) (family, name string, ok bool) {
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		return path[:i], path[i+1:], true
	}
	return "", path, false
}

// args compiles the arguments of a call, in order.
func (c *compiler) args(x *syntax.Call) []value {
	args := make([]value, len(x.Args))
	for i, a := range x.Args {
		args[i] = c.expr(a)
	}
	return args
}

// scalars compiles the arguments of a call that takes numbers; ok is false if one is none.
func (c *compiler) scalars(x *syntax.Call) (args []value, ok bool) {
	args, ok = c.args(x), true
	for i, a := range args {
		ok = c.wantScalar(a, x.Args[i].Range()) && ok
	}
	return args, ok
}
