//go:build linux

// Package slurm runs jobs of a real Slurm, whose two nodes are on this machine. Its tests are skipped where Slurm's packages are missing, or its
// daemons do not start, but for CI, where both are failures.
package slurm

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orepl/orepl/tests/clang"
)

// limit bounds the time of each command.
const limit = 2 * time.Minute

// cluster is a running Slurm.
type cluster struct {
	dir   string
	orepl string
	env   []string
}

const configuration = `ClusterName=t
SlurmctldHost=HOST(127.0.0.1)
SlurmctldPort=PORT0
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=DIR/munge
CryptoType=crypto/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
StateSaveLocation=DIR/state
SlurmdSpoolDir=DIR/spool.%n
TmpFS=DIR/tmp.%n
SlurmctldPidFile=DIR/ctld.pid
SlurmdPidFile=DIR/d.%n.pid
SlurmctldLogFile=DIR/ctld.log
SlurmdLogFile=DIR/d.%n.log
SelectType=select/linear
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName=n1 NodeHostname=HOST NodeAddr=127.0.0.1 Port=PORT1 CPUs=2 State=UNKNOWN
NodeName=n2 NodeHostname=HOST NodeAddr=127.0.0.1 Port=PORT2 CPUs=2 State=UNKNOWN
PartitionName=p Nodes=n1,n2 Default=YES MaxTime=INFINITE OverSubscribe=FORCE:4 State=UP
`

// start starts Slurm with two nodes.
func start(t *testing.T) *cluster {
	t.Helper()
	if os.Getuid() != 0 {
		skip(t, "Slurm's daemons need root")
	}
	for _, name := range []string{"munged", "slurmctld", "slurmd", "srun", "sbatch", "scancel", "sinfo", "squeue"} {
		if _, err := exec.LookPath(name); err != nil {
			skip(t, "not run: %v", err)
		}
	}
	dir, err := os.MkdirTemp("", "orepl-slurm-")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	host, err := os.Hostname()
	must(t, err)
	replace := []string{"DIR", dir, "HOST", host}
	for i := range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		defer l.Close()
		replace = append(replace, fmt.Sprintf("PORT%d", i), fmt.Sprint(l.Addr().(*net.TCPAddr).Port))
		must(t, l.Close())
	}
	for _, name := range []string{"state", "spool.n1", "spool.n2", "tmp.n1", "tmp.n2"} {
		must(t, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	key := make([]byte, 1024)
	_, _ = rand.Read(key) // never fails
	must(t, os.WriteFile(filepath.Join(dir, "key"), key, 0o400))
	must(t, os.WriteFile(filepath.Join(dir, "slurm.conf"), []byte(strings.NewReplacer(replace...).Replace(configuration)), 0o644))
	must(t, os.Chmod(dir, 0o755))
	c := &cluster{dir: dir, orepl: filepath.Join(dir, "orepl"), env: append(os.Environ(), "SLURM_CONF="+filepath.Join(dir, "slurm.conf"))}
	c.run(t, "go", "build", "-o", c.orepl, "../../cmd/orepl")
	at := func(name string) string { return filepath.Join(dir, name) }
	c.daemon(t, "munged", "--foreground", "--force", "--socket="+at("munge"), "--key-file="+at("key"), "--pid-file="+at("munge.pid"), "--log-file="+at("munge.log"), "--seed-file="+at("seed"))
	for end := time.Now().Add(limit); ; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(at("munge")); err == nil {
			break
		}
		if time.Now().After(end) {
			skip(t, "munged does not start here")
		}
	}
	c.daemon(t, "slurmctld", "-D")
	c.daemon(t, "slurmd", "-D", "-N", "n1")
	c.daemon(t, "slurmd", "-D", "-N", "n2")
	for end := time.Now().Add(limit); ; time.Sleep(200 * time.Millisecond) {
		cmd := exec.Command("sinfo", "-h", "-o", "%T %D")
		cmd.Env = c.env
		out, _ := cmd.CombinedOutput()
		if strings.TrimSpace(string(out)) == "idle 2" {
			return c
		}
		if time.Now().After(end) {
			log, _ := os.ReadFile(at("ctld.log"))
			skip(t, "Slurm does not start here: %s\n%s", out, log)
		}
	}
}

