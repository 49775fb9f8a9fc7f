package placement

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestHosts parses lists and files of hosts, and spreads processes over them.
func TestHosts(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string // an error if it begins with !
	}{
		{"a", 3, "a:3"},
		{"a,b", 3, "a:2,b:1"},
		{"a:2,b", 3, "a:2,b:1"},
		{"a:2,b", 7, "a:5,b:2"},
		{"a, b:4 ,c", 2, "a:1,b:1"},
		{"", 1, `!"" is no name of a host`},
		{"a,,b", 1, `!"" is no name of a host`},
		{"a:0", 1, `!"a:0" has no number of processes behind the colon`},
		{"a,a", 1, "!the host a is listed twice: write a:2 for two processes"},
		{"--x", 1, `!"--x" is no name of a host`},
	} {
		list, err := ParseHosts(c.text)
		got := List(Spread(list, c.n))
		if err != nil {
			got = "!" + err.Error()
		}
		if got != c.want {
			t.Errorf("%q for %d: %s, want %s", c.text, c.n, got, c.want)
		}
	}
	for path, want := range map[string]string{"/none/hosts": `there is no file "/none/hosts"`, t.TempDir(): "cannot be read"} {
		if _, err := ReadHosts(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	path := filepath.Join(t.TempDir(), "hosts")
	for text, want := range map[string]string{
		"# two\na slots=2 max_slots=4\n\nb:3 # three\nc\n": "a:2,b:3,c:1",
		"a slots=x\n": `!` + path + `:1: "a:x" has no number of processes behind the colon`,
		"a\nb cpus=2": `!` + path + `:2: "cpus=2" is unknown: write a name, name:2 or name slots=2`,
		"# none\n":    "!" + path + " lists no host",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := ReadHosts(path)
		got := List(list)
		if err != nil {
			got = "!" + err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestEnvironment shares out accelerators that are all shown, listed, or fewer than asked for.
func TestEnvironment(t *testing.T) {
	for _, c := range []struct {
		env       string
		at, share int
		want      string
	}{
		{"", 0, 1, "0"},
		{"", 2, 2, "4,5"},
		{"CUDA_VISIBLE_DEVICES=7,GPU-3,5", 1, 1, "GPU-3"},
		{"CUDA_VISIBLE_DEVICES=7,GPU-3,5", 1, 2, "5"},
		{"CUDA_VISIBLE_DEVICES=7,GPU-3,5", 2, 2, "-1"},
		{"CUDA_VISIBLE_DEVICES=", 0, 1, "-1"},
		{"", -1, 2, "-1"},
	} {
		env := []string{"A=1", ShareVariable + "=2"}
		if c.env != "" {
			env = append(env, c.env)
		}
		got := Environment(env, c.at, c.share)
		if !slices.Contains(got, "CUDA_VISIBLE_DEVICES="+c.want) || !slices.Contains(got, "A=1") || strings.Contains(strings.Join(got, " "), ShareVariable) ||
			len(got) != 1+len(visible) {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
