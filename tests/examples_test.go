package tests

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestExamples runs every script under examples with the built command. The scripts check their own results; a script that
// fails has a nonzero exit code.
func TestExamples(t *testing.T) {
	orepl := buildCommand(t)
	var scripts []string
	for _, pattern := range []string{"../examples/[0-9]*.[jt]s", "../examples/kernels/*.js"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		scripts = append(scripts, found...)
	}
	if len(scripts) < 20 {
		t.Fatalf("only %d scripts were found", len(scripts))
	}
	for _, script := range scripts {
		t.Run(strings.TrimPrefix(script, "../examples/"), func(t *testing.T) {
			path, err := filepath.Abs(script)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(orepl, "run", path)
			cmd.Dir = t.TempDir() // examples may write files
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s", err, out.Bytes())
			}
			if strings.HasPrefix(filepath.Base(script), "01-") {
				if info, err := os.Stat(filepath.Join(cmd.Dir, "edges.png")); err != nil || info.Size() < 1000 {
					t.Errorf("no picture: %v", err)
				}
			}
		})
	}
}

// TestExampleImports checks that a script can import the kernels of the examples, which run nothing then.
func TestExampleImports(t *testing.T) {
	scripts, err := filepath.Glob("../examples/kernels/*.js")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("import { Kernel } from 'offload'\n")
	for _, script := range scripts {
		path, err := filepath.Abs(script)
		if err != nil {
			t.Fatal(err)
		}
		if name := filepath.Base(script); name != "check.js" && name != "library.js" {
			fmt.Fprintf(&text, "{ const found = Object.values(await import(%q)); if (!found.some(v => v instanceof Kernel)) console.log(%q) }\n", path, name)
		}
	}
	if out, err := runText(t, t.TempDir(), text.String()); err != nil || out != "" {
		t.Errorf("%v\nwithout kernels, or running:\n%s", err, out)
	}
}

// buildCommand builds the command and returns its path.
func buildCommand(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("OREPL_COMMAND"); path != "" {
		return path
	}
	path := filepath.Join(t.TempDir(), "orepl")
	if out, err := exec.Command("go", "build", "-o", path, "../cmd/orepl").CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	return path
}
