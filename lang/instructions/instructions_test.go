package instructions

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// TestOperations compares products and bit operations of edge cases with their definition.
func TestOperations(t *testing.T) {
	if err := Check(); err != nil {
		t.Fatal(err)
	}
	list := []float64{0, math.Copysign(0, -1), 1, -1, 2, -2, 3, -5, 31, 32, 33, 255, 256, -256, -257, 0.5, -0.5, 1 << 26, 1<<31 - 1, 1 << 31, -1 << 31, 1 << 32, -1<<32 - 1,
		1<<53 - 1, 1 << 53, -1 << 53, 1 << 62, 1 << 63, -1 << 63, 1 << 64, 1<<64 + 1<<13, 1e20, -1e20, 0x1p80 + 0x1p31, 1e300, -1e300, 5e-324, math.Inf(1), math.Inf(-1), math.NaN()}
	low := func(f float64) uint32 {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return 0
		}
		n, _ := new(big.Float).SetFloat64(f).Int(nil)
		return uint32(n.Mod(n, big.NewInt(1<<32)).Uint64())
	}
	want := map[string]func(x, y float64) float64{
		"*":   func(x, y float64) float64 { return x * y },
		"&":   func(x, y float64) float64 { return float64(int32(low(x) & low(y))) },
		"|":   func(x, y float64) float64 { return float64(int32(low(x) | low(y))) },
		"^":   func(x, y float64) float64 { return float64(int32(low(x) ^ low(y))) },
		"<<":  func(x, y float64) float64 { return float64(int32(low(x) << (low(y) & 31))) },
		">>":  func(x, y float64) float64 { return float64(int32(low(x)) >> (low(y) & 31)) },
		">>>": func(x, y float64) float64 { return float64(low(x) >> (low(y) & 31)) },
		"~":   func(_, y float64) float64 { return float64(int32(^low(y))) },
	}
	vm := goja.New()
	for op, f := range want {
		texts := []string{"(x, y) => x " + op + " y", "(x, y) => ({ valueOf: () => x }) " + op + " (Object.is(y, -0) ? '-0' : String(y))"}
		if op == "~" {
			texts = []string{"(x, y) => ~y", "(x, y) => ~{ toString: () => String(y) }"}
		}
		functions := []goja.Callable{call(t, vm, texts[0]), call(t, vm, texts[1])}
		for _, x := range list {
			for _, y := range list {
				for _, fn := range functions {
					got, err := fn(nil, vm.ToValue(x), vm.ToValue(y))
					if err != nil {
						t.Fatal(err)
					}
					if w := f(x, y); !got.SameAs(vm.ToValue(w)) {
						t.Errorf("%v %s %v = %v, want %v", x, op, y, got, w)
					}
				}
			}
		}
	}
}

func call(t *testing.T, vm *goja.Runtime, text string) goja.Callable {
	t.Helper()
	p, err := goja.Compile("t.js", text, true)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if err := Correct(p); err != nil {
		t.Fatal(err)
	}
	v, err := vm.RunProgram(p)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	f, ok := goja.AssertFunction(v)
	if !ok {
		t.Fatalf("%s is no function", text)
	}
	return f
}

