package arrayjs_test

import "testing"

// TestClipByOtherTypes limits integers to bounds of types that hold other values. The results are limited to the elements' type, too.
func TestClipByOtherTypes(t *testing.T) {
	for _, p := range places(t) {
		got := run(t, p, `
import { device, i8, u16, i32, u32, f32, f64 } from 'offload'
const range = new Map([[i8, [-128, 127]], [u16, [0, 65535]], [i32, [-2147483648, 2147483647]], [u32, [0, 4294967295]], [f32, [-1e10, 1e10]], [f64, [-1e18, 1e18]]])
const d = device('`+p.device+`')
let wrong = 0
for (const type of [i8, i32, u32]) for (const other of [i32, f32, f64]) {
  const [least, greatest] = range.get(type), bounds = [...range.get(other), ...range.get(other)]
  const x = d.array(type, [least, 5, greatest, 0]), b = d.array(other, bounds), xs = [...await x.read()]
  for (const [clipped, limit] of [[x.clip(b), Math.max], [x.clip(undefined, b), Math.min]]) {
    const want = xs.map((v, i) => Math.min(Math.max(limit(v, bounds[i]), least), greatest)), got = [...await clipped.read()]
    if (got.join() !== want.join()) { wrong++; console.log(type.name, other.name, limit.name, got.join(), 'want', want.join()) }
  }
}
console.log(wrong)`)
		if got != "0\n" {
			t.Errorf("%s: %s", p.name, got)
		}
	}
}
