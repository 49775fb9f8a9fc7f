package offloadjs_test

import (
	"context"
	"testing"
)

// TestOptionsOfRepeatedLaunches launches a kernel with options that are equal to those of the launch before, and with some that
// differ by one property, element, length, order, name or kind.
func TestOptionsOfRepeatedLaunches(t *testing.T) {
	exports, err := newEngine(t).Run(context.Background(), "again.js", `
import { device, kernel, i32 } from 'offload'
const dev = device('cpu'), other = device('cpu:1'), n = dev.buffer(i32, 1), far = other.buffer(i32, 1)
const count = kernel((g, n) => { Atomics.add(n, 0, 1) })
async function items(options, to = n) {
  to.fill(0)
  await count.launch(options, to)
  return (await to.read())[0]
}
async function refused(options) {
  try { return await items(options) } catch (e) { return e.message.split('\n')[0] }
}
const out = [], kept = { size: 5 }, list = { size: [2, 3] }
out.push(await items(kept), await items(kept), await items({ size: 5 }), await items({ size: 6 }))
kept.size = 7
out.push(await items(kept), await items(list), await items({ size: [2, 3] }))
list.size[1] = 4
out.push(await items(list), await items({ size: [2, 3] }), await items({ size: [2, 3, 2] }))
list.size.length = 1
out.push(await items(list), await items({ size: 2 }), await items({ size: [2] }))
list.size.length = 2
out.push(await refused(list), await refused({ size: '5' }), await items({ size: 5 }), await refused({ size: 'é' }), await refused({ size: 'é' }))
kept.sizes = 3
out.push(await refused(kept), await refused({ size: 5, sizes: 3 }), await refused({ size: undefined }), await refused({}), await refused({}))
out.push(await items({ groups: 2, groupSize: 8 }), await items({ groupSize: 8, groups: 2 }), await items({ groups: 2, groupSize: 4 }))
out.push(await items({ size: 3, queue: dev.queue }), await items({ size: 3, queue: dev.queue }), await items({ size: 3, queue: other.queue }, far))
out.push(await items({ size: 4, get label() { return 'a' } }), await items(Object.create({ size: 4 }, { size: { value: 9, enumerable: true } })))
let reads = 0
const counting = { get size() { return ++reads } }
out.push(await items(counting), await items(counting) > 1)
export const result = out.join('; ')`)
	if err != nil {
		t.Fatal(err)
	}
	const size = `launch "count": size: expected an integer from 0 on, not `
	const want = "5; 5; 5; 6; 7; 6; 6; 8; 6; 12; 2; 2; 2; " + size + `undefined; ` + size + `the string "5"; 5; ` + size + `the string "é"; ` +
		size + `the string "é"; launch "count": there is no option "sizes"; launch "count": there is no option "sizes"; ` +
		`launch "count": size is missing; launch "count": size is missing; launch "count": size is missing; 16; 16; 8; 3; 3; 3; 4; 9; 1; true`
	if got := exports.Get("result").String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
