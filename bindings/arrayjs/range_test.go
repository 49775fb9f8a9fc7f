package arrayjs_test

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/cpu"
)

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

// TestStoredNumbersAreRoundedOnce stores numbers that lie just beside the middle of two elements, which f32 does not hold.
func TestStoredNumbersAreRoundedOnce(t *testing.T) {
	for _, p := range places(t) {
		got := run(t, p, `
import { device, f16, bf16 } from 'offload'
const d = device('`+p.device+`')
for (const [type, v] of [[f16, 1 + 2 ** -11 + 2 ** -40], [bf16, 1 + 2 ** -8 + 2 ** -40], [f16, 2 ** -25 + 2 ** -60], [f16, 65520 - 2 ** -20]]) {
  const x = () => d.zeros(type, 1)
  const list = [x().fill(v), x().setSlice([0, 1], v), x().setSlice(0, [v]), x().put([0], v), x().put([0], [v])]
  console.log((await Promise.all(list.map(async b => (await b.read())[0]))).join())
}`)
		want := ""
		for _, number := range []string{"1.0009765625", "1.0078125", "5.960464477539063e-8", "65504"} {
			want += strings.Repeat(number+",", 4) + number + "\n"
		}
		if got != want {
			t.Errorf("%s: got\n%swant\n%s", p.name, got, want)
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

// TestWideNumbers checks numbers of 64-bit types that f32 or i64 does not hold, and NaN as a boolean.
func TestWideNumbers(t *testing.T) {
	const script = `
import { device, bool, u8, i32, u32, i64, u64, f64 } from 'offload'
import { where } from 'array'
const d = device('cpu')
const say = async fn => { try { let v = await fn(); console.log(String(v.read ? await v.read() : v)) } catch (e) { console.log(e.code + ' ' + e.message) } }
await say(() => d.arange(i64, 2 ** 40, 2 ** 40 + 2, 0.5))
await say(() => d.arange(i32, 2 ** 30 + 1, 2 ** 30 + 3, 0.5))
await say(() => d.arange(u32, 2 ** 31 + 1, 2 ** 31 + 2, 0.5))
await say(() => d.arange(u8, 255, 253, -0.5))
await say(() => d.arange(bool, 0, 2, 0.5))
await say(() => d.arange(u64, 2 ** 64 - 6144, 2 ** 64, 2048))
await say(() => d.arange(u64, 0, 2 ** 64, 2 ** 63 + 2 ** 62))
await say(() => d.arange(i64, 2 ** 63, 2 ** 63 + 2048, 2048))
await say(() => d.arange(u64, 2 ** 64, 2 ** 64 + 4096, 4096))
await say(() => d.arange(i64, 2n ** 53n + 1n, 2n ** 53n + 4n))
await say(() => d.random(u64, 100, { from: 2 ** 64 - 4096, to: 2 ** 64, seed: 1 }).map(v => v >= u64(18446744073709547520n)).all())
await say(() => where(d.ones(i32, 1), d.ones(i64, 1), 2n ** 70n))
await say(() => d.ones(f64, 1).includes(2n ** 70n))
await say(() => d.array(bool, [NaN, 2, -0, true]))
await say(() => d.ones(bool, 2).put([0], [NaN]))
await say(() => d.full(bool, 1, NaN))
`
	const want = "1099511627776,1099511627776,1099511627777,1099511627777\n1073741825,1073741825,1073741826,1073741826\n2147483649,2147483649\n255,254,254,253\n0,1,1,1\n" +
		"18446744073709545472,18446744073709547520,18446744073709549568\n0,13835058055282163712\n" +
		"invalid-argument arange: the numbers from 9223372036854776000 to 9223372036854776000 are not in the range of i64: -9223372036854775808 to 9223372036854775807\n" +
		"invalid-argument arange: the numbers from 18446744073709552000 to 18446744073709552000 are not in the range of u64: 0 to 18446744073709551615\n" +
		"invalid-argument arange on cpu: from is 9007199254740993, which no Number equals\ntrue\n" +
		"invalid-argument where on cpu: b: 1180591620717411303424 is outside the range of u64\n" +
		"invalid-argument includes on cpu: the value: 1180591620717411303424 is outside the range of u64\n0,1,0,1\n0,1\n0\n"
	if got := run(t, place{"cpu", "cpu", cpu.New(cpu.Options{})}, script); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