// skip skips a test, which fails in CI.
func skip(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// daemon starts a process that ends with the test.
func (c *cluster) daemon(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = c.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		late := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		late.Stop()
	})
}

// run runs a command and returns what it prints.
func (c *cluster) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.WaitDelay = c.env, time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out.Bytes(), errs.Bytes())
	}
	return out.String()
}

// file writes a file of the cluster and returns its path.
func (c *cluster) file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(c.dir, name)
	must(t, os.WriteFile(path, []byte(text), 0o755))
	return path
}

const arrayTask = `
import { device, kernel, f64 } from 'offload'
const integrate = kernel((g, from, step, out) => {
  const x = from + (g.x + 0.5) * step
  out[g.x] = 4 / (1 + x * x) * step
})
const [dir, parts] = process.argv.slice(2), part = Number(process.env.SLURM_ARRAY_TASK_ID), n = 1 << 12
const out = device('cpu').buffer(f64, n)
await integrate.launch({ size: n }, part / parts, 1 / parts / n, out)
const { writeText } = await import('fs')
await writeText(dir + '/part.' + part, (await out.read()).reduce((a, b) => a + b, 0).toString())
`

const endless = `
import { device, kernel, i32 } from 'offload'
const x = device('mpi:1/cpu:0').buffer(i32, 16)
const k = kernel((g, x) => { x[g.x] += 1 })
console.log('running')
for (;;) await k.launch({ size: 16 }, x)
`

// TestSlurm runs jobs over two nodes: with both libraries of MPI a script equals its run in one process, the tasks of an array equal one
// process, and a cancelled job leaves nothing.
func TestSlurm(t *testing.T) {
	c := start(t)
	script, err := filepath.Abs("../../examples/distributed/heat.js")
	must(t, err)
	want := c.run(t, c.orepl, "run", script, "cpu")
	for library, option := range map[string]string{"mpirun.openmpi": "--mpi=pmix", "mpirun.mpich": "--mpi=pmi2"} {
		t.Run(option, func(t *testing.T) {
			if _, err := exec.LookPath(library); err != nil {
				skip(t, "not run: %v", err)
			}
			ranks := c.file(t, "ranks", fmt.Sprintf("0 %s run %s mpi:1/cpu:0 mpi:2/cpu:0\n* %[1]s worker\n", c.orepl, script))
			if got := c.run(t, "srun", option, "-N", "2", "-n", "3", "--overcommit", "--multi-prog", ranks); got != want {
				t.Errorf("the job prints\n%s, one process\n%s", got, want)
			}
			if got := c.run(t, "srun", option, "-N", "2", "-n", "2", "--overcommit", c.orepl, "run", filepath.Join(filepath.Dir(script), "../spmd/heat.js")); got != want {
				t.Errorf("the job of scripts prints\n%s, one process\n%s", got, want)
			}
			// Two processes on each node, whose shared memory is of one machine.
			if got := c.run(t, "srun", option, "-N", "2", "-n", "4", "--overcommit", c.orepl, "run", filepath.Join(filepath.Dir(script), "../spmd/heat.js")); got != want {
				t.Errorf("the job of two scripts on each node prints\n%s, one process\n%s", got, want)
			}
		})
		t.Run("cancel"+option, func(t *testing.T) {
			if _, err := exec.LookPath(library); err != nil {
				skip(t, "not run: %v", err)
			}
			c.cancel(t, option)
		})
	}
	t.Run("crash", func(t *testing.T) {
		if _, err := exec.LookPath("mpirun.openmpi"); err != nil {
			skip(t, "not run: %v", err)
		}
		c.crash(t)
	})
	t.Run("join", c.join)
	t.Run("expire", c.expire)
	t.Run("array", func(t *testing.T) {
		const parts = 4
		task := c.file(t, "task.js", arrayTask)
		batch := c.file(t, "batch", fmt.Sprintf("#!/bin/sh\nexec %s run --allow-write %s %s %[2]s %[4]d\n", c.orepl, c.dir, task, parts))
		c.run(t, "sbatch", "--wait", fmt.Sprintf("--array=0-%d", parts-1), "--output="+filepath.Join(c.dir, "out.%a"), batch)
		for i := range parts {
			got, err := os.ReadFile(filepath.Join(c.dir, fmt.Sprintf("part.%d", i)))
			must(t, err)
			must(t, os.Remove(filepath.Join(c.dir, fmt.Sprintf("part.%d", i))))
			here := &cluster{dir: c.dir, env: append(c.env, fmt.Sprintf("SLURM_ARRAY_TASK_ID=%d", i))}
			here.run(t, c.orepl, "run", "--allow-write", c.dir, task, c.dir, fmt.Sprint(parts))
			if want, err := os.ReadFile(filepath.Join(c.dir, fmt.Sprintf("part.%d", i))); err != nil || !bytes.Equal(got, want) {
				t.Errorf("part %d is %s, in one process %s, %v", i, got, want, err)
			}
		}
	})
}

