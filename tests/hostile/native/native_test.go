//go:build linux && amd64

// Package native runs functions of a hostile C library as kernels: whatever one does, the session goes on, or the process ends by
// itself with the reason.
package native

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orepl/orepl/cmd/orepl/command"
	"github.com/orepl/orepl/tests/clang"
)

// TestMain lets this test binary run as the command, also as a worker that the command starts.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "orepl" {
		os.Exit(command.Main(command.Options{}))
	}
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} { // programs that tests start must not inherit that they are ignored
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	os.Exit(m.Run())
}

const (
	ended = "ended 1"
	slow  = "caught timeout"
)

// fault is the result of a function that ends with this text.
func fault(text string) string { return "caught backend-failure: .*native code: .*" + text }

// survived are the functions after which the session goes on, with their results.
var survived = []struct{ name, want string }{
	{"exit_thread", fault("pthread_exit")},
	{"exit_thrd", fault("thrd_exit")},
	{"exit_raw_thread", fault(`syscall\(60\)`)},
	{"exit_process", fault(`exit\(3\), which would end the process, at offset`)},
	{"exit_at_once", fault(`_exit\(4\)`)},
	{"exit_quick", fault(`quick_exit\(5\)`)},
	{"exit_raw", fault(`syscall\(231\)`)},
	{"exit_zero", fault(`exit\(0\)`)},
	{"aborts", fault("SIGABRT")},
	{"replaces_process", fault("execl, which would replace the process")},
	{"forks", ended}, {"forks_child_returns", ended}, {"vforks", ended}, {"direct_fork_returns", ended},
	{"raises_segv", fault("SIGSEGV by raise")}, {"raises_bus", fault("SIGBUS by raise")}, {"raises_fpe", fault("SIGFPE by raise")},
	{"raises_ill", fault("SIGILL by raise")}, {"raises_trap", fault("SIGTRAP by raise")}, {"raises_sys", fault("SIGSYS by raise")},
	{"raises_term", fault("SIGTERM by raise")}, {"raises_hup", fault("SIGHUP by raise")}, {"raises_quit", fault("SIGQUIT by raise")},
	{"raises_stop", fault("SIGTSTP by raise")}, {"breakpoint", fault("SIGTRAP")},
	{"raises_urg", ended}, {"raises_pipe", ended}, {"raises_usr1", ended}, {"raises_realtime", ended},
	{"kills_segv", fault("SIGSEGV by kill")}, {"kills_abrt", fault("SIGABRT by kill")}, {"kills_fpe", fault("SIGFPE by kill")},
	{"kills_term", fault("SIGTERM by kill")}, {"kills_kill", fault("SIGKILL by kill")}, {"queues_segv", fault("SIGSEGV by sigqueue")},
	{"stops_process", fault("SIGSTOP by kill")}, {"kills_other_threads", fault(`syscall\(234\)`)}, {"cancels_itself", fault("pthread_cancel")},
	{"direct_kill", fault("SIGSEGV")}, {"direct_raise", fault("SIGFPE")},
	{"default_segv", ended}, {"default_all", ended}, {"own_all", ended}, {"ignore_all", ended}, {"raw_action", ended}, {"direct_actions", ended},
	{"default_then_fault", fault("SIGSEGV")}, {"own_then_fault", fault("SIGSEGV")}, {"ignore_then_divide", fault("SIGFPE")},
	{"default_then_spin", slow}, {"ignore_then_spin", slow},
	{"blocks", ended}, {"direct_blocks", ended}, {"blocks_spins", slow}, {"blocks_sleeps", slow}, {"raw_block_spins", slow},
	{"blocks_faults", fault("SIGSEGV")},
	{"moves_signal_stack", ended}, {"no_signal_stack", ended}, {"direct_no_stack", ended}, {"no_signal_stack_recurses", fault("stack overflow")},
	{"timer", ended}, {"prof_timer", ended}, {"alarm_soon", slow},
	{"rounds_up", ended}, {"flushes", ended}, {"x87_single", ended}, {"direction_flag", ended}, {"traps_later", ended}, {"traps_floats", fault("SIGFPE")},
	{"changes_folder", ended}, {"changes_umask", ended}, {"changes_limits", ended}, {"limits_memory", ended}, {"limits_cpu", slow},
	{"closes_files", ended}, {"closes_all_files", ended}, {"changes_environment", ended}, {"traced", ended}, {"no_new_calls", ended},
	{"not_dumpable", ended}, {"dies_with_parent", ended}, {"one_cpu", ended},
	{"jumps", ended}, {"jumps_nowhere", fault("SIGSEGV")}, {"jumps_into_ended", "(ended 1|" + fault("SIG") + ")"}, {"recurses", fault("stack overflow")},
	{"writes_code", fault("SIGSEGV")}, {"unmaps_stack", ended}, {"illegal", fault("SIGILL")}, {"divides", fault("SIGFPE")},
	{"null_call", fault("SIGSEGV")}, {"wild_stack", fault("SIGSEGV")}, {"wild_stack_spins", slow},
	{"frees_twice", fault("SIGABRT")}, {"sleeps", slow}, {"reads_pipe", slow}, {"deadlocks", slow},
	{"thread_faults", fault("SIGSEGV")},
	{"lowest_priority", ended}, // the last one, since it slows the process
}

