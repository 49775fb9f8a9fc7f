package arrayjs_test

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/cpu"
)

// repeated are calls on buffers whose contents change. A comma before the options that $ stands for is left out where they are the
// only argument.
var repeated = []string{
	"x.map(v => v * 3 + t, $)", "x.zip(y, (a, b) => a - b, $)", "x.zip(x, (a, b) => a * b, $)", "x.zip(t, (a, b) => a * b, $)", "x.zip(y, 2, (a, b, c) => a + b * c, $)",
	"x.map(v => helper(v) + half(v), $)", "x.map(v => f64(v) + constant, $)", "x.sum($)", "x.sum(0, $)", "x.mean(1, $)", "x.max($)", "x.argmin($)", "x.var($)",
	"x.clip(-0.5, 0.5, $)", "x.cumsum($)", "x.cumsum(0, $)", "x.toSorted($)", "x.argsort($)", "x.flip($)", "x.roll(3, $)", "x.tile(2, $)", "x.pad(1, $)", "x.transpose($)", "x.diff($)",
	"x.slice([null, null, 2], $)", "x.slice([1, 3], [0, 2], $)", "x.slice(1, 3, $)", "x.reshape([2, 10], $)", "x.take([2, 0], 0, $)", "x.matmul(y.transpose(), $)", "x.outer(y, $)", "x.norm($)",
	"x.histogram(4, $).counts", "x.quantile([0.1, 0.5], $)", "x.filter(v => v > t / 9, $)", "x.map(v => v > 0).any($)", "x.map(v => v + 1).map(v => v * t).sum(0, $)", "x.zip(t, (a, b) => a - b).max(1, $)",
	"x.reduce((a, b) => Math.max(a, b), $)", "x.scan((a, b) => a + b, $)", "x.where(y, x, $)", "x.where(1, 0, $)", "x.sort($)", "x.put([1, 2], 7, $)", "x.includes(5)", "x.indexOf(7)", "where(x, y, t)", "concat([x, y])",
}

// TestRepeated compares calls whose commands are kept with calls that have a label, whose commands are not.
func TestRepeated(t *testing.T) {
	script := `
import { device, f32, f64 } from 'offload'
import { where, concat } from 'array'
const d = device('cpu'), constant = 2, half = v => v / 2, helper = v => Math.sin(half(v))
const value = async v => { v = await v; return typeof v === 'object' ? v.type.name + v.shape + ': ' + await v.read() : String(v) }
let wrong = 0
const same = (a, b, what, t) => { if (a !== b) { wrong++; console.log(what + ', ' + t + ':\n' + a + '\n' + b) } }
`
	for _, call := range repeated {
		plain := strings.ReplaceAll(strings.ReplaceAll(call, ", $", ""), "$", "")
		labelled := strings.ReplaceAll(call, "$", "{ label: 'z' }")
		script += `for (let i = 0; i < 4; i++) {
  const t = i, make = () => [d.random(f32, [4, 5], { seed: i, from: -1 }), d.random(f32, [4, 5], { seed: i + 9, from: -1 })]
  let [x, y] = make()
  const a = await value(` + plain + `);
  [x, y] = make()
  same(a, await value(` + labelled + `), "` + plain + `", i)
}
`
	}
	script += `
const x = d.ones(f32, 4), again = f => { for (let i = 0; i < 3; i++) try { f(); console.log('no error') } catch (e) { console.log(e.message) } }
const freed = d.ones(f32, 4)
freed.map(v => v + 2); freed.map(v => v + 2); freed.free()
again(() => freed.map(v => v + 2))
again(() => x.zip(d.ones(f32, 3), (a, b) => a + b))
again(() => x.map(v => v.y).sum())
const views = [1, 2].map(i => x.reshape(2, 2)) // one call, two views
await views[0].put([0], i => i).catch?.(() => 0)
`
	script = strings.Replace(script, "await views[0].put([0], i => i).catch?.(() => 0)\n", "views[0].fill(5)\nconsole.log(await views[1].sum(), wrong)\n", 1)
	got := run(t, place{"cpu", "cpu", cpu.New(cpu.Options{})}, script)
	want := strings.Repeat("map \"freed\" on cpu: the buffer \"freed\" has been freed\n", 3) + strings.Repeat("zip on cpu: the shapes [4] and [3] do not match: axis -1 has the extents 4 and 3\n", 3) +
		strings.Repeat("`v` is a number, which has no property in a kernel\n", 3)
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "20 0\n") {
		t.Errorf("got\n%s\nwant\n%s…\n20 0", got, want)
	}
}

// TestRepeatedObjects checks that a call whose options a key cannot describe repeats no other call, and that none repeats it.
func TestRepeatedObjects(t *testing.T) {
	const script = `
import { device, f32 } from 'offload'
const x = device('cpu').array(f32, [[1, 2], [3, 4]])
const say = async v => { v = await v; console.log(String(v.read ? await v.read() : v)) }
let reads = 0, places = 0
for (let i = 0; i < 2; i++) {
  await say(x.sum({}))
  await say(x.sum(Object.create({ axis: 0 })))
  await say(x.sum(new (class { get axis() { return 0 } })))
  await say(x.sum(Object.defineProperty({}, 'axis', { value: 0 })))
  x.sum({ get axis() { return reads++ ? 1 : 0 } })
  await say(x.sum({ axis: 0 }))
  await say(x.sum({ axis: 1 }))
  x.flip(Object.defineProperty([0], 0, { get: () => (places++ ? 1 : 0) }))
  await say(x.flip([0]))
  await say(x.flip([1]))
}
`
	got := run(t, place{"cpu", "cpu", cpu.New(cpu.Options{})}, script)
	if want := strings.Repeat("10\n4,6\n4,6\n4,6\n4,6\n3,7\n3,4,1,2\n2,1,4,3\n", 2); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
