package orepl_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl"
)

type service struct {
	Server struct {
		Port    uint16        `check:"min=1024" doc:"the port"`
		MaxSize int           `check:"min=1 max=4096"`
		Wait    time.Duration `check:"max=1m"`
	}
	Mode     string `check:"oneof=fast|exact"`
	Name     string `check:"len=1..8 match=^[a-z ]+$"`
	Ratio    float64
	Big      uint64
	Hosts    []string `check:"len=0..2"`
	Debug    bool
	Password string `orepl:"password,secret" check:"len=8..64"`
	Limit    *int   `check:"max=10"`
}

func defaults() service {
	s := service{Mode: "fast", Name: "orepl", Password: "longenough"}
	s.Server.Port, s.Server.MaxSize = 8080, 512
	return s
}

// TestLoad reads settings from a script, the environment and flags, in this order of precedence, and tells where each comes from.
func TestLoad(t *testing.T) {
	e, err := open(t).Engine(orepl.EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	path := filepath.Join(t.TempDir(), "config.ts")
	text := `const mib: number = 4
export const server = { port: 9000, maxSize: mib * 256, wait: '1.5s' }
export const hosts = ['a', 'b'], big = 2n ** 64n - 1n, limit = 7
export const helper = () => 1`
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("APP_SERVER_PORT", "9100")
	t.Setenv("APP_SERVER_MAX_SIZE", "0x800")
	t.Setenv("APP_PASSWORD", "from the environment")
	set := flag.NewFlagSet("app", flag.ContinueOnError)
	verbose := set.Bool("v", false, "")
	s, err := orepl.Load(context.Background(), defaults(), orepl.FromScript(e, path), orepl.FromEnvironment("APP"),
		orepl.FromFlags(set, []string{"-v", "-server.port=9200", "-debug", "-hosts", "x, y", "rest"}))
	if err != nil {
		t.Fatal(err)
	}
	v := s.Value
	if v.Server.Port != 9200 || v.Server.MaxSize != 2048 || v.Server.Wait != 1500*time.Millisecond || v.Mode != "fast" || v.Big != math.MaxUint64 ||
		strings.Join(v.Hosts, "+") != "x+y" || !v.Debug || v.Password != "from the environment" || *v.Limit != 7 || !*verbose || set.Arg(0) != "rest" {
		t.Errorf("%+v", v)
	}
	for name, want := range map[string]string{
		"server.port": "the flag -server.port", "server.maxSize": "the environment variable APP_SERVER_MAX_SIZE", "server.wait": "config.ts:2:",
		"mode": "the default", "big": "config.ts", "hosts": "the flag -hosts", "limit": "config.ts:3:", "debug": "the flag -debug", "nothing": "",
	} {
		if got := s.From(name); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s is from %q, want %q", name, got, want)
		}
	}
	var table strings.Builder
	if err := s.Write(&table); err != nil || !strings.Contains(table.String(), "server.port") || !strings.Contains(table.String(), "(secret)") || strings.Contains(table.String(), "from the env") {
		t.Errorf("%v\n%s", err, table.String())
	}
}

