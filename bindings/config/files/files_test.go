package files_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/config/files"
)

type settings struct {
	Port   uint16 `check:"min=1024"`
	Name   string
	Big    int64
	Ratio  float64
	Wait   time.Duration
	On     *bool
	Stages struct {
		Blur  []float32
		Names map[string]int
	}
	Key string `orepl:",secret"`
}

var formats = map[string]string{
	".json": `{"port": 8080, "name": "a", "big": 9007199254740993, "ratio": 2, "wait": "1.5s", "on": true, "stages": {"blur": [1, 2.5], "names": {"a": 1}}, "key": "k"}`,
	".toml": "port = 8080\nname = 'a'\nbig = 9007199254740993\nratio = 2\nwait = '1.5s'\non = true\nkey = 'k'\n[stages]\nblur = [1, 2.5]\nnames = { a = 1 }",
	".yaml": "port: 8080\nname: a\nbig: 9007199254740993\nratio: 2\nwait: 1.5s\non: true\nkey: k\nstages:\n  blur: [1, 2.5]\n  names: {a: 1}",
}

// TestFormats checks that files of all formats have the same settings, with every digit.
func TestFormats(t *testing.T) {
	for format, text := range formats {
		s, err := orepl.Load(t.Context(), settings{}, orepl.FromValues(files.Read(fstest.MapFS{"s" + format: {Data: []byte(text)}}, "s"+format)))
		if err != nil {
			t.Errorf("%s: %v", format, err)
			continue
		}
		v := &s.Value
		if v.Port != 8080 || v.Name != "a" || v.Big != 9007199254740993 || v.Ratio != 2 || v.Wait != 1500*time.Millisecond || v.On == nil || !*v.On || v.Key != "k" ||
			len(v.Stages.Blur) != 2 || v.Stages.Blur[1] != 2.5 || v.Stages.Names["a"] != 1 || s.From("stages.blur") != "s"+format+": line "+map[string]string{".json": "1", ".toml": "9", ".yaml": "9"}[format] {
			t.Errorf("%s: %+v, from %s", format, *v, s.From("stages.blur"))
		}
	}
}

// TestMistakes checks that all wrong values of a file are reported at once, with the file and the name, and no secret.
func TestMistakes(t *testing.T) {
	for format, text := range map[string]string{
		".json": `{"prot": 1, "port": 80, "name": 5, "big": "7", "ratio": true, "on": "yes", "stages": {"blur": ["x"], "nmaes": {}}, "key": ["hidden"]}`,
		".toml": "prot = 1\nport = 80\nname = 5\nbig = '7'\nratio = true\non = 'yes'\nkey = ['hidden']\n[stages]\nblur = ['x']\nnmaes = {}",
		".yaml": "prot: 1\nport: 80\nname: 5\nbig: \"7\"\nratio: true\non: \"yes\"\nkey: [hidden]\nstages:\n  blur: [x]\n  nmaes: {}",
	} {
		_, err := orepl.Load(t.Context(), settings{}, orepl.FromValues(files.Read(fstest.MapFS{"s" + format: {Data: []byte(text)}}, "s"+format)))
		if err == nil {
			t.Errorf("%s: no error", format)
			continue
		}
		for i, want := range []string{
			"there is no setting prot: did you mean port?", "there is no setting stages.nmaes: did you mean stages.names?", "port is 80, which breaks the rule min=1024", "name: expected a text, not 5",
			`big: expected an integer of 64 bits, not "7"`, "ratio: expected a number, not true", `on: expected true or false, not "yes"`, `stages.blur: element 0: expected a number, not "x"`, "key: expected a text, not a list; the value is secret and not shown",
		} {
			line := map[string][]int{".json": {1, 1, 1, 1, 1, 1, 1, 1, 1}, ".toml": {1, 10, 2, 3, 4, 5, 6, 9, 7}, ".yaml": {1, 10, 2, 3, 4, 5, 6, 9, 7}}[format][i]
			if want = fmt.Sprintf("s%s: line %d: %s", format, line, want); !strings.Contains(err.Error(), want) {
				t.Errorf("%s: no %q in\n%v", format, want, err)
			}
		}
		if strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v shows a secret", format, err)
		}
	}
}

