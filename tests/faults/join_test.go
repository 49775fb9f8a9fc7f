//go:build linux

package faults

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// host is a running script that workers join.
type host struct {
	t       *testing.T
	cmd     *exec.Cmd
	address string // where workers join
	env     []string
	lines   chan string

	mu   sync.Mutex
	text strings.Builder
}

// startHost starts a script of testdata that listens for workers, and returns when it does.
func startHost(t *testing.T, listen, script string, args ...string) *host {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	t.Cleanup(cancel)
	h := &host{t: t, lines: make(chan string, 1000), env: append(os.Environ(), "OREPL_TOKEN=a token of this test", mark+"="+strconv.FormatUint(rand.Uint64(), 36))}
	h.cmd = exec.CommandContext(ctx, binary(t), append([]string{"run", "testdata/" + script}, args...)...)
	h.cmd.Env = append(h.env, "OREPL_FAR=listen:"+listen)
	in, out, err := os.Pipe()
	must(t, err)
	h.cmd.Stdout, h.cmd.Stderr = out, out
	must(t, h.cmd.Start())
	_ = out.Close()
	go func() {
		defer close(h.lines)
		for lines := bufio.NewScanner(in); lines.Scan(); {
			h.mu.Lock()
			h.text.WriteString(lines.Text() + "\n")
			h.mu.Unlock()
			h.lines <- lines.Text()
		}
	}()
	h.address = strings.TrimPrefix(h.await("far: workers join by: orepl worker --join "), "far: workers join by: orepl worker --join ")
	return h
}

// await returns the next line that contains a text.
func (h *host) await(text string) string {
	h.t.Helper()
	late := time.After(endTime)
	for {
		select {
		case line, ok := <-h.lines:
			switch {
			case !ok:
				h.t.Fatalf("the script ended without %q:\n%s", text, h.said())
			case strings.Contains(line, text):
				return line
			}
		case <-late:
			h.t.Fatalf("the script did not say %q:\n%s", text, h.said())
		}
	}
}

func (h *host) said() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// join starts a worker that joins the script.
func (h *host) join() *exec.Cmd {
	h.t.Helper()
	cmd := exec.Command(binary(h.t), "worker", "--join", h.address)
	cmd.Env = h.env
	must(h.t, cmd.Start())
	h.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

// end waits for the script, which must succeed, and for the workers that were not killed.
func (h *host) end(workers ...*exec.Cmd) {
	h.t.Helper()
	for range h.lines {
	}
	if err := h.cmd.Wait(); err != nil {
		h.t.Errorf("the script ended with %v:\n%s", err, h.said())
	}
	for _, w := range workers {
		late := time.AfterFunc(lateTime, func() { _ = w.Process.Kill() })
		if err := w.Wait(); err != nil {
			h.t.Errorf("a worker ended with %v after the script", err)
		}
		late.Stop()
	}
	id := strings.TrimPrefix(h.env[len(h.env)-1], mark+"=")
	for end := time.Now().Add(lateTime); len(processes(h.t, id, "")) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("processes are left: %v", processes(h.t, id, ""))
		}
	}
}

// TestJoin lets workers join a script and leave it while its pool works: one is killed, one ends by a signal, and for a while there is none.
func TestJoin(t *testing.T) {
	for _, network := range []string{"tcp:127.0.0.1:0", "tls:127.0.0.1:0", "unix:"} {
		t.Run(strings.TrimSuffix(network, ":"), func(t *testing.T) {
			t.Parallel()
			gates := t.TempDir()
			open := func(name string) { must(t, os.WriteFile(filepath.Join(gates, name), []byte("open"), 0o600)) }
			if network == "unix:" {
				network += filepath.Join(gates, "socket")
			}
			h := startHost(t, network, "join.js", gates)
			first := h.join()
			h.await("on far:0/cpu:0")
			second := h.join()
			h.await("on far:1/cpu:0")
			must(t, first.Process.Kill())
			_ = first.Wait()
			third := h.join()
			h.await("on far:2/cpu:0")
			must(t, second.Process.Signal(syscall.SIGTERM))
			if _ = second.Wait(); second.ProcessState.ExitCode() != 128+int(syscall.SIGTERM) {
				t.Errorf("the worker ends with %v", second.ProcessState)
			}
			open("0") // the tasks of the lost workers run again
			h.await("task 8 on far:2/cpu:0")
			must(t, third.Process.Kill())
			_ = third.Wait()
			open("1")
			h.await("wait until a worker joins")
			fourth := h.join()
			h.await("right true of 16")
			h.end(fourth)
		})
	}
}

// TestJoinAtRandom lets workers join a script and kills others at random times.
func TestJoinAtRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	tasks := 60
	if os.Getenv("OREPL_TEST_LONG") == "1" {
		tasks = 2000
	}
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("OREPL_FAULTS_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	h := startHost(t, "tcp:127.0.0.1:0", "joinrandom.js", strconv.Itoa(tasks))
	var running []*exec.Cmd
	killed := 0
	h.await("begin")
	for ended := false; !ended; {
		switch n := len(running); {
		case n < 2 || n < 4 && r.IntN(2) == 0:
			running = append(running, h.join())
		default:
			at := r.IntN(n)
			must(t, running[at].Process.Signal([]syscall.Signal{syscall.SIGKILL, syscall.SIGTERM}[r.IntN(2)]))
			_ = running[at].Wait()
			running = append(running[:at], running[at+1:]...)
			killed++
		}
		pause := time.After(time.Duration(100+r.IntN(400)) * time.Millisecond)
		for paused := false; !paused && !ended; {
			select {
			case line, ok := <-h.lines:
				ended = !ok || strings.HasPrefix(line, "right ")
			case <-pause:
				paused = true
			}
		}
	}
	for range h.lines {
	}
	if want := fmt.Sprintf("right true of %d\n", tasks); !strings.Contains(h.said(), want) {
		t.Errorf("the script says\n%s", h.said())
	}
	t.Logf("%d workers were killed", killed)
	for _, w := range running { // those that join late find no script
		_ = w.Process.Signal(syscall.SIGTERM)
		_ = w.Wait()
	}
	h.end()
}
