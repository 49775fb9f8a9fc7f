package orepl_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/config/files"
	"github.com/orepl/orepl/lang/diag"
)

// vault has secrets in all kinds of places.
type vault struct {
	Name   string
	Key    orepl.Secret   `orepl:"key,flag" check:"len=4..20"`
	Keys   []orepl.Secret `orepl:"keys,flag"`
	ByName map[string]orepl.Secret
	Other  *orepl.Secret `orepl:"other,flag"`
	Doors  []struct {
		Code orepl.Secret
		Old  string `orepl:"old,secret"`
	}
	hidden orepl.Secret
}

const word = "hunter2"

func filled() vault {
	v := vault{Name: "v", Key: orepl.NewSecret(word), Keys: []orepl.Secret{orepl.NewSecret(word)}, ByName: map[string]orepl.Secret{"a": orepl.NewSecret(word)}, hidden: orepl.NewSecret(word)}
	v.Other = &v.Key
	return v
}

// TestSecretIsNotShown prints secrets in every way of the standard library.
func TestSecretIsNotShown(t *testing.T) {
	v := filled()
	shown := map[string]string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T %v", "%10s", "%p", "%t", "%08b", "%w"} {
		shown[verb] = fmt.Sprintf(verb, v.Key, v) + fmt.Sprintf(verb, v) + fmt.Sprintf(verb, &v) + fmt.Sprintf(verb, v.Keys) + fmt.Sprintf(verb, v.Other)
	}
	for name, encode := range map[string]func() ([]byte, error){
		"json": func() ([]byte, error) { return json.Marshal(v) },
		"xml":  func() ([]byte, error) { return xml.Marshal(v.Keys) },
		"key":  func() ([]byte, error) { return json.Marshal(map[string]any{"k": v.Key, "p": &v.Key}) },
		"text": func() ([]byte, error) { return v.Key.MarshalText() },
	} {
		text, err := encode()
		if err != nil || !strings.Contains(string(text), "(secret)") {
			t.Errorf("%s: %s, %v", name, text, err)
		}
		shown[name] = string(text)
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v.Key); err == nil {
		t.Error("gob encodes a secret")
	}
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "key", v.Key, "vault", v, "at", &v)
	slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "key", v.Key, "vault", v)
	fmt.Fprintln(&b, v.Key, v, errors.New("it is "+v.Key.String()), fmt.Errorf("%v", v.Key))
	shown["logs"] = b.String()
	for name, text := range shown {
		if strings.Contains(text, word) || strings.Contains(text, fmt.Sprintf("%x", word)) || strings.Contains(text, fmt.Sprintf("%X", word)) {
			t.Errorf("%s shows it: %s", name, text)
		}
	}
	if v.Key.Reveal() != word || (orepl.Secret{}).Reveal() != "" || (orepl.Secret{}).String() != "(secret)" {
		t.Error("Reveal")
	}
	if !reflect.DeepEqual(filled(), filled()) {
		t.Error("equal secrets differ")
	}
	var copied orepl.Secret
	if err := json.Unmarshal([]byte(`"`+word+`"`), &copied); err != nil || copied.Reveal() != word {
		t.Errorf("from JSON: %v", err)
	}
	if err := json.Unmarshal([]byte(`"(secret)"`), &copied); err == nil || copied.Reveal() != word {
		t.Errorf("the text of a print is taken: %v", err)
	}
}

