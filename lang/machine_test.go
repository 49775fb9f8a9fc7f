package lang

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/diag"
)

// What no machine has is refused, without limits too, and the process lives.
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
	if machine := machineMemory(); machine == 0 || machine > enormous {
		t.Errorf("the machine has %d bytes", machine)
	}
}

// TestAddressSpaceBoundsAllocations runs itself again with little address space, where Go would end the process.
func TestAddressSpaceBoundsAllocations(t *testing.T) {
	const variable = "OREPL_LITTLE_SPACE"
	if os.Getenv(variable) == "" {
		shell, err := exec.LookPath("sh")
		if err != nil {
			t.Skip("there is no shell")
		}
		again := func(tests string) ([]byte, error) {
			// 4 GB of address space: the attempts below take 5 GB and more.
			cmd := exec.CommandContext(t.Context(), shell, "-c", `ulimit -v 4000000 && exec "$0" -test.run "$1"`, os.Args[0], tests)
			cmd.Env = append(os.Environ(), variable+"=1")
			return cmd.CombinedOutput()
		}
		if out, err := again("^$"); err != nil {
			t.Skipf("a process of so little address space does not start: %v\n%s", err, out)
		}
		if out, err := again("^" + t.Name() + "$"); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	e, _ := testEngine(t, Options{})
	for _, text := range []string{
		"new Float32Array(1e12)", "new Float32Array(13e8)", "new ArrayBuffer(1e12)", "'x'.repeat(2 ** 20).repeat(2 ** 17)", "'x'.padEnd(2 ** 40)",
		"new Array(2 ** 32 - 1).fill(0)",
	} {
		if _, err := e.Eval(t.Context(), "p", text); diag.Code(err) != "out-of-memory" {
			t.Errorf("%s: %v", text, err)
		}
	}
	if v, err := e.Eval(t.Context(), "p", "new Float32Array(1e7).length + new Array(1e5).fill(1).length"); err != nil || v.String() != "10100000" {
		t.Errorf("%v, %v", v, err)
	}
}

// The constructors that look at the size are to scripts what the interpreter's are.
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
