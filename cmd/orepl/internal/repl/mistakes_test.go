//go:build linux

package repl_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/help"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang/habits"
)

// TestMistakes enters lines of users of NumPy, CuPy, CUDA, Python and other JavaScript hosts. Each answer says what to write
// instead.
func TestMistakes(t *testing.T) {
	u := sit(t, 200, 60)
	u.prompted(0)
	u.enters("const dev = device('cpu'), n = 100")
	u.enters("const x = dev.buffer(f32, n, i => i), y = dev.buffer(f32, n)")
	u.enters("const k = kernel((g, a, x, y) => { y[g.x] = a * x[g.x] })")
	for _, c := range []struct{ line, want string }{
		{"x.sqrt()", "hint: write a function of the elements: x.map("},
		{"x.astype(f64)", "hint: write x.map(v => f64(v))"},
		{"x.percentile(90)", "hint: write await x.quantile(0.9)"},
		{"x.ndim", "hint: the number of dimensions is x.shape.length"},
		{"x.dtype", "hint: the element type is x.type"},
		{"x.T", "hint: write x.transpose()"},
		{"x.nbytes", "hint: the size in bytes is x.size"},
		{"x.flatten()", "hint: write x.reshape(-1)"},
		{"x.shape()", "hint: write x.shape without parentheses"},
		{"x.copy()", "hint: write x.clone()"},
		{"x.get()", "hint: write await x.read()"},
		{"x.set(y)", "hint: write x.setSlice(0, value) for an element or a row, or x.write(values, start)"},
		{"x.tolist()", "hint: write Array.from(await x.read())"},
		{"x.to('cpu')", "x.copyTo(it)"},
		{"x.forEach(v => v)", "hint: the elements of a buffer are on its device"},
		{"x.map(v => v).add(1)", "hint: write a function of the elements: x.map(v => v).map("},
		{"x.map(v => v).toArray()", "hint: write Array.from(await x.map(v => v).read())"},
		{"x.sum().toFixed(2)", "hint: it returns a promise: write (await x.sum()).toFixed(…)"},
		{"x.concat(y)", "hint: write concat([x, y]), from 'array'"},
		{"x.flat()", "hint: write x.reshape(-1)"},
		{"x.push(1)", "hint: a buffer keeps its length"},
		{"x.foo()", "hint: orepl help Buffer lists what a Buffer has"},
		{"x.foo.bar()", "read property 'bar': x.foo is undefined or null"},
		{"x.foo.bar() // a buffer is no promise", "hint: orepl help Buffer lists what a Buffer has"},
		{"x.foo.bar.baz()", "read property 'bar': x.foo is undefined or null"},
		{"k.lunch.bar()", "read property 'bar': k.lunch is undefined or null"},
		{"k.lunch.bar()", "hint: did you mean k.launch?"},
		{"dev.queue.foo.bar()", "read property 'bar': dev.queue.foo is undefined or null"},
		{"dev.queue.foo.bar()", "hint: a Queue has launch"},
		{"dev.limits.foo.bar()", "read property 'bar': dev.limits.foo is undefined or null"},
		{"f32.foo[0]()", "read property '0': f32.foo is undefined or null"},
		{"x.read().foo.bar()", "hint: it returns a promise: write (await x.read()).foo"},
		{"await x.reshape([10, 10]).at(2, 3)", "23"},
		{"x.at(2, 3)", "2 arguments were given; there are at most 1"},
		{"dev.zeros(f32, 3, 3)", "hint: the shape is one argument, as in [3, 4]"},
		{"dev.random(f32, 3, 3)", "hint: the shape is one argument, as in [3, 4]"},
		{"dev.ones(f32, 3, 3, { label: 'a' })", "hint: the shape is one argument, as in [3, 4]"},
		{"x[0:3]", "hint: there are no slices"},
		{"x.lenght", "hint: did you mean x.length?"},
		{"x.lable", "hint: did you mean x.label?"},
		{"dev.nmae", "hint: did you mean dev.name?"},
		{"x.length = 3", "the property length of a Buffer cannot be set"},
		{"x.shape = [10, 10]", "hint: a buffer keeps its extents"},
		{"k.name = 'other'", "hint: give it where the kernel is made"},
		{"JSON.stringify(x)", "a Buffer has no JSON form"},
		{"JSON.stringify({ at: [k] })", "a Kernel has no JSON form"},
		{"JSON.stringify({ f32, of: dev }).slice(0, 35)", `'{"f32":"f32","of":{"id":"cpu","type`},
		{"len(x)", "hint: write x.length"},
		{"print(x)", "hint: write console.log(…)"},
		{"np.zeros(10)", "hint: arrays are buffers"},
		{"cp.array([1])", "hint: arrays are buffers"},
		{"zeros(10)", "hint: write device().zeros(f32, n)"},
		{"arange(10)", "hint: write device().arange(f32, n)"},
		{"range(10)", "hint: write Array.from("},
		{"sqrt(2)", "hint: write Math.sqrt"},
		{"pi", "hint: write Math.PI"},
		{"None", "hint: write null"},
		{"threadIdx.x", "hint: a kernel's first parameter has the indices"},
		{"cudaMalloc(10)", "hint: write device().buffer(u8, bytes)"},
		{"dev.empty(10)", "hint: write dev.zeros(f32, n)"},
		{"dev.tensor([1, 2, 3])", "hint: write dev.array(f32, [1, 2, 3])"},
		{"dev.array([1, 2, 3])", "hint: write array(f32, …)"},
		{"dev.launch(k, 10)", "hint: a kernel is launched: write k.launch({ size: n }, …)"},
		{"dev.sync()", "hint: write await dev.queue.sync()"},
		{"dev.createBuffer(f32, 10)", "hint: write dev.buffer(f32, n)"},
		{"buffer(f32, 10)", "hint: buffers belong to a device"},
		{"new Buffer(10)", "device().buffer(f32, n)"},
		{"Float32Array(10)", "hint: write new Float32Array(…)"},
		{"dev.buffer(f32, 10, 1)", "hint: for a value in every element write buffer(f32, n).fill(value)"},
		{"dev.buffer(f32, 10, [1, 2])", "hint: for values write array(f32, [1, 2, 3])"},
		{"dev.buffer(10, f32)", "hint: write buffer(f32, 1000)"},
		{"x.fill(1, 2)", "hint: the options are { queue }"},
		{"x.copyTo('cpu')", "hint: x.clone() makes a copy on the same device"},
		{"x.view()", "hint: write view(0, count)"},
		{"k(1, x, y)", "hint: write k.launch({ size: … }, …)"},
		{"k.run(n)", "hint: write k.launch({ size: n }, …)"},
		{"k.launch({ size: n }, x, 1, y)", "hint: exchange the arguments a and x"},
		{"k.launch({ threads: n }, 1, x, y)", "did you mean size?"},
		{"k<<<1, 32>>>(x)", "hint: write k.launch({ size: n }, …)"},
		{"plot(x, y)", "{ a, b }"},
		{"plot(x, { kind: 'scatter' })", "did you mean 'points'?"},
		{"'abc'.upper()", "hint: write x.toUpperCase()"},
		{"[1, 2].append(3)", "hint: write [1, 2].push(value)"},
		{"def f(x):", "hint: write function name(x) { … }"},
		{"lambda x: x", "hint: write x => x * 2"},
		{"from fs import readText", "hint: write import { name } from 'module'"},
		{"import numpy", "hint: write import name from 'module'"},
		{"import numpy as np", "hint: write import name from 'module'"},
		{"%timeit 1", "hint: .time [N] CODE measures code"},
		{"!pip install numpy", "hint: there is no escape to a shell"},
		{"print x", "hint: write console.log(…)"},
		{"ls", "hint: write await fs.list('.')"},
		{"float y = 2", "hint: write let x = …"},
		{"devices[0]", "devices is a function: write devices()[0]"},
		{"const text = 'abc', list = [1, 2], point = { east: 1, far: undefined }", ""},
		{"text.len", "text has no len: write text.length"},
		{"list.lenght", "list has no lenght: did you mean list.length?"},
		{"point.esat", "point has no esat: did you mean point.east?"},
		{"point.far", ""}, {"list[7]", ""},
		{"const c = 1", ""},
		{"c = 2", "c is a constant and cannot be assigned"},
		{"c++", "c is a constant and cannot be assigned"},
		{"[c] = [2]", "hint: declare it again, with let c"},
		{"const d = 1; d = 2", "d is a constant and cannot be assigned"},
		{"function f() { c = 5 }", "c is a constant and cannot be assigned"},
		{"c", "1"},
		{"let c = 5; c = 6", "6"},
		{"c = 7", "7"},
	} {
		got := u.enters(c.line)
		if joined := strings.Join(strings.Fields(got), " "); c.want == "" && got != "" || !strings.Contains(joined, c.want) {
			t.Errorf("%s\nprinted\n%s\nwithout %q", c.line, got, c.want)
		}
	}
}

