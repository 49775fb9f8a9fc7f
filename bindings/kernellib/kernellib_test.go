package kernellib_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

// TestFunctions runs the example that compares each function with JavaScript: compiled, and in the interpreter, which reports races
// and reads of elements that were never written.
func TestFunctions(t *testing.T) {
	const folder = "../../examples/kernels"
	data, err := os.ReadFile(filepath.Join(folder, "library.js"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(data), "n = 20000", "n = 4000")
	printed := map[string]string{}
	for name, text := range map[string]string{
		"compiled":    text,
		"interpreted": strings.NewReplacer("launch({ size", "launch({ checks: 'races', size", "launch({ groups", "launch({ checks: 'races', groups", "= { size: ", "= { checks: 'races', size: ", "{ size, ", "{ checks: 'races', size, ").Replace(text),
	} {
		rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
		var out strings.Builder
		e, err := rt.NewEngine(lang.Options{Stdout: &out, Dir: folder, OnWarning: func(d *diag.Diagnostic) { t.Error(name, d) }})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(t.Context(), filepath.Join(folder, "library.js"), text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := strings.Count(out.String(), "as expected"); n < 45 {
			t.Errorf("%s: %d comparisons", name, n)
		}
		printed[name] = out.String()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if err := rt.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if printed["compiled"] != printed["interpreted"] {
		t.Errorf("compiled:\n%s\ninterpreted:\n%s", printed["compiled"], printed["interpreted"])
	}
}