// TestSyntax checks that a text that cannot be read is reported with its file and line, in words of the format.
func TestSyntax(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.json", "{\n\"a\": }", `a.json: line 2: "}" is not expected here`},
		{"a.json", "{\n\"a\": 1,\n}", `a.json: line 3: "}" is not expected here: no comma precedes it`},
		{"a.json", "{ // x", `"/" is not expected here: there are no comments in JSON`},
		{"a.json", "{'a': 1}", "\"'\" is not expected here: texts are in \""},
		{"a.json", "", "a.json: line 1: the text ends where the object { … } does not"},
		{"a.json", "{\"a\": 1,\n\n", "a.json: line 1: the text ends where the object"},
		{"a.json", "[1]", "a.json: line 1: settings are an object { … }, not an array"},
		{"a.json", "null", "settings are an object { … }, not null"},
		{"a.json", "true", "settings are an object { … }, not a boolean"},
		{"a.json", "{}\n{}", "a.json: line 2: text follows the object"},
		{"a.toml", "a = 1\na = ", "a.toml: line 2: the text ends where a value is expected"},
		{"a.toml", "a = ", "a.toml: line 1: the text ends"},
		{"a.toml", "\na = '''\nx\n", "a.toml: line 3: the text ends where \"'''\" is expected"},
		{"a.toml", "a = 1\na = 2", "a.toml: line 2: Key 'a' has already been defined"},
		{"a.toml", "a = 99999999999999999999", "a.toml: line 1: 99999999999999999999 is out of range"},
		{"a.toml", "a = [1,\n2", "a.toml: line "},
		{"a.toml", "\xff\xfea\x00", "a.toml: line 1: the text is not UTF-8"},
		{"a.yaml", "a: 1\nb: [", "a.yaml: line 2: sequence end token ']' not found"},
		{"a.yaml", "# x\n- 1", "a.yaml: line 2: settings are a mapping, not a list"},
		{"a.yaml", "x", "a.yaml: line 1: settings are a mapping such as name: value, not one value"},
		{"a.yaml", "a: 1\nb: \xff", "a.yaml: line 2: the text is not UTF-8"},
		{"a.txt", "", `a.txt: the format ".txt" is unknown: the name ends in .json, .toml, .yaml or .yml`},
		{"a", "", `the format "" is unknown`},
	} {
		_, _, err := files.Read(fstest.MapFS{c.name: {Data: []byte(c.text)}}, c.name)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "line 0") || strings.Contains(err.Error(), "Go value") {
			t.Errorf("%s %q: %v, want %s", c.name, c.text, err, c.want)
		}
	}
}

