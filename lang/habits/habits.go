// Package habits maps names and forms of other systems, such as NumPy, CUDA and Python, to their equivalents here, for hints.
package habits

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/later"
)

// elementwise is the hint for operations on all elements.
const elementwise = "write a function of the elements: %[1]s.map(v => Math.sqrt(v)), %[1]s.zip(y, (a, b) => a + b)"

// fixedLength is the hint for methods that change a length.
const fixedLength = "a buffer keeps its length: write concat([%s, y]), from 'array', or await %[1]s.filter(v => v > 0)"

// buffers maps members of arrays of other libraries to hints for a Buffer. A %s or %[1]s is the object's expression.
var buffers = later.Value[map[string]string]{Make: func() map[string]string {
	return withArrays(map[string]string{
		"prefixSum": "write %s.cumsum()", "accumulate": "write %s.scan((a, b) => a + b)", "average": "write await %s.mean()",
		"mm": "write %s.matmul(y)", "amin": "write await %s.min()", "amax": "write await %s.max()", "percentile": "write await %s.quantile(0.9)",
		"swapaxes": "write %s.transpose([1, 0])", "permute": "write %s.transpose([2, 0, 1])", "squeeze": "write %s.reshape(-1)",
		"reverse": "write %s.flip()", "every": "write await %s.map(v => v > 0).all()", "some": "write await %s.map(v => v > 0).any()", "topk": "write %s.toSorted({ descending: true }).slice(0, k)",
		"clamp":      "write %s.clip(low, high)",
		"astype":     "write %s.map(v => f64(v)), or %[1]s.map(v => v, { type: f16 }); %[1]s.view(0, n, u32) reinterprets the bytes",
		"dtype":      "the element type is %s.type",
		"ndim":       "the number of dimensions is %s.shape.length",
		"rank":       "the number of dimensions is %s.shape.length",
		"nbytes":     "the size in bytes is %s.size",
		"byteLength": "the size in bytes is %s.size",
		"itemsize":   "the size of an element in bytes is %s.type.size",
		"numel":      "the number of elements is the product of %s.shape",
		"count":      "the first extent is %s.length, and the extents are %[1]s.shape",
		"width":      "the extents, outermost first, are %s.shape",
		"height":     "the extents, outermost first, are %s.shape",
		"name":       "the name is %s.label",
		"T":          "write %s.transpose()",
		"flatten":    "write %s.reshape(-1)",
		"ravel":      "write %s.reshape(-1)",
		"flat":       "write %s.reshape(-1)",
		"concat":     "write concat([%s, y]), from 'array'",
		"stack":      "write stack([%s, y]), from 'array'",
		"push":       fixedLength,
		"pop":        fixedLength,
		"splice":     fixedLength,
		"subarray":   "write %s.view(start, count) to share the memory, or await %[1]s.read(start, count) to copy",
		"copy":       "write %s.clone()",
		"duplicate":  "write %s.clone()",
		"copyFrom":   "write source.copyTo(%s)",
		"upload":     "write %s.write(values)",
		"get":        "write await %s.read()",
		"item":       "write await %s.at(i)",
		"data":       "the elements are on the device: write await %s.read()",
		"values":     "the elements are on the device: write await %s.read()",
		"toArray":    "write Array.from(await %s.read())",
		"tolist":     "write Array.from(await %s.read())",
		"toList":     "write Array.from(await %s.read())",
		"array":      "write await %s.read()",
		"numpy":      "write await %s.read(); fs.writeNPY writes a file for NumPy",
		"download":   "write await %s.read()",
		"cpu":        "write await %s.read()",
		"cuda":       "make a buffer on the other device, then %s.copyTo(it)",
		"to":         "make a buffer on the other device, then %s.copyTo(it)",
		"release":    "write %s.free()",
		"destroy":    "write %s.free()",
		"dispose":    "write %s.free()",
		"sync":       "await %s.read() waits for the commands on it; a queue has sync: await dev.queue.sync()",
		"find":       "write await %s.filter(v => v > 0); the index of a value is await %[1]s.indexOf(value)", "findIndex": "write %s.map(v => v > 0).argmax()", "sorted": "write %s.toSorted()",
		"ptp": "write (await %s.max()) - (await %[1]s.min())", "cov": "subtract the means, then multiply: %s.transpose().matmul(%[1]s)",
		"count_nonzero": "write await %s.map(v => v !== 0).sum()", "countNonzero": "write await %s.map(v => v !== 0).sum()",
		"plot":  "write plot(%s)",
		"print": "write console.log(%s)",
	}, arrayMembers.Get())
}}

