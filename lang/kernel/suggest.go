package kernel

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/lang/spelling"
)

// nearest returns the name from the list that differs only in case or in few edits, or "". A name of fewer than three bytes matches
// only by case.
func nearest(name string, names []string) string {
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return n
		}
	}
	if len(name) < 3 {
		return "" // all short names are similar
	}
	return spelling.Nearest(name, names)
}

// didYouMean suggests a similar name below path, or lists all names.
func didYouMean(path, name string, names []string) string {
	if near := nearest(name, names); near != "" {
		return fmt.Sprintf("did you mean %s.%s?", path, near)
	}
	return fmt.Sprintf("%s has %s", path, strings.Join(names, ", "))
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// itemNames are the properties of the item object.
var itemNames = []string{"x", "y", "z", "local", "group", "size", "groupSize", "groups", "lane", "subgroupSize", "reduce", "scan",
	"subgroup", "barrier", "shared", "private", "uniform", "print", "assert", "call", "fence", "clock"}

// mathNames are the functions and constants of Math.
var mathNames = later.Value[[]string]{Make: func() []string {
	return append([]string{"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan",
		"sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "cbrt", "rsqrt", "erf", "atan2", "sqrt", "pow", "hypot", "floor", "ceil", "trunc",
		"round", "abs", "sign", "fround", "min", "max", "fma", "clamp", "mix", "imul", "mulhi", "clz32", "ctz", "popcount", "ldexp", "frexp"},
		sortedNames(mathConstants.Get())...)
}}

// MathNames returns the functions and constants of Math in kernels.
func MathNames() []string { return slices.Clone(mathNames.Get()) }

// fastNames returns the functions of Math.fast.
func fastNames() []string {
	return slices.DeleteFunc(slices.Clone(mathNames.Get()), func(name string) bool {
		f, ok := mathFuncOf(name)
		return !ok || !f.library
	})
}

// elsewhere maps names of other device languages and of JavaScript to hints about their equivalents.
var elsewhere = later.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		"get_global_id": "write g.x, g.y or g.z", "get_local_id": "write g.local.x", "get_group_id": "write g.group.x",
		"get_global_size": "write g.size.x", "get_local_size": "write g.groupSize.x", "get_num_groups": "write g.groups.x",
		"threadIdx": "write g.local.x; g.x is the item's number in the whole launch", "blockIdx": "write g.group.x", "blockDim": "write g.groupSize.x",
		"gridDim": "write g.groups.x", "__syncthreads": "write g.barrier()", "barrier": "write g.barrier()", "printf": "write g.print(`…`)", "__threadfence": "write g.fence()", "mem_fence": "write g.fence()", "clock64": "write g.clock()",
		"atomicAdd": "write Atomics.add(buffer, index, value)",
		"float":     "write f32", "float32": "write f32", "double": "write f64", "float64": "write f64", "half": "write f16", "float16": "write f16",
		"int": "write i32", "int32": "write i32", "uint": "write u32", "uint32": "write u32", "long": "write i64", "int64": "write i64",
		"ulong": "write u64", "uint64": "write u64", "byte": "write u8", "uint8": "write u8", "int8": "write i8", "short": "write i16",
		"int16": "write i16", "uint16": "write u16", "boolean": "write bool",
	}
}}

// elsewhereInItem maps names that other languages have for properties of the item object to hints about these properties.
var elsewhereInItem = later.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		"threadIdx": "write g.local.x; g.x is the item's number in the whole launch", "blockIdx": "write g.group.x", "blockDim": "write g.groupSize.x",
		"gridDim": "write g.groups.x", "global": "write g.x, g.y or g.z", "globalSize": "write g.size.x", "warpSize": "write g.subgroupSize",
		"get_global_id": "write g.x, g.y or g.z", "get_local_id": "write g.local.x", "get_group_id": "write g.group.x", "syncthreads": "write g.barrier()",
		"id": "write g.x, g.y or g.z", "globalId": "write g.x, g.y or g.z", "index": "write g.x, g.y or g.z", "idx": "write g.x, g.y or g.z",
		"thread": "write g.x, or g.local.x within the group", "threadId": "write g.x, or g.local.x within the group",
		"localId": "write g.local.x", "workgroup": "write g.group.x", "block": "write g.group.x", "groupId": "write g.group.x",
		"localSize": "write g.groupSize.x", "workgroupSize": "write g.groupSize.x", "blockSize": "write g.groupSize.x",
		"numGroups": "write g.groups.x", "sync": "write g.barrier()", "log": "write g.print(`…`)", "warp": "write g.subgroup, g.lane or g.subgroupSize",
		"atomicAdd": "write Atomics.add(buffer, index, value)", "atomic": "write Atomics.add(buffer, index, value)",
		"length": "write g.size.x, the number of items", "w": "a launch has three axes: x, y and z",
	}
}}

// elsewhereInMath maps names that other languages have for mathematical functions to hints about their equivalents.
var elsewhereInMath = later.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		"random": "import { random } from 'kernels', and write random(seed, 0, g.x)",
		"lerp":   "write Math.mix(a, b, t)", "mad": "write Math.fma(a, b, c)", "fabs": "write Math.abs", "fmod": "write x % y", "mod": "write x % y",
		"saturate": "write Math.clamp(x, 0, 1)", "fract": "write x - Math.floor(x)", "int": "write i32(x)", "ln": "write Math.log",
		"inversesqrt": "write Math.rsqrt", "clz": "write Math.clz32", "sqr": "write x * x; the square root is Math.sqrt",
	}
}}

// suggestName returns a hint for an undeclared name.
func (c *compiler) suggestName(name string) string {
	if text := elsewhere.Get()[name]; text != "" {
		return text
	}
	var names []string
	for f := c.frame; f != nil; f = f.outer {
		for i := range f.vars {
			if d := f.fn.Decls[i]; f.vars[i].state != undeclared || d.Fn != nil {
				names = append(names, d.Name)
			}
		}
	}
	if list := c.frame.fn.Source.Names; list != nil {
		names = append(names, list()...)
	}
	names = append(names, "Math", "Atomics", "Number", "Boolean", "isNaN", "isFinite", "bits", "fromBits", "Infinity", "NaN")
	if near := nearest(name, names); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	if slices.Contains(mathNames.Get(), name) {
		return "write Math." + name
	}
	return "declare it, or pass it as an argument"
}
