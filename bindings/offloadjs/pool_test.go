package offloadjs_test

import (
	"context"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang"
)

// TestPool runs tasks on two devices: results in order, affinity, stealing, failures and mistakes.
func TestPool(t *testing.T) {
	var out strings.Builder
	e := newEngineWith(t, lang.Options{Stdout: &out})
	_, err := e.Run(context.Background(), "pool.js", `
import { device, kernel, pool, i32 } from 'offload'
const add = kernel((g, n, x) => { x[g.x] += n })
const p = pool(['cpu:0', device('cpu:1')])
const sums = await p.map([5, 6, 7, 8, 9], async (n, { device, queue }, index) => {
  const x = device.buffer(i32, 8, i => i, { queue })
  add.launch({ size: 8, queue }, n, x)
  return [index, (await x.read()).reduce((a, b) => a + b)]
})
console.log(JSON.stringify(sums), p.devices.map(d => d.done > 0).join())

// Data decides, unless its device is busy and the other one is not.
const x = device('cpu:1').buffer(i32, 100), small = device('cpu:0').buffer(i32, 1)
console.log(await p.run(({ device }) => device.id, { near: [small, x] }), await p.run(({ device }) => device.id, { near: 'cpu:0' }))
const one = pool(['cpu:0', 'cpu:1'], { tasks: 1 })
let open
const gate = new Promise(done => { open = done })
const where = await one.map([1, 2, 3], async (n, { device }) => { if (n === 1) await gate; if (n === 2) open(); return device.id }, { near: () => x })
console.log(where.sort().join(), one.devices.map(d => d.stolen).join())

// A failure ends the map after the running tasks; no other task begins.
let begun = 0, ended = 0
const fail = one.map([0, 1, 2, 3, 4, 5], async n => {
  begun++
  await new Promise(done => setTimeout(done, n === 0 ? 5 : 40))
  if (n === 0) throw new RangeError('zero')
  ended++
})
console.log(await fail.catch(e => e.message), begun, ended)
console.log(await one.run(() => { throw new Error('at once') }).catch(e => e.message))
console.log(one)

const wrong = f => { try { f(); return 'nothing' } catch (e) { return e.message } }
for (const f of [() => pool('cpu'), () => pool([]), () => pool(['cpu:0', 'cpu:0']), () => pool(['cpu:9']), () => pool(['cpu:0'], { tasks: 0 }), () => pool(['cpu:0'], { width: 1 })]) console.log(wrong(f))
for (const f of [() => p.run(), () => p.map(3, x => x), () => p.map([1], 3), () => p.run(() => 1, { near: {} }), () => p.run(() => 1, { near: [1] }), () => p.map([1], x => x, { near: () => { throw new Error('near') } })])
  console.log(await f().catch(e => e.message))
const running = p.run(() => new Promise(done => setTimeout(done, 5)))
console.log(wrong(() => p.close()))
await running
p.close()
console.log(await p.run(() => 1).catch(e => e.message))
`)
	if err != nil {
		t.Fatal(err)
	}
	want := `[[0,68],[1,76],[2,84],[3,92],[4,100]] true,true
cpu:1 cpu:0
cpu:0,cpu:0,cpu:1 2,0
zero 2 1
at once
Pool on cpu:0, cpu:1, 0 tasks wait
pool: expected an array of devices, not the string "cpu"
pool: there are no devices
pool: the device cpu:0 is named twice
find device: there is no device "cpu:9"
pool: tasks must be a number from 1 on
pool: there is no option "width"
run: expected a function that runs a task, not undefined
map: expected items, such as an array, not 3
map: expected a function that runs a task, not 3
run: near must be a buffer, an array of buffers or a device, not an object
run: near must be a buffer, an array of buffers or a device, not an array
near
close: 1 tasks of the pool have not ended
run: the pool is closed
`
	if out.String() != want {
		t.Errorf("printed:\n%s\nwant:\n%s", out.String(), want)
	}
}

// TestPoolQueues checks that what a task leaves on its queue, or the end of that queue, does not reach the next task.
func TestPoolQueues(t *testing.T) {
	var out strings.Builder
	e := newEngineWith(t, lang.Options{Stdout: &out})
	_, err := e.Run(context.Background(), "pool.js", `
import { device, kernel, pool, i32 } from 'offload'
const past = kernel((g, x) => { x[g.x + 100] = 1 }), add = kernel((g, x) => { x[g.x] += 1 })
const shared = device('cpu:0').buffer(i32, 2)
const sum = async ({ device, queue }) => {
  const x = device.buffer(i32, 2, i => i, { queue })
  add.launch({ size: 2, queue }, x)
  return (await x.read()).join()
}
{
  using p = pool(['cpu:0'], { tasks: 1 })
  await p.run(({ queue }) => queue.close())
  console.log(await p.run(sum))
}
const p = pool(['cpu:0'], { tasks: 1 })
await p.run(({ queue }) => { past.launch({ size: 2, queue }, shared) })
console.log(await p.run(sum))
await p.run(async ({ queue }) => { const e = past.launch({ size: 2, queue }, shared); while (!e.done) await new Promise(done => setTimeout(done, 1)) })
console.log(await p.run(sum))
try { p.close() } catch (e) { console.log(e.code) }

// A task may leave more commands than the pool keeps queues.
const many = pool(['cpu:0'])
const counts = device('cpu:0').buffer(i32, 1)
await many.map(Array(100), (_, { queue }) => { add.launch({ size: 1, queue }, counts) })
many.close()
console.log(await counts.read())

for (const close of [p => p.map(function* () { p.close(); yield 1 }(), x => x), p => p.run(() => 1, { get near() { p.close() } })])
  console.log(await close(pool(['cpu:0'])).catch(e => e.message))
`)
	if err != nil {
		t.Error(err)
	}
	const want = "1,2\n1,2\n1,2\nout-of-bounds\nInt32Array(1) [ 100 ]\nmap: the pool is closed\nrun: the pool is closed\n"
	if out.String() != want {
		t.Errorf("printed:\n%s\nwant:\n%s", out.String(), want)
	}
}
