package lang

import (
	"os"
	"os/exec"
	"testing"

	"github.com/orepl/orepl/lang/diag"
)

// TestAddressSpaceBoundsAllocations runs itself again with little address space, in which Go would end the process.
func TestAddressSpaceBoundsAllocations(t *testing.T) {
	const variable = "OREPL_LITTLE_SPACE"
	if os.Getenv(variable) == "" {
		shell, err := exec.LookPath("sh")
		if err != nil {
			t.Fatal(err)
		}
		again := func(tests string) ([]byte, error) {
			// 4 GB of address space; the allocations below need at least 5 GB
			cmd := exec.CommandContext(t.Context(), shell, "-c", `ulimit -v 4000000 && exec "$0" -test.run "$1"`, os.Args[0], tests)
			cmd.Env = append(os.Environ(), variable+"=1")
			return cmd.CombinedOutput()
		}
		if out, err := again("^$"); err != nil {
			t.Fatalf("a process of so little address space does not start: %v\n%s", err, out)
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
