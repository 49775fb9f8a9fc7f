package habits

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"github.com/orepl/orepl/lang/later"
)

// The hints that several names of array libraries share.
const (
	parts      = "write %s.split(3), or %[1]s.split([2, 5]) for the indices where parts begin; a second argument is the axis"
	algebra    = "the operations of linear algebra are matmul, dot, outer, norm and trace; ?Buffer lists them"
	transforms = "there is no Fourier transform among the operations: write a kernel"
	masked     = "write await %s.filter(v => v > 0), or %[1]s.take(await mask.nonzero()) for a buffer of truth values"
	unequal    = "write await %s.zip(y, (a, b) => a === b).all()"
	nearly     = "write await %s.zip(y, (a, b) => Math.abs(a - b) <= 1e-6).all()"
	converted  = "write %s.map(v => f64(v)), or %[1]s.map(v => v, { type: f16 }); %[1]s.view(0, n, u32) reinterprets the bytes"
	oneAxis    = "write %s.reshape(1, …%[1]s.shape), with the extent 1 where the axis is to be"
	noNaN      = "drop NaN first: await (await %s.filter(v => !isNaN(v))).mean()"
	triangle   = "write %s.map((v, i, j) => j >= i ? v : 0)"
	waits      = "await %s.read() waits for the commands on it; a queue has sync: await dev.queue.sync()"
	gradients  = "there are no derivatives: write a function of them"
	choices    = "write x.take(%s.random(i32, n, { from: 0, to: x.length })), or x.take(%[1]s.permutation(x.length)) without repetition"
	seeds      = "write the seed where numbers are made: %s.random(f32, n, { seed: 1 })"
	powers     = "write %s.linspace(f64, 0, 2, 5).map(v => 10 ** v)"
)

