package kernel

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/later"
)

// A builtinID is an object of the kernel language, a function, or a family of functions, of which value.str names one.
type builtinID uint8

const (
	itemObject builtinID = iota + 1 // the first parameter of a kernel

	// Objects with the members x, y and z.
	localObject
	groupObject
	sizeObject
	groupSizeObject
	groupsObject

	// Objects with functions, and the function Boolean.
	reduceObject
	scanObject
	subgroupObject
	mathObject
	fastObject
	atomicsObject
	numberObject
	booleanFunc

	// Families of functions.
	reduceFamily
	scanFamily
	exclusiveScanFamily
	subgroupFamily
	mathFamily
	fastFamily
	atomicsFamily
	numberFamily
	globalTest // isNaN and isFinite

	bitsFunc
	fromBitsFunc
	barrierFunc
	sharedFunc
	privateFunc
	uniformFunc
	printFunc
	assertFunc
	callFunc
	fenceFunc
	clockFunc
)

// builtinInfo describes a builtin. The path of a family ends with the dot before the name.
type builtinInfo struct {
	path    string
	item    ir.ItemKind // kind of the x, y and z members
	axes    bool        // has the members x, y and z
	rewrite string      // replacement to suggest for a call of a builtin that is not a function
}

const nameAxes = ".x, .y or .z"

var builtins = [...]builtinInfo{
	itemObject:      {path: "g", item: ir.GlobalID, axes: true, rewrite: "write g" + nameAxes},
	localObject:     {path: "g.local", item: ir.LocalID, axes: true, rewrite: "write g.local" + nameAxes},
	groupObject:     {path: "g.group", item: ir.GroupID, axes: true, rewrite: "write g.group" + nameAxes},
	sizeObject:      {path: "g.size", item: ir.GlobalSize, axes: true, rewrite: "write g.size" + nameAxes},
	groupSizeObject: {path: "g.groupSize", item: ir.GroupSize, axes: true, rewrite: "write g.groupSize" + nameAxes},
	groupsObject:    {path: "g.groups", item: ir.NumGroups, axes: true, rewrite: "write g.groups" + nameAxes},

	reduceObject:   {path: "g.reduce", rewrite: "write g.reduce.add(…), .min or .max"},
	scanObject:     {path: "g.scan", rewrite: "write g.scan.add(…), .min or .max"},
	subgroupObject: {path: "g.subgroup"},
	mathObject:     {path: "Math", rewrite: "name the function: Math.…"},
	fastObject:     {path: "Math.fast", rewrite: "name the function: Math.fast.…"},
	atomicsObject:  {path: "Atomics", rewrite: "name the function: Atomics.…"},
	numberObject:   {path: "Number"},
	booleanFunc:    {path: "Boolean"},

	reduceFamily:        {path: "g.reduce."},
	scanFamily:          {path: "g.scan."},
	exclusiveScanFamily: {path: "g.scan.exclusive."},
	subgroupFamily:      {path: "g.subgroup."},
	mathFamily:          {path: "Math."},
	fastFamily:          {path: "Math.fast."},
	atomicsFamily:       {path: "Atomics."},
	numberFamily:        {path: "Number."},
	globalTest:          {},

	bitsFunc:     {path: "bits"},
	fromBitsFunc: {path: "fromBits"},
	barrierFunc:  {path: "g.barrier"},
	sharedFunc:   {path: "g.shared"},
	privateFunc:  {path: "g.private"},
	uniformFunc:  {path: "g.uniform"},
	printFunc:    {path: "g.print"},
	assertFunc:   {path: "g.assert"},
	callFunc:     {path: "g.call"},
	fenceFunc:    {path: "g.fence"},
	clockFunc:    {path: "g.clock"},
}

// itemNumbers maps numeric members of the item object, other than x, y and z, to their kinds.
var itemNumbers = later.Value[map[string]ir.ItemKind]{Make: func() map[string]ir.ItemKind {
	return map[string]ir.ItemKind{"lane": ir.Lane, "subgroupSize": ir.SubgroupSize}
}}

// itemMembers maps members of the item object that are objects or functions to their builtins.
var itemMembers = later.Value[map[string]builtinID]{Make: func() map[string]builtinID {
	return map[string]builtinID{
		"local": localObject, "group": groupObject, "size": sizeObject, "groupSize": groupSizeObject, "groups": groupsObject,
		"reduce": reduceObject, "scan": scanObject, "subgroup": subgroupObject, "barrier": barrierFunc, "shared": sharedFunc,
		"private": privateFunc, "uniform": uniformFunc, "print": printFunc, "assert": assertFunc, "call": callFunc,
		"fence": fenceFunc, "clock": clockFunc,
	}
}}

// globalBuiltins maps global names to builtins.
var globalBuiltins = later.Value[map[string]value]{Make: func() map[string]value {
	return map[string]value{
		"Math": builtin(mathObject, ""), "Atomics": builtin(atomicsObject, ""), "Number": builtin(numberObject, ""), "Boolean": builtin(booleanFunc, ""),
		"isNaN": builtin(globalTest, "isNaN"), "isFinite": builtin(globalTest, "isFinite"), "bits": builtin(bitsFunc, ""), "fromBits": builtin(fromBitsFunc, ""),
	}
}}

// builtin returns the value of a builtin; name selects a function of a family.
func builtin(id builtinID, name string) value { return value{kind: kBuiltin, builtin: id, str: name} }

// builtinPath returns the source expression of a builtin.
func builtinPath(v value) string {
	if v.builtin == exclusiveScanFamily {
		return "g.scan." + v.str + ".exclusive"
	}
	return builtins[v.builtin].path + v.str
}
