package record

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// benchstat is the version of the program that reads Go's format of benchmarks.
const benchstat = "golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da"

// long reports whether this is a long run, which may download programs.
func long() bool { return os.Getenv("OREPL_TEST_LONG") == "1" }

// cached reports whether the module of benchstat is on this machine.
func cached() bool {
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		return false
	}
	_, version, _ := strings.Cut(benchstat, "@")
	_, err = os.Stat(filepath.Join(strings.TrimSpace(string(out)), "golang.org", "x", "perf@"+version))
	return err == nil
}

// kept writes an output to a file and returns its name.
func kept(t *testing.T, name string, write func(*bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestBenchstat compares two runs, of which the second is 20 % slower, by benchstat.
func TestBenchstat(t *testing.T) {
	if !long() && !cached() {
		t.Skip("benchstat is not on this machine; long runs download it")
	}
	slower := example()
	slower.Files[0].Results[0] = result("copy/n=64/plain", 0.6)
	old, now := example(), slower
	files := []string{}
	for i, run := range []*Run{old, now} {
		files = append(files, kept(t, []string{"old.txt", "new.txt"}[i], func(b *bytes.Buffer) error { return run.GoBench(b) }))
	}
	cmd := exec.Command("go", "run", benchstat, files[0], files[1])
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	var told bytes.Buffer
	cmd.Stderr = &told
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, told.String())
	}
	text := string(out)
	if line := regexp.MustCompile(`(?m)^Copy/n=64/plain\S* .*$`).FindString(text); !strings.Contains(line, "499.8µ ±") || !strings.Contains(line, "599.7µ ±") || !strings.Contains(line, "+20.00% (p=0.000 n=30)") {
		t.Errorf("the line of copy is %q in\n%s", line, text)
	}
	if !strings.Contains(text, "Größe") || strings.Contains(text, "n=128") {
		t.Errorf("benchstat read\n%s", text)
	}
	for line := range strings.Lines(told.String()) {
		if !strings.HasPrefix(line, "go: ") { // what was downloaded
			t.Errorf("benchstat says %q", line)
		}
	}
}

// TestJUnitByXmllint checks the JUnit file by xmllint, and against Jenkins' schema if OREPL_JUNIT_XSD names it: junit-10.xsd of
// https://github.com/jenkinsci/xunit-plugin.
func TestJUnitByXmllint(t *testing.T) {
	if _, err := exec.LookPath("xmllint"); err != nil {
		t.Skip(err) // tests/run installs it, and fails in CI without it
	}
	file := kept(t, "junit.xml", func(b *bytes.Buffer) error {
		run := example()
		run.Files[0].Results[0].Met = []string{"größe: median: +10 % > 5 %"}
		return run.JUnit(b)
	})
	args := []string{"--noout", file}
	if xsd := os.Getenv("OREPL_JUNIT_XSD"); xsd != "" {
		args = append([]string{"--schema", xsd}, args...)
	}
	if out, err := exec.Command("xmllint", args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestJSONByValidator checks the JSON against the published schema by the validator of Python.
func TestJSONByValidator(t *testing.T) {
	const python = "/usr/bin/python3"
	if _, err := os.Stat("/usr/lib/python3/dist-packages/jsonschema/__init__.py"); err != nil {
		t.Skip(err) // tests/run installs it, and fails in CI without it
	}
	const script = `import json, sys
from jsonschema import Draft202012Validator as V
schema = json.load(open(sys.argv[1]))
V.check_schema(schema)
for e in V(schema).iter_errors(json.load(open(sys.argv[2]))): print(list(e.path), e.message[:200])`
	validate := func(file string) string {
		out, err := exec.Command(python, "-c", script, "../../../docs/benchmarks.schema.json", file).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	good := kept(t, "run.json", func(b *bytes.Buffer) error { return example().Write(b) })
	if out := validate(good); out != "" {
		t.Error(out)
	}
	bad := kept(t, "bad.json", func(b *bytes.Buffer) error {
		if err := example().Write(b); err != nil {
			return err
		}
		text := strings.Replace(b.String(), `"clock": "host"`, `"clock": "sun"`, 1)
		b.Reset()
		b.WriteString(text)
		return nil
	})
	if out := validate(bad); !strings.Contains(out, "sun") {
		t.Errorf("a wrong clock passes: %q", out)
	}
}
