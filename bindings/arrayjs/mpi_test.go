//go:build linux

package arrayjs_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOverMPI compares a part of the operations on a device of another process of an MPI job with the same ones on the CPU of the
// script's process, with each launcher.
func TestOverMPI(t *testing.T) {
	folder := t.TempDir()
	orepl := filepath.Join(folder, "orepl")
	build := exec.Command("go", "build", "-o", orepl, "../../cmd/orepl")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines, _, _ := instances(comparisons)
	every := 43
	if long {
		every = 3
	}
	var text strings.Builder
	count := 0
	for i := 0; i < len(lines); i += every {
		text.WriteString(lines[i] + "\n")
		count++
	}
	text.WriteString("await emit(() => A('f32', [5000]).map(v => v * v).sum())\n")
	files := map[string]string{}
	for name, device := range map[string]string{"cpu": "cpu", "mpi": "mpi:1/cpu:0"} {
		files[name] = filepath.Join(folder, name+".js")
		if err := os.WriteFile(files[name], []byte(fmt.Sprintf(prelude, device)+text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := exec.Command(orepl, "run", files["cpu"]).Output()
	if err != nil || strings.Count(string(want), "\n") != count+1 {
		t.Fatalf("%v\n%s", err, want)
	}
	for _, launcher := range []string{"mpirun.openmpi", "mpirun.mpich"} {
		t.Run(launcher, func(t *testing.T) {
			if _, err := exec.LookPath(launcher); err != nil {
				t.Skip(err) // tests of plugins/mpi fail in CI without it
			}
			cmd := exec.Command(orepl, "mpirun", "--launcher", launcher, "-n", "2", files["mpi"])
			var errors bytes.Buffer
			cmd.Stderr = &errors
			got, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s\n%s", err, &errors, got)
			}
			if string(got) != string(want) {
				g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
				for i := range min(len(g), len(w)) {
					if g[i] != w[i] {
						t.Errorf("line %d\n got %.200s\nwant %.200s", i+1, g[i], w[i])
					}
				}
				t.Errorf("%d and %d lines", len(g), len(w))
			}
		})
	}
}
