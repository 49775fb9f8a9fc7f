package debug_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/orepl/orepl/runtime/debug"
	"github.com/orepl/orepl/runtime/offload"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]debug.Switches{
		"":                          {},
		"gang=4":                    {Gang: "4"},
		"cpu-engine=interp, gang=1": {CPUEngine: "interp", Gang: "1"},
		", cpu-features=none,":      {CPUFeatures: "none"},
		"gang=1,gang=2":             {Gang: "2"},
		"dump=/some/folder,gang=1":  {Dump: "/some/folder", Gang: "1"},
	} {
		if got, err := debug.Parse(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string][2]string{
		"cpu-engine=avx3":    {`cpu-engine cannot be "avx3"`, "write cpu-engine=interp or cpu-engine=avx2 or cpu-engine=avx512"},
		"cpu-engine":         {`cpu-engine cannot be ""`, "cpu-engine=interp"},
		"dump=":              {`dump cannot be ""`, "write dump=DIR"},
		"gang=3":             {`gang cannot be "3"`, "write gang=1 or gang=2 or gang=4"},
		"cpu-engine=,gang=1": {`cpu-engine cannot be ""`, ""},
		"cpu-engin=interp":   {`no switch "cpu-engin"`, "did you mean cpu-engine? the switches are cpu-engine, "},
		"cpu-feature=none":   {`no switch "cpu-feature"`, "did you mean cpu-features?"},
		"gang=1,avx2":        {`no switch "avx2"`, "the switches are "},
		"=interp":            {`no switch ""`, ""},
	} {
		_, err := debug.Parse(text)
		var e *offload.Error
		if !errors.As(err, &e) || e.Code != offload.InvalidArgument || !strings.Contains(e.Detail, want[0]) || !strings.Contains(e.Hint, want[1]) {
			t.Errorf("%q: error %+v, want %q", text, err, want)
		}
	}
}

// TestEnv sets switches over those of the environment.
func TestEnv(t *testing.T) {
	t.Setenv(debug.Variable, "gang=1,cpu-features=avx2")
	want := debug.Switches{Gang: "4", CPUFeatures: "avx2"}
	if got, err := debug.Env("gang=4"); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	t.Setenv(debug.Variable, "gong=1")
	if _, err := debug.Env("gang=4"); err == nil {
		t.Error("no error for an unknown switch of the environment")
	}
}

// TestAll checks that each field of Switches has a name, values and a text, and stands in the documentation.
func TestAll(t *testing.T) {
	page, err := os.ReadFile("../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range debug.All() {
		row := fmt.Sprintf("| `%s` | `%s` | %s |\n", s.Name, strings.Join(s.Values, "`, `"), s.Help)
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/performance.md has no row\n%s", row)
		}
		if s.Name == "" || len(s.Values) == 0 || len(s.Help) < 20 {
			t.Errorf("a switch lacks something: %+v", s)
		}
		if _, err := debug.Parse(s.Name + "=" + s.Values[0]); err != nil {
			t.Error(err)
		}
	}
}
