package orepl_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/config/files"
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

// TestPointers sets fields that are pointers, and fields of structs behind pointers, from all sources.
func TestPointers(t *testing.T) {
	type tls struct {
		Port *int `check:"max=9"`
		Cert string
		Key  string `orepl:"key,required"`
	}
	type settings struct {
		Count *int
		TLS   *tls
	}
	e := engine(t, open(t), orepl.EngineOptions{})
	t.Setenv("PTR_COUNT", "3")
	t.Setenv("PTR_TLS_PORT", "4")
	t.Setenv("PTR_TLS_KEY", "k")
	for name, source := range map[string]orepl.Source{
		"environment": orepl.FromEnvironment("PTR"),
		"flags":       orepl.FromFlags(flag.NewFlagSet("app", flag.ContinueOnError), []string{"-count=3", "-tls.port=4", "-tls.key=k"}),
		"script":      orepl.FromScript(e, write(t, "s.js", "export const count = 3, tls = { port: 4, key: 'k' }")),
		"values":      orepl.FromValues("v", map[string]any{"count": 3, "tls": map[string]any{"port": 4, "key": "k"}}, nil),
	} {
		s, err := orepl.Load(t.Context(), settings{}, source)
		if err != nil || s.Value.Count == nil || *s.Value.Count != 3 || s.Value.TLS == nil || *s.Value.TLS.Port != 4 || s.From("tls.port") == "the default" {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	s, err := orepl.Load(t.Context(), settings{})
	if err != nil || s.Value.TLS != nil || !strings.Contains(s.String(), "unset") || len(s.Schema("x")) == 0 || s.Markdown() == "" {
		t.Errorf("an absent struct: %v, %v", s, err)
	}
	source := orepl.FromFlags(flag.NewFlagSet("app", flag.ContinueOnError), []string{"-tls.port=10"})
	if _, err := orepl.Load(t.Context(), settings{}, source); err == nil || !strings.Contains(err.Error(), "tls.port is 10") || !strings.Contains(err.Error(), "tls.key is missing: set it in the flag -tls.key") {
		t.Error(err)
	}
}

// TestOneName checks that no two fields have one name, in any way to fill a struct, but that a field hides one of an embedded struct.
func TestOneName(t *testing.T) {
	type twice struct {
		A int
		B int `orepl:"a"`
	}
	e := engine(t, open(t), orepl.EngineOptions{})
	v, err := e.Eval(t.Context(), "v.js", "({ a: 1 })")
	if err != nil {
		t.Fatal(err)
	}
	fn, err := e.Eval(t.Context(), "f.js", "x => x")
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"Load":   func() error { _, err := orepl.Load(t.Context(), twice{}); return err },
		"inner":  func() error { _, err := orepl.Load(t.Context(), struct{ In *twice }{}); return err },
		"Decode": func() error { return v.Decode(t.Context(), new(twice)) },
		"Call":   func() error { _, err := fn.Call(t.Context(), twice{}); return err },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), "name") || !strings.Contains(err.Error(), `a"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	type base struct{ A, C int }
	var hides struct {
		base
		A int
	}
	if err := v.Decode(t.Context(), &hides); err != nil || hides.A != 1 || hides.base.A != 0 {
		t.Error(err, hides)
	}
	t.Setenv("ONE_MAX_SIZE", "1")
	_, err = orepl.Load(t.Context(), struct {
		MaxSize int
		Max     struct{ Size int }
	}{}, orepl.FromEnvironment("ONE"))
	if err == nil || !strings.Contains(err.Error(), "the fields maxSize and max.size have the same environment variable ONE_MAX_SIZE") {
		t.Error(err)
	}
}

// TestWholeGroups sets structs, lists and maps from one text.
func TestWholeGroups(t *testing.T) {
	type settings struct {
		Sub struct {
			A    int
			Deep struct{ B, C int }
		}
		Labels map[string]int
		Points [][]string
		Steps  []struct{ A int }
		Wait   time.Duration
		At     time.Time
	}
	for _, c := range []struct{ variables, want string }{
		{"WG_SUB=1", "the environment variable WG_SUB: sub is a group of settings: set WG_SUB_A, WG_SUB_DEEP_B or WG_SUB_DEEP_C"},
		{"WG_SUB_DEEP=1", "sub.deep is a group of settings: set WG_SUB_DEEP_B or WG_SUB_DEEP_C"},
		{"WG_LABELS=a=1,b=2", ""},
		{"WG_LABELS=", ""},
		{"WG_LABELS=a", `expected names with values such as a=1,b=2, not "a"`},
		{"WG_LABELS=a=x", `WG_LABELS: a: expected an integer of 64 bits, not "x"`},
		{"WG_STEPS=a", "a text cannot hold a table: set it in a file or a script"},
		{"WG_WAIT=5", "the environment variable WG_WAIT: the duration 5 has no unit: write 5ms or 5s"},
		{"WG_WAIT=x", `expected a duration such as 1.5s, not "x"`},
		{"WG_AT=2020-01-01", `expected a time such as 2020-01-02T15:04:05Z, not "2020-01-01"`},
		{"WG_AT=2020-01-01T00:00:00Z", ""},
	} {
		name, value, _ := strings.Cut(c.variables, "=")
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			s, err := orepl.Load(t.Context(), settings{}, orepl.FromEnvironment("WG"))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if err == nil && strings.HasPrefix(value, "a=1") && (len(s.Value.Labels) != 2 || s.Value.Labels["b"] != 2) {
				t.Error(s.Value.Labels)
			}
		})
	}
}

// TestRepeatedFlags repeats flags of lists and maps, which add to the first one. The first one replaces what other sources have.
func TestRepeatedFlags(t *testing.T) {
	s, err := orepl.Load(t.Context(), struct {
		Hosts  []string
		Labels map[string]int
		N      int
	}{Hosts: []string{"default"}, Labels: map[string]int{"default": 1}},
		orepl.FromValues("v", map[string]any{"hosts": []any{"file"}}, nil),
		orepl.FromFlags(flag.NewFlagSet("app", flag.ContinueOnError), []string{"-hosts", "a", "-n=1", "-hosts", "b,c", "-labels=x=1", "-labels", "y=2,x=3", "-n=2"}))
	if err != nil {
		t.Fatal(err)
	}
	if v := s.Value; strings.Join(v.Hosts, " ") != "a b c" || len(v.Labels) != 2 || v.Labels["x"] != 3 || v.N != 2 {
		t.Errorf("%+v", v)
	}
}

// TestFlagHelp checks what -h shows: rules apart from the meaning, values without the flag, and no secret.
func TestFlagHelp(t *testing.T) {
	type settings struct {
		Addr  string        `doc:"where to listen" check:"match=^[^ ]*:[0-9]+$"`
		Wait  time.Duration `doc:"the longest wait" check:"min=1s max=1m"`
		On    bool          `doc:"whether it is on"`
		Tags  []string
		None  *int
		Token orepl.Secret `doc:"the token"`
		Old   string       `orepl:"old,secret"`
		Asked orepl.Secret `orepl:"asked,flag" doc:"the other token"`
	}
	var out strings.Builder
	set := flag.NewFlagSet("app", flag.ContinueOnError)
	set.SetOutput(&out)
	_, err := orepl.Load(t.Context(), settings{Addr: ":8080", Wait: time.Second, Tags: []string{"a"}, Token: orepl.NewSecret("hunter2"), Asked: orepl.NewSecret("hunter2"), Old: "hunter2"},
		orepl.FromValues("v", map[string]any{"wait": "5s"}, nil), orepl.FromFlags(set, []string{"-h"}))
	if !errors.Is(err, flag.ErrHelp) {
		t.Error(err)
	}
	for _, want := range []string{"where to listen (match=^[^ ]*:[0-9]+$) (default \":8080\")\n", "the longest wait (min=1s max=1m) (default 5s)\n", "-on\n    \twhether it is on\n", "(default [\"a\"])", "the other token\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	for _, never := range []string{"hunter2", "-token", "-old"} {
		if strings.Contains(out.String(), never) {
			t.Errorf("%q in\n%s", never, out.String())
		}
	}
	_, err = orepl.Load(t.Context(), struct {
		Token orepl.Secret `orepl:"token,required"`
	}{}, orepl.FromEnvironment("FH"), orepl.FromFlags(flag.NewFlagSet("app", flag.ContinueOnError), nil))
	if err == nil || err.Error() != "token is missing: set it in the environment variable FH_TOKEN" {
		t.Error(err)
	}
}

// TestGoValues sets fields from values of Go programs.
func TestGoValues(t *testing.T) {
	type name string
	type settings struct {
		Wait   time.Duration
		List   []string
		Names  []name
		Counts map[string]int
		Sub    struct{ A, B int }
		Month  time.Month
		At     time.Time
		Small  uint8
		Any    any
		Ptr    *float32
		Big    *big.Int
		Secret orepl.Secret
	}
	now := time.Now()
	three := float32(3)
	s, err := orepl.Load(t.Context(), settings{}, orepl.FromValues("v", map[string]any{
		"wait": time.Second, "list": []name{"a"}, "names": []string{"b"}, "counts": map[name]int8{"c": 1}, "sub": map[string]int{"a": 3}, "month": time.May, "at": now,
		"small": int64(7), "any": []int{1}, "ptr": &three, "big": big.NewInt(5), "secret": orepl.NewSecret("hunter2"),
	}, nil))
	if err != nil {
		t.Fatal(err)
	}
	v := s.Value
	if v.Wait != time.Second || v.List[0] != "a" || v.Names[0] != "b" || v.Counts["c"] != 1 || v.Sub.A != 3 || v.Month != time.May || !v.At.Equal(now) || v.Small != 7 || *v.Ptr != 3 || v.Big.Int64() != 5 || v.Secret.Reveal() != "hunter2" {
		t.Errorf("%+v", v)
	}
	for want, values := range map[string]map[string]any{
		"v: small: expected an unsigned integer of 8 bits, not 300":                 {"small": 300},
		"v: wait: the duration 5 has no unit: write 5ms or 5s":                      {"wait": 5},
		"v: list: element 1: expected a text, not 5":                                {"list": []any{"a", 5}},
		"v: small: expected an unsigned integer of 8 bits, not 1s":                  {"small": time.Second},
		`v: at: expected a time such as 2020-01-02T15:04:05Z, not "2020-01-01"`:     {"at": "2020-01-01"},
		"v: secret: expected a text, not a list; the value is secret and not shown": {"secret": []string{"hunter2"}},
		"v: counts: expected a table, not a list":                                   {"counts": []string{"a"}},
	} {
		if _, err := orepl.Load(t.Context(), settings{}, orepl.FromValues("v", values, nil)); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// side is "L" or "R", and left or right in texts.
type side string

func (s *side) UnmarshalText(text []byte) error {
	switch string(text) {
	case "left", "right":
		*s = side(strings.ToUpper(string(text[:1])))
		return nil
	}
	return errors.New("write left or right")
}

// TestKeysOfTexts checks that every source passes the names of a map to the method UnmarshalText of its keys.
func TestKeysOfTexts(t *testing.T) {
	type settings struct {
		Sides  map[side]int
		Hidden map[side]int `orepl:"hidden,secret"`
	}
	e := engine(t, open(t), orepl.EngineOptions{})
	variables := func(value string) orepl.Source {
		t.Setenv("KEYS_SIDES", value)
		return orepl.FromEnvironment("KEYS")
	}
	for _, c := range []struct {
		source orepl.Source
		want   string // part of the error
	}{
		{orepl.FromScript(e, write(t, "s.js", "export const sides = { left: 1, right: 2 }")), ""},
		{orepl.FromScript(e, write(t, "w.js", "export const sides = { up: 1 }")), "sides.up: the name does not fit: write left or right"},
		{orepl.FromValues("v", map[string]any{"sides": map[string]int{"left": 1, "right": 2}}, nil), ""},
		{orepl.FromValues("v", map[string]any{"sides": map[string]int{"up": 1}}, nil), "up: the name does not fit: write left or right"},
		{orepl.FromValues("v", map[string]any{"hidden": map[string]int{"up": 1}}, nil), "v: hidden: a name is refused; the value is secret and not shown"},
		{orepl.FromFlags(flag.NewFlagSet("app", flag.ContinueOnError), []string{"-sides=left=1", "-sides=right=2"}), ""},
		{variables("up=1"), "up: the name does not fit: write left or right"},
	} {
		s, err := orepl.Load(t.Context(), settings{}, c.source)
		switch {
		case c.want != "":
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		case err != nil || !reflect.DeepEqual(s.Value.Sides, map[side]int{"L": 1, "R": 2}):
			t.Errorf("%v: %v", s, err)
		}
	}
}

type chain struct {
	Size int
	Next *chain
}

// TestDefaultsStay checks that no source changes what the defaults of a program point to, nor what the settings say of them.
func TestDefaultsStay(t *testing.T) {
	type group struct {
		Size  int
		Names []string
		Tags  map[string]int
	}
	type settings struct {
		Group *group
		Count *int
		Chain *chain
		Lock  *sync.Mutex // no setting
	}
	e := engine(t, open(t), orepl.EngineOptions{})
	t.Setenv("STAY_GROUP_SIZE", "3")
	t.Setenv("STAY_COUNT", "4")
	for name, source := range map[string]orepl.Source{
		"environment": orepl.FromEnvironment("STAY"),
		"flags":       orepl.FromFlags(flag.NewFlagSet("app", flag.ContinueOnError), []string{"-group.size=3", "-count=4"}),
		"script":      orepl.FromScript(e, write(t, "s.js", "export const group = { size: 3, names: ['b'], tags: { b: 2 } }, count = 4, chain = { next: { size: 9 } }")),
		"values":      orepl.FromValues("v", map[string]any{"group": map[string]any{"size": 3}, "count": 4}, nil),
		"a failure":   orepl.FromScript(e, write(t, "f.js", "export const group = { size: 3, names: 5 }, count = 4")),
	} {
		count, lock := 1, &sync.Mutex{}
		from := settings{&group{1, []string{"a"}, map[string]int{"a": 1}}, &count, &chain{1, &chain{2, nil}}, lock}
		s, err := orepl.Load(t.Context(), from, source)
		if want := (group{1, []string{"a"}, map[string]int{"a": 1}}); !reflect.DeepEqual(*from.Group, want) || count != 1 || from.Chain.Next.Size != 2 {
			t.Errorf("%s: the defaults became %+v, %d, %+v", name, *from.Group, count, *from.Chain.Next)
		}
		if name == "a failure" {
			if err == nil {
				t.Error("the failure loads")
			}
			continue
		}
		if err != nil || s.Value.Group.Size != 3 || *s.Value.Count != 4 || s.Value.Chain.Size != 1 || s.Value.Lock != lock {
			t.Errorf("%s: %v, %v", name, s, err)
		} else if text := s.Markdown(); !strings.Contains(text, "| `group.size` | number \\| bigint | `1` |") {
			t.Errorf("%s: the default is not that of the program:\n%s", name, text)
		}
	}
	size, other := 1, 2
	nested := struct {
		Pair  [2]*int
		Rows  [1]struct{ Size *int }
		Chain *struct{ Sizes [1]*int }
	}{[2]*int{&size, &other}, [1]struct{ Size *int }{{&size}}, &struct{ Sizes [1]*int }{[1]*int{&other}}}
	path := write(t, "n.js", "export const pair = [7, 8], rows = [{ size: 9 }], chain = { sizes: [10] }")
	if s, err := orepl.Load(t.Context(), nested, orepl.FromScript(e, path)); err != nil || size != 1 || other != 2 || *s.Value.Pair[0] != 7 || *s.Value.Rows[0].Size != 9 || *s.Value.Chain.Sizes[0] != 10 {
		t.Errorf("pointers in arrays: %d, %d, %v, %v", size, other, s, err)
	}
	ring := &chain{Size: 1}
	ring.Next = ring
	if s, err := orepl.Load(t.Context(), struct{ Ring *chain }{ring}); err != nil || s.Value.Ring == ring || s.Value.Ring.Next != s.Value.Ring {
		t.Errorf("a ring: %v", err)
	}
}

// TestCapitals checks the variables of names with capitals in a row, and bounds of integers of any size.
func TestCapitals(t *testing.T) {
	type settings struct {
		BaseURL, URLOfX, Max2D string
		Limit                  *big.Int `check:"min=-5 max=18446744073709551616"`
		Bare                   big.Int  `check:"max=7"`
	}
	t.Setenv("CAP_BASE_URL", "a")
	t.Setenv("CAP_URL_OF_X", "b")
	t.Setenv("CAP_MAX2_D", "c")
	t.Setenv("CAP_LIMIT", "18446744073709551616")
	t.Setenv("CAP_BARE", "-8")
	s, err := orepl.Load(t.Context(), settings{}, orepl.FromEnvironment("CAP"))
	if err != nil || s.Value.BaseURL+s.Value.URLOfX+s.Value.Max2D != "abc" {
		t.Fatal(s, err)
	}
	if text := string(s.Schema("x")); !strings.Contains(text, `"maximum": 18446744073709551616`) || !strings.Contains(text, `"minimum": -5`) {
		t.Error(text)
	}
	t.Setenv("CAP_LIMIT", "18446744073709551617")
	t.Setenv("CAP_BARE", "8")
	_, err = orepl.Load(t.Context(), settings{}, orepl.FromEnvironment("CAP"))
	if err == nil || !strings.Contains(err.Error(), "limit is 18446744073709551617, which breaks the rule max=18446744073709551616") || !strings.Contains(err.Error(), "bare is 8") {
		t.Error(err)
	}
	e := engine(t, open(t), orepl.EngineOptions{})
	s, err = orepl.Load(t.Context(), settings{}, orepl.FromScript(e, write(t, "s.js", "export const limit = 2n ** 64n, bare = -9n")))
	if err != nil || s.Value.Limit.BitLen() != 65 || s.Value.Bare.Int64() != -9 {
		t.Error(s, err)
	}
}

// TestRulesOfParts checks that the rules of structs in lists and maps apply, that a wrong one is an error, and that the schema has them.
func TestRulesOfParts(t *testing.T) {
	type stage struct {
		Name  string `check:"len=1..4"`
		Inner struct {
			Radius *int `check:"max=9"`
		}
		Next  *stage
		Token orepl.Secret `check:"len=4"`
	}
	type parts struct {
		Stages []stage
		Named  map[string][]*stage
		Hidden []stage `orepl:"hidden,secret"`
	}
	load := func(defaults parts, text string) error {
		_, err := orepl.Load(t.Context(), defaults, orepl.FromValues(files.Read(fstest.MapFS{"s.json": {Data: []byte(text)}}, "s.json")))
		return err
	}
	const part = `{"name": "a", "token": "abcd", "inner": {"radius": 9}, "next": {"name": "b", "token": "abcd"}}`
	if err := load(parts{}, `{"stages": [`+part+`], "named": {"x": [`+part+`, null]}, "hidden": [`+part+`]}`); err != nil {
		t.Error(err)
	}
	err := load(parts{}, `{"stages": [`+part+`, {"name": "longer", "token": "no", "inner": {"radius": 10}, "next": {"token": "abcd"}}],
"named": {"x": [{"name": "x", "token": "abcde"}]},
"hidden": [{"name": "hunter2", "token": "abcd"}]}`)
	want := `s.json: line 1: stages: element 1: name is "longer", which breaks the rule len=1..4
s.json: line 1: stages: element 1: inner.radius is 10, which breaks the rule max=9
s.json: line 1: stages: element 1: next: name is "", which breaks the rule len=1..4
s.json: line 1: stages: element 1: token is (secret), which breaks the rule len=4
s.json: line 2: named: x: element 0: token is (secret), which breaks the rule len=4
s.json: line 3: hidden: element 0: name is (secret), which breaks the rule len=1..4`
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	ring := &stage{Name: "ring"}
	ring.Next = ring
	if err := load(parts{Named: map[string][]*stage{"r": {ring}}}, "{}"); err == nil || !strings.Contains(err.Error(), "the default of named: r: element 0: token is (secret)") {
		t.Errorf("a ring: %v", err)
	}
	type wrong struct {
		List []struct {
			N int `check:"least=1"`
		}
	}
	if _, err := orepl.SettingsOf(wrong{}); err == nil || !strings.Contains(err.Error(), "the field list.n: the rule least=1: ") {
		t.Errorf("a wrong rule: %v", err)
	}
	s, err := orepl.SettingsOf(parts{})
	if err != nil {
		t.Fatal(err)
	}
	if schema := string(s.Schema("")); strings.Count(schema, `"maxLength": 4`) < 4 || !strings.Contains(schema, `"maximum": 9`) {
		t.Errorf("the schema %s", schema)
	}
}