// TestLoadErrors checks that all errors of all sources are reported, each with its place, and no secret.
func TestLoadErrors(t *testing.T) {
	e, err := open(t).Engine(orepl.EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	path := filepath.Join(t.TempDir(), "config.js")
	text := "export const server = { port: 70000, maxSize: 'large' }\nexport const mode = 'fats', password = 'hunter2', ratio = true"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("APP_BIG", "-1")
	t.Setenv("APP_SERVER_WAIT", "2h")
	set := flag.NewFlagSet("app", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	_, err = orepl.Load(context.Background(), defaults(), orepl.FromScript(e, path), orepl.FromEnvironment("APP"),
		orepl.FromFlags(set, []string{"-hosts=a,b,c", "-limit", "11", "-debug=maybe", "-name", "Nine Lives"}))
	if err == nil {
		t.Fatal("no error")
	}
	all := strings.Join(orepl.FormatErrors(err), "\n")
	for _, want := range []string{
		"config.js:1:31", ".server.port", "config.js:1:47", ".server.maxSize: expected an integer", ".ratio: expected a number",
		`mode is "fats", which breaks the rule oneof=fast|exact`, "password is (secret), which breaks the rule len=8..64",
		"the environment variable APP_BIG: expected an unsigned integer of 64 bits", "the environment variable APP_SERVER_WAIT: server.wait is 2h0m0s, which breaks the rule max=1m",
		"the flag -hosts: hosts is [\"a\", \"b\", \"c\"], which breaks the rule len=0..2", "the flag -limit: limit is 11, which breaks the rule max=10",
		"the flag -debug: expected true or false", "breaks the rule len=1..8", "breaks the rule match=^[a-z ]+$",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in:\n%s", want, all)
		}
	}
	if strings.Contains(all, "hunter2") {
		t.Errorf("a secret is shown:\n%s", all)
	}
	for name, load := range map[string]func() error{
		"there is no field for it": func() error {
			if err := os.WriteFile(path, []byte("export const server = { prot: 1 }"), 0o666); err != nil {
				return err
			}
			_, err := orepl.Load(context.Background(), defaults(), orepl.FromScript(e, path))
			return err
		},
		"the rule least=1: the rules are min, max, len, oneof and match": func() error {
			_, err := orepl.Load(context.Background(), struct {
				N int `check:"least=1"`
			}{})
			return err
		},
		"has no order": func() error {
			_, err := orepl.Load(context.Background(), struct {
				N string `check:"min=1"`
			}{})
			return err
		},
		"flag: help requested": func() error {
			set := flag.NewFlagSet("app", flag.ContinueOnError)
			set.SetOutput(io.Discard)
			_, err := orepl.Load(context.Background(), defaults(), orepl.FromFlags(set, []string{"-h"}))
			if !errors.Is(err, flag.ErrHelp) {
				t.Error("not flag.ErrHelp")
			}
			return err
		},
	} {
		if err := load(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %s", err, name)
		}
	}
}

// TestLoadDefaults checks that a default that breaks a rule is reported with the places where it can be set, and not at all where the
// source that may set it failed.
func TestLoadDefaults(t *testing.T) {
	type port struct {
		Port uint16 `check:"min=1024"`
	}
	e := engine(t, open(t), orepl.EngineOptions{})
	script := func(text string) orepl.Source { return orepl.FromScript(e, write(t, "s.js", text)) }
	flags := func(args ...string) orepl.Source {
		return orepl.FromFlags(flag.NewFlagSet("app", flag.ContinueOnError), args)
	}
	const broken = "the default of port is 80, which breaks the rule min=1024: "
	for _, c := range []struct {
		sources []orepl.Source
		want    []string // beginnings or parts of the errors, all of them
	}{
		{nil, []string{broken + "no source sets it"}},
		{[]orepl.Source{orepl.FromValues("a.toml", nil, nil), orepl.FromEnvironment("NONE"), flags()},
			[]string{broken + "set it in a.toml, the environment variable NONE_PORT or the flag -port"}},
		{[]orepl.Source{script("throw new Error('broken')")}, []string{"broken"}},
		{[]orepl.Source{orepl.FromScript(e, "none/s.js")}, []string{"none/s.js: there is no such file [not-found]\nhint: create it, or leave this source of settings out"}},
		{[]orepl.Source{script("import './none.js'")}, []string{"import"}},
		{[]orepl.Source{script("export const port = 'x'")}, []string{".port: expected an integer, not"}},
		{[]orepl.Source{orepl.FromValues("a.toml", nil, errors.New("no a.toml")), flags("-port=7")}, []string{"no a.toml", "the flag -port: port is 7, which"}},
		{[]orepl.Source{script("export default { port: 8080 }")}, []string{"port is in the default export"}},
		{[]orepl.Source{script("export const port = 8080; export default () => 1")}, nil},
		{[]orepl.Source{script("export const port = 8080; export default 5")}, nil},
		{[]orepl.Source{script("export const port = 8080; export default { other: 1 }")}, nil},
	} {
		_, err := orepl.Load(t.Context(), port{80}, c.sources...)
		all := orepl.FormatErrors(err)
		if len(all) != len(c.want) {
			t.Errorf("%d errors, want %q:\n%v", len(all), c.want, err)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(all[i], want) {
				t.Errorf("%s: no %q", all[i], want)
			}
		}
	}
}

// TestLoadMisspeltVariables checks that a variable with the prefix is an error if it is one letter from a setting that is not set.
func TestLoadMisspeltVariables(t *testing.T) {
	type account struct {
		User, Password string
		MaxSize        int
	}
	for _, c := range []struct{ prefix, variables, want string }{
		{"MSP", "MSP_PASSWRD=x", "the environment variable MSP_PASSWRD: there is no such setting: did you mean MSP_PASSWORD?"},
		{"MSP", "MSP_PASSWORDD=x", "did you mean MSP_PASSWORD?"},
		{"MSP", "MSP_PASSWROD=x", "did you mean MSP_PASSWORD?"},
		{"MSP", "MSP_PASSVORD=x", "did you mean MSP_PASSWORD?"},
		{"MSP", "MSP_MAXSIZE=1", "did you mean MSP_MAX_SIZE?"},
		{"MSP", "MSP_PASSWORD=x MSP_PASSWORDS=y", ""}, // the setting is set
		{"MSP", "MSP_OTHER=x MSQ_PASSWRD=y", ""},
		{"", "PASSWRD=x", ""},
	} {
		t.Run(c.variables, func(t *testing.T) {
			for _, one := range strings.Fields(c.variables) {
				name, value, _ := strings.Cut(one, "=")
				t.Setenv(name, value)
			}
			_, err := orepl.Load(t.Context(), account{}, orepl.FromEnvironment(c.prefix))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestSettingsTable checks that the table of settings shows values as data files write them.
func TestSettingsTable(t *testing.T) {
	limit := 7
	s, err := orepl.SettingsOf(struct {
		Hosts  []string
		Sizes  []float64
		Names  map[string]int
		Limit  *int
		None   *int
		Wait   time.Duration
		Nested [][]string
		Any    any
	}{[]string{"a b", "c"}, []float64{1, 2.5}, map[string]int{"y": 2, "x": 1}, &limit, nil, time.Second, [][]string{{"a"}, nil}, []any{"a", 1}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"hosts": `["a b", "c"]`, "sizes": "[1, 2.5]", "names": "{x: 1, y: 2}", "limit": "7", "none": "unset", "wait": "1s", "nested": `[["a"], []]`, "any": `["a", 1]`,
	} {
		found := false
		for line := range strings.Lines(s.String()) {
			found = found || strings.HasPrefix(line, name+" ") && strings.Contains(line, " "+want+" ")
		}
		if !found {
			t.Errorf("%s: no %s in\n%s", name, want, s)
		}
	}
}