// arrayMembers maps members of arrays of NumPy, CuPy, PyTorch and others, and functions of these libraries, to hints for a Buffer.
var arrayMembers = later.Value[map[string]string]{Make: func() map[string]string {
	m := map[string]string{
		"lexsort": "sort by the lesser key first: const i = y.argsort(), order = i.take(%s.take(i).argsort())", "partition": "write %s.toSorted()", "argpartition": "write %s.argsort()",
		"split": parts, "array_split": parts, "hsplit": "write %s.split(2, 1)", "vsplit": "write %s.split(2)", "dsplit": "write %s.split(2, 2)", "chunk": parts,
		"expandDims": oneAxis, "expand_dims": oneAxis, "unsqueeze": oneAxis, "newaxis": oneAxis, "atleast_2d": oneAxis,
		"set": "write %s.setSlice(0, value) for an element or a row, or %[1]s.write(values, start)", "assign": "write %s.setSlice([1, 3], values), or y.copyTo(%[1]s)", "copyto": "write y.copyTo(%s)",
		"putmask": "write %s.map(v => v > 0 ? 0 : v)", "masked_fill": "write %s.map(v => v > 0 ? 0 : v)", "fill_diagonal": "write %s.map((v, i, j) => i === j ? 0 : v)", "place": "write %s.map(v => v > 0 ? 0 : v)",
		"diagonal": "of a square matrix it is %s.reshape(-1).slice([0, null, %[1]s.length + 1])", "diag": "a diagonal matrix is device.eye(f32, n).zip(%s, (e, v) => e * v); the diagonal of a square one is %[1]s.reshape(-1).slice([0, null, %[1]s.length + 1])",
		"triu": triangle, "tril": "write %s.map((v, i, j) => j <= i ? v : 0)", "tri": triangle,
		"nansum": "write await %s.map(v => isNaN(v) ? 0 : v).sum()", "nanmean": noNaN, "nanmin": noNaN, "nanmax": noNaN, "nanstd": noNaN, "nanvar": noNaN, "nanmedian": noNaN,
		"lastIndexOf": "write %s.length - 1 - await %[1]s.flip().indexOf(value)", "nan_to_num": "write %s.map(v => isNaN(v) ? 0 : v)",
		"corrcoef": "subtract the means, divide by the deviations, then multiply: %s.transpose().matmul(%[1]s)", "interp": "find the intervals with xs.searchsorted(x), then combine ys.take(i) by zip",
		"digitize": "write edges.searchsorted(%s, { side: 'right' })", "choose": "write %s.map(v => v < 0 ? 0 : v)", "select": "write %s.map(v => v < 0 ? 0 : v)",
		"compress": masked, "extract": masked, "boolean_mask": masked, "masked_select": masked, "mask": masked,
		"delete": "a buffer keeps its length: write await %s.filter((v, i) => i !== 2); the memory is freed by %[1]s.free()", "insert": fixedLength, "append": fixedLength,
		"equals": unequal, "equal": unequal, "array_equal": unequal, "allclose": nearly, "isclose": nearly, "isEqual": unequal,
		"gather": "write %s.take(indices, axis)", "index_select": "write %s.take(indices, axis)", "scatter": "write %s.put(indices, values)", "index_put": "write %s.put(indices, values)",
		"resize": "a buffer keeps its length: write %s.reshape(rows, columns), or %[1]s.slice(0, n)", "broadcast_to": "shapes broadcast in zip by themselves; a copy is %s.tile([n, 1])", "expand": "shapes broadcast in zip by themselves; a copy is %s.tile([n, 1])",
		"broadcastTo": "shapes broadcast in zip by themselves; a copy is %s.tile([n, 1])",
		"cast":        converted, "asType": converted, "float": converted, "double": converted, "int": converted, "half": converted, "type_as": converted,
		"isin": "write %s.map(v => v === 1 || v === 2)", "in1d": "write %s.map(v => v === 1 || v === 2)", "contains": "write await %s.includes(value)",
		"cummax": "write %s.scan((a, b) => Math.max(a, b))", "cummin": "write %s.scan((a, b) => Math.min(a, b))", "maximum_accumulate": "write %s.scan((a, b) => Math.max(a, b))",
		"save": "write fs.writeNPY(path, await %s.read())", "tofile": "write fs.writeNPY(path, await %s.read())", "savetxt": "write fs.writeCSV(path, rows)", "tobytes": "write new Uint8Array((await %s.read()).buffer)",
		"eval": waits, "block_until_ready": waits, "compute": waits, "wait": waits, "synchronize": waits,
		"grad": gradients, "backward": gradients, "requires_grad": gradients, "detach": "there are no derivatives to detach from",
		"strides": "elements follow each other in row-major order, without strides", "kron": "write %s.outer(y), then reshape", "einsum": "write matmul, outer, or zip and sum", "tensordot": "write %s.matmul(y)", "inner": "write %s.dot(y)", "vdot": "write %s.dot(y)",
		"head": "write %s.slice(0, n)", "tail": "write %s.slice(-n)", "first": "write await %s.at(0)", "last": "write await %s.at(-1)", "moveaxis": "write %s.transpose([1, 2, 0])", "permute_dims": "write %s.transpose([2, 0, 1])",
		"unravel_index": "write [Math.floor(i / columns), i % columns]", "rot90": "write %s.transpose().flip(0)", "fliplr": "write %s.flip(1)", "flipud": "write %s.flip(0)", "gradient": "write %s.diff()", "ediff1d": "write %s.diff()",
		"concatenate": "write concat([%s, y]), from 'array'", "cat": "write concat([%s, y]), from 'array'", "column_stack": "write stack([%s, y], { axis: 1 }), from 'array'", "row_stack": "write stack([%s, y]), from 'array'", "dstack": "write stack([%s, y], { axis: 2 }), from 'array'",
		"hstack": "write concat([%s, y], { axis: 1 }), from 'array', or without the axis for vectors", "vstack": "write concat([%s, y]), from 'array', or stack([%[1]s, y]) for vectors",
		"asnumpy": "write await %s.read()", "asarray": "write await %s.read()", "__array__": "write await %s.read()", "real": "elements are real numbers", "imag": "elements are real numbers", "conj": "elements are real numbers",
		"inv": algebra, "solve": algebra, "det": algebra, "svd": algebra, "eig": algebra, "qr": algebra, "cholesky": algebra, "lstsq": algebra, "linalg": algebra, "matrix_power": algebra, "cross": algebra, "pinv": algebra,
		"fft": transforms, "ifft": transforms, "rfft": transforms, "convolve": "write a kernel, or sum shifted copies: %s.roll(1)", "correlate": "write a kernel, or sum shifted copies: %s.roll(1)",
		"repeat_interleave": "write %s.repeat(2)", "nunique": "write (await %s.unique()).length", "value_counts": "write await %s.unique({ counts: true })", "histogram2d": "map both to one number first, then %s.bincount()",
		"std_dev": "write await %s.std()", "variance": "write await %s.var()", "stddev": "write await %s.std()", "product": "write await %s.prod()", "size_in_bytes": "the size in bytes is %s.size",
	}
	for _, name := range strings.Fields("add sub mul div abs sqrt exp log round pow isnan isNaN isfinite isinf square sin cos tan floor ceil maximum minimum multiply subtract divide neg sign tanh sinh cosh " +
		"rint trunc exp2 log2 log10 log1p expm1 arcsin arccos arctan arctan2 mod remainder power negative absolute fabs reciprocal greater less greater_equal less_equal not_equal logical_and logical_or logical_not " +
		"bitwise_and bitwise_or bitwise_xor left_shift right_shift floor_divide true_divide hypot sigmoid relu softmax lerp rsqrt cbrt heaviside deg2rad rad2deg degrees radians eq ne gt lt ge le plus minus times") {
		m[name] = elementwise
	}
	return m
}}

