package arrayjs_test

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/cpu"
)

// TestIdioms checks what scripts of users of NumPy print: values and types, or an error and its hint.
func TestIdioms(t *testing.T) {
	cases := [][2]string{
		{"where(a.map(v => v > 3), a, 0)", "i32 0,0,0,0,4,5"},
		{"where(a.map(v => v > 3), a, 0.5)", "f32 0.5,0.5,0.5,0.5,4,5"},
		{"where(a.map(v => v > 3), a.map(v => v, { type: u8 }), 0)", "u8 0,0,0,0,4,5"},
		{"where(a.map(v => v > 3), 1, 0)", "i32 0,0,0,0,1,1"},
		{"where(a.map(v => v > 3), 1.5, 0)", "f32 0,0,0,0,1.5,1.5"},
		{"a.clip(1, 3)", "i32 1,1,2,3,3,3"},
		{"a.map(v => v, { type: u8 }).clip(-2, 3)", "u8 0,1,2,3,3,3"},
		{"a.clip(1, 3.5)", "high is 3.5, and the elements are of i32 | convert the elements first: x.map(v => f32(v))"},
		{"a.reduce((p, q) => p + q, 0.5)", "initial is 0.5, and the elements are of i32 | convert the elements first: x.map(v => f32(v))"},
		{"await a.reduce((p, q) => p + q, -1)", "14"},
		{"await a.includes(3.5)", "false"},
		{"await a.includes(2 ** 40)", "false"},
		{"await a.indexOf(-0.5)", "-1"},
		{"await a.map(v => v, { type: u8 }).includes(260)", "false"},
		{"await a.map(v => v, { type: u8 }).indexOf(5)", "5"},
		{"a.map(Math.sqrt)", "sqrt is a function of the host, and not in the kernel language by itself | write x.map(v => Math.sqrt(v))"},
		{"concat(a, a)", "the arrays must be an array of buffers, not an object | write concat([x, y])"},
		{"a.zip([1, 2, 3], (x, y) => x + y)", "an operand must be a buffer or a number, not an array | make a buffer of the numbers: device.array(f32, [1, 2, 3])"},
		{"await a.any(v => v > 3)", "axis must be a number, not a function | map the elements first: x.map(v => v > 0).any()"},
		{"a.slice(':', 0)", `a part of an axis is no text such as ":" | write null for a whole axis, and [start, end, step] for a part: x.slice(null, [0, 2])`},
		{"a + 1", "a buffer is no number: operators do not reach its elements, which are on its device | write a function of them, as in x.map(v => v + 1) or x.zip(y, (a, b) => a + b), or read them first: await x.read()"},
		{"a.sum() + 1", "a promise is no number | await the value first, as in (await x.sum()) + 1"},
		{"a.max() > 3", "a promise is no number | await the value first, as in (await x.sum()) + 1"},
		{"(await Promise.all([a.sum(), a.max()])).join()", "15,5"},
		{"a.sum() instanceof Promise && Promise.resolve(a.sum()).then(v => v + 1)", "16"},
		{"a.unique({ return_counts: true })", `there is no option "return_counts" | write counts: true; the options are axis, counts, indices, inverse, queue, label`},
		{"a.setSlice(1, 1.5)", "the value is 1.5, and the elements are of i32 | convert the elements first: x.map(v => f32(v))"},
		{"a.setSlice([0, 3], [1, 2])", "the shapes [3] and [2] do not match: axis -1 has the extents 3 and 2 | extents must be equal or 1, counted from the last axis; reshape inserts an axis, transpose exchanges two"},
		{"a.setSlice(7, 0)", "the index 7 of axis 0 is outside of the shape [6] | undefined"},
		{"a.split(4)", "axis 0 with 6 elements has no 4 equal parts | write the indices where parts begin: x.split([2, 5])"},
		{"device('cpu').random(i32, 3, { from: 0, to: 1e10 })", "the range [0, 10000000000) has numbers that are none of i32 | undefined"},
		{"device('cpu').random(u8, 3, { from: -1, to: 10 })", "the range [-1, 10) has numbers that are none of u8 | undefined"},
		{"device('cpu').random(u8, 3, { from: 255, to: 256 })", "u8 255,255,255"},
		{"device('cpu').random(f32, 3, { from: -Infinity })", "from -Infinity to 1 is no range of finite length in f32 | undefined"},
		{"device('cpu').random(f32, 3, { from: -3e38, to: 3e38 })", "from -3e+38 to 3e+38 is no range of finite length in f32 | undefined"},
		{"device('cpu').random(f32, 3, { to: 1e39 })", "from 0 to 1e+39 is no range of finite length in f32 | undefined"},
		{"device('cpu').linspace(f32, -3e38, 3e38, 2)", "from -3e+38 to 3e+38 is no range of finite length in f32 | undefined"},
		{"device('cpu').random(f64, 3, { from: -1e308, to: 1e308 })", "from -1e+308 to 1e+308 is no range of finite length in f64 | undefined"},
		{"device('cpu').linspace(f32, 0, NaN, 3)", "from 0 to NaN is no range of finite length in f32 | undefined"},
		{"device('cpu').normal(f32, 3, { deviation: -1 })", "mean 0 and deviation -1 are not those of a normal distribution | undefined"},
		{"a.var({ correction: NaN })", "correction must be a number, not NaN | undefined"},
		{"long.clip(device('cpu').array(f32, [1]))", "i64 does not become f32 by itself | convert the elements of one operand first, as in x.map(v => i64(v))"},
		{"long.where(a.slice(0, 1), long.map(v => u64(v)))", "one side is a 64-bit integer (u64), the other is not (i32) | convert the elements of one operand first, as in x.map(v => i64(v))"},
		{"long.outer(a)", "i32 does not become i64 by itself: 64-bit integers mix only with themselves and literals | convert the elements of one operand first, as in x.map(v => i64(v))"},
		{"a.reshape({ length: -1 }, {})", "the shape has the length -1 | undefined"},
		{"a.sum([0, 0])", "axis 0 occurs twice | undefined"},
		{"a.take(0)", "the indices must be a buffer or an array of integers, not 0 | write an array of indices, as in x.take([0, 2]); x.at(i) is one element"},
		{"a.device.array(i32, [[1, 2], [3]])", "the values have an array of 1 elements beside one of 2 | the rows of a matrix have equal lengths"},
		{"a.device.array(i32, [1, [3]])", "the values have a number and an array beside each other | undefined"},
		{"a.device.array(i32, [1.5])", "the values: 1.5 is no integer, and the type is i32 | undefined"},
		{"a.device.array([1, 2])", "the element type comes first, not an array | write array(f32, …); the types are exported by 'offload'"},
		{"a.device.linspace(i32, 0, 1, { num: 5 })", `there is no option "num" | write the number of elements as the fourth argument: d.linspace(f32, 0, 1, 5); the options are queue, label`},
		{"a.write(a)", `write "a" on cpu: the values are a buffer, whose elements are on its device | write y.copyTo(x); for a part, y.copyTo(x.view(start, y.length)) or x.setSlice([start, end], y)`},
	}
	var lines []string
	for _, c := range cases {
		lines = append(lines, "try { const r = ("+c[0]+"); console.log(r?.type ? r.type.name + ' ' + (await r.read()).join() : await r) } catch (e) { console.log(e.message.replace(/^\\w+ on cpu: /, '') + ' | ' + e.hint) }")
	}
	got := strings.Split(run(t, place{"cpu", "cpu", cpu.New(cpu.Options{})}, `
import { device, f32, f64, i32, i64, u64, u8 } from 'offload'
import { concat, where } from 'array'
const a = device('cpu').arange(i32, 6), long = device('cpu').array(i64, [1n])
`+strings.Join(lines, "\n")), "\n")
	for i, c := range cases {
		if got[i] != c[1] {
			t.Errorf("%s\n got %s\nwant %s", c[0], got[i], c[1])
		}
	}
}
