package dts_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/dts"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
)

func registry() *bindings.Registry { return inside.Of(orepl.Open(orepl.Options{})).Registry() }

// TestReferenceIsCurrent compares docs/reference.md with the registry. OREPL_UPDATE=1 writes the file.
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

// compilers are the versions of TypeScript that the declarations are checked with, by the folder that npm installs each
// into: the last one written in JavaScript, and the native one.
var compilers = map[string]string{"typescript": "5.9", "typescript7": "npm:typescript@7"}

// compiler returns the folder of a version of TypeScript. Both are installed once, into a folder that git ignores.
func compiler(t *testing.T, name string) string {
	t.Helper()
	folder, err := filepath.Abs("../../tests/.cache/typescript")
	if err != nil {
		t.Fatal(err)
	}
	installed := func(name string) string { return filepath.Join(folder, "node_modules", name) }
	complete := true
	for name := range compilers {
		_, err := os.Stat(filepath.Join(installed(name), "bin", "tsc"))
		complete = complete && err == nil
	}
	if complete {
		return installed(name)
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
	args := []string{"install", "--no-audit", "--no-fund", "--prefix", folder}
	for name, version := range compilers {
		args = append(args, name+"@"+version)
	}
	if out, err := exec.Command(npm, args...).CombinedOutput(); err != nil {
		missing("the declarations were not checked: TypeScript could not be installed: %v\n%s", err, out)
	}
	return installed(name)
}

// configuration matches the tsconfig.json that the documentation recommends.
var configuration = regexp.MustCompile("(?s)```json\n(\\{ \"compilerOptions\".*?)\n```")

// TestStrictTypes checks declarations, example scripts, examples of the registry and testdata/*.ts with TypeScript,
// strictly and without skipLibCheck. Marked mistakes must be found.
func TestStrictTypes(t *testing.T) {
	compiler(t, "typescript")
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
	read := func(path string) string {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	r := registry()
	put("orepl.d.ts", dts.Declarations(r))
	recommended := configuration.FindStringSubmatch(read("../../docs/javascript.md"))
	if recommended == nil {
		t.Fatal("docs/javascript.md shows no tsconfig.json")
	}
	put("base.json", recommended[1])
	put("tsconfig.json", `{ "extends": "./base.json", "compilerOptions": { "allowJs": true, "checkJs": true, "moduleDetection": "force" }, "include": ["**/*.js", "**/*.ts"] }`)
	put("all.json", `{ "extends": "./base.json", "compilerOptions": { "lib": ["esnext"] }, "include": ["orepl.d.ts"] }`)
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
		rel, err := filepath.Rel("../..", path)
		if err != nil {
			t.Fatal(err)
		}
		put(rel, read(path))
	}
	uses, err := filepath.Glob("testdata/*.ts")
	if err != nil || len(uses) < 2 {
		t.Fatal(uses, err)
	}
	for _, path := range uses {
		put(path, read(path))
	}
	for _, m := range r.Modules() {
		for i, e := range m.Entries() {
			if e.Example != "" {
				put(fmt.Sprintf("registry/%s-%d.ts", m.Name, i), e.Example)
			}
		}
	}
	for name := range compilers {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("node", filepath.Join(compiler(t, name), "bin", "tsc"), "-p", ".")
			cmd.Dir = folder
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			cmd = exec.Command("node", filepath.Join(compiler(t, name), "bin", "tsc"), "-p", "all.json")
			cmd.Dir = folder
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("with all of ECMAScript: %v\n%s", err, out)
			}
		})
	}
}

// TestCommentsAreClosed checks that a name with a comment's end does not end the comment in the declarations.
func TestCommentsAreClosed(t *testing.T) {
	r, err := bindings.NewRegistry(bindings.Module{Module: lang.Module{Name: "m"}, Help: "a */ b", Entries: func() []bindings.Entry { return []bindings.Entry{bindings.NewConstant("x", "number", "c */ d")} }})
	if err != nil {
		t.Fatal(err)
	}
	if text := dts.Declarations(r); strings.Count(text, "*/") != 2 {
		t.Error(text)
	}
}