// arrayMakers maps functions of array libraries that make arrays to hints for a Device.
var arrayMakers = later.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		"tensor": "write %s.array(f32, [1, 2, 3])", "asarray": "write %s.buffer(typedArray), or %[1]s.array(f32, [1, 2, 3])", "from_numpy": "write %s.buffer(typedArray)", "ndarray": "write %s.zeros(f32, [3, 4])", "Tensor": "write %s.array(f32, [1, 2, 3])",
		"fromList": "write %s.array(f32, [1, 2, 3])", "from": "write %s.array(f32, [1, 2, 3])", "of": "write %s.array(f32, [1, 2, 3])", "logspace": powers, "geomspace": powers,
		"diag": "write %s.eye(f32, n).zip(v, (e, v) => e * v)", "diagflat": "write %s.eye(f32, n).zip(v, (e, v) => e * v)", "tri": "write %s.ones(f32, [n, n]).map((v, i, j) => j <= i ? 1 : 0)",
		"choice": choices, "shuffle": "write x.take(%s.permutation(x.length), 0)", "sample": choices, "seed": seeds, "default_rng": seeds, "manual_seed": seeds,
		"random_sample": "write %s.random(f32, n)", "standard_normal": "write %s.normal(f32, n)", "integers": "write %s.random(i32, n, { from: 0, to: 10 })", "exponential": "write %s.random(f32, n).map(v => -Math.log(1 - v))",
		"fromfunction": "write %s.zeros(f32, [3, 4]).map((v, i, j) => i + j)", "indices": "write %s.zeros(i32, [3, 4]).map((v, i, j) => i)", "mgrid": "write meshgrid(x, y), from 'array'", "ogrid": "write %s.arange(i32, n).reshape(-1, 1)",
		"load": "write %s.buffer((await fs.readNPY(path)).data)", "loadtxt": "fs.readCSV(path) reads a table", "empty_like": "write %s.zeros(x.type, x.shape)", "fromiter": "write %s.array(f32, [...values])", "frombuffer": "write %s.buffer(new Float32Array(bytes))",
		"use": "the device is the one whose method is called: %s.zeros(f32, n)", "Device": "write device('cuda:0'), from 'offload'", "Stream": "write %s.createQueue()", "Event": "a launch returns an event: await it",
		"get_default_memory_pool": "freed memory is kept for later buffers: see %s.memory",
	}
}}

// withArrays adds list, the hints for names of array libraries, to those of a class, and returns the class.
func withArrays(class map[string]string, list map[string]string) map[string]string {
	maps.Copy(class, list)
	return class
}

// Array returns a hint for a name that array libraries have, and the module 'array' lacks, or "". The name may be that of a method
// of buffers or of devices.
func Array(name string, ofBuffers, ofDevices bool) string {
	switch {
	case ofBuffers:
		return fmt.Sprintf("it is a method of buffers: write x.%s(…)", name)
	case ofDevices:
		return fmt.Sprintf("it is a method of devices: write device().%s(…)", name)
	}
	return cmp.Or(Member("Buffer", "x", name), Member("Device", "device()", name))
}
