package dts_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/dts"
	"github.com/orepl/orepl/lang"
)

// evaluate runs a script with a JSON value as its input and decodes its default export.
func evaluate(t *testing.T, script string, input, result any) {
	t.Helper()
	engine, err := orepl.Open(orepl.Options{}).Engine(orepl.EngineOptions{Policy: lang.AllowAll})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	data, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	module, err := engine.Run(t.Context(), "probe.js", "const input = "+string(data)+"\n"+script)
	if err != nil {
		t.Fatal(err)
	}
	value, err := module.Get(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	if err := value.Decode(t.Context(), result); err != nil {
		t.Fatal(err)
	}
}

// absent is the script that lists which names of input the engine lacks: Array.prototype.at, Array[Symbol.species].
const absent = `
const has = name => {
	const [, object, symbol, quoted] = /^(.*?)(?:\[Symbol\.(\w+)\]|\["(.*)"\])?$/.exec(name)
	const path = object.split('.'), last = symbol ? Symbol[symbol] : quoted ?? path.pop()
	let o = globalThis
	for (const key of path) { if (o === undefined || !(key in Object(o))) return false; o = o[key] }
	return last !== undefined && last in Object(o)
}
export default input.filter(name => !has(name))`

// declaredOnly are names that TypeScript's libraries declare and the engine lacks: properties of objects, not of their
// prototypes, and then those that docs/javascript.md lists.
var declaredOnly = regexp.MustCompile(`^(\w*Error\.prototype\.(cause|stack|errors|error|suppressed)|Function\.prototype\.prototype|RegExp\.prototype\.lastIndex` +
	`|Intl\b.*` +
	`|RegExp(\.(\$[\d_]|input|lastMatch|lastParen|leftContext|rightContext)|\["\$.*)` +
	`|String\.prototype\.(anchor|big|blink|bold|fixed|fontcolor|fontsize|italics|link|small|strike|sub|sup))$`)

// TestLibrariesAreTrue checks that the names in TypeScript's recommended libraries exist, except those on a documented list.
func TestLibrariesAreTrue(t *testing.T) {
	folder, typescript := t.TempDir(), compiler(t, "typescript")
	if err := os.WriteFile(filepath.Join(folder, "orepl.d.ts"), []byte(dts.Declarations(registry())), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("node", "testdata/names.cjs", typescript, folder).Output()
	if err != nil {
		t.Fatal(err)
	}
	var names, lacking []string
	if err := json.Unmarshal(out, &names); err != nil || len(names) < 900 {
		t.Fatalf("%d names, %v", len(names), err)
	}
	evaluate(t, absent, names, &lacking)
	for _, name := range lacking {
		if !declaredOnly.MatchString(name) {
			t.Errorf("TypeScript declares %s, which the engine lacks", name)
		}
	}
	doc := javascriptPage(t)
	for _, name := range []string{"Intl", "RegExp.$1", "String.prototype.anchor"} {
		if !slices.Contains(lacking, name) {
			t.Errorf("the engine has %s: strike it from declaredOnly and docs/javascript.md", name)
		}
		if !strings.Contains(doc, "`"+name+"`") {
			t.Errorf("docs/javascript.md does not say that there is no %s", name)
		}
	}
}

func javascriptPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/javascript.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestJavaScriptPageIsTrue checks that the code in the section "What there is" of docs/javascript.md works, and that no code
// in "What is missing" does.
func TestJavaScriptPageIsTrue(t *testing.T) {
	doc := javascriptPage(t)
	span := regexp.MustCompile("`([^`]+)`")
	for title, there := range map[string]bool{"## What there is": true, "## What is missing": false} {
		_, section, ok := strings.Cut(doc, title+"\n")
		if !ok {
			t.Fatalf("docs/javascript.md has no section %q", title)
		}
		section, _, _ = strings.Cut(section, "\n## ")
		var code []string
		for line := range strings.Lines(section) {
			if item, ok := strings.CutPrefix(line, "- "); ok {
				list, _, _ := strings.Cut(item, " — ") // an explanation follows
				for _, m := range span.FindAllStringSubmatch(list, -1) {
					code = append(code, m[1])
				}
			}
		}
		if len(code) < 10 {
			t.Errorf("%s: only %d pieces of code", title, len(code))
		}
		for _, c := range code {
			if works(t, c) != there {
				t.Errorf("%s lists %s, which is not so", title, c)
			}
		}
	}
}

// works reports whether an expression is true, or a statement runs without an error.
func works(t *testing.T, code string) bool {
	t.Helper()
	engine, err := orepl.Open(orepl.Options{}).Engine(orepl.EngineOptions{Policy: lang.AllowAll})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	module, err := engine.Run(t.Context(), "testdata/probe.ts", "export default !!("+code+"\n)")
	if err != nil {
		_, err = engine.Run(t.Context(), "testdata/probe.ts", code)
		return err == nil
	}
	var works struct{ Default bool }
	return module.Decode(t.Context(), &works) == nil && works.Default
}
