//go:build linux

package faults

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// nested runs a program, then uses a worker, and exits with a code of its own.
const nested = `
import { device, i32 } from 'offload'
const [orepl, ...line] = JSON.parse(process.env.NESTED)
const r = await process.run(orepl, line, process.env.WHOLE ? { env: { ...process.env, MORE: '1' } } : {})
console.log('child', r.code, JSON.stringify(r.stdout), JSON.stringify(r.stderr))
const x = device('mpi:1/cpu:0').buffer(i32, 10, i => i)
console.log('sum', (await x.read()).reduce((a, b) => a + b))
process.exit(5)
`

// TestNested runs scripts of MPI jobs that start programs: orepl, also in a shell or as a job of its own, workers and isolated
// scripts. The programs are outside of the job, which goes on and ends with its script's code.
func TestNested(t *testing.T) {
	orepl, dir := binary(t), t.TempDir()
	script, child := filepath.Join(dir, "script.js"), filepath.Join(dir, "child.js")
	must(t, os.WriteFile(script, []byte(nested), 0o600))
	must(t, os.WriteFile(child, []byte("import { devices } from 'offload'\nconsole.log(devices().filter(d => d.id.includes('cpu')).map(d => d.id).join())\nprocess.exit(4)\n"), 0o600))
	list := func(words ...string) string { return `["` + strings.Join(words, `","`) + `"]` }
	for _, launcher := range []string{"mpirun.openmpi", "mpirun.mpich"} {
		if _, err := exec.LookPath(launcher); err != nil {
			t.Logf("not run: %v", err) // tests of plugins/mpi fail in CI without it
			continue
		}
		for _, c := range []struct {
			name  string
			env   []string
			child string
		}{
			{"run", []string{"NESTED=" + list(orepl, "run", child)}, ""},
			{"all variables", []string{"WHOLE=1", "NESTED=" + list("sh", "-c", orepl+" run "+child)}, ""},
			{"workers", []string{"OREPL_FAR=spawn", "NESTED=" + list(orepl, "run", child)}, "far:cpu:0"},
			{"job", []string{"NESTED=" + list(orepl, "mpirun", "--launcher", launcher, child)}, "mpi:1/cpu:0"},
		} {
			t.Run(launcher+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				cmd := exec.Command(orepl, "mpirun", "--launcher", launcher, script)
				cmd.Env = append(os.Environ(), c.env...)
				says(t, cmd, 5, `child 4 "`+strings.TrimSuffix("cpu,"+c.child, ",")+`\n" ""`+"\nsum 45\n")
			})
		}
		t.Run(launcher+"/isolated", func(t *testing.T) { // a launcher may print more about the code
			t.Parallel()
			line := []string{"-np", "1", orepl, "run", "--isolate", child, ":", "-np", "1", orepl, "worker"}
			if launcher == "mpirun.openmpi" {
				line = append([]string{"--allow-run-as-root", "--oversubscribe"}, line...)
			}
			says(t, exec.Command(launcher, line...), 4, "cpu,mpi:1/cpu:0\n")
		})
	}
}

// says runs a command, and checks its exit code and that its output begins with a text; for code 5, that it is the text.
func says(t *testing.T, cmd *exec.Cmd, code int, want string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second
	must(t, cmd.Start())
	late := time.AfterFunc(jobTime, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	defer late.Stop()
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != code || !strings.HasPrefix(out.String(), want) {
		t.Errorf("code %d, want %d; it says\n%swant\n%s%s", got, code, out.String(), want, errs.Bytes())
	}
	if code == 5 && errs.Len() > 0 {
		t.Errorf("errors:\n%s", errs.Bytes())
	}
}
