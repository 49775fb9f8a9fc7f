package arrayjs_test

import "testing"

// TestRandomEnds draws floats of ranges in which sums round to the end, which is no part of the range.
func TestRandomEnds(t *testing.T) {
	for _, p := range places(t) {
		got := run(t, p, `
import { device, f16, bf16, f32, f64 } from 'offload'
const d = device('`+p.device+`'), odd = 1 + 2 ** -10
let wrong = 0
for (const [type, from, to] of [[f16, 5, 6], [f16, 1, odd], [bf16, 5, 6], [bf16, -6, -5], [f32, 1, odd], [f32, 2 ** 24, 2 ** 24 + 2],
  [f16, 6, 5], [f32, -1, 0], [bf16, -1, 2 ** -133], [f64, 1, 1 + 2 ** -52]]) {
  const x = [...await d.random(type, 20000, { seed: 3, from, to }).read()]
  const outside = x.filter(v => from < to ? v < from || v >= to : v > from || v <= to).length
  if (outside) { wrong++; console.log(type.name, from, to, outside) }
}
console.log(wrong, (await d.random(bf16, 2, { from: 1, to: odd, seed: 1 }).read()).join(), (await d.random(f32, 2, { from: 7, to: 7 }).read()).join())`)
		if got != "0 1,1 7,7\n" {
			t.Errorf("%s: %s", p.name, got)
		}
	}
}

// TestQuantileOfInfinities computes quantiles between elements that are infinite, or whose difference is.
func TestQuantileOfInfinities(t *testing.T) {
	for _, p := range places(t) {
		got := run(t, p, `
import { device, f32, f64 } from 'offload'
const d = device('`+p.device+`'), inf = Infinity
console.log(await d.array(f32, [inf, 1, 2]).median(), await d.array(f64, [inf, 1, inf]).median(), await d.array(f64, [-inf, 0, inf, 5, -inf]).median())
console.log((await d.array(f64, [-inf, 0, inf]).quantile([0, 0.25, 0.5, 0.75, 1]).read()).join(), await d.array(f32, [-inf, inf]).median())
console.log((await d.array(f64, [-1.5e308, 1.5e308]).quantile([0, 0.25, 0.5, 0.75, 1]).read()).join(), await d.array(f32, [2 ** 127, -(2 ** 127)]).median())
console.log((await d.array(f32, [[1, inf], [inf, inf], [3, -inf]]).median(0).read()).join(), await d.array(f32, [inf, NaN, 1]).median())`)
		want := "2 Infinity 0\n-Infinity,-Infinity,0,Infinity,Infinity NaN\n-1.5e+308,-7.5e+307,0,7.5e+307,1.5e+308 0\n3,Infinity NaN\n"
		if got != want {
			t.Errorf("%s: got\n%swant\n%s", p.name, got, want)
		}
	}
}
