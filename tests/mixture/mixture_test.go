package mixture

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// mixtures are the devices of the tests. A launcher starts the script and its workers as an MPI job.
var mixtures = []struct {
	name     string
	far      string // value of OREPL_FAR
	launcher string
	workers  int // of the job
	devices  []string
}{
	{name: "cpu-far", far: "spawn", devices: []string{"cpu", "far:cpu:0"}},
	{name: "far-far-cpu", far: "spawn,spawn", devices: []string{"far:0/cpu:0", "far:1/cpu:0", "cpu"}},
	{name: "opencl-cpu", devices: []string{"opencl:0", "cpu"}},
	{name: "opencl-far-cpu-far", far: "spawn,spawn", devices: []string{"opencl:0", "far:0/opencl:0", "cpu", "far:1/cpu:0"}},
	{name: "openmpi-cpu", launcher: "mpirun.openmpi", workers: 3, devices: []string{"mpi:1/cpu:0", "cpu", "mpi:2/cpu:0", "mpi:3/cpu:0"}},
	{name: "mpich-cpu-opencl", launcher: "mpirun.mpich", workers: 3, devices: []string{"mpi:1/cpu:0", "cpu", "mpi:2/opencl:0", "opencl:0", "mpi:3/cpu:0"}},
}

// counts returns the number of programs of each mixture and the number that one process runs.
func counts() (programs, batch int) {
	if os.Getenv("OREPL_TEST_LONG") == "1" {
		return 3400, 100
	}
	if testing.Short() {
		return 10, 10
	}
	return 25, 25
}

// TestMixtures runs random programs on several devices and compares their reads with the sequential model. OREPL_TEST_SEED=N begins with
// the program of that seed instead of the first.
func TestMixtures(t *testing.T) {
	orepl := build(t)
	programs, batch := counts()
	for _, m := range mixtures {
		t.Run(m.name, func(t *testing.T) {
			if m.launcher != "" {
				if _, err := exec.LookPath(m.launcher); err != nil { // tests of plugins/mpi fail in CI without it
					t.Skipf("there is no %s", m.launcher)
				}
			}
			first, err := strconv.Atoi(os.Getenv("OREPL_TEST_SEED"))
			if err != nil {
				first = 1
			}
			for at := first; at < first+programs && !t.Failed(); at += batch {
				list := make([]Program, 0, batch)
				for seed := at; seed < at+batch; seed++ {
					list = append(list, Generate(uint64(seed), len(m.devices)))
				}
				data, err := json.Marshal(list)
				if err != nil {
					t.Fatal(err)
				}
				file := filepath.Join(t.TempDir(), "programs.json")
				if err := os.WriteFile(file, data, 0o600); err != nil {
					t.Fatal(err)
				}
				args := []string{"run"}
				if m.launcher != "" {
					args = []string{"mpirun", "--launcher", m.launcher, "-n", fmt.Sprint(m.workers)}
				}
				args = append(append(args, "testdata/run.js", file), m.devices...)
				expect(t, list, m.far, orepl, args...)
			}
		})
	}
}

// expect runs the programs, and reports those whose results are wrong with their commands.
func expect(t *testing.T, programs []Program, far, orepl string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, orepl, args...)
	cmd.Env = append(os.Environ(), "OREPL_FAR="+far)
	cmd.WaitDelay = 10 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	text := out.String()
	lines := strings.Split(strings.TrimSpace(text), "\n")
	reads := 0
	for _, p := range programs {
		for _, op := range p.Ops {
			if op.Do == "read" || op.Do == "readRect" {
				reads++
			}
		}
	}
	if want := fmt.Sprintf("%d programs, %d reads, 0 wrong", len(programs), reads); err == nil && lines[len(lines)-1] == want {
		return
	}
	t.Errorf("%v: %v\n%s", args, err, tail(text))
	if m := regexp.MustCompile(`program (\d+)(, step (\d+))?`).FindStringSubmatch(text); m != nil {
		for _, p := range programs {
			if fmt.Sprint(p.Seed) == m[1] {
				for i, op := range p.Ops {
					t.Logf("%3d %v", i, op)
				}
			}
		}
	}
}

// tail returns the end of a long text.
func tail(text string) string {
	if len(text) > 4000 {
		return "… " + text[len(text)-4000:]
	}
	return text
}

// build compiles the command.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "orepl")
	cmd := exec.Command("go", "build", "-o", path, "github.com/orepl/orepl/cmd/orepl")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}
