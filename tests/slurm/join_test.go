//go:build linux

package slurm

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// sweep runs tasks on the devices of a pool: those of workers that join, or the processor. A task that begins says so, and waits for a file.
const sweep = `
import { args, kernel, pool, f64 } from 'offload'
import fs from 'fs'
const [kind, gate] = args, n = 1 << 12, parts = 12
const integrate = kernel((g, from, step, out) => {
  const x = from + (g.x + 0.5) * step
  out[g.x] = 4 / (1 + x * x) * step
})
using p = kind === 'join' ? pool([], { join: true, tasks: 1 }) : pool([kind])
const sums = await p.map(Array.from({ length: parts }, (_, i) => i), async (part, { device, queue }) => {
  const out = device.buffer(f64, n, { queue })
  console.error('part', part, 'on', device.id)
  while (!await fs.exists(gate)) await new Promise(r => setTimeout(r, 20))
  integrate.launch({ size: n, queue }, part / parts, 1 / parts / n, out)
  return (await out.read()).reduce((a, b) => a + b)
})
console.log(sums.join('\n'))
`

// host is a running sweep that tasks of arrays join.
type host struct {
	t           *testing.T
	c           *cluster
	batch, gate string
	want        string // the output of one process
	cmd         *exec.Cmd
	out         bytes.Buffer
	lines       chan string // of standard error
	text        strings.Builder
	began       map[string][]string // devices by part
}

// startSweep runs a sweep in one process, and starts one that waits for workers.
func (c *cluster) startSweep(t *testing.T) *host {
	path := c.file(t, "sweep.js", sweep)
	h := &host{t: t, c: c, gate: filepath.Join(c.dir, "gate"), lines: make(chan string, 100), began: map[string][]string{}}
	must(t, os.WriteFile(h.gate, nil, 0o600))
	h.want = c.run(t, c.orepl, "run", path, "cpu", h.gate)
	must(t, os.Remove(h.gate))
	batch, port := c.batch(t)
	h.batch = batch
	ctx, stop := context.WithTimeout(t.Context(), 4*limit)
	t.Cleanup(stop)
	t.Cleanup(func() {
		if t.Failed() {
			c.cancelWorkers()
		}
	})
	h.cmd = exec.CommandContext(ctx, c.orepl, "run", path, "join", h.gate)
	h.cmd.Env = append(c.env, "OREPL_TOKEN_FILE="+filepath.Join(c.dir, ".orepl-token"), "OREPL_FAR=listen:tls:0.0.0.0:"+port)
	h.cmd.Stdout = &h.out
	errs, err := h.cmd.StderrPipe()
	must(t, err)
	must(t, h.cmd.Start())
	go func() {
		defer close(h.lines)
		for lines := bufio.NewScanner(errs); lines.Scan(); {
			h.lines <- lines.Text()
		}
	}()
	return h
}

// cancelWorkers cancels all tasks and waits for their end, since they would outlive the daemons.
func (c *cluster) cancelWorkers() {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		cancel, list := exec.Command("scancel", "--name=orepl-worker"), exec.Command("squeue", "-h")
		cancel.Env, list.Env = c.env, c.env
		_ = cancel.Run()
		if out, err := list.Output(); err == nil && len(bytes.TrimSpace(out)) == 0 {
			return
		}
	}
}

// submit submits the batch file and returns the array's number.
func (h *host) submit(options ...string) string {
	h.t.Helper()
	args := append([]string{"--parsable", "--chdir=" + h.c.dir, "--output=" + filepath.Join(h.c.dir, "worker.%A_%a")}, options...)
	return strings.TrimSpace(h.c.run(h.t, "sbatch", append(args, h.batch)...))
}

// await reads what the script says until so many workers have begun a part.
func (h *host) await(workers int) {
	h.t.Helper()
	late := time.After(limit)
	for {
		seen := map[string]bool{}
		for _, list := range h.began {
			for _, device := range list {
				seen[device] = true
			}
		}
		if len(seen) >= workers {
			return
		}
		select {
		case line, ok := <-h.lines:
			h.text.WriteString(line + "\n")
			var part, device string
			if n, _ := fmt.Sscanf(line, "part %s on %s", &part, &device); n == 2 {
				h.began[part] = append(h.began[part], device)
			}
			if !ok {
				h.t.Fatalf("the script ended before worker %d:\n%s", workers, h.text.String())
			}
		case <-late:
			h.t.Fatalf("after %v without worker %d:\n%s", limit, workers, h.text.String())
		}
	}
}

// end lets the parts end. The script must print what one process does.
func (h *host) end() {
	h.t.Helper()
	must(h.t, os.WriteFile(h.gate, nil, 0o600))
	for line := range h.lines {
		h.text.WriteString(line + "\n")
	}
	if err := h.cmd.Wait(); err != nil || h.out.String() != h.want {
		h.t.Errorf("the script ends with %v and\n%s%s, one process prints\n%s", err, h.out.Bytes(), h.text.String(), h.want)
	}
}

