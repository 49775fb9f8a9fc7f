package isolate

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang"
)

// TestProgramsOfTheScriptDoNotHoldTheHost checks that programs started by the script cannot access the child's files or block
// the host.
func TestProgramsOfTheScriptDoNotHoldTheHost(t *testing.T) {
	e, err := Start(t.Context(), lang.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Eval(t.Context(), "p", "spawn('setsid sleep 600 >/dev/null 2>&1 </dev/null & echo $!; ls /proc/self/fd')")
	if err != nil {
		t.Fatal(err)
	}
	var printed string
	if err := json.Unmarshal(got, &printed); err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(printed)
	sleeper, err := strconv.Atoi(lines[0])
	if err != nil {
		t.Fatal(printed)
	}
	defer func() {
		if p, err := os.FindProcess(sleeper); err == nil {
			_ = p.Kill()
		}
	}()
	for _, fd := range []string{"4", "5"} { // ls uses 3 to read the directory
		if slices.Contains(lines[1:], fd) {
			t.Errorf("a program has file %s of the child: %s", fd, printed)
		}
	}
	within(t, func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}