// devices maps members of devices in other libraries to hints, as buffers does for buffers.
var devices = later.Value[map[string]string]{Make: func() map[string]string {
	return withArrays(map[string]string{
		"rand": "write %s.random(f32, n)", "randn": "write %s.normal(f32, n)", "randint": "write %s.random(i32, n, { from: 0, to: 10 })", "uniform": "write %s.random(f32, n, { from: 0, to: 1 })",
		"range": "write %s.arange(i32, n)", "identity": "write %s.eye(f32, n)", "ones_like": "write %s.ones(x.type, x.shape)", "full_like": "write %s.full(x.type, x.shape, value)",
		"zeros_like":   "write %s.zeros(x.type, x.shape)",
		"empty":        "write %s.zeros(f32, n)",
		"alloc":        "write %s.buffer(f32, n)",
		"allocate":     "write %s.buffer(f32, n)",
		"malloc":       "write %s.buffer(u8, bytes)",
		"createBuffer": "write %s.buffer(f32, n)",
		"newBuffer":    "write %s.buffer(f32, n)",
		"copy":         "write x.copyTo(y), or x.clone()",
		"launch":       "a kernel is launched: write k.launch({ size: n }, …); the device is that of its buffers",
		"run":          "a kernel is launched: write k.launch({ size: n }, …); the device is that of its buffers",
		"kernel":       "kernels belong to no device: write kernel((g, x) => { … })",
		"compile":      "kernels belong to no device: write kernel((g, x) => { … })",
		"sync":         "write await %s.queue.sync()",
		"synchronize":  "write await %s.queue.sync()",
		"wait":         "write await %s.queue.sync()",
		"finish":       "write await %s.queue.sync()",
		"stream":       "write %s.createQueue()",
		"createStream": "write %s.createQueue()",
		"memoryUsage":  "write %s.memory",
		"cores":        "write %s.computeUnits",
	}, arrayMakers.Get())
}}

// kernels is like buffers, for a Kernel.
var kernels = later.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		"run":      "write %s.launch({ size: n }, …)",
		"call":     "write %s.launch({ size: n }, …)",
		"apply":    "write %s.launch({ size: n }, …)",
		"dispatch": "write %s.launch({ size: n }, …)",
		"execute":  "write %s.launch({ size: n }, …)",
		"enqueue":  "write %s.launch({ size: n }, …)",
		"forall":   "write %s.launch({ size: n }, …)",
		"sync":     "await the event of its launch: await %s.launch(…)",
		"wait":     "await the event of its launch: await %s.launch(…)",
		"compile":  "it is compiled at its first launch for the types of its arguments",
		"code":     "write %s.source",
	}
}}

// others maps members of lists and texts of other languages; the object is an array, a text or an object.
var others = later.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		"append": "write %s.push(value)", "extend": "write %s.push(...values)", "add": "an array has push, a Set has add",
		"len": "write %s.length", "size": "write %s.length; a Map and a Set have size", "count": "write %s.length",
		"upper": "write %s.toUpperCase()", "lower": "write %s.toLowerCase()", "strip": "write %s.trim()",
		"startswith": "write %s.startsWith(text)", "endswith": "write %s.endsWith(text)", "format": "write `…${value}…`",
		"contains": "write %s.includes(value)", "items": "write Object.entries(%s)", "remove": "write %s.splice(index, 1)",
		"sum": "write %s.reduce((a, b) => a + b)", "mean": "write %s.reduce((a, b) => a + b) / %[1]s.length",
		"max": "write Math.max(...%s)", "min": "write Math.min(...%s)", "cumsum": "write let s = 0; %s.map(v => s += v)",
		"first": "write %s[0]", "last": "write %s.at(-1)", "tolist": "write Array.from(%s)", "astype": "write Float64Array.from(%s)",
		"shape": "an array has .length; its elements may be arrays", "ndim": "an array has one dimension, .length",
		"copy": "write %s.slice()", "argmax": "write %s.indexOf(Math.max(...%[1]s))", "argmin": "write %s.indexOf(Math.min(...%[1]s))",
	}
}}

// Member returns a hint for a member that a class lacks, with object as the expression of the object, or "". The class is
// Buffer, Device or Kernel, or "" for values of JavaScript.
func Member(class, object, member string) string {
	table := map[string]func() map[string]string{"Buffer": buffers.Get, "Device": devices.Get, "Kernel": kernels.Get, "": others.Get}[class]
	if table == nil {
		return ""
	}
	hint := strings.ReplaceAll(table()[member], "%[1]s", object)
	return strings.ReplaceAll(hint, "%s", object)
}

