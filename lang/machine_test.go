package lang

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/heap"
)

// TestMachineBoundsAllocations checks that allocations beyond any machine's memory fail, also without limits, and the process
// survives.
func TestMachineBoundsAllocations(t *testing.T) {
	const enormous = 1 << 50
	e, _ := testEngine(t, Options{})
	for _, text := range []string{
		"new Float32Array(1e15)", "new ArrayBuffer(2 ** 50)", "new BigInt64Array({ length: 2 ** 50 })",
		"class Mine extends Float64Array {}; new Mine(1e15)", "Reflect.construct(Uint8Array, [2 ** 50])",
		"'x'.padEnd(2 ** 50)", "'x'.padStart(2 ** 50)", "'xy'.repeat(2 ** 30 * 2 ** 20)",
		"Array.from({ length: 2 ** 50 })", "Float32Array.from({ length: 2 ** 50 })", "Array.prototype.fill.call({ length: 2 ** 50 }, 0)",
	} {
		_, err := e.Eval(t.Context(), "p", text)
		if diag.Code(err) != "out-of-memory" || diag.Hint(err) == "" || !strings.Contains(err.Error(), "RangeError") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if machine := heap.Machine(); machine == 0 || machine > enormous {
		t.Errorf("the machine has %d bytes", machine)
	}
}

// TestGuardedConstructors checks that constructors with size checks behave like the interpreter's.
func TestGuardedConstructors(t *testing.T) {
	e, _ := testEngine(t, Options{})
	for text, want := range map[string]string{
		"[Float32Array.name, Float32Array.length, ArrayBuffer.length, typeof Float32Array, Float32Array.BYTES_PER_ELEMENT].join()":                                                                                     "Float32Array,3,1,function,4",
		"class Mine extends Float32Array { sum() { return this[0] } }; const m = new Mine([7]); [m instanceof Mine, m instanceof Float32Array, m.constructor === Mine, m.sum(), m.map(x => x) instanceof Mine].join()": "true,true,true,7,true",
		"[new Float32Array(2) instanceof Float32Array, [] instanceof Float32Array, new Float32Array(1).constructor === Float32Array].join()":                                                                           "true,false,true",
		"(() => { try { Float32Array(1) } catch (e) { return e.name } })()":                                                                                                                                            "TypeError",
		"Object.prototype.toString.call(new Float32Array(1)) + ArrayBuffer.isView(new Float32Array(1)) + Object.getPrototypeOf(Float32Array).name":                                                                     "[object Float32Array]trueTypedArray",
		"[Array.prototype.fill.name, Array.prototype.fill.length, ''.repeat.name, Array.from.length].join()":                                                                                                           "fill,1,repeat,1",
		"[...new Float32Array(new Set([1, 2]))].join() + new Uint8Array(new Uint16Array([257, 2])).join() + Float32Array.from('12').join()":                                                                            "1,21,21,2",
	} {
		v, err := e.Eval(t.Context(), "p", text)
		if err != nil || v.String() != want {
			t.Errorf("%s: %v, %v, not %s", text, v, err, want)
		}
	}
}