// TestAnswers checks what the prompt prints for buffers, arrays and questions.
func TestAnswers(t *testing.T) {
	u := sit(t, 100, 60)
	u.prompted(0)
	u.enters("const dev = device('cpu')")
	u.enters("const signal = dev.buffer(f32, 10, i => i / 4), { a, ...rest } = { a: dev.buffer(f32, 4) }")
	for _, c := range []struct{ line, want string }{
		{"signal", "Buffer f32[10] on cpu { 0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.25 }"},
		{"dev.buffer(f64, 10, i => i / 3)", "Buffer f64[10] on cpu { 0, 0.3333333333333333, 0.6666666666666666, 1,"},
		{"dev.buffer(f32, 11, i => i)", "Buffer f32[11] on cpu { 0, 1, 2, …, 8, 9, 10 }"},
		{"signal.label + a.label", "'signala'"},
		{"dev.buffer(i32, [2, 2, 3], (i, j, k) => i32(100 * i + 10 * j + k))", "Buffer i32[2×2×3] on cpu [0] 0 1 2 10 11 12 [1] 100 101 102 110 111 112"},
		{"Array.from({ length: 200 }, (_, i) => i / 8)", "Array(200) [ 0, 0.125, 0.25, …, 24.625, 24.75, 24.875 ]"},
		{"Float32Array.from({ length: 200 }, (_, i) => i / 10)", "Float32Array(200) [ 0, 0.1, 0.2, …, 19.7, 19.8, 19.9 ]"},
		{"[1, 2, 3]", "[ 1, 2, 3 ]"},
		{"console.log(Array.from({ length: 200 }, (_, i) => i / 8))", "... 100 more items"},
		{"const copy = signal.clone()", ""},
		{"signal.fill(7); await copy.read(1, 2)", "Float32Array(2) [ 0.25, 0.5 ]"},
		{"copy", "Buffer f32[10] on cpu { 0, 0.25,"},
		{"signal.view(2, 3).clone({ label: 'part' })", `Buffer f32[3] on cpu "part" { 7, 7, 7 }`},
		{"await kernel((g, x) => { x[g.x] = 1 }).launch({ size: 11 }, signal)", `(buffer "signal")`},
		{"?prefix sum", "docs/recipes.md Prefix sums: Each group"},
		{"?linear solve", "lu.js"},
		{"?sum", "docs/recipes.md Sum, least and greatest: Each group"},
		{"?how do I sum a buffer", "docs/recipes.md"},
		{"?matrix multiply", "gemm.js"},
		{"?sort", "docs/recipes.md Sort: "},
		{"dev.buffer(f16, 3, i => i / 10)", "{ 0, 0.1, 0.2 }"},
		{"dev.buffer(bf16, 2, i => NaN)", "{ NaN, NaN }"},
		{"?wrokgroup", "there is no help about"},
		{"?histogram", "histogram"},
	} {
		got := u.enters(c.line)
		if joined := strings.Join(strings.Fields(got), " "); c.want == "" && got != "" || !strings.Contains(joined, c.want) {
			t.Errorf("%s\nprinted\n%s\nwithout %q", c.line, got, c.want)
		}
	}
	// The name in a message is the number of the prompt.
	got := u.enters("missing()")
	name := regexp.MustCompile(`repl-(\d+)\.js`).FindStringSubmatch(got)
	if name == nil || !strings.Contains(u.all(0), "\n"+name[1]+"> missing()") {
		t.Errorf("the prompt has another number than %q", got)
	}
	u.enters("const spin = kernel((g, z) => { while (z[0] < 1) z[0] = z[0] * 0.5 }); spin.launch({ size: 1 }, a);")
	if got := u.enters("a"); !strings.Contains(got, "(busy: a command still uses it; await") {
		t.Errorf("a busy buffer is printed as %q", got)
	}
	u.press("\x03")
}

// TestHintsLeadSomewhere checks that the questions which hints name have answers.
func TestHintsLeadSomewhere(t *testing.T) {
	rt := orepl.Open(orepl.Options{})
	defer rt.Close()
	registry := inside.Of(rt).Registry()
	question := regexp.MustCompile(`see \?([\w.]+(?: \w+)*)`)
	for _, hint := range habits.All() {
		for _, m := range question.FindAllStringSubmatch(hint, -1) {
			var text strings.Builder
			if err := help.Write(&text, registry, m[1]); err != nil {
				t.Errorf("%s: %v", hint, err)
			}
		}
	}
}