// crash lets a library crash at the beginning of one process of a job. The process says so without a trace of Go, and the one on the other
// node does not wait for it.
func (c *cluster) crash(t *testing.T) {
	library := clang.Build(t, "crash.c", "int PMIx_Fence() { return *(volatile int *)16; }\nint PMIx_Fence_nb() { return *(volatile int *)16; }\n", "-shared", "-fPIC")
	script := c.file(t, "crash.js", "import { mpi } from 'mpi'\nawait mpi.barrier()\n")
	crash := c.file(t, "crash.sh", fmt.Sprintf("#!/bin/sh\n[ $SLURM_PROCID = 0 ] || export LD_PRELOAD=%s\nexec %s run %s\n", library, c.orepl, script))
	ctx, stop := context.WithTimeout(t.Context(), limit/2)
	defer stop()
	cmd := exec.CommandContext(ctx, "srun", "--mpi=pmix", "-N", "2", "-n", "2", "--overcommit", crash)
	cmd.Env, cmd.WaitDelay = c.env, time.Second
	out, err := cmd.CombinedOutput()
	if text := string(out); err == nil || ctx.Err() != nil || !strings.Contains(text, "error: a library crashed, and with it this process: SIGSEGV (invalid address 0x10)") ||
		strings.Contains(text, "goroutine ") {
		t.Errorf("srun ends with %v, %v\n%s", err, ctx.Err(), out)
	}
}

// cancel cancels a running job.
func (c *cluster) cancel(t *testing.T, option string) {
	ranks := c.file(t, "endless", fmt.Sprintf("0 %s run %s\n* %[1]s worker\n", c.orepl, c.file(t, "endless.js", endless)))
	ctx, stop := context.WithTimeout(t.Context(), limit)
	defer stop()
	cmd := exec.CommandContext(ctx, "srun", option, "-J", "endless", "-N", "2", "-n", "3", "--overcommit", "--multi-prog", ranks)
	cmd.Env, cmd.WaitDelay = c.env, time.Second
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	line := make([]byte, 64)
	n, _ := out.Read(line)
	if string(line[:n]) != "running\n" {
		t.Errorf("the script says %q", line[:n])
	}
	c.run(t, "scancel", "--name=endless")
	if err := cmd.Wait(); err == nil || ctx.Err() != nil {
		t.Errorf("srun ends with %v, %v", err, ctx.Err())
	}
	for end := time.Now().Add(limit); ; time.Sleep(100 * time.Millisecond) {
		left := c.processes()
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("processes are left: %q", left)
		}
	}
}

// processes returns the command lines of the processes that run the command of the cluster.
func (c *cluster) processes() (list []string) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if bytes.HasPrefix(line, []byte(c.orepl+"\x00")) {
			list = append(list, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return list
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
