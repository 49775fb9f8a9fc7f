package tests

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/orepl/orepl"

// spmd is the folder of the compiler's packages.
const spmd = "plugins/cpu/internal/spmd/"

// later is the package that every package may import.
const later = "lang/later"

// layers lists the packages of this module that a package may import. The first matching entry applies; a pattern matches a
// package and all packages below it.
var layers = []struct {
	pattern string
	may     []string
}{
	{"cmd", []string{"", "cmd", "lang", "bindings", "runtime", "plugins/all", "plugins/cpu", "plugins/far", "plugins/mpi", "kernels"}}, // cpu: its listing of code; far, mpi: workers
	{"runtime/offload", nil},
	{"runtime", []string{"runtime", "lang/spelling", "lang/printable"}},
	{"lang/spelling", nil},
	{later, nil},
	{"docs", nil},
	{"lang/nesting", nil},
	{"lang/ecma", []string{"lang/nesting", "lang/regex"}},
	{"lang/desugar", []string{"lang/ecma"}},
	{"lang/printable", nil},
	{"lang/heap", nil},
	{"lang/bounds", []string{"lang/builtins", "lang/diag", "lang/heap", "lang/internals"}},
	{"lang/traps", nil},
	{"lang/kernel/ir", []string{"lang/kernel"}},
	{"lang/kernel/analysis", []string{"lang/kernel/ir"}},
	{"lang/kernel/opt", []string{"lang/kernel"}},
	{"lang/kernel/interp", []string{"lang/kernel"}},
	{"lang/kernel", []string{"lang/kernel", "lang/diag", "lang/spelling", "lang/nesting"}},
	{"lang", []string{"lang"}},
	{"kernels", []string{"kernels", "lang/kernel"}},
	{"plugins/portable", []string{"runtime/offload", "lang/kernel/ir", "lang/kernel/analysis", "lang/kernel/opt", "lang/kernel/interp", "kernels"}},
	{"plugins/all", []string{"plugins/*", "runtime/offload"}},
	{"plugins/internal/lowered", []string{"plugins/portable", "runtime/offload", "runtime/queue", "lang/kernel/ir", "lang/kernel/interp", "lang/kernel/lower", "lang/kernel/opt"}},
	{"plugins/internal", []string{"plugins/internal", "runtime"}},
	{spmd + "abi", []string{"plugins/cpu/internal/amd64"}},
	{spmd + "vcode", []string{"plugins/cpu/internal/amd64", spmd + "abi", "lang/kernel/ir"}}, // ir: traps refer to instructions
	{spmd + "regalloc", []string{"plugins/cpu/internal/amd64", spmd + "vcode"}},
	{spmd + "emit", []string{"plugins/cpu/internal/amd64", spmd + "vcode", spmd + "abi", spmd + "regalloc"}},
	{spmd + "avx2", []string{"plugins/cpu/internal/amd64", spmd + "vcode"}},
	{spmd + "passes", []string{"plugins/cpu/internal/amd64", spmd + "vcode", spmd + "avx2", spmd + "abi"}},
	{spmd + "plan", []string{"plugins/cpu/internal/amd64", "plugins/cpu/internal/uarch", spmd + "vcode", spmd + "abi", "lang/kernel/ir", "lang/kernel/analysis", "lang/kernel/opt"}},
	{spmd + "lanes", []string{"plugins/cpu/internal/amd64", spmd + "vcode", "lang/kernel/ir"}},
	{spmd + "values", []string{"plugins/cpu/internal/amd64", spmd + "lanes", spmd + "plan", spmd + "vcode", spmd + "abi", "lang/kernel/ir", "lang/kernel/analysis"}},
	{spmd + "memory", []string{"plugins/cpu/internal/amd64", spmd + "values", spmd + "lanes", spmd + "plan", spmd + "vcode", spmd + "abi", "lang/kernel/ir", "lang/kernel/analysis"}},
	{spmd + "isel", []string{"plugins/cpu/internal/amd64", spmd + "memory", spmd + "values", spmd + "lanes", spmd + "plan", spmd + "vcode", spmd + "abi", "lang/kernel/ir", "lang/kernel/analysis"}},
	{spmd + "grid", []string{"plugins/cpu/internal/amd64", spmd + "isel", spmd + "memory", spmd + "values", spmd + "lanes", spmd + "plan", spmd + "vcode", spmd + "abi", "lang/kernel/ir", "lang/kernel/analysis", "lang/kernel/opt"}},
	{spmd + "exec", []string{spmd + "abi", spmd + "regalloc", spmd + "vcode", "lang/kernel/ir", "lang/kernel/interp", "plugins/internal"}},
	{"plugins/*", []string{"plugins/internal", "plugins/portable", "self", "runtime", "lang/kernel/ir", "lang/kernel/analysis", "lang/kernel/opt", "lang/kernel/interp", "lang/kernel/lower", "lang/kernel/emit", "kernels"}},
	{"bindings", []string{"bindings", "docs", "lang", "kernels", "runtime"}},
	{"examples/plugin", []string{"cmd/orepl/command", "runtime", "plugins/portable", "lang/kernel/ir", "lang/kernel/interp"}}, // packages that external plugins import
	{"examples", []string{"", "plugins/all", "runtime/observe", "runtime/offload", "runtime/session"}},
	{"orepltest", []string{"", "lang"}},
	{"tests", []string{"", "*"}},
	{"", []string{"bindings", "lang", "kernels", "runtime"}},
}

