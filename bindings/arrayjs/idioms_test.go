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
		{"a.zip([1, 2, 3], (x, y) => x + y)", "an operand must be a buffer or a number, not an array | make a buffer of the numbers: device.buffer(Float32Array.of(…))"},
		{"await a.any(v => v > 3)", "axis must be a number, not a function | map the elements first: x.map(v => v > 0).any()"},
		{"a.slice(':', 0)", `a part of an axis is no text such as ":" | write null for a whole axis, and [start, end, step] for a part: x.slice(null, [0, 2])`},
		{"a + 1", "a buffer is no number: operators do not reach its elements, which are on its device | write a function of them, as in x.map(v => v + 1) or x.zip(y, (a, b) => a + b), or read them first: await x.read()"},
		{"a.unique({ return_counts: true })", `there is no option "return_counts" | write x.bincount() for integers; the options are queue, label`},
	}
	var lines []string
	for _, c := range cases {
		lines = append(lines, "try { const r = ("+c[0]+"); console.log(r?.type ? r.type.name + ' ' + (await r.read()).join() : await r) } catch (e) { console.log(e.message.replace(/^\\w+ on cpu: /, '') + ' | ' + e.hint) }")
	}
	got := strings.Split(run(t, place{"cpu", "cpu", cpu.New(cpu.Options{})}, `
import { device, i32, u8 } from 'offload'
import { concat, where } from 'array'
const a = device('cpu').arange(i32, 6)
`+strings.Join(lines, "\n")), "\n")
	for i, c := range cases {
		if got[i] != c[1] {
			t.Errorf("%s\n got %s\nwant %s", c[0], got[i], c[1])
		}
	}
}