// TestNoFile checks the errors of files that cannot be opened.
func TestNoFile(t *testing.T) {
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "etc", "dir.toml"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "etc", "settings.toml"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, want string }{
		{"none.toml", "none.toml: there is no such file: create it, or leave this source of settings out"},
		{"etc/setings.toml", "etc/setings.toml: there is no such file: did you mean etc/settings.toml?"},
		{"/etc/settings.toml", "write a path within the file system, with slashes and without .. or a leading /, such as files.Read(os.DirFS(\"/etc\"), \"settings.toml\")"},
		{"../settings.toml", "without .."},
		{"etc/dir.toml", "etc/dir.toml cannot be read: "},
	} {
		_, err := orepl.Load(t.Context(), settings{Port: 8080}, orepl.FromValues(files.Read(os.DirFS(folder), c.name)))
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, fs.ErrNotExist) != strings.Contains(c.want, "no such file") {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// TestOneDocument checks that a file of YAML has one document, whatever is empty around it.
func TestOneDocument(t *testing.T) {
	for text, line := range map[string]int{
		"name: a\n---\nname: b": 3, "---\n---\nname: a": 3, "name: a\n...\n---\nport: 1": 4, "name: a\n---\n---\n\nname: b": 5, "--- null\n---\nname: a": 3,
		"---\nname: a\n...\n": 0, "name: a\n---\n": 0, "# c\n---\nname: a\n--- # d\n# e\n": 0, "%YAML 1.2\n---\nname: a": 0,
	} {
		_, values, err := files.Read(fstest.MapFS{"s.yaml": {Data: []byte(text)}}, "s.yaml")
		if line == 0 && (err != nil || values["name"] == nil) {
			t.Errorf("%q: %v, %v", text, values, err)
		}
		if want := fmt.Sprintf("s.yaml: line %d: a second document begins here", line); line > 0 && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestDoubledKeys checks that no key is in a table twice, at any depth.
func TestDoubledKeys(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"s.json", "{\"name\": 1,\n \"name\": 2}", `s.json: line 2: the key "name" is there twice, first in line 1`},
		{"s.json", "{\"a\": [1,\n{\"d\": {\"name\": 1},\n\"c\": 1, \"d\": 2}]}", `s.json: line 3: the key "d" is there twice, first in line 2`},
		{"s.json", "{\"a\": {\"a\": 1}, \"b\": [{\"a\": 1}, {\"a\": 1}]}", ""},
		{"s.yaml", "name: a\n\"name\": b", `s.yaml: line 2: the key "name" is there twice, first in line 1`},
		{"s.yaml", "a:\n- b: 1\n  c: 1\n  b: 2", `s.yaml: line 4: the key "b" is there twice, first in line 2`},
		{"s.yaml", "a: {b: 1,\n  b: 2}", `s.yaml: line 2: the key "b" is there twice, first in line 1`},
		{"s.yaml", "a: &x {b: 1}\nc: {<<: *x, b: 2}\nd: [{b: 1}, {b: 2}]", ""},
		{"s.toml", "name = 1\nname = 2", "s.toml: line 2: Key 'name' has already been defined"},
	} {
		_, _, err := files.Read(fstest.MapFS{c.name: {Data: []byte(c.text)}}, c.name)
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

// TestLines checks the lines of values in lists and tables, also of those that have none of their own.
func TestLines(t *testing.T) {
	type settings struct {
		Wait   time.Duration `check:"min=0s"`
		List   []int
		Tables []struct{ A int }
		Map    map[string]int
	}
	for _, c := range []struct{ name, text, want string }{
		{"s.json", "{\n\"wait\":\n\"-5s\"}", "s.json: line 2: wait is -5s, which breaks the rule min=0s"},
		{"s.json", "{\"list\": [1,\n2,\n\"x\"]}", `s.json: line 3: list: element 2: expected an integer of 64 bits, not "x"`},
		{"s.json", "{\"tables\": [{\"a\": 1},\n{\n\"b\": 1}]}", "s.json: line 3: tables: element 1: there is no field b: the fields are a"},
		{"s.yaml", "\n# c\nwait: -5s", "s.yaml: line 3: wait is -5s"},
		{"s.yaml", "list:\n- 1\n- x", `s.yaml: line 3: list: element 1: expected an integer of 64 bits, not "x"`},
		{"s.yaml", "tables:\n- a: 1\n- a: x", `s.yaml: line 3: tables: element 1: a: expected an integer of 64 bits, not "x"`},
		{"s.yaml", "map: &m\n  a: x\nwait: 1s", `s.yaml: line 2: map: a: expected an integer of 64 bits, not "x"`},
		{"s.yaml", "map:\n  a: 1\n  <<: {b: x}", `s.yaml: line 1: map: b: expected an integer of 64 bits, not "x"`},
		{"s.toml", "\nwait = '-5s'", "s.toml: line 2: wait is -5s"},
		{"s.toml", "[map]\n'a b' = 'x'", `s.toml: line 2: map: a b: expected an integer of 64 bits, not "x"`},
		{"s.toml", "list = [1,\n2,\n'x']", `s.toml: line 1: list: element 2: expected an integer of 64 bits, not "x"`},
		{"s.toml", "[[tables]]\na = 1\n[[tables]]\na = 'x'\n[[tables]]\na = 1", `s.toml: tables: element 1: a: expected an integer of 64 bits, not "x"`},
	} {
		_, err := orepl.Load(t.Context(), settings{}, orepl.FromValues(files.Read(fstest.MapFS{c.name: {Data: []byte(c.text)}}, c.name)))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

// TestSections checks that a section without settings is no mistake, as a setting without a value is none.
func TestSections(t *testing.T) {
	for _, c := range []struct{ name, text string }{{"s.yaml", "stages:\nwait:\nport: 2000"}, {"s.json", `{"stages": null, "wait": null, "port": 2000}`}} {
		s, err := orepl.Load(t.Context(), settings{}, orepl.FromValues(files.Read(fstest.MapFS{c.name: {Data: []byte(c.text)}}, c.name)))
		if err != nil || s.Value.Port != 2000 || s.From("wait") != "the default" {
			t.Errorf("%s: %v", c.text, err)
		}
	}
	_, err := orepl.Load(t.Context(), settings{Port: 2000}, orepl.FromValues(files.Read(fstest.MapFS{"s.yaml": {Data: []byte("port: 2000\nstages: 5\n")}}, "s.yaml")))
	if err == nil || err.Error() != "s.yaml: line 2: stages: expected a table of settings" {
		t.Error(err)
	}
}