// below reports whether a package matches a pattern: it is the pattern's package or below it. "*" matches one folder.
func below(pkg, pattern string) bool {
	have, want := strings.Split(pkg, "/"), strings.Split(pattern, "/")
	if pattern == "" {
		return pkg == ""
	}
	if len(have) < len(want) {
		return false
	}
	for i, w := range want {
		if w != "*" && w != have[i] {
			return false
		}
	}
	return true
}

func allowed(pkg, imported string) error {
	if imported == later {
		return nil
	}
	for _, l := range layers {
		if !below(pkg, l.pattern) {
			continue
		}
		for _, m := range l.may {
			if m == "self" { // packages of the same plugin
				m = strings.Join(strings.Split(pkg, "/")[:2], "/")
			}
			if below(imported, m) {
				return nil
			}
		}
		return fmt.Errorf("%s may not import %s; it may import %q", pkg, imported, l.may)
	}
	return fmt.Errorf("folder of package %q is in no layer: add it to the table", pkg)
}

// TestLayers checks the imports between packages against ARCHITECTURE.md. Imports of tests are unrestricted.
func TestLayers(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	local := func(path string) (string, bool) {
		rest, ok := strings.CutPrefix(path, module)
		return strings.TrimPrefix(rest, "/"), ok
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		pkg, _ := local(words[0])
		for _, path := range words[1:] {
			if imported, ok := local(path); ok {
				if err := allowed(pkg, imported); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// TestLayersRefuse checks that the table rejects wrong imports.
func TestLayersRefuse(t *testing.T) {
	for _, c := range [][2]string{
		{"runtime/offload", "runtime/image"},
		{later, "lang/spelling"},
		{"runtime/session", "lang/kernel/ir"},
		{"runtime/conform", "plugins/cpu"},
		{"plugins/cuda", "plugins/cpu"},
		{"plugins/cpu/internal/sched", "plugins/cuda/ptx"},
		{"plugins/cpu", "lang"},
		{spmd + "abi", spmd + "vcode"},
		{spmd + "vcode", "plugins/cpu/internal/spmd"},
		{spmd + "plan", spmd + "isel"},
		{spmd + "lanes", spmd + "plan"},
		{spmd + "values", spmd + "memory"},
		{spmd + "memory", spmd + "isel"},
		{spmd + "isel", spmd + "grid"},
		{spmd + "exec", spmd + "isel"},
		{"plugins/cpu", "lang/kernel"},
		{"lang/kernel/ir", "lang/diag"},
		{"bindings/offloadjs", "plugins/all"},
		{"", "plugins/all"},
		{"lang", "runtime/session"},
		{"somewhere", "runtime/session"},
	} {
		if allowed(c[0], c[1]) == nil {
			t.Errorf("%s may import %s", c[0], c[1])
		}
	}
	if err := allowed("plugins/cpu", "plugins/cpu/internal/sched"); err != nil {
		t.Error(err)
	}
}
