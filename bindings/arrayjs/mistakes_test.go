package arrayjs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/conform/far"
)

// mistakes are expressions that users of NumPy and of JavaScript's arrays write, with the result or a part of the error and its
// hint. drivers states that the expression also runs on OpenCL, where a compilation takes long.
var mistakes = []struct {
	js, want string
	drivers  bool
}{
	{js: "v.clip(0, v.max())", want: "a promise is no number"},
	{js: "Object.freeze(v)", want: "This object cannot be frozen"},
	{js: "v[Symbol('a')] = 1", want: "This object takes no properties with symbols as keys"},
	{js: "Object.defineProperty(v, 'a', { get() { return 1 } })", want: "This object takes no properties with getters"},
	{js: "1 instanceof v", want: "The right-hand side of instanceof is not a function"},
	{js: "v.sum(v.max())", want: "axis must be a number, not a promise (is an await missing?)"},
	{js: "d.full(f32, 3, v.max())", want: "the value must be a number, not a promise (is an await missing?)"},
	{js: "v.map(async a => a)", want: "neither async nor a generator"},
	{js: "v.map(a => { a + 1 })", want: "has no value | let the function return one"},
	{js: "v.map((a, i) => a * w[i])", want: "w cannot be captured: it is a buffer | pass it as an argument; an operation of arrays takes it as in x.zip"},
	{js: "k.zip(0.5, (a, b) => a + b)", want: "0.5 is no integer, and b is i32", drivers: true},
	{js: "k.zip(0.5, (a, b) => f32(a) + b)", want: "0.5 1.5 2.5"},
	{js: "k.zip(0.5, (a, b) => a * b)", want: "write the number in the function, as in x.map(v => v * 0.5)"},
	{js: "k.dot(v)", want: "elements of i32 and of f32 | convert one of them: x.map(v => f32(v))"},
	{js: "v.dot(k)", want: "elements of f32 and of i32 | convert one of them: x.map(v => f32(v))"},
	{js: "d.arange(u8, 257)", want: "from 0 to 256 are not in the range of u8: 0 to 255"},
	{js: "d.arange(u32, -1, 1)", want: "from -1 to 0 are not in the range of u32"},
	{js: "v.take([0], 1)", want: "axis"},
	{js: "v.take([0], -2)", want: "axis"},
	{js: "d.linspace(f32, -1, 1, 21).slice(10, 11)", want: "0"},
	{js: "d.arange(i8, 127, -129, -51)", want: "127 76 25 -26 -77 -128"},
	{js: "d.arange(i8, 127, -130, -1)", want: "from 127 to -129 are not"},
	{js: "d.array(f32, [1, 2, Infinity]).histogram(3).counts", want: "the elements range from 1 to Infinity", drivers: true},
	{js: "d.array(f32, [1, 2, NaN]).histogram(3).counts", want: "give from and to"},
	{js: "d.array(f32, [1, 2, NaN]).histogram(3, { from: 0, to: 3 }).counts", want: "0 1 1"},
	{js: "d.array(f32, [1]).histogram(3, { from: -3e38, to: 3e38 }).counts", want: "a range from -3e+38 to 3e+38 has no bins of equal width in f32"},
	{js: "d.array(f64, [1]).histogram(3, { from: 0, to: Infinity }).counts", want: "a range from 0 to Infinity has no bins"},
	{js: "v.histogram([0, 2, 1]).counts", want: "edge 1 is 2 and the next one 1; edges ascend", drivers: true},
	{js: "v.histogram([1, 1, 2]).counts", want: "0 2"},
	{js: "x.filter(x.map(v => v % 2 === 1))", want: "1 3 5", drivers: true},
	{js: "x.filter(v)", want: "the condition has the shape [3], the elements [2, 3]"},
	{js: "x.filter(x.map(v => v > 9))", want: ""},
	{js: "d.zeros(f32, [0]).filter(d.zeros(u8, [0]))", want: ""},
	// Numbers that the elements cannot have, and bounds that limit none.
	{js: "d.zeros(u8, 3).put([0], 300)", want: "the value: 300 is outside the range of u8"},
	{js: "d.zeros(u32, 3).setSlice([0, 1], -1)", want: "the value: -1 is outside the range of u32"},
	{js: "k.put([0], 5n)", want: "the value: expected a value of i32, not a BigInt"},
	{js: "k.setSlice([0, 1], -Infinity)", want: "the value: -Infinity is no integer"},
	{js: "d.zeros(u64, 1).put([0], 2n ** 64n - 1n)", want: "18446744073709551615"},
	{js: "d.zeros(u8, [1, 1]).reduce((a, b) => Math.max(a, b), 300, { axis: 0 })", want: "initial: 300 is outside the range of u8"},
	{js: "d.array(f32, [[]]).reduce((a, b) => a + b, 5, { axis: 1 })", want: "5"},
	{js: "d.zeros(f32, [0, 2]).reduce((a, b) => a + b, 0.1, { axis: [0], keepDims: true })", want: "0.10000000149011612 0.10000000149011612"},
	{js: "d.zeros(f32, [3, 0]).reduce((a, b) => a + b, 5, { axis: 0 })", want: ""},
	{js: "d.zeros(i64, 0).reduce((a, b) => a + b, 7, { keepDims: true })", want: "7"},
	{js: "d.zeros(f32, 0).reduce((a, b) => a + b, 7, { axis: 1 })", want: "axis 1 is outside of the shape [0]"},
	{js: "d.zeros(u8, 3).clip(300)", want: "low: 300 is outside the range of u8"},
	{js: "d.zeros(u8, 3).clip(undefined, -1)", want: "high: -1 is outside the range of u8"},
	{js: "d.full(u8, 2, 7).clip(-1, 300)", want: "7 7"},
	{js: "k.clip(-Infinity, 1)", want: "0 1 1"},
	{js: "k.clip(d.array(i32, [1, 0, 3]), k)", want: "0 1 2"},
	{js: "k.clip(1, 3e9)", want: "1 1 2"},
	{js: "d.array(u64, [1n, 2n ** 64n - 1n]).clip(-1n, 2n ** 63n)", want: "1 9223372036854775808"},
	{js: "d.array(u64, [1n, 9n]).clip(2, 2n ** 64n)", want: "2 9"},
	{js: "d.array(i64, [1n, 9n]).clip(2n ** 63n)", want: "low: 9223372036854775808 is outside the range of i64"},
	{js: "where(d.zeros(bool, 1), d.zeros(u64, 1), 5n)", want: "5"},
	{js: "k.flip(Infinity)", want: "must be an integer, not Infinity"},
	{js: "k.slice(1e300)", want: "start must be an integer of at most 2**53, not 1e+300"},
	{js: "k.histogram(2, { from: 1, to: 1 }).counts", want: "from must be less"},
	{js: "d.array(u32, [2 ** 31]).bincount()", want: "the greatest element is 2147483648"},
	// The source of what is stored is in the memory that changes, here and in an earlier call elsewhere.
	{js: "changed(r => r.setSlice([1, 100000], r.slice(0, 99999)))", want: "0 0 1 2 99998", drivers: true},
	{js: "changed(r => r.setSlice([1, 100000], r.view(0, 99999)))", want: "0 0 1 2 99998", drivers: true},
	{js: "changed(r => r.put(d.arange(i32, 1, 100000), r.slice(0, 99999)))", want: "0 0 1 2 99998"},
	{js: "changed(r => r.put(d.arange(i32, 1, 100000), r.view(0, 99999)))", want: "0 0 1 2 99998", drivers: true},
	{js: "changed(r => r.put(r.flip(), r))", want: "99999 99998 99997 99996 0"},
}

