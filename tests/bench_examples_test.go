package tests

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBenchExamples runs the scripts of examples/bench with orepl bench, twice: the second run is compared with the first.
func TestBenchExamples(t *testing.T) {
	orepl := buildCommand(t)
	scripts, err := filepath.Glob("../examples/bench/*.js")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	for _, script := range scripts {
		path, err := filepath.Abs(script)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		var out bytes.Buffer
		for range 2 {
			cmd := exec.Command(orepl, "bench", "--quick", "--fail-if", "median > 100000%", "--compare", "kernels", "--save", "kernels", path)
			cmd.Dir = dir
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Run(); err != nil {
				t.Fatalf("%s: %v\n%s", script, err, out.Bytes())
			}
		}
		if filepath.Base(script) != "kernels.js" {
			continue
		}
		for _, name := range []string{"kernels.json", "kernels.html", "kernels.png", ".orepl/bench/kernels.json"} {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() < 1000 {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, want := range []string{"there is no baseline kernels yet", "against kernels", "add/n=262144/device=cpu/strided"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is missing in\n%s", want, out.Bytes())
			}
		}
		_, compared, _ := strings.Cut(out.String(), "against kernels\n")
		rows, different := 0, 0
		for line := range strings.Lines(compared) {
			if strings.Contains(line, "/device=") {
				rows++
				if !strings.Contains(line, "  ~  ") {
					different++
				}
			}
		}
		// Equal runs have any row that differs in less than 1 of 20 cases, and more than a few in none.
		if rows < 36 || different > 3 {
			t.Errorf("%d of %d rows of equal runs differ:\n%s", different, rows, compared)
		}
	}
}

// TestBenchLines checks that the example for a whole pipeline stays short: without comments, imports count.
func TestBenchLines(t *testing.T) {
	data, err := os.ReadFile("../examples/bench/kernels.js")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			lines++
		}
	}
	if lines > 20 {
		t.Errorf("the example has %d lines", lines)
	}
}
