package replay

import "testing"

// TestOnlyLaunches checks functions that launch only, and functions that may do more or depend on more.
func TestOnlyLaunches(t *testing.T) {
	outside := map[string]Meaning{"k": Kernel, "n": Constant, "undefined": Constant, "f32": Type, "Math.max": Native, "Math.random": Native, "Array.toReversed": Native,
		"Math": Other, "other": Other, "RangeError": Failure, "console": Other}
	names := func(name string) Meaning { return outside[name] }
	for _, text := range []string{
		"run({ x }) { k.launch({ size: x.length }, x) }",
		"async run({ x }) { await k.launch({ size: x.length }, x) }",
		"({ x }) => k.launch({ size: [n, 2 * n] }, x, f32(1), Math.max(1, 2))",
		"({ x, queue: q }) => { q.launch(k, { size: 1, queue: q }, x) }",
		"function ({ a, x }) { if (a < 0) throw new RangeError(`a is ${a}`); const [h, w] = x.shape; k.launch({ size: [w, h] }, x) }",
		"({ x, y }) => { for (let i = 0; i < 9; i++) { k.launch({ size: 1 }, x, y); [x, y] = [y, x] } }",
		"({ x }) => { const { length, shape: [a] } = x; let i = 0; while (i < length) { k.launch({ size: x.shape.toReversed() }, x); i += a } }",
		"() => { k.launch({ size: 1 }, undefined) }",
	} {
		if !OnlyLaunches(text, names) {
			t.Errorf("does more than launch: %s", text)
		}
		if IsPure(text, names) {
			t.Errorf("is pure: %s", text)
		}
	}
	for _, text := range []string{
		"({ x }) => { k.launch({ size: 1 }, x); console.log() }",
		"({ x }) => { other.launch({ size: 1 }, x) }",
		"({ x }) => { k.launch(other, x) }",
		"({ x }) => { k.launch({ size: other }, x) }",
		"({ x }) => { k.launch({ ...other }, x) }",
		"({ x }) => { k.launch({ get size() { return 1 } }, x) }",
		"({ x }) => { k.launch({ [n]: 1 }, x) }",
		"({ x }) => { k.launch({ size: x.other }, x) }",
		"({ x }) => { k.launch({ size: Math.random() }, x) }",
		"({ x }) => { k.launch({ size: Math.min(1, 2) }, x) }",
		"({ x }) => { const Math = x; k.launch({ size: Math.max(1, 2) }, x) }",
		"({ x }) => { { const k = 1 } k.launch({ size: 1 }, x) }",
		"({ x }) => { n = 1; k.launch({ size: n }, x) }",
		"({ x, queue }) => { queue.host(() => {}); k.launch({ size: 1 }, x) }",
		"({ x, queue }) => { queue = other; k.launch({ size: 1 }, x) }",
		"({ x, queue }) => { k.launch({ size: 1 }, queue) }",
		"({ x = 1 }) => { k.launch({ size: 1 }, x) }",
		"({ ...x }) => { k.launch({ size: 1 }, x) }",
		"io => { k.launch({ size: 1 }, io.x) }",
		"(io, more) => { k.launch({ size: 1 }) }",
		"({ x }) => { x[0] = 1; k.launch({ size: 1 }, x) }",
		"({ x }) => { x.shape.length = 0; k.launch({ size: 1 }, x) }",
		"({ x }) => { x.fill(0); k.launch({ size: 1 }, x) }",
		"({ x }) => { try { k.launch({ size: 1 }, x) } catch {} }",
		"({ x }) => { this.n = 1; k.launch({ size: 1 }, x) }",
		"({ x }) => { const f = () => 1; k.launch({ size: f() }, x) }",
		"({ x }) => { k.launch({ size: new other() }, x) }",
		"({ x }) => { throw new other(); }",
		"({ x }) => { for (const a of other) k.launch({ size: a }, x) }",
		"({ x }) => { switch (n) { default: k.launch({ size: 1 }, x) } }",
		"({ x }) => { const { other: y } = x; k.launch({ size: y }, x) }",
		"({ x }) => { const [a = other()] = x.shape; k.launch({ size: a }, x) }",
		"({ x }) => { k.launch({ size: `${other}` }, x) }",
		"({ x }) => { k.launch({ size: n => n }, x) }",
		"({ x }) => { k.launch({ size: delete x.length }, x) }",
		"function* ({ x }) { k.launch({ size: 1 }, x) }",
		"class { }",
		"not a function (",
	} {
		if OnlyLaunches(text, names) {
			t.Errorf("counts as launching only: %s", text)
		}
	}
	for text, want := range map[string]bool{
		"({ x }) => x.shape": true, "({ x }) => [x.shape[0], 2 * n]": true, "extents({ x }) { const [h] = x.shape; return [h, h] }": true,
		"({ x }) => other(x)": false, "({ x }) => other": false, "() => Math.random()": false,
	} {
		if got := IsPure(text, names); got != want {
			t.Errorf("%s: pure is %v", text, got)
		}
	}
}