// ended waits for the end of a task, whose state, exit code and number of starts must match an expression.
func (h *host) ended(task, want string) {
	h.t.Helper()
	var got string
	for end := time.Now().Add(limit); ; time.Sleep(100 * time.Millisecond) {
		fields := map[string]string{}
		for _, word := range strings.Fields(h.c.run(h.t, "scontrol", "show", "job", task)) {
			name, value, _ := strings.Cut(word, "=")
			fields[name] = value
		}
		got = strings.Join([]string{fields["JobState"], fields["ExitCode"], fields["Restarts"]}, " ")
		if regexp.MustCompile("^(" + want + ")$").MatchString(got) {
			return
		}
		if time.Now().After(end) {
			log, _ := os.ReadFile(filepath.Join(h.c.dir, "worker."+task)) // empty if there is none
			h.t.Fatalf("task %s: %s, want %s\n%s", task, got, want, log)
		}
	}
}

// join lets the tasks of two arrays join a script. While each runs a part, one is cancelled, one requeued, and the node of others taken
// down. The script's results equal those of one process, and no worker is left.
func (c *cluster) join(t *testing.T) {
	h := c.startSweep(t)
	first := h.submit("--array=0-3", "--nodelist=n1")
	h.await(4)
	c.run(t, "scancel", first+"_0")
	second := h.submit("--array=0-1", "--nodelist=n2")
	h.await(6)
	c.run(t, "scontrol", "requeue", first+"_1")
	c.run(t, "scontrol", "update", "nodename=n2", "state=down", "reason=test")
	resume := exec.Command("scontrol", "update", "nodename=n2", "state=resume")
	resume.Env = c.env
	if out, err := resume.CombinedOutput(); err != nil {
		// A node that registers meanwhile returns by itself.
		if state := c.run(t, "sinfo", "-h", "-n", "n2", "-o", "%T"); strings.HasPrefix(state, "down") {
			t.Fatalf("%v, and n2 is %s\n%s", err, state, out)
		}
	}
	for _, task := range []string{first + "_1", second + "_0", second + "_1"} {
		c.startNow(t, task)
	}
	h.await(9)
	h.end()
	h.ended(first+"_0", "CANCELLED (143:0|0:15) 0")
	for _, task := range []string{first + "_1", second + "_0", second + "_1"} {
		h.ended(task, "COMPLETED 0:0 1")
	}
	for _, task := range []string{first + "_2", first + "_3"} {
		h.ended(task, "COMPLETED 0:0 0")
	}
	if left := c.processes(); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
}

// expire lets a worker reach the time limit of its task while it runs a part, which another worker then runs.
func (c *cluster) expire(t *testing.T) {
	if os.Getenv("OREPL_TEST_LONG") != "1" {
		t.Skip("a time limit of Slurm is a minute or more: --long")
	}
	h := c.startSweep(t)
	first := h.submit("--array=0", "--time=1")
	h.await(1)
	h.ended(first+"_0", "TIMEOUT (143:0|0:15) 0")
	second := h.submit("--array=0")
	h.await(2)
	h.end()
	h.ended(second+"_0", "COMPLETED 0:0 0")
}

// startNow starts a task that was requeued, for which Slurm would wait two minutes. It asks until the task runs, since Slurm looks at a
// changed time or a node that returned after a while.
func (c *cluster) startNow(t *testing.T, task string) {
	t.Helper()
	for end := time.Now().Add(limit); ; time.Sleep(200 * time.Millisecond) {
		state := c.run(t, "scontrol", "show", "job", task)
		if strings.Contains(state, "Restarts=1") {
			if strings.Contains(state, "JobState=RUNNING") || strings.Contains(state, "JobState=COMPLETED") {
				return
			}
			start := exec.Command("scontrol", "update", "JobId="+task, "StartTime=now")
			start.Env = c.env
			_ = start.Run() // the task may have begun, or still end
		}
		if time.Now().After(end) {
			t.Fatalf("%s is not requeued: %s", task, state)
		}
	}
}

// batch writes the batch file of the documentation, for a free port and the cluster's folder.
func (c *cluster) batch(t *testing.T) (path, port string) {
	page, err := os.ReadFile("../../docs/remote.md")
	must(t, err)
	block := regexp.MustCompile("(?s)```sh\n(#!/bin/sh\n#SBATCH.*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatal("docs/remote.md has no batch file")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	_, port, _ = net.SplitHostPort(l.Addr().String())
	must(t, l.Close())
	must(t, os.WriteFile(filepath.Join(c.dir, ".orepl-token"), []byte("a token of this test\n"), 0o600))
	text := strings.NewReplacer("4711", port, "$HOME", c.dir, "orepl worker", c.orepl+" worker").Replace(string(block[1]))
	return c.file(t, "workers.sh", text), port
}
