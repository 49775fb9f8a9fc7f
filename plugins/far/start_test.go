//go:build linux

package far_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orepl/orepl/plugins/far"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/silence"
)

// mishap is the environment variable that names what a worker of these tests does before it serves.
const mishap = "OREPL_TEST_MISHAP"

// suffer ends, stops or blocks this process as the environment variable [mishap] says.
func suffer() {
	switch os.Getenv(mishap) {
	case "exit":
		os.Exit(3)
	case "stop":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case "term":
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
		select {}
	case "silent":
		select {}
	}
}

// host opens a worker, prints its process number, and waits for its own end.
func host() {
	if _, err := far.New(far.Options{Workers: []string{"spawn:" + os.Args[0]}}).Open(context.Background()); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	select {}
}

// TestMishapBeforeAnswer starts workers that end, stop or are silent before they answer. Opening fails, says why, and leaves no
// process.
func TestMishapBeforeAnswer(t *testing.T) {
	for _, c := range []struct{ what, reason string }{
		{"exit", "the process ended (exit status 3)"},
		{"term", "the process ended (signal: terminated)"},
		{"stop", "a signal has stopped its process"},
		{"silent", "it has sent nothing for 10s"},
	} {
		t.Run(c.what, func(t *testing.T) {
			if c.what == "silent" && testing.Short() {
				t.Skip("waits for the time limit")
			}
			t.Setenv(mishap, c.what)
			t.Setenv(silence.Variable, "1s")
			_, err := far.New(far.Options{Workers: []string{"spawn:" + os.Args[0]}}).Open(t.Context())
			if offload.CodeOf(err) != offload.DeviceLost || !strings.Contains(fmt.Sprint(err), "the worker of far did not answer: "+c.reason) {
				t.Errorf("opening gave %v", err)
			}
			for _, pid := range children(t, os.Getpid()) {
				t.Errorf("process %d is left", pid)
			}
		})
	}
}

// TestCancelBeforeAnswer ends the wait for a stopped worker's answer.
func TestCancelBeforeAnswer(t *testing.T) {
	t.Setenv(mishap, "stop")
	t.Setenv(silence.Variable, "off")
	ctx, cancel := context.WithCancel(t.Context())
	opened := make(chan error, 1)
	go func() {
		_, err := far.New(far.Options{Workers: []string{"spawn:" + os.Args[0]}}).Open(ctx)
		opened <- err
	}()
	for len(children(t, os.Getpid())) == 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-opened; offload.CodeOf(err) != offload.Cancelled {
		t.Errorf("opening gave %v", err)
	}
	for _, pid := range children(t, os.Getpid()) {
		t.Errorf("process %d is left", pid)
	}
}

// TestOrphan kills a process whose worker is stopped. The worker ends, too.
func TestOrphan(t *testing.T) {
	cmd := exec.Command(os.Args[0], "host")
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if must(t, err); line != "ready\n" {
		t.Fatalf("the host says %q", line)
	}
	workers := children(t, cmd.Process.Pid)
	if len(workers) != 1 {
		t.Fatalf("the host has processes %v", workers)
	}
	worker, err := os.FindProcess(workers[0])
	must(t, err)
	must(t, worker.Signal(syscall.SIGSTOP))
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	for end := time.Now().Add(time.Minute); running(workers[0]); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			_ = worker.Kill()
			t.Fatal("the worker is still there")
		}
	}
}

// children returns the processes that a process has started and that have not ended.
func children(t *testing.T, parent int) (list []int) {
	t.Helper()
	entries, _ := os.ReadDir("/proc") // an error cuts the list short: a process has ended meanwhile
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if fields := status(pid); len(fields) > 1 && fields[1] == strconv.Itoa(parent) && fields[0] != "Z" {
			list = append(list, pid)
		}
	}
	return list
}

// running reports whether a process exists and has not ended.
func running(pid int) bool {
	fields := status(pid)
	return len(fields) > 0 && fields[0] != "Z"
}

// status returns the state of a process and its parent, from the fields after its name.
func status(pid int) []string {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(data), ") ")
	return strings.Fields(rest)
}