// TestPrograms checks operands that are converted, stores into elements, and instructions in all kinds of functions.
func TestPrograms(t *testing.T) {
	vm := goja.New()
	for text, want := range map[string]string{
		`() => [Object.is({ valueOf: () => 0 } * -5, -0), Object.is('0' * -3, -0), 'a' * 1, null * 2, true * -2]`:                                                                                                                                                                                                        `[true,true,null,0,-2]`,
		`() => { const log = []; const o = n => ({ valueOf() { log.push(n); return n } }); const r = [o(0) * o(-2), o(1e20) | o(1), o(7) >>> o(1)]; return [r.map(x => Object.is(x, -0) ? '-0' : x), log] }`:                                                                                                             `[["-0",1661992961,3],[0,-2,1e+20,1,7,1]]`,
		`(s = '1e20') => [s | 0, ~s, { valueOf: () => 1e20 } >>> 0, [1e20] ^ 0]`:                                                                                                                                                                                                                                         `[1661992960,-1661992961,1661992960,1661992960]`,
		`() => [3n * -4n, 5n & 6n, 5n | 8n, -1n ^ 1n, 1n << 70n, -9n >> 1n, ~5n].map(String)`:                                                                                                                                                                                                                            `["-12","4","13","-2","1180591620717411303424","-5","-6"]`,
		`() => [() => 1n * 1, () => 1 | 1n, () => 1n >>> 1n, () => ~Symbol(), () => Symbol() * 1, () => { new Int8Array(1)[0] = 1n }, () => { new Int8Array(1)[0] = Symbol() }].map(f => { try { return f() } catch (e) { return e.name } })`:                                                                            `["TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError"]`,
		`() => { const a = new Int32Array(4); const r = [a[0] = 1e20, a[1] = '1e20', a[2] = -1e20]; a[3] += 1e20; return [r, [...a]] }`:                                                                                                                                                                                  `[[1e+20,"1e20",-1e+20],[1661992960,1661992960,-1661992960,1661992960]]`,
		`() => { const a = new Uint16Array(3); [a[0], a[1]] = [2 ** 70, 2 ** 64 + 2 ** 14]; a[2] ??= 1e20; for (const k of ['2']) a[k] = 1e20; return [...a] }`:                                                                                                                                                          `[0,16384,0]`,
		`() => { const a = new Uint32Array(2); for (a[0] of [1e20]); ({ x: a[1] } = { x: 2 ** 65 + 2 ** 13 }); return [...a] }`:                                                                                                                                                                                          `[1661992960,8192]`,
		`() => [Uint8ClampedArray, Float32Array, Float64Array].map(C => { const a = new C(1); a[0] = 1e20; return a[0] })`:                                                                                                                                                                                               `[255,100000002004087730000,100000000000000000000]`,
		`() => { const a = new BigInt64Array(1), o = {}, l = []; a[0] = 2n ** 64n + 1n; o[0] = 1e20; l[0] = '1e20'; return [String(a[0]), o, l] }`:                                                                                                                                                                       `["1",{"0":1e+20},["1e20"]]`,
		`() => { const log = [], a = new Int8Array(1); a.x = 1e20; a['y'] = 1e20; for (const k of ['1.0', '+0', '-1', '00', '0x']) { a[k] = '1e20'; log.push(k in a ? typeof a[k] : 0) } a[{ toString() { log.push('key'); return '0' } }] = { valueOf() { log.push('value'); return 1e20 } }; return [a.x, a.y, log] }`: `[1e+20,1e+20,["string","string",0,"string","string","key","value"]]`,
		`() => { const o = { x: 1e20 }; o.x |= 1; let v = 1e20; v ^= 1; class A { #p = 1e20; f() { this.#p >>>= 0; return this.#p } } return [o.x, v, new A().f()] }`:                                                                                                                                                    `[1661992961,1661992961,1661992960]`,
		`() => { const r = []; for (const f of [l => { try { l.push(1) } catch (e) { l.push('c') } finally { l.push('f'); throw 'x' } }, l => { try { throw 0 } catch (e) { l.push('c') } finally { l.push('f'); throw 'x' } },
			l => { try { try { } catch { l.push('in') } finally { throw 'y' } } catch (e) { l.push('out' + e) } finally { l.push('f') } }, l => { try { return 1 } catch { l.push('c') } finally { l.push('f'); throw 'x' } },
			l => { for (const x of [1, 2]) try { continue } catch { l.push('c') } finally { l.push(x); if (x > 1) throw 'x' } }, l => { [...(function* () { try { yield 1 } catch { l.push('c') } finally { l.push('f'); throw 'x' } })()] },
			l => { try { } catch { l.push('c') } finally { try { throw 1 } catch (e) { l.push('i' + e) } finally { l.push('j') } } l.push('end') }, l => { try { } catch { l.push('c') } finally { (() => { throw 'x' })() } }]) { const l = []; try { l.push(f(l)) } catch (e) { l.push('t' + e) } r.push(l.join('')) } return r }`: `["1ftx","cftx","outyf","ftx","12tx","ftx","i1jend","tx"]`,
		`() => { const z = 0, n = -3, s = x => Object.is(x, -0); class A { f = z * n; static g = z * n; m() { return z * n } get p() { return z * n } static { this.h = z * n } constructor() { this.c = z * n } #q() { return z * n } q() { return this.#q() } }
			const a = new A(); return [a.f, A.g, a.m(), a.p, A.h, a.c, a.q(), [...(function* () { yield z * n })()][0], ((x = z * n) => x)(), { m() { return z * n } }.m(), { get p() { return z * n } }.p].map(s) }`: `[true,true,true,true,true,true,true,true,true,true,true]`,
	} {
		v, err := call(t, vm, text)(nil)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		json, _ := v.ToObject(vm).MarshalJSON()
		if got := string(json); normal(got) != normal(want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// normal returns JSON with numbers in one form.
func normal(json string) string {
	return strings.ReplaceAll(json, "1e+20", "100000000000000000000")
}
