package esm_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

func TestSpecifiers(t *testing.T) {
	dir := files(t, map[string]string{"a b.js": "export const a = import.meta.url", "c.js": "export const c = 1"})
	e, _ := testEngine(t, lang.Options{Dir: dir})
	for specifier, c := range map[string]struct{ code, message, hint string }{
		"":                           {"invalid-argument", "is empty", "./file.js"},
		"./c.js\\0":                  {"invalid-argument", "a NUL character", ""},
		".\\\\c.js":                  {"invalid-argument", "has backslashes", "./c.js"},
		"sub\\\\c.js":                {"invalid-argument", "has backslashes", "sub/c.js"},
		"C:\\\\c.js":                 {"invalid-argument", "absolute path of Windows", "./"},
		"C:/c.js":                    {"invalid-argument", "absolute path of Windows", "./"},
		"https://example.com/m.js":   {"invalid-argument", "is a URL", "save it as a file"},
		"data:text/javascript,1":     {"invalid-argument", "is a URL", ""},
		"file://elsewhere/c.js":      {"invalid-argument", "names no file of this machine", "import.meta.url"},
		"file:c.js":                  {"invalid-argument", "names no file of this machine", ""},
		"c.js":                       {"not-found", `there is no module "c.js"`, "begins with ./"},
		"file://" + dir + "/none.js": {"not-found", "there is no such file", ""},
	} {
		for _, text := range []string{"\nawait import('" + specifier + "')", "\nimport '" + strings.ReplaceAll(specifier, "\\0", "\x00") + "'"} {
			if strings.Contains(text, "\nimport '") {
				text = strings.ReplaceAll(text, `\\`, `\`) // a specifier has no escapes
			}
			_, err := e.Run(t.Context(), "t.js", text)
			if diag.Code(err) != c.code || !strings.Contains(err.Error(), c.message) || !strings.Contains(diag.Hint(err), c.hint) || !strings.Contains(err.Error(), "t.js:2:") {
				t.Errorf("%q: %v (%s)", text, err, diag.Hint(err))
			}
		}
	}
	v, err := e.Eval(t.Context(), "p", "const { a } = await import('./a b.js'); const m = await import(a); m.a === a && a")
	if want := "file://" + filepath.ToSlash(dir) + "/a%20b.js"; err != nil || v.String() != want {
		t.Errorf("got %v, %v", v, err)
	}
}

// TestRunFileRunsAgain checks that each RunFile reads and runs the file again with new state, and runs its imports once.
func TestRunFileRunsAgain(t *testing.T) {
	e, out := testEngine(t, lang.Options{Dir: files(t, map[string]string{
		"main.js": "import { next } from './m.js'; let own = 0; own++; print(own, next()); export { own }", "m.js": "let n = 0; export const next = () => ++n",
	})})
	for range 3 {
		if _, err := e.RunFile(t.Context(), "main.js"); err != nil {
			t.Fatal(err)
		}
	}
	if out.String() != "1 1\n1 2\n1 3\n" {
		t.Errorf("printed %q", out)
	}
}
