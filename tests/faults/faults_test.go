//go:build linux

// Package faults tests scripts whose workers fail at random times: the scripts must end in time, and never with a wrong
// result.
package faults

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// mark is an environment variable that identifies the processes of a run.
const mark = "OREPL_FAULTS_RUN"

const (
	endTime  = 2 * time.Minute  // for a script, the repeated tasks on one worker, and the launcher's end
	lateTime = 20 * time.Second // for processes that a launcher ends
	jobTime  = time.Minute      // for jobs without work, which take seconds on a busy machine
	clean    = 2 * time.Second  // time of undisturbed use before a fault may end a job of MPICH
)

// fault is a failure of a worker.
type fault struct {
	name string
	do   func(t *testing.T, pid int)
}

var faults = []fault{
	{"killed", func(t *testing.T, pid int) { must(t, syscall.Kill(pid, syscall.SIGKILL)) }},
	{"stopped", func(t *testing.T, pid int) { must(t, syscall.Kill(pid, syscall.SIGSTOP)) }},
	{"terminated", func(t *testing.T, pid int) { must(t, syscall.Kill(pid, syscall.SIGTERM)) }},
	{"hung up", func(t *testing.T, pid int) { must(t, syscall.Kill(pid, syscall.SIGHUP)) }},
	{"cut", cut},
	{"exhausted", exhaust},
}

// exhaust limits the memory of a process to its current size.
func exhaust(t *testing.T, pid int) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	must(t, err)
	pages, err := strconv.ParseUint(strings.Fields(string(data))[0], 10, 64)
	must(t, err)
	limit := unix.Rlimit{Cur: pages * uint64(os.Getpagesize()), Max: unix.RLIM_INFINITY}
	must(t, unix.Prlimit(pid, unix.RLIMIT_AS, &limit, nil))
}

// cut closes the TCP connections of a process, as a network failure does. Those to its launcher remain: over a network, a process is
// connected to the launcher's daemon on its own machine.
func cut(t *testing.T, pid int) {
	launcher := map[int]bool{}
	connections(t, parent(t, pid), func(fd int) {
		if name, err := unix.Getsockname(fd); err == nil {
			if own, ok := name.(*unix.SockaddrInet4); ok {
				launcher[own.Port] = true
			}
		}
	})
	cuts := 0
	connections(t, pid, func(fd int) {
		name, err := unix.Getpeername(fd)
		if other, ok := name.(*unix.SockaddrInet4); err == nil && ok && !launcher[other.Port] {
			must(t, unix.Shutdown(fd, unix.SHUT_RDWR))
			cuts++
		}
	})
	if cuts == 0 {
		t.Logf("process %d has no connections over TCP", pid)
	}
}

// parent returns the process that started another one.
func parent(t *testing.T, pid int) (n int) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	must(t, err)
	_, err = fmt.Sscanf(string(data[bytes.LastIndexByte(data, ')')+1:]), " %s %d", new(string), &n)
	must(t, err)
	return n
}

// connections calls a function with a copy of each socket of a process.
func connections(t *testing.T, pid int, do func(fd int)) {
	handle, err := unix.PidfdOpen(pid, 0)
	must(t, err)
	defer unix.Close(handle)
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	must(t, err)
	for _, e := range entries {
		link, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, e.Name()))
		n, err := strconv.Atoi(e.Name())
		if err != nil || !strings.HasPrefix(link, "socket:") {
			continue
		}
		fd, err := unix.PidfdGetfd(handle, n, 0)
		if err == unix.EBADF { // it has just been closed
			continue
		}
		if err != nil {
			t.Skipf("the system lends no descriptors of other processes: %v", err)
		}
		do(fd)
		_ = unix.Close(fd)
	}
}

// way is a method of running a script with two workers.
type way struct {
	name string
	args []string
	// abort is set if the launcher ends the job when a process dies.
	abort bool
}

// TestFaults runs a script with two workers, one of which fails at a random time. OREPL_FAULTS is the number of runs per
// method of starting them.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	orepl := binary(t)
	runs := 3
	if os.Getenv("OREPL_TEST_LONG") == "1" {
		runs = 100 * len(faults)
	}
	if n, err := strconv.Atoi(os.Getenv("OREPL_FAULTS")); err == nil {
		runs = n
	}
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("OREPL_FAULTS_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("seed %d", seed)
	ways := []way{{name: "socket", args: []string{"run"}}}
	for _, launcher := range []string{"mpirun.openmpi", "mpirun.mpich"} {
		if _, err := exec.LookPath(launcher); err != nil {
			t.Logf("not run: %v", err) // tests of plugins/mpi fail in CI without it
			continue
		}
		ways = append(ways, way{name: launcher, args: []string{"mpirun", "--launcher", launcher, "-n", "2"}, abort: launcher == "mpirun.mpich"})
	}
	for i, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel() // most of the time passes in waits
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			whole := run(t, orepl, w, nil, 0, 0)
			first := r.IntN(len(faults))
			for n := range runs {
				f, point, victim := faults[(first+n)%len(faults)], time.Duration(r.Int64N(int64(whole)*9/10)), r.IntN(2)
				t.Run(fmt.Sprintf("%s at %v", f.name, point.Round(time.Millisecond)), func(t *testing.T) { run(t, orepl, w, &f, point, victim) })
			}
		})
	}
}

