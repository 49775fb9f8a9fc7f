package dts_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/dts"
	"github.com/orepl/orepl/lang"
)

func registry() *bindings.Registry { return orepl.Open(orepl.Options{}).Registry() }

// The manual in docs is what the registry gives. OREPL_UPDATE=1 writes it.
func TestReferenceIsCurrent(t *testing.T) {
	const path = "../../docs/reference.md"
	want := dts.Reference(registry())
	if os.Getenv("OREPL_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the registry says: run OREPL_UPDATE=1 go test ./bindings/dts", path)
	}
}

// compiler is TypeScript's compiler, installed once into a folder that git ignores.
func compiler(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs("../../tests/.cache/typescript")
	if err != nil {
		t.Fatal(err)
	}
	tsc := filepath.Join(folder, "node_modules", "typescript", "bin", "tsc")
	if _, err := os.Stat(tsc); err == nil {
		return tsc
	}
	missing := t.Skipf
	if os.Getenv("CI") == "true" {
		missing = t.Fatalf
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		missing("the declarations were not checked: there is no npm to install TypeScript with")
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(npm, "install", "--no-audit", "--no-fund", "--prefix", folder, "typescript@5").CombinedOutput(); err != nil {
		missing("the declarations were not checked: TypeScript could not be installed: %v\n%s", err, out)
	}
	return tsc
}

// TypeScript accepts, strictly, every example script, the examples in the registry, and what testdata/use.ts does; the
// mistakes in there are found.
func TestStrictTypes(t *testing.T) {
	tsc := compiler(t)
	folder := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := registry()
	put("orepl.d.ts", dts.Declarations(r))
	put("tsconfig.json", `{ "compilerOptions": { "strict": true, "noEmit": true, "allowJs": true, "checkJs": true, "target": "esnext",
		"module": "esnext", "moduleResolution": "bundler", "moduleDetection": "force", "lib": ["esnext"], "types": [] },
		"include": ["**/*.js", "**/*.ts"] }`)
	use, err := os.ReadFile("testdata/use.ts")
	if err != nil {
		t.Fatal(err)
	}
	put("use.ts", string(use))
	scripts, err := filepath.Glob("../../examples/*/*.js")
	if err != nil {
		t.Fatal(err)
	}
	top, err := filepath.Glob("../../examples/*.[jt]s")
	if err != nil {
		t.Fatal(err)
	}
	if scripts = append(scripts, top...); len(scripts) < 20 {
		t.Fatalf("only %d examples", len(scripts))
	}
	for _, path := range scripts {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel("../..", path)
		if err != nil {
			t.Fatal(err)
		}
		put(rel, string(text))
	}
	for _, m := range r.Modules() {
		for i, e := range m.Entries {
			if e.Example != "" {
				put(fmt.Sprintf("registry/%s-%d.ts", m.Name, i), e.Example)
			}
		}
	}
	cmd := exec.Command("node", tsc, "-p", ".")
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A name that ends a comment cannot end the declarations'.
func TestCommentsAreClosed(t *testing.T) {
	r, err := bindings.NewRegistry(bindings.Module{Module: lang.Module{Name: "m"}, Help: "a */ b", Entries: []bindings.Entry{bindings.NewConstant("x", "number", "c */ d")}})
	if err != nil {
		t.Fatal(err)
	}
	if text := dts.Declarations(r); strings.Count(text, "*/") != 2 {
		t.Error(text)
	}
}
