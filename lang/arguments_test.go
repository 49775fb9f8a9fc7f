package lang

import (
	"bytes"
	"testing"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/tests/allocs"
)

func TestBytes(t *testing.T) {
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, c := range []struct {
		code string
		want []byte
		no   bool
	}{
		{code: "new Uint8Array([1, 2, 3])", want: []byte{1, 2, 3}},
		{code: "new Uint8Array([1, 2, 3, 4]).subarray(1, 3)", want: []byte{2, 3}},
		{code: "new Uint8ClampedArray([300, -1])", want: []byte{255, 0}},
		{code: "new Int8Array([-1])", want: []byte{255}},
		{code: "new Uint16Array([0x102])", want: []byte{2, 1}},
		{code: "new Int16Array([-2])", want: []byte{254, 255}},
		{code: "new Uint32Array([1, 2]).subarray(1)", want: []byte{2, 0, 0, 0}},
		{code: "new Int32Array([-1])", want: []byte{255, 255, 255, 255}},
		{code: "new Float32Array([1])", want: []byte{0, 0, 128, 63}},
		{code: "new Float64Array([1])", want: []byte{0, 0, 0, 0, 0, 0, 240, 63}},
		{code: "new BigInt64Array([-1n])", want: bytes.Repeat([]byte{255}, 8)},
		{code: "new BigUint64Array([1n])", want: []byte{1, 0, 0, 0, 0, 0, 0, 0}},
		{code: "new Uint8Array([1, 2, 3]).buffer", want: []byte{1, 2, 3}},
		{code: "new DataView(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2)", want: []byte{2, 3}},
		{code: "new Float32Array(0)"},
		{code: "[1, 2, 3]", no: true},
		{code: "({buffer: new ArrayBuffer(4), byteOffset: 2, byteLength: 1e9})", no: true},
		{code: "({length: 3})", no: true},
		{code: "'text'", no: true},
	} {
		v, err := e.VM().RunString(c.code)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := e.Bytes(v)
		if ok == c.no || !bytes.Equal(got, c.want) {
			t.Errorf("%s: %v, %v", c.code, got, ok)
		}
	}
}

// TestNativeCallAllocates checks that a call of a native function allocates nothing, and that reading a typed array allocates
// only in the interpreter.
func TestNativeCallAllocates(t *testing.T) {
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	seen := 0.0
	f := e.Func("f", func(c goja.FunctionCall) (goja.Value, error) {
		a := e.Args("f", c)
		seen += a.Float(0, "x") + float64(len(a.Bytes(1, "v"))) + float64(len(a.String(2, "text")))
		return nil, a.Err()
	})
	call, _ := goja.AssertFunction(f)
	array, err := e.VM().RunString("new Float32Array(16)")
	if err != nil {
		t.Fatal(err)
	}
	args := []goja.Value{e.VM().ToValue(1), array, e.VM().ToValue("text")}
	bare, _ := goja.AssertFunction(e.VM().ToValue(func(goja.FunctionCall) goja.Value { return goja.Undefined() }))
	count := func(fn goja.Callable) float64 {
		return allocs.PerRun(100, func() { _, _ = fn(goja.Undefined(), args...) })
	}
	if ours, theirs := count(call), count(bare); ours > theirs+2 {
		t.Errorf("a call allocates %v times, goja's own %v", ours, theirs)
	}
	if seen == 0 {
		t.Error("the function was not called")
	}
}
