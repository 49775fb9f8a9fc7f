package files_test

import (
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
			len(v.Stages.Blur) != 2 || v.Stages.Blur[1] != 2.5 || v.Stages.Names["a"] != 1 || s.From("stages.blur") != "s"+format {
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
		for _, want := range []string{
			"there is no setting prot: did you mean port?", "there is no setting stages.nmaes: did you mean stages.names?", "port is 80, which breaks the rule min=1024", "name: expected a text, not 5",
			`big: expected an integer of 64 bits, not "7"`, "ratio: expected a number, not true", `on: expected true or false, not "yes"`, `stages.blur: element 0: expected a number, not "x"`, "key: expected a text; the value is secret",
		} {
			if !strings.Contains(err.Error(), "s"+format+": "+want) {
				t.Errorf("%s: no %q in\n%v", format, want, err)
			}
		}
		if strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v shows a secret", format, err)
		}
	}
	for name, text := range map[string]string{"a.json": "{\n\"a\": }", "b.toml": "a = 1\na = ", "c.yaml": "a: 1\nb: [", "d.txt": "", "e.json": "{} {}"} {
		if _, _, err := files.Read(fstest.MapFS{name: {Data: []byte(text)}}, name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := orepl.Load(t.Context(), settings{}, orepl.FromValues(files.Read(fstest.MapFS{}, "none.toml"))); err == nil || !strings.Contains(err.Error(), "none.toml") {
		t.Errorf("no file: %v", err)
	}
}
