package tests

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// recordedScript records saxpy, a sum and a matrix product on the CPU.
const recordedScript = `import { device, kernel, record, f32 } from 'offload'
const d = device('cpu'), n = 1 << 14
const x = d.buffer(f32, n, i => Math.sin(i) * 3), y = d.buffer(f32, n, i => Math.cos(i))
const a = d.buffer(f32, [64, 96], (i, j) => Math.sin(i * 7 + j)), b = d.buffer(f32, [96, 80], (i, j) => 1 / (1 + i + j))
const saxpy = kernel((g, a, x, y) => { y[g.x] = a * x[g.x] + y[g.x] })
let product // else it may be collected before the recording ends
const commands = await record('pipeline.orepl', async () => {
  saxpy.launch({ size: n }, 0.37, x, y)
  await y.sum()
  product = a.matmul(b)
})
console.log('commands: ' + commands, product.length)
`

// TestRecordingElsewhere records a pipeline on the CPU and replays it there, on PoCL, behind a socket and in an MPI job with each
// launcher. All buffers must have equal bits.
func TestRecordingElsewhere(t *testing.T) {
	orepl := buildCommand(t)
	dir := t.TempDir()
	script, file := filepath.Join(dir, "record.js"), filepath.Join(dir, "pipeline.orepl")
	if err := os.WriteFile(script, []byte(recordedScript), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(t *testing.T, env []string, program string, args ...string) string {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(os.Environ(), env...), 10*time.Second
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if out := run(t, nil, orepl, "run", script); out != "commands: 3 64\n" {
		t.Fatal(out)
	}
	replay := func(device string) []string { return []string{"replay", "--verify", "--device", device, file} }
	check := func(t *testing.T, device, out string) {
		if want := "replayed 3 commands of cpu on " + device + "\n5 buffers have the recorded bits\n"; !strings.Contains(out, want) {
			t.Errorf("%s", out)
		}
	}
	for device, env := range map[string]string{"cpu": "OREPL_FAR=", "opencl:0": "OREPL_FAR=", "far:cpu:0": "OREPL_FAR=spawn"} {
		t.Run(device, func(t *testing.T) {
			if _, err := os.Stat("/etc/OpenCL/vendors/pocl.icd"); err != nil && device == "opencl:0" { // tests of plugins/opencl fail in CI without it
				t.Skip(err)
			}
			check(t, device, run(t, []string{env}, orepl, replay(device)...))
		})
	}
	withLaunchers(t, func(t *testing.T, launcher string) {
		var flags []string
		if launcher == "mpirun.openmpi" {
			flags = []string{"--allow-run-as-root", "--oversubscribe", "--bind-to", "none"}
		}
		const device = "mpi:1/cpu:0"
		line := append(append(flags, "-np", "1", orepl), replay(device)...)
		check(t, device, run(t, nil, launcher, append(line, ":", "-np", "1", orepl, "worker")...))
	})
}