// names maps functions, constants and modules of other languages to hints.
var names = later.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		"print": "write console.log(…)", "println": "write console.log(…)", "printf": "write console.log(…)", "echo": "write console.log(…)", "puts": "write console.log(…)",
		"len": "write x.length", "type": "write typeof x; of a buffer, x.type", "dir": "Tab behind a dot lists the members, and ?x explains a value",
		"str": "write String(x)", "int": "write Math.trunc(x)", "list": "write Array.from(x)", "dict": "write {} or new Map()", "tuple": "write [a, b]",
		"None": "write null", "True": "write true", "False": "write false", "nil": "write null", "NULL": "write null", "nan": "write NaN", "inf": "write Infinity",
		"range":     "write Array.from({ length: n }, (_, i) => i); a loop is for (let i = 0; i < n; i++)",
		"zip":       "write a.map((v, i) => [v, b[i]])",
		"enumerate": "write list.entries()", "sorted": "write [...list].sort((a, b) => a - b)", "reversed": "write [...list].reverse()",
		"map": "write list.map(f)", "filter": "write list.filter(f)", "any": "write list.some(f)", "all": "write list.every(f)",
		"open": "write await readText(path), from 'fs'", "input": "write await process.stdin.text()",
		"sum": "write list.reduce((a, b) => a + b); a kernel sums a buffer, see ?sum",
		"min": "write Math.min(a, b)", "max": "write Math.max(a, b)", "mean": "write list.reduce((a, b) => a + b) / list.length",
		"np": array, "numpy": array, "cp": array, "cupy": array, "torch": array, "tf": array, "jnp": array, "jax": array, "mx": array, "pd": "tables are read with fs.readCSV(path)",
		"plt": "write plot(x)", "math": "write Math, as in Math.sqrt(2)", "random": "write Math.random(); in kernels random(seed, i) of the module 'kernels'",
		"zeros": "write device().zeros(f32, n), or new Float32Array(n)", "empty": "write device().zeros(f32, n), or new Float32Array(n)",
		"ones":     "write device().ones(f32, n), or new Float32Array(n).fill(1)",
		"full":     "write device().full(f32, n, value), or new Float32Array(n).fill(value)",
		"arange":   "write device().arange(f32, n), or Float32Array.from({ length: n }, (_, i) => i)",
		"linspace": "write device().linspace(f32, from, to, count)", "eye": "write device().eye(f32, n)",
		"array":  "write device().array(f32, [1, 2, 3])",
		"buffer": "buffers belong to a device: write device().buffer(f32, n)", "malloc": "write device().buffer(u8, bytes)",
		"cudaMalloc": "write device().buffer(u8, bytes)", "cudaFree": "write x.free()", "cudaMemcpy": "write x.write(values), await x.read(), or x.copyTo(y)",
		"cudaDeviceSynchronize": "write await device().queue.sync()", "synchronize": "write await device().queue.sync()",
		"cuda": device, "opencl": device, "gpu": device, "cpu": device, "hip": device,
		"launch": "write k.launch({ size: n }, …)", "sleep": "write await new Promise(done => setTimeout(done, ms))",
		"threadIdx": item, "blockIdx": item, "blockDim": item, "gridDim": item, "get_global_id": item,
		"ls": "write await fs.list('.')", "pwd": "write process.cwd()", "cat": "write await fs.readText(path)", "whos": "Tab lists the names; .live lists buffers",
		"e": "write Math.E", "pi": "write Math.PI", "tau": "write 2 * Math.PI", "PI": "write Math.PI",
	}
}}

const (
	array  = "arrays are buffers, and operations are their methods: device().zeros(f32, n), x.map(v => v * 2), x.sum(); see ?Buffer"
	device = "write device('%s'); devices() lists those of this machine"
	item   = "a kernel's first parameter has the indices: g.x, g.local.x, g.group.x, g.groupSize.x"
)

// Name returns a hint for a name of another language that is not defined here, or "". isMath reports whether Math has a member.
func Name(name string, isMath func(string) bool) string {
	if hint, ok := names.Get()[name]; ok {
		return strings.ReplaceAll(hint, "%s", name)
	}
	if isMath(name) {
		return "write Math." + name
	}
	return ""
}

