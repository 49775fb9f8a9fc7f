package tests

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestSPMD runs the programs of examples/spmd as one and four processes, and the first as two, with each launcher. The digests are those of the programs of
// examples/distributed.
func TestSPMD(t *testing.T) {
	orepl := buildCommand(t)
	for _, name := range []string{"heat", "bodies", "sort", "tiles"} {
		t.Run(name, func(t *testing.T) {
			script := "../examples/spmd/" + name + ".js"
			want := printed(t, nil, orepl, "run", "../examples/distributed/"+name+".js", "cpu")
			if got := printed(t, nil, orepl, "run", script); got != want {
				t.Errorf("one process: %q, want %q", got, want)
			}
			for _, launcher := range mpiLaunchers(t) {
				for _, n := range map[bool][]int{true: {2, 4}, false: {4}}[name == "heat"] {
					if got := printed(t, nil, orepl, "mpirun", "--launcher", launcher, "--spmd", "-n", strconv.Itoa(n), script); got != want {
						t.Errorf("%s, %d processes: %q, want %q", launcher, n, got, want)
					}
				}
			}
		})
	}
}

// mpiLaunchers returns the installed launchers of MPI. Tests of plugins/mpi fail in CI without them.
func mpiLaunchers(t *testing.T) (list []string) {
	for _, launcher := range []string{"mpirun.openmpi", "mpirun.mpich"} {
		if _, err := exec.LookPath(launcher); err != nil {
			t.Logf("not run: there is no %s", launcher)
			continue
		}
		list = append(list, launcher)
	}
	return list
}

const spmdEnds = `
import { mpi } from 'mpi'
import process from 'process'
const how = process.argv[2]
await mpi.barrier()
if (mpi.rank === 1) {
  if (how === 'throw') throw new Error('rank one fails')
  if (how === 'exit') process.exit(7)
  if (how === 'kill') await process.run('sh', ['-c', 'kill -9 ' + process.pid])
  if (how === 'stop') await process.run('sh', ['-c', 'kill -STOP ' + process.pid])
  if (how === 'length') await mpi.allReduce(Float32Array.of(1, 2, 3))
  if (how === 'operation') await mpi.allGather(Float32Array.of(1, 2))
  if (how === 'argument') await mpi.allReduce('abc')
}
const root = mpi.rank === 1 ? 1 : 0
if (how === 'gather') await mpi.gather(Float32Array.of(1, 2), { root })
if (how === 'broadcast') await mpi.broadcast(Float32Array.of(1, 2), root)
await mpi.allReduce(Float32Array.of(1, 2))
`

// TestSPMDEnds ends or misleads one of three ranks, with each launcher, or with the first one where ranks do not differ in how they end. The others end soon with an error that names it, and the job with a code other than 0.
func TestSPMDEnds(t *testing.T) {
	orepl := buildCommand(t)
	script := filepath.Join(t.TempDir(), "ends.js")
	if err := os.WriteFile(script, []byte(spmdEnds), 0o644); err != nil {
		t.Fatal(err)
	}
	for how, want := range map[string][]string{
		"throw":     {"rank one fails", "rank 1 has ended its script [closed]"},
		"exit":      {"rank 1 has ended its script [closed]"},
		"kill":      {"rank 1 is lost", "[device-lost]"},
		"stop":      {"rank 1 is lost", "[device-lost]"},
		"length":    {"elements, rank", "[invalid-size]"},
		"operation": {"calls", "[invalid-argument]"},
		"argument":  {"the operation failed at rank 1: the data must be a typed array or a buffer"},
		"gather":    {"names the root", "[invalid-argument]"},
		"broadcast": {"names the root", "[invalid-argument]"}, // ranks tell others of the difference while they leave
	} {
		t.Run(how, func(t *testing.T) {
			launchers := mpiLaunchers(t)
			switch how {
			case "kill", "stop", "throw":
			case "broadcast":
				launchers = slices.Repeat(launchers, 4)
			default:
				launchers = launchers[:min(1, len(launchers))]
			}
			for _, launcher := range launchers {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				cmd := exec.CommandContext(ctx, orepl, "mpirun", "--launcher", launcher, "--spmd", "-n", "3", script, how)
				cmd.WaitDelay = 10 * time.Second
				if how == "stop" {
					cmd.Env = append(os.Environ(), "OREPL_REMOTE_SILENCE=3s")
				}
				var out bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &out
				err := cmd.Run()
				if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() <= 0 {
					t.Errorf("%s: %v\n%s", launcher, err, out.Bytes())
				}
				for _, text := range want {
					if !strings.Contains(out.String(), text) {
						t.Errorf("%s: %q is missing in\n%s", launcher, text, out.Bytes())
					}
				}
			}
		})
	}
}

// TestSPMDTasks runs the program of docs/spmd.md that hands out tasks to ranks as they become free, with each launcher.
func TestSPMDTasks(t *testing.T) {
	page := readText(t, "../docs/spmd.md")
	_, rest, _ := strings.Cut(page, "`recvAny` fails with")
	_, rest, _ = strings.Cut(rest, "```js\n")
	program, _, ok := strings.Cut(rest, "```")
	if !ok || !strings.Contains(program, "recvAny") {
		t.Fatal("docs/spmd.md has no such program")
	}
	script := filepath.Join(t.TempDir(), "tasks.js")
	if err := os.WriteFile(script, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	orepl := buildCommand(t)
	for _, launcher := range mpiLaunchers(t) {
		out, err := exec.Command(orepl, "mpirun", "--launcher", launcher, "--spmd", "-n", "3", script).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v", launcher, err)
		}
		got := string(out)
		for task := range 10 {
			if n := strings.Count(got, " does task "+strconv.Itoa(task)+"\n"); n != 1 {
				t.Errorf("%s: task %d is done %d times\n%s", launcher, task, n, got)
			}
		}
	}
}