// alone are functions that run in a process of their own.
var alone = []struct {
	name, limit string
	device      string
	options     []string
	interrupt   bool
	code        int
	want        string // in the output
}{
	{name: "thread_exits", code: 107, want: "error: a thread that native code created ended the process by exit"},
	{name: "direct_exit_thread", code: 107, want: `a thread of this process ended in the function "direct_exit_thread"`},
	{name: "direct_exit_thread", options: []string{"--timeout", "30s"}, code: 107, want: `a thread of this process ended in the function "direct_exit_thread"`},
	{name: "direct_block_spins", limit: "100", code: 107, want: `the function "direct_block_spins" cannot be stopped`},
	{name: "direct_block_spins", options: []string{"--timeout", "1s"}, code: 124, want: "timeout"},
	{name: "direct_block_spins", interrupt: true, code: 130, want: "stopped with Ctrl-C"},
	{name: "direct_exit_thread", device: "far:cpu:0", code: 0, want: "caught device-lost.*\n(.*\n)*alive"},
	{name: "direct_block_spins", device: "far:cpu:0", limit: "100", code: 0, want: "caught device-lost.*\n(.*\n)*alive"},
	{name: "thread_exits", device: "far:cpu:0", code: 0, want: "caught device-lost.*\n(.*\n)*alive"},
	{name: "smashes_heap", code: 0, want: "alive"},
	{name: "unmaps_itself", code: 107, want: "caught backend-failure(.*\n)*alive\n(.*\n)*.*destructor"},
	{name: "protects_itself", code: 107, want: "caught backend-failure(.*\n)*alive\n(.*\n)*.*destructor"},
	{name: "fault_at_exit_", code: 107, want: "ended 1(.*\n)*alive\n(.*\n)*.*destructor"},
	{name: "hang_at_exit", options: []string{"--timeout", "2s"}, code: 124, want: "ended 1\nalive\n(.*\n)*.*timeout"},
	{name: "blocked_thread_spins", limit: "100", code: 0, want: "caught timeout(.*\n)*alive"},
	{name: "leaves_thread", code: 0, want: "ended 1(.*\n)*alive"},
}

// overdue is the time after which a process that hangs is killed.
const overdue = 3 * time.Minute

// room is a folder with the command, the library and the script's files.
func room(t *testing.T) (dir string) {
	dir = t.TempDir()
	source, err := os.ReadFile("testdata/hostile.c")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("testdata/try.js")
	if err != nil {
		t.Fatal(err)
	}
	library := clang.Build(t, "hostile.c", string(source), "-O1", "-shared", "-fPIC", "-w", "-lm", "-lpthread")
	data, err := os.ReadFile(library)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"hostile.so": data, "try.js": script, "data.txt": []byte("data\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(exe, filepath.Join(dir, "orepl")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// output keeps what a process writes. It closes begun at the first line.
type output struct {
	text  bytes.Buffer
	begun chan bool
}

func (o *output) Write(p []byte) (int, error) {
	if o.text.Len() == 0 {
		close(o.begun)
	}
	return o.text.Write(p)
}

// run runs the script and returns what it wrote. With interrupt it sends SIGINT from the script's first line on. A process that hangs is killed.
func run(t *testing.T, dir string, options []string, interrupt bool, args ...string) (text string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), overdue)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "orepl"), append(append(append([]string{"run"}, options...), "try.js"), args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "OREPL_FAR=spawn")
	cmd.WaitDelay = time.Second
	out := output{begun: make(chan bool)}
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if interrupt {
		select {
		case <-out.begun:
		case <-ctx.Done():
		}
	}
	for running := true; running; {
		select {
		case <-ended:
			running = false
		case <-time.After(300 * time.Millisecond): // a signal may come before the call
			if interrupt {
				_ = cmd.Process.Signal(syscall.SIGINT)
			}
		}
	}
	if ctx.Err() != nil {
		t.Errorf("the process did not end")
	}
	return out.text.String(), cmd.ProcessState.ExitCode()
}

// TestSurvived calls functions one after the other in a session, and uses it after each.
func TestSurvived(t *testing.T) {
	dir := room(t)
	const batch = 20
	for first := 0; first < len(survived); first += batch {
		part := survived[first:min(first+batch, len(survived))]
		args := []string{"hostile.so", "cpu", "0"}
		for _, c := range part {
			name := c.name
			if c.want == slow {
				name += "@60"
			}
			args = append(args, name)
		}
		out, code := run(t, dir, nil, false, args...)
		if code != 0 || !strings.HasSuffix(out, "alive\n") {
			t.Errorf("exit code %d:\n%.4000s", code, out)
			continue
		}
		for _, c := range part {
			if !regexp.MustCompile(`(?m)^` + c.name + ": " + c.want).MatchString(out) {
				t.Errorf("%s: no %q in:\n%s", c.name, c.want, out)
			}
		}
		if strings.Contains(out, "AFTERWARDS") || strings.Count(out, "alive") != 1 {
			t.Errorf("the session is not as before:\n%s", out)
		}
	}
	if len(survived)+len(alone) < 100 {
		t.Errorf("%d functions", len(survived)+len(alone))
	}
}

// TestAlone calls functions that a session does not survive, or not in order.
func TestAlone(t *testing.T) {
	dir := room(t)
	for _, c := range alone {
		t.Run(fmt.Sprint(c.name, c.device, c.options, c.limit, c.interrupt), func(t *testing.T) {
			id, limit := c.device, c.limit
			if id == "" {
				id = "cpu"
			}
			if limit == "" {
				limit = "0"
			}
			out, code := run(t, dir, c.options, c.interrupt, "hostile.so", id, limit, c.name)
			if code != c.code || !regexp.MustCompile(c.want).MatchString(out) {
				t.Errorf("exit code %d, want %d and %q:\n%.3000s", code, c.code, c.want, out)
			}
			for _, text := range []string{"goroutine ", "runtime.", "fatal error:"} {
				if strings.Contains(out, text) {
					t.Errorf("the output has %q:\n%.3000s", text, out)
				}
			}
		})
	}
}
