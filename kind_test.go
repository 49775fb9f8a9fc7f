package orepl_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang/diag"
)

func TestKind(t *testing.T) {
	e := engine(t, open(t), orepl.EngineOptions{Globals: map[string]any{"numbers": []float32{1, 2}, "call": func() {}}})
	for text, want := range map[string]struct {
		kind orepl.Kind
		keys string // or the error
	}{
		"undefined": {orepl.KindUndefined, "undefined has no properties"}, "null": {orepl.KindNull, "null has no properties"},
		"true": {orepl.KindBoolean, "has no properties"}, "1.5": {orepl.KindNumber, "has no properties"}, "7": {orepl.KindNumber, "has no properties"}, "NaN": {orepl.KindNumber, "has no properties"},
		"7n": {orepl.KindBigInt, "7n has no properties"}, "'x'": {orepl.KindString, "'x' has no properties"}, "'é'": {orepl.KindString, "has no properties"}, "Symbol('s')": {orepl.KindSymbol, "has no properties"},
		"() => 1": {orepl.KindFunction, "[]"}, "class A { static a = 1 }; A": {orepl.KindFunction, "[a]"}, "call": {orepl.KindFunction, "[]"}, "new Proxy(() => 1, {})": {orepl.KindFunction, "[]"},
		"[5, 6, , 7]": {orepl.KindArray, "[0 1 3]"}, "new Float64Array(2)": {orepl.KindTypedArray, "decode it to a slice"}, "numbers": {orepl.KindTypedArray, "a typed array has elements"},
		"new BigInt64Array(1)": {orepl.KindTypedArray, "a typed array has elements"}, "new ArrayBuffer(4)": {orepl.KindArrayBuffer, "[]"}, "new Map([['a', 1]])": {orepl.KindMap, "[]"}, "new Set([1])": {orepl.KindSet, "[]"},
		"new Date(0)": {orepl.KindDate, "[]"}, "/x/g": {orepl.KindRegExp, "[]"}, "new RangeError('x')": {orepl.KindError, "[]"}, "[Promise.resolve(1)][0].then(() => 1), [Promise.resolve(1)]": {orepl.KindArray, "[0]"},
		"({ b: 1, a: 2, 1: 3, get c() { throw 1 } })": {orepl.KindObject, "[1 b a c]"}, "new (class { x = 1 })": {orepl.KindObject, "[x]"}, "new WeakMap": {orepl.KindObject, "[]"},
		"new Proxy({}, { ownKeys() { throw new RangeError('no keys') } })": {orepl.KindObject, "RangeError: no keys"},
		"({ get [Symbol.toStringTag]() { throw 1 } })":                     {orepl.KindObject, "[]"},
		"Object.create(null)": {orepl.KindObject, "[]"},
	} {
		v, err := e.Eval(t.Context(), "line.js", "("+strings.Replace(text, "class A { static a = 1 }; A", "class { static a = 1 }", 1)+")")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if kind, err := v.Kind(t.Context()); kind != want.kind || err != nil {
			t.Errorf("%s is %s, want %s: %v", text, kind, want.kind, err)
		}
		keys, err := v.Keys(t.Context())
		if got := fmt.Sprint(keys); got != want.keys && (err == nil || !strings.Contains(diag.Format(err, false), want.keys)) {
			t.Errorf("%s has keys %s, want %s: %v", text, got, want.keys, err)
		}
	}
	module, err := e.Run(t.Context(), "m.js", "export const b = 1, promise = new Promise(() => {})\nexport default 2\nexport function a() {}")
	if err != nil {
		t.Fatal(err)
	}
	keys, err := module.Keys(t.Context())
	if kind, _ := module.Kind(t.Context()); kind != orepl.KindObject || fmt.Sprint(keys) != "[a b default promise]" || err != nil {
		t.Errorf("exports %v of kind %s: %v", keys, kind, err)
	}
	promise, err := module.Get(t.Context(), "promise")
	if err != nil {
		t.Fatal(err)
	}
	if kind, err := promise.Kind(t.Context()); kind != orepl.KindPromise || err != nil {
		t.Errorf("a promise is %s: %v", kind, err)
	}
	missing, _ := module.Get(t.Context(), "missing")
	if kind, err := missing.Kind(t.Context()); kind != orepl.KindUndefined || err != nil {
		t.Errorf("%s: %v", kind, err)
	}
	revoked, err := e.Eval(t.Context(), "line.js", "const r = Proxy.revocable({}, {}); r.revoke(); r")
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := revoked.Get(t.Context(), "proxy")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := proxy.Kind(t.Context()); err != nil && diag.Code(err) != "exception" {
		t.Errorf("a revoked proxy: %v", err)
	}
	if _, err := proxy.Keys(t.Context()); diag.Code(err) != "exception" {
		t.Errorf("a revoked proxy: %v", err)
	}
}

// TestKeysEnd bounds a proxy's endless handler.
func TestKeysEnd(t *testing.T) {
	e := engine(t, open(t), orepl.EngineOptions{})
	v, err := e.Eval(t.Context(), "line.js", "(new Proxy({}, { ownKeys() { for (;;); } }))")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := v.Keys(ctx); diag.Code(err) != "timeout" {
		t.Error(err)
	}
}

// printed receives a value for each write.
type printed chan bool

func (p printed) Write(b []byte) (int, error) {
	p <- true
	return len(b), nil
}

// TestEngineShutdown shuts engines down while a call runs: it completes, or it is stopped when the context ends.
func TestEngineShutdown(t *testing.T) {
	for _, patient := range []bool{true, false} {
		for _, isolated := range []bool{false, true} {
			began := make(printed, 10)
			e, err := open(t).Engine(orepl.EngineOptions{Isolate: isolated, Stdout: began})
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() {
				_, err := e.Run(context.Background(), "slow.js", "console.log(1)\nawait null\nawait new Promise(go => setTimeout(go))\nconst end = performance.now() + "+map[bool]string{true: "300", false: "1e9"}[patient]+"\nwhile (performance.now() < end);")
				done <- err
			}()
			<-began
			ctx, cancel := context.WithTimeout(context.Background(), map[bool]time.Duration{true: time.Minute, false: 50 * time.Millisecond}[patient])
			err = e.Shutdown(ctx)
			cancel()
			ran := <-done
			if patient && (err != nil || ran != nil) || !patient && (diag.Code(err) != "timeout" || ran == nil) {
				t.Errorf("patient %v, isolated %v: Shutdown: %v, the call: %v", patient, isolated, err, ran)
			}
			if _, err := e.Run(context.Background(), "late.js", ""); err == nil {
				t.Error("a closed engine runs")
			}
		}
	}
}
