package std

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

// TestAsInNode checks that the scripts under testdata/node print the same as in node.
func TestAsInNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("there is no node to compare with")
		}
		t.Skip("there is no node to compare with: ./tests/run installs it")
	}
	scripts, err := filepath.Glob("testdata/node/*.js")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range scripts {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(node, "--input-type=module", "-")
			cmd.Stdin = bytes.NewReader(text)
			var want bytes.Buffer
			cmd.Stdout, cmd.Stderr = &want, &want
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s", err, &want)
			}
			e, got, _ := engine(t, lang.Options{})
			if _, err := e.Run(context.Background(), path, string(text)); err != nil {
				t.Fatal(diag.Format(err, false))
			}
			compare(t, got.String(), want.String())
		})
	}
}

// compare reports the lines that differ.
func compare(t *testing.T, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(g) != len(w) {
		t.Errorf("%d lines, node prints %d", len(g), len(w))
	}
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Errorf("line %d\n got %s\nnode %s", i+1, g[i], w[i])
		}
	}
}
