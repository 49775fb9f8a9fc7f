package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/trace"
)

// TestTraceOfAKilledProcess checks that the time line of a process that was killed can be summarized.
func TestTraceOfAKilledProcess(t *testing.T) {
	dir := t.TempDir()
	const script = `import { device, kernel, f32 } from 'offload'
const x = device('cpu').buffer(f32, 1000), k = kernel(function add(g, x) { x[g.x] += 1 })
for (;;) { for (let i = 0; i < 50; i++) k.launch({ size: 1000 }, x); await x.read(0, 1) }
`
	if err := os.WriteFile(filepath.Join(dir, "loop.js"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	orepl := filepath.Join(dir, "orepl")
	if err := os.Symlink(exe, orepl); err != nil { // the test binary acts as the command under this name
		t.Fatal(err)
	}
	cmd := exec.Command(orepl, "run", "--trace", "line.json", "loop.js")
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var text []byte
	for bytes.Count(text, []byte(`"cat":"kernel"`)) < 100 {
		time.Sleep(10 * time.Millisecond)
		if f, err := os.Open(filepath.Join(dir, "line.json")); err == nil { // it may not exist yet
			text, _ = io.ReadAll(io.LimitReader(f, 1<<20)) // the process may write faster than this one reads
			_ = f.Close()
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	f, err := os.Open(filepath.Join(dir, "line.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := trace.Summarize(f)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Cut || len(s.Kernels) == 0 || s.Kernels[0].Name != "add" || s.Kernels[0].Count < 100 {
		t.Errorf("%+v", s)
	}
}
