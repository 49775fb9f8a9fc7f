package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/runtime/conform"
)

// asCommand makes this test binary run as the command with the plugin.
const asCommand = "OREPL_EXAMPLE_PLUGIN"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// orepl runs the command and returns its output.
func orepl(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), asCommand+"=1")
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// TestConform checks that the plugin passes the conformance suite, except for features that it does not declare.
func TestConform(t *testing.T) {
	out, errs, err := orepl(t, "conform", "--json", "slate:0")
	var report struct{ Cases []conform.Result }
	if jsonErr := json.Unmarshal([]byte(out), &report); err != nil || jsonErr != nil {
		t.Fatalf("%v, %v\n%s%s", err, jsonErr, out, errs)
	}
	var names, skipped []string
	for _, c := range report.Cases {
		names = append(names, c.Name)
		switch c.Status {
		case conform.Failed:
			t.Errorf("%s: %s", c.Name, strings.Join(c.Output, "\n"))
		case conform.Skipped:
			skipped = append(skipped, c.Name)
		}
	}
	if !slices.Equal(names, conform.Names()) {
		t.Errorf("cases %q, want %q", names, conform.Names())
	}
	if want := []string{"contract/sibling", "launch/print", "launch/call", "launch/call-cancel", "launch/call-waiter"}; !slices.Equal(skipped, want) {
		t.Errorf("skipped: %q, want %q", skipped, want)
	}
}

// TestScript checks that a script can use the device by its id, that faults have positions, and that rejected images have
// reasons.
func TestScript(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script.js")
	write := func(text string) {
		if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(`import { device, kernel, f32 } from 'offload'
const d = device('slate')
const x = d.buffer(f32, 4, i => i), y = d.buffer(f32, 4)
const wave = kernel((g, x, y) => { y[g.x] = Math.sin(x[g.x]) + x[3 - g.x] })
await wave.launch({ size: 4 }, x, y)
console.log(d.id, await y.read())
await wave.launch({ size: 5 }, x, y)
`)
	out, errs, err := orepl(t, "run", script)
	if err == nil || out != "slate:0 Float32Array(4) [ 3, 2.841470956802368, 1.9092974662780762, 0.14112000167369843 ]\n" {
		t.Errorf("%v\n%s", err, out)
	}
	for _, want := range []string{"on slate:0: index 4 is outside x, whose extent is 4", "script.js:4:", "launched here", "script.js:7:"} {
		if !strings.Contains(errs, want) {
			t.Errorf("%q is not in\n%s", want, errs)
		}
	}
	write("__kernel void k(__global float *x) { x[0] = 1; }\n")
	if out, errs, err := orepl(t, "image", "list", "--devices", script); err != nil || !strings.Contains(out, "slate:0: refused: load ") || !strings.Contains(out, "not opencl-c") {
		t.Errorf("%v\n%s%s", err, out, errs)
	}
}

// TestGuideQuotesExample checks that the guide quotes the example, and that the example stays small.
func TestGuideQuotesExample(t *testing.T) {
	var sources []byte
	for _, name := range []string{"main.go", "device.go", "program.go"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, data...)
	}
	if n := bytes.Count(sources, []byte("\n")); n > 300 {
		t.Errorf("%d lines, more than 300", n)
	}
	guide, err := os.ReadFile("../../docs/plugins.md")
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{"…": true}
	for line := range strings.Lines(string(sources)) {
		have[strings.TrimSpace(line)] = true
	}
	blocks := 0
	for i, block := range strings.Split(string(guide), "```") {
		text, ok := strings.CutPrefix(block, "go\n")
		if i%2 == 0 || !ok {
			continue
		}
		blocks++
		for line := range strings.Lines(text) {
			if !have[strings.TrimSpace(line)] {
				t.Errorf("the guide has a line that the example lacks: %s", line)
			}
		}
	}
	if blocks < 5 {
		t.Errorf("the guide quotes %d parts", blocks)
	}
}