func TestMistakes(t *testing.T) {
	const start = `
const v = d.arange(f32, 3), w = v.clone(), k = d.arange(i32, 3), x = d.arange(f32, 6).reshape(2, 3)
const changed = fn => fn(d.arange(i32, 100000)).take([0, 1, 2, 3, -1])
async function show(fn) {
  try { console.log(Array.from(await (await fn()).read(), text).join(' ')) } catch (e) { console.log(e.message + ' | ' + e.hint) }
}
`
	for _, p := range places(t) {
		if p.name == "interpreter" || p.name == "far" {
			continue
		}
		lines, wants := []string{}, []string{}
		for _, m := range mistakes {
			if p.name == "cpu" || m.drivers || long {
				lines, wants = append(lines, fmt.Sprintf("await show(() => %s)", m.js)), append(wants, m.want)
			}
		}
		got := strings.Split(run(t, p, fmt.Sprintf(prelude, p.device)+start+strings.Join(lines, "\n")), "\n")
		if len(got) != len(lines)+1 {
			t.Fatalf("%s printed %d lines for %d expressions:\n%s", p.name, len(got)-1, len(lines), strings.Join(got, "\n"))
		}
		for i, want := range wants {
			if want == got[i] || want != "" && strings.Contains(got[i], " | ") && strings.Contains(got[i], want) {
				continue
			}
			t.Errorf("%s: %s\n got %s\nwant %s", p.name, lines[i], got[i], want)
		}
	}
}

// TestDevicesTakeTurns runs the same calls on several devices of one script.
func TestDevicesTakeTurns(t *testing.T) {
	got := runOn(t, "cpu and far", `
import { device, f32 } from 'offload'
for (const id of ['cpu', 'far:0', 'cpu', 'far:0']) {
  const x = device(id).arange(f32, 5)
  console.log(await x.map(v => v + 1).map(v => v * 2).sum(), await x.slice(1, 3).sum(), await x.cumsum().at(-1))
}
`, cpu.New(cpu.Options{}), far.Wrap("far", cpu.New(cpu.Options{})))
	if want := strings.Repeat("30 3 10\n", 4); got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}
