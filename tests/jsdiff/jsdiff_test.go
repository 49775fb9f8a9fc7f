// Package jsdiff runs random programs of plain JavaScript under node and here, and compares what they print.
package jsdiff

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
)

// TestPrograms compares the traces of random programs.
func TestPrograms(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	const batch = 150
	total := batch
	if n, _ := strconv.Atoi(os.Getenv("OREPL_JSDIFF")); n > 0 {
		total = n
	} else if os.Getenv("OREPL_TEST_LONG") == "1" {
		total = 50_000
	}
	for from := 1; from <= total; from += batch {
		dir := t.TempDir()
		run(t, node, "gen.mjs", strconv.Itoa(from), strconv.Itoa(from+batch), dir)
		want := traces(run(t, node, filepath.Join(dir, "run-node.mjs")))
		got := traces(here(t, filepath.Join(dir, "run-orepl.mjs")))
		for seed := from; seed < from+batch; seed++ {
			switch {
			case want[seed] == "":
				t.Errorf("seed %d: node printed nothing", seed)
			case got[seed] != want[seed]:
				t.Errorf("seed %d differs:\n%s", seed, first(want[seed], got[seed]))
			}
		}
	}
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	c := exec.Command(name, args...)
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, stderr.String())
	}
	return string(out)
}

// here runs a script in an engine and returns what it prints.
func here(t *testing.T, path string) string {
	t.Helper()
	rt := orepl.Open(orepl.Options{})
	defer rt.Close()
	var out bytes.Buffer
	e, err := rt.Engine(orepl.EngineOptions{Policy: lang.AllowAll, Stdout: &out, Dir: filepath.Dir(path)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.RunFile(context.Background(), path); err != nil {
		t.Errorf("%s: %v", path, err)
	}
	return out.String()
}

// traces splits the output of the driver by seed.
func traces(out string) map[int]string {
	list := map[int]string{}
	for line := range strings.Lines(out) {
		seed, trace, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.Atoi(seed); err == nil {
			list[n] = trace
		}
	}
	return list
}

// first returns the part of two traces from the first difference.
func first(want, got string) string {
	i := 0
	for i < len(want) && i < len(got) && want[i] == got[i] {
		i++
	}
	from := max(i-60, 0)
	cut := func(s string) string { return s[min(from, len(s)):min(i+120, len(s))] }
	return "node: " + cut(want) + "\nhere: " + cut(got)
}