var ends = regexp.MustCompile(`(?m)^wrong (\d+) end (\S+) lost (\d+)$`)

// run runs the script once with a fault of one worker at a point in time after the script started to use it. It returns how
// long the script used both workers.
func run(t *testing.T, orepl string, w way, f *fault, point time.Duration, victim int) time.Duration {
	id := strconv.FormatUint(rand.Uint64(), 36)
	env := append(os.Environ(), mark+"="+id)
	if w.name == "socket" {
		var addresses []string
		for range 2 {
			addresses = append(addresses, listen(t, orepl, env))
		}
		env = append(env, "OREPL_FAR="+strings.Join(addresses, ","))
	}
	ctx, cancel := context.WithTimeout(t.Context(), endTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, orepl, append(w.args, "testdata/pool.js")...)
	cmd.Env = env
	in, out, err := os.Pipe()
	must(t, err)
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = time.Second
	must(t, cmd.Start())
	_ = out.Close()
	read := make(chan struct{})
	running := make(chan bool, 1)
	go func() {
		defer close(read)
		lines := bufio.NewReader(in)
		for {
			line, err := lines.ReadString('\n')
			text.WriteString(line)
			if strings.HasPrefix(line, "running on ") {
				running <- strings.TrimSpace(line) == "running on 2"
			}
			if err != nil {
				return
			}
		}
	}()
	select {
	case ok := <-running:
		if !ok {
			t.Error("there are not two workers")
		}
	case <-ctx.Done():
		t.Error("the script did not begin")
	}
	began := time.Now()
	var failed time.Time
	if f != nil {
		ended := make(chan struct{})
		go func() { <-read; close(ended) }()
		select {
		case <-time.After(point):
		case <-ended: // the script ended before the fault
		}
		if list := processes(t, id, "worker"); len(list) == 2 {
			failed = time.Now()
			f.do(t, list[victim])
		}
	}
	err = cmd.Wait()
	whole, took := time.Since(began), time.Since(failed)
	if ctx.Err() != nil {
		t.Errorf("the script hangs")
	}
	for _, pid := range processes(t, id, "worker") {
		if w.name == "socket" { // socket workers serve until they are killed
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	for end := time.Now().Add(lateTime); len(processes(t, id, "")) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("processes are left: %v", processes(t, id, ""))
			for _, pid := range processes(t, id, "") {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			break
		}
	}
	_ = in.SetReadDeadline(time.Now().Add(lateTime))
	<-read
	said := ends.FindStringSubmatch(text.String())
	switch {
	case said == nil && w.abort && f != nil && err != nil: // the launcher ended the job
		if f.name == "killed" && took > clean+lateTime {
			t.Errorf("the job ended %v after the fault", took)
		}
	case said == nil:
		t.Errorf("the script did not end: %v\n%s", err, text.String())
	case said[1] != "0":
		t.Errorf("%s wrong results\n%s", said[1], text.String())
	case said[2] != "complete" && !(f != nil && f.name == "exhausted" && said[2] == "out-of-resources"):
		t.Errorf("the script ended with %s, error: %v\n%s", said[2], err, text.String())
	case err != nil && !w.abort:
		t.Errorf("the script was complete, and the command failed: %v\n%s", err, text.String())
	}
	switch {
	case f == nil:
	case failed.IsZero():
		t.Log("the script ended before the fault")
	case said != nil:
		t.Logf("ended with %s, %s lost, %v after the fault", said[2], said[3], took.Round(time.Millisecond))
	default:
		t.Logf("ended by the launcher %v after the fault: %v", took.Round(time.Millisecond), err)
	}
	return whole
}

// listen starts a worker and returns its address.
func listen(t *testing.T, orepl string, env []string) string {
	t.Helper()
	cmd := exec.Command(orepl, "worker")
	cmd.Env = env
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	go func() { _, _ = io.Copy(io.Discard, out); _ = cmd.Wait() }()
	return strings.TrimPrefix(strings.TrimSpace(line), "OREPL_FAR=")
}

// processes returns the running processes of a run, optionally only those with an argument.
func processes(t *testing.T, id, argument string) (list []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	must(t, err)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		environment, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if !bytes.Contains(environment, []byte(mark+"="+id)) || len(line) == 0 {
			continue
		}
		if words := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00"); argument == "" || len(words) > 1 && words[len(words)-1] == argument &&
			filepath.Base(words[0]) == "orepl" {
			list = append(list, pid)
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