// TestSecretSources sets secrets from every source, and reads wrong ones: errors name the place and show no part of a secret.
func TestSecretSources(t *testing.T) {
	e := engine(t, open(t), orepl.EngineOptions{})
	flags := func(args ...string) orepl.Source {
		set := flag.NewFlagSet("app", flag.ContinueOnError)
		set.SetOutput(&bytes.Buffer{})
		return orepl.FromFlags(set, args)
	}
	script := func(text string) orepl.Source { return orepl.FromScript(e, write(t, "s.js", text)) }
	file := func(name, text string) orepl.Source {
		return orepl.FromValues(files.Read(fstest.MapFS{name: {Data: []byte(text)}}, name))
	}
	t.Setenv("GOOD_KEY", word)
	t.Setenv("BAD_KEY", "hu2")
	for name, source := range map[string]orepl.Source{
		"script": script("export const key = 'hunter2', keys = ['hunter2'], byName = { a: 'hunter2' }, other = 'hunter2', doors = [{ code: 'hunter2', old: 'hunter2' }]"),
		"json":   file("s.json", `{"key": "hunter2", "keys": ["hunter2"], "byName": {"a": "hunter2"}, "other": "hunter2", "doors": [{"code": "hunter2", "old": "hunter2"}]}`),
		"yaml":   file("s.yaml", "key: hunter2\nkeys: [hunter2]\nbyName: {a: hunter2}\nother: hunter2\ndoors: [{code: hunter2, old: hunter2}]"),
		"toml":   file("s.toml", "key = 'hunter2'\nkeys = ['hunter2']\nbyName = {a = 'hunter2'}\nother = 'hunter2'\ndoors = [{code = 'hunter2', old = 'hunter2'}]"),
		"flags":  flags("-key=hunter2", "-keys", "hunter2", "-other=hunter2"),
		"env":    orepl.FromEnvironment("GOOD"),
	} {
		s, err := orepl.Load(t.Context(), vault{}, source)
		if err != nil || s.Value.Key.Reveal() != word {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if v := &s.Value; name != "env" && (v.Keys[0].Reveal() != word || v.Other.Reveal() != word) || name != "env" && name != "flags" && (v.ByName["a"].Reveal() != word || v.Doors[0].Code.Reveal() != word || v.Doors[0].Old != word) {
			t.Errorf("%s: not all are set", name)
		}
		if text := s.String() + fmt.Sprintf("%v %+v", s, s); strings.Contains(text, word) {
			t.Errorf("%s: the table shows it: %s", name, text)
		}
	}
	for _, c := range []struct {
		source orepl.Source
		want   string // in the error
	}{
		{script("export const key = 77723"), "s.js:1:20: .key: expected a text, not a number; the value is secret and not shown"},
		{script("export const key = ['hunter2']"), ".key: expected a text, not an array"},
		{script("export const key = '(secret)'"), ".key: the text is refused; the value"},
		{script("export const keys = ['hunter2', 77723]"), ".keys: an element does not fit; the value"},
		{script("export const byName = { hunter2: 77723 }"), ".byName: a part does not fit; the value"},
		{script("export const doors = [{ code: 77723, old: 'hunter2' }]"), ".doors[0].code: expected a string; the value is secret"},
		{script("export const key = 'hunter2'\nexport const name = 7"), ".name: expected a string, not 7"},
		{script("export const key = 'hunter2'\nexport const nmae = 'x', name2 = 1"), "there is no field for it"},
		{script("export const key = 'hunter2'\nexport const name ="), "s.js:2:"},
		{script("export const key = 'hunter2'\nthrow new RangeError('no')"), "s.js:2:"},
		{file("s.json", `{"key": 77723}`), "s.json: line 1: key: expected a text, not a number; the value is secret and not shown"},
		{file("s.json", `{"keys": ["hunter2", 77723]}`), "s.json: line 1: keys: element 1: expected a text, not a number; the value is secret"},
		{file("s.json", `{"byName": {"a": 77723}}`), "s.json: line 1: byName: an element: expected a text, not a number; the value is secret"},
		{file("s.json", `{"doors": [{"code": 77723}]}`), "s.json: line 1: doors: element 0: code: expected a text, not a number; the value is secret"},
		{file("s.json", `{"doors": [{"old": 77723}]}`), "s.json: line 1: doors: element 0: old: expected a text, not a number; the value is secret"},
		{file("s.json", "{\n\"key\": hunter2}"), "s.json: line 2: a character is not expected here"},
		{file("s.toml", "name = 'a'\nkey = hunter2"), "s.toml: line 2: the syntax is wrong"},
		{file("s.yaml", "name: a\nkey: hunter2\nkeys: [a"), "s.yaml: line 3: sequence end token ']' not found"},
		{file("s.json", `{"key": "hu2"}`), "s.json: line 1: key is (secret), which breaks the rule len=4..20"},
		{orepl.FromEnvironment("BAD"), "the environment variable BAD_KEY: key is (secret), which breaks the rule len=4..20"},
		{flags("-key=hu2"), "the flag -key: key is (secret)"},
		{flags("-key=(secret)"), "the flag -key: the text (secret) stands for a secret in prints: write the secret itself"},
		{file("s.yaml", "name: a\nkey: (secret)"), "s.yaml: line 2: key: the text (secret) stands for a secret in prints: write the secret itself"},
		{file("s.json", "[]"), "s.json: line 1: settings are an object { … }, not an array"},
		{file("s.json", "null"), "s.json: line 1: settings are an object { … }, not null"},
		{file("s.json", ""), "s.json: line 1: the text ends where the object { … } does not"},
		{file("s.json", "{\"key\": \"hunter2\",\n\"hunter2\": 1, \"hunter2\": 2}"), "s.json: line 2: a key is there twice, first in line 2"},
		{file("s.json", "{\"key\": \"hunter2\",}"), "s.json: line 1: a character is not expected here: no comma precedes it"},
		{file("s.yaml", "key: hunter2\nkey: hunter2"), "s.yaml: line 2: a key is there twice, first in line 1"},
		{file("s.yaml", "key: *hunter2"), "s.yaml: line 1: the syntax is wrong; the text is not shown"},
		{file("s.yaml", "- hunter2"), "s.yaml: line 1: settings are a mapping, not a list"},
		{file("s.yaml", "key: hunter2\n---\nkey: hunter2"), "s.yaml: line 3: a second document begins here"},
		{file("s.toml", "key = 'hunter2'\nkey = 'hunter2'"), "s.toml: line 2: a key has already been defined"},
		{file("s.toml", "key = 777237772377723777237772377723"), "s.toml: line 1: a number is out of range"},
		{flags("-key=hunter2", "-byName=a=hunter2"), "flag provided but not defined: -byName"},
	} {
		_, err := orepl.Load(t.Context(), vault{Key: orepl.NewSecret("long enough")}, c.source)
		if err == nil {
			t.Errorf("%s: no error", c.want)
			continue
		}
		text := strings.Join(orepl.FormatErrors(err), "\n") + fmt.Sprintf("%+v", err)
		if !strings.Contains(text, c.want) || strings.Contains(text, "hu") && strings.Contains(text, "er2") || strings.Contains(text, "hu2") || strings.Contains(text, "77723") {
			t.Errorf("%s, want %s", text, c.want)
		}
	}
}

// TestSecretsAndScripts decodes secrets without Load, and passes one to a script.
func TestSecretsAndScripts(t *testing.T) {
	e := engine(t, open(t), orepl.EngineOptions{})
	for _, c := range []struct {
		text string
		dst  any
	}{
		{"export const key = 77723", new(vault)},
		{"export const keys = [77723]", new(vault)},
		{"export const byName = { a: 77723 }", new(vault)},
		{"export const a = 77723", new(map[string]orepl.Secret)},
		{"export const key = 'hunter2'\nexport const name = 5", new(vault)},
		{"export const db = 'hunter2'", new(struct {
			DB vault `orepl:"db"`
		})},
		{"export const dbs = ['hunter2']", new(struct {
			DBs []vault `orepl:"dbs"`
		})},
		{"export const dbs = 'hunter2'", new(struct {
			DBs []vault `orepl:"dbs"`
		})},
		{"export const dbs = 'hunter2'", new(struct {
			DBs map[string]vault `orepl:"dbs"`
		})},
		{"export const old = 'hunter2'\nexport const port = 'x'", new(struct {
			Old  string `orepl:"old,secret"`
			Port int
		})},
	} {
		module, err := e.Run(t.Context(), "s.js", c.text)
		if err != nil {
			t.Fatal(err)
		}
		err = module.Decode(t.Context(), c.dst)
		text := diag.Format(err, false) + fmt.Sprintf("%+v", err)
		if err == nil || strings.Contains(text, word) || strings.Contains(text, "77723") || !strings.Contains(text, "s.js:") {
			t.Errorf("%s: %s", c.text, text)
		}
	}
	fn, err := e.Eval(t.Context(), "f.js", "x => x")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []any{orepl.NewSecret(word), filled(), []orepl.Secret{{}}} {
		if _, err := fn.Call(t.Context(), x); err == nil || !strings.Contains(err.Error(), "a secret is not passed to scripts") || strings.Contains(err.Error(), word) {
			t.Errorf("%T: %v", x, err)
		}
	}
	if v, err := fn.Call(t.Context(), orepl.NewSecret(word).Reveal()); err != nil || v.IsUndefined() {
		t.Error(err)
	}
}

// ordered is a struct with a check of its own.
type ordered struct {
	Low, High int
	Name      string `orepl:"name,required"`
}

func (o *ordered) Check() error {
	if o.Low > o.High {
		return fmt.Errorf("low is %d, above high, which is %d", o.Low, o.High)
	}
	return nil
}

// TestLoadChecks checks required settings, from any source, and a check of the program's own.
func TestLoadChecks(t *testing.T) {
	e := engine(t, open(t), orepl.EngineOptions{})
	t.Setenv("O_NAME", "n")
	low := orepl.FromScript(e, write(t, "s.js", "export const low = 3, high = 1"))
	for _, c := range []struct {
		sources []orepl.Source
		want    string
	}{
		{nil, "name is missing: no source sets it"},
		{[]orepl.Source{orepl.FromValues("s.toml", nil, nil)}, "name is missing: set it in s.toml"},
		{[]orepl.Source{orepl.FromEnvironment("NO"), orepl.FromFlags(flag.NewFlagSet("o", flag.ContinueOnError), nil)},
			"name is missing: set it in the environment variable NO_NAME or the flag -name"},
		{[]orepl.Source{orepl.FromEnvironment("O")}, ""},
		{[]orepl.Source{low, orepl.FromEnvironment("O")}, "low is 3, above high, which is 1"},
		{[]orepl.Source{low, orepl.FromEnvironment("O"), orepl.FromFlags(flag.NewFlagSet("o", flag.ContinueOnError), []string{"-high=3"})}, ""},
	} {
		_, err := orepl.Load(t.Context(), ordered{}, c.sources...)
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
