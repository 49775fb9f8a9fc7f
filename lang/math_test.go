package lang

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// TestMathKeepsItsShape checks that the engine keeps the names, lengths and attributes of Math's properties.
func TestMathKeepsItsShape(t *testing.T) {
	const text = `Object.getOwnPropertyNames(Math).filter(name => only.includes(name)).sort().map(name => {
		const d = Object.getOwnPropertyDescriptor(Math, name)
		return [name, typeof d.value === 'function' ? d.value.name + d.value.length : d.value, d.writable, d.enumerable, d.configurable].join(' ')
	}).join('\n')`
	vm := goja.New()
	bare, err := vm.RunString("var only = Object.getOwnPropertyNames(Math);" + text)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := testEngine(t, Options{})
	names, _ := vm.RunString("only.join()")
	_ = e.VM().Set("only", strings.Split(names.String(), ","))
	got, err := e.Eval(t.Context(), "m", text)
	if err != nil || got.String() != bare.String() {
		t.Errorf("%v\n%s\nwant\n%s", err, got, bare)
	}
}

// TestMathOfSpecialArguments checks results for special arguments against a file generated with Node.
func TestMathOfSpecialArguments(t *testing.T) {
	f, err := os.Open("../kernels/testdata/special.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	e, _ := testEngine(t, Options{})
	number := func(s string) float64 {
		var b uint64
		if _, err := fmt.Sscanf(s, "%x", &b); err != nil {
			return math.NaN() // also for a missing argument
		}
		return math.Float64frombits(b)
	}
	lines := 0
	m := e.VM().GlobalObject().Get("Math").(*goja.Object)
	for s := bufio.NewScanner(f); s.Scan(); lines++ {
		w := strings.Fields(s.Text())
		fn, _ := goja.AssertFunction(m.Get(w[0]))
		x, y, want := number(w[1]), number(w[2]), number(w[3])
		v, err := fn(m, e.VM().ToValue(x), e.VM().ToValue(y))
		if err != nil {
			t.Fatal(err)
		}
		got := v.ToFloat()
		exact := want != want || want == 0 || math.IsInf(want, 0)
		switch {
		case got != got && want != want, got == want && math.Signbit(got) == math.Signbit(want):
		case exact || math.Abs(got-want) > 3e-16*math.Abs(want)+0x1p-1074:
			t.Errorf("%s(%v, %v) = %v, want %v", w[0], x, y, got, want)
		}
	}
	if lines < 3000 {
		t.Errorf("only %d lines", lines)
	}
}

func TestMathBeyondJavaScript(t *testing.T) {
	e, _ := testEngine(t, Options{})
	for text, want := range map[string]string{
		"[Math.ctz(8), Math.ctz(0), Math.ctz(-2), Math.ctz(0n), Math.ctz(1n << 40n), Math.ctz(2 ** 32 + 4)]":                                                                              "3,32,1,64,40,2",
		"[Math.popcount(255), Math.popcount(-1), Math.popcount(-1n), Math.popcount(0.9), Math.popcount(NaN)]":                                                                             "8,32,64,0,0",
		"[Math.mulhi(2 ** 31 - 1, 2 ** 31 - 1), Math.mulhi(-1, 1), Math.mulhi(2 ** 32 - 1, 2 ** 32 - 1), Math.mulhi(1n << 62n, 4n), Math.mulhi(-1n, 1n), Math.mulhi(2n ** 64n - 1n, 2n)]": "1073741823,-1,4294967294,1,-1,1",
		"[Math.ldexp(0.75, 4), Math.ldexp(1, -1074), Math.ldexp(1, 5000), Math.ldexp(-3, -5000)].join() + Object.is(Math.ldexp(-3, -5000), -0)":                                           "12,5e-324,Infinity,0true",
		"[Math.frexp(12), Math.frexp(-0.1), Math.frexp(0), Math.frexp(5e-324)]":                                                                                                           "0.75,4,-0.8,-3,0,0,0.5,-1073",
		"[Math.clamp(5, 1, 3), Math.clamp(-5, 1, 3), Math.clamp(NaN, 1, 3), Math.clamp(2, 1, 3)]":                                                                                         "3,1,NaN,2",
		"[Math.mix(1, 3, 0.25), Math.fma(0.1, 10, -1), Math.rsqrt(4), Math.exp2(10), Math.erf(0), Math.erf(Infinity)]":                                                                    "1.5,5.551115123125783e-17,0.5,1024,0,1",
		"[Math.sign('abc'), Math.sign('-3'), Object.is(Math.sign(-0), -0), Math.hypot(), Math.hypot(-3), Math.hypot(3, 4, 12), Math.hypot(NaN, 1, -Infinity)]":                            "NaN,-1,true,0,3,13,Infinity",
		"[Math.fast.sin === Math.sin, Math.fast.pow(2, 3), Object.keys(Math.fast).length, Math.fast === Math.fast]":                                                                       "true,8,25,true",
		"Math.max.apply(null, [1, 3, 2]) + Math.pow('2', { valueOf: () => 3 })":                                                                                                           "11",
		"[Math.abs(-5n), Math.sign(-5n), Math.min(3n, 2n ** 63n), Math.max(3n, -1n, 7n), Math.clamp(9n, 1n, 3n), Math.clamp(0n, 1n, 3n)]":                                                 "5,-1,3,7,3,1",
		"[Math.min(), Math.max(), Object.is(Math.max(-0, 0), 0), Object.is(Math.min(0, -0), -0), Math.max(1, NaN), Math.min('2', [1]), Math.abs('-3'), Object.is(Math.abs(-0), 0)]":       "Infinity,-Infinity,true,true,NaN,1,3,true",
		"(Math.cos = x => 'mine', Math.cos(1))": "mine",
	} {
		v, err := e.Eval(t.Context(), "m", "String("+text+")")
		if err != nil || v.String() != want {
			t.Errorf("%s: %v, want %s; %v", text, v, want, err)
		}
	}
	for text, want := range map[string]string{
		"Math.ldexp(1, 0.5)":         "TypeError: Math.ldexp: n must be an integer of 32 bits, not 0.5",
		"Math.mulhi(0.5, 1)":         "TypeError: Math.mulhi: 0.5 is no integer of 32 bits",
		"Math.mulhi(2 ** 33, 1)":     "TypeError: Math.mulhi: 8589934592 is no integer of 32 bits",
		"Math.mulhi(1n << 64n, 1n)":  "TypeError: Math.mulhi: 18446744073709551616 is no integer of 64 bits",
		"Math.mulhi(1n, 1)":          "TypeError: Cannot mix BigInt",
		"Math.mulhi(-1, 4294967295)": "TypeError: Math.mulhi: -1 and 4294967295 are of two types",
		"Math.max(1n, 1)":            "TypeError: Cannot mix BigInt",
		"Math.max(1, 1n)":            "TypeError: Cannot convert a BigInt",
		"Math.clamp(1n, 0, 2)":       "TypeError: Cannot mix BigInt",
		"Math.sin(1n)":               "TypeError: Cannot convert a BigInt",
		"Math.pow(1n, 1)":            "TypeError: Cannot convert a BigInt",
		"Math.sin(Symbol())":         "TypeError: Cannot convert a Symbol",
	} {
		if _, err := e.Eval(t.Context(), "m", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	// changes of Math in one engine do not affect others
	other, _ := testEngine(t, Options{})
	if v, err := other.Eval(t.Context(), "m", "Math.cos(0) + Math.fast.cos(0)"); err != nil || v.String() != "2" {
		t.Errorf("in another engine: %v, %v", v, err)
	}
}

// TestPowerOperator checks that ** computes Math.pow in every form and converts its operands as ECMA-262 specifies.
func TestPowerOperator(t *testing.T) {
	e, _ := testEngine(t, Options{})
	for text, want := range map[string]string{
		"[1.1, 0.3, 7.7, 1e-5].every(x => [0.5, -3.7, 100.1].every(y => x ** y === Math.pow(x, y)))":                                                                                                                                       "true",
		"(() => { for (let a = 3; a < 5000; a++) for (let b = 2, p = a * a; p <= 2 ** 53; b++, p *= a) if (a ** b !== p) return [a, b]; return 'exact' })()":                                                                               "exact",
		"(() => { let x = 1.1; x **= 7.3; const o = { x: 1.1, 3: 1.1, get y() { return 1.1 }, set y(v) { this.z = v } }; o.x **= 7.3; o[1 + 2] **= 7.3; o.y **= 7.3; return [x, o.x, o[3], o.z].every(v => v === Math.pow(1.1, 7.3)) })()": "true",
		"(() => { const log = []; const v = n => ({ valueOf() { log.push(n); return n } }); const r = v(2) ** v(5); return r + log.join() })()":                                                                                            "322,5",
		"(() => { const log = []; const o = { get x() { log.push('get'); return 2 }, set x(v) { log.push('set', v) } }; const r = ((log.push('o'), o)[(log.push('k'), 'x')] **= (log.push('b'), 3)); return r + log.join() })()":           "8o,k,get,b,set,8",
		"['2' ** '3', null ** 0, undefined ** 1, true ** 2, '' ** 1, [] ** 1, [3] ** [2], NaN ** 0, 1 ** Infinity, Object(2n) ** 3n]":                                                                                                      "8,1,NaN,1,0,0,9,1,NaN,8",
		"2 ** 0.5 === Math.pow(2, 0.5) && 2 ** -1074 === Number.MIN_VALUE && 10 ** -5 === Math.pow(10, -5)":                                                                                                                                "true",
		"(() => { try { return 2n ** 1 } catch (e) { return e.name } })() + (() => { try { return Symbol() ** 1 } catch (e) { return e.name } })()":                                                                                        "TypeErrorTypeError",
		"(() => { try { null.x **= 2 } catch (e) { return e.name } })()":                                                                                                                                                                   "TypeError",
		"(() => { 'use strict'; try { Object.freeze(Object.assign(globalThis.frozen = {}, { x: 2 })).x **= 2 } catch (e) { return e.name } })()":                                                                                           "TypeError",
		"(async () => { const o = { x: 3 }; o.x **= await 2; return o.x })() instanceof Promise":                                                                                                                                           "true",
		"[...(function* () { const o = { x: 3 }; o.x **= yield 1; yield o.x })()].join()":                                                                                                                                                  "1,NaN",
	} {
		v, err := e.Eval(t.Context(), "m", "String("+text+")")
		if err != nil || v.String() != want {
			t.Errorf("%s: %v, want %s; %v", text, v, want, err)
		}
	}
}
