package offloadjs_test

import (
	"strings"
	"testing"
)

// TestMemoryAt finds buffers by addresses inside them.
func TestMemoryAt(t *testing.T) {
	got := runNative(t, t.TempDir(), `
		import { device, f32 } from 'offload'
		const dev = device('cpu')
		const a = dev.buffer(f32, 100, { label: 'first' }), b = dev.buffer(f32, [4, 5], { label: 'second' })
		await dev.queue.sync()
		for (const [x, n] of [[a, 0], [a, 399], [b, 8]]) {
			const r = dev.memoryAt(x.address + BigInt(n))
			console.log(r.label, r.kind, r.size, r.offset, r.address === x.address)
		}
		const v = dev.memoryAt(a.view(10, 5).address)
		console.log(v.label, v.offset, dev.memoryAt(a.address - 1n)?.label === 'first', dev.memoryAt(a.address + 400n)?.label === 'first', dev.memoryAt(0n))
		const at = b.address
		b.free()
		console.log(dev.memoryAt(at)?.label === 'second')
		for (const wrong of [1, -1n, 2n ** 64n, undefined]) try { dev.memoryAt(wrong) } catch (e) { console.log(e.code, e.message) }
	`)
	want := `
first device 400 0 true
first device 400 399 true
second device 80 8 true
first 40 false false null
false
invalid-argument memoryAt on cpu: expected an address, a BigInt of 64 bits, not 1
invalid-argument memoryAt on cpu: expected an address, a BigInt of 64 bits, not -1n
invalid-argument memoryAt on cpu: expected an address, a BigInt of 64 bits, not 18446744073709551616n
invalid-argument memoryAt on cpu: expected an address, a BigInt of 64 bits, not undefined
`
	if strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant%s", got, want)
	}
}