// A form is a line of another language that is a syntax error here.
type form struct {
	pattern *regexp.Regexp
	hint    string
}

// forms are lines of other languages that are syntax errors here, with hints.
var forms = later.Value[[]form]{Make: func() []form {
	return []form{
		{regexp.MustCompile(`^\s*%(?:timeit|time|prun)\b`), ".time [N] CODE measures code"},
		{regexp.MustCompile(`^\s*[%!]\s*[a-z]\w*`), "there is no escape to a shell: write await process.run('ls', ['-l'])"},
		{regexp.MustCompile("^[^'\"`/]*(?:^|\\s)#(?:\\s|$)"), "comments begin with //"},
		{regexp.MustCompile(`^\s*def\s+\w+\s*\(`), "write function name(x) { … }"},
		{regexp.MustCompile(`\blambda\b[^:]*:`), "write x => x * 2"},
		{regexp.MustCompile(`^\s*from\s+[\w.]+\s+import\b`), "write import { name } from 'module'"},
		{regexp.MustCompile(`^\s*import\s+[\w.]+(\s+as\s+\w+)?\s*$`), "write import name from 'module'; the modules of this program are global at the prompt, and help() lists them"},
		{regexp.MustCompile(`\w\s*\[[^\[\]?]*:[^\[\]]*\]`), "there are no slices: write list.slice(from, to); of a buffer, x.view(from, count) or await x.read(from, count)"},
		{regexp.MustCompile(`^\s*(?:if|while|for|else|elif|try|with)\b[^{}]*:\s*$`), "blocks are in braces: write if (condition) { … }"},
		{regexp.MustCompile(`^\s*(?:if|while|elif|else)\b[^{}?]*:\s+\S`), "blocks are in braces: write if (condition) { … }"},
		{regexp.MustCompile(`^\s*\}?\s*(?:elif|elsif|elseif)\b`), "write else if (condition) { … }"},
		{regexp.MustCompile(`^\s*for\s+\w+\s+in\b`), "write for (const v of list) { … }, or for (let i = 0; i < n; i++) { … }"},
		{regexp.MustCompile(`^\s*(?:print|echo)\s+\S`), "write console.log(…)"},
		{regexp.MustCompile("^\\s*(?:if|while|return|(?:const|let|var)\\s+\\w+\\s*=)[^'\"`]*\\b(?:and|or|not)\\b"), "write &&, || and !"},
		{regexp.MustCompile(`\bf(?:'[^']*'|"[^"]*")`), "write `…${value}…`"},
		{regexp.MustCompile(`<<<.*>>>`), "write k.launch({ size: n }, …), or { groups, groupSize } for blocks and threads"},
		{regexp.MustCompile(`__(?:global__|global|kernel|device__|shared__|local)\b`), "write kernel((g, x) => { x[g.x] = … })"},
		{regexp.MustCompile(`^\s*(?:float|double|int|unsigned|long|char|auto)\b[\s*]+\w+`), "write let x = …: variables have no written types"},
		{regexp.MustCompile(`^\s*(?:cd|ls|cat|pip|npm|git)\s+[-\w./]`), "there is no escape to a shell: write await process.run('ls', ['-l'])"},
	}
}}

// Form returns a hint for a line with a syntax error, or "".
func Form(line string) string {
	for _, f := range forms.Get() {
		if f.pattern.MatchString(line) {
			return f.hint
		}
	}
	return ""
}

// Fixed returns the hint for an assignment to a property of a class that cannot be set.
func Fixed(class, property string) string {
	switch {
	case class == "Buffer" && (property == "length" || property == "shape" || property == "size"):
		return "a buffer keeps its extents: make another one, or a view of a part: x.view(0, count)"
	case class == "Buffer" && property == "type":
		return "a buffer keeps its type: a kernel copies into a buffer of another one, and x.view(0, count, u32) reinterprets the bytes"
	case property == "label":
		return "give it where the object is made, as in buffer(f32, n, { label: 'signal' })"
	case class == "Kernel" && property == "name":
		return "give it where the kernel is made, as in kernel(f, { name: 'step' })"
	}
	return "it is read-only: keep what is meant in a variable of your own"
}

// All returns the hints of Member, Name and Form.
func All() []string {
	var list []string
	for _, table := range []map[string]string{buffers.Get(), devices.Get(), kernels.Get(), others.Get(), names.Get()} {
		list = append(list, slices.Collect(maps.Values(table))...)
	}
	for _, f := range forms.Get() {
		list = append(list, f.hint)
	}
	return list
}
