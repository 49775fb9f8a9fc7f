// Package jsdiff runs random programs of plain JavaScript under node and here, and compares what they print.
package jsdiff

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/orepl/orepl"
)

// TestPrograms compares the traces of random programs. known.txt lists the seeds that differ;
// those that no longer do are printed, to be removed.
func TestPrograms(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	known := seeds(t, "known.txt")
	const batch = 150
	total := batch
	if n, _ := strconv.Atoi(os.Getenv("OREPL_JSDIFF")); n > 0 {
		total = n
	} else if os.Getenv("OREPL_TEST_LONG") == "1" {
		total = 2000 + batch
	}
	differ := 0
	for from := 1; from <= total; from += batch {
		dir := t.TempDir()
		run(t, node, "gen.mjs", strconv.Itoa(from), strconv.Itoa(from+batch), dir)
		want := traces(run(t, node, filepath.Join(dir, "run-node.mjs")))
		got := traces(here(t, filepath.Join(dir, "run-orepl.mjs")))
		for seed := from; seed < from+batch; seed++ {
			switch same := got[seed] == want[seed] && want[seed] != ""; {
			case want[seed] == "":
				t.Errorf("seed %d: node printed nothing", seed)
			case same && known[seed]:
				t.Logf("seed %d is in known.txt, but does not differ: remove it", seed)
			case !same && !known[seed]:
				if differ++; from == 1 {
					t.Errorf("seed %d differs:\n%s", seed, first(want[seed], got[seed]))
				} else {
					t.Logf("seed %d differs:\n%s", seed, first(want[seed], got[seed]))
				}
			}
		}
	}
	if most := total * len(known) / batch; total > batch && differ > most {
		t.Errorf("%d of %d programs differ, but known.txt lets expect %d", differ, total, most)
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
	defer rt.Close(context.Background())
	var out bytes.Buffer
	e, err := rt.Engine(orepl.EngineOptions{Stdout: &out, Dir: filepath.Dir(path)})
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

func seeds(t *testing.T, name string) map[int]bool {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list := map[int]bool{}
	for s := bufio.NewScanner(f); s.Scan(); {
		if n, err := strconv.Atoi(s.Text()); err == nil {
			list[n] = true
		}
	}
	return list
}
