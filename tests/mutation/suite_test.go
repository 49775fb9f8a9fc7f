//go:build unix

package mutation

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// suite is a package's tests, built from the tree with the faults at the first use.
type suite struct {
	folder string

	once   sync.Once
	failed error // the error of prepare
	binary string
	tests  []timedTest // fastest first

	mu     sync.Mutex
	caught map[string]int // number of detected faults, by test
}

type timedTest struct {
	name    string
	took    time.Duration // processor time
	reaches map[int]bool  // reached faults
}

// quick is the limit for tests that run together in one process; slower ones run one by one. The test that detected most
// faults runs first.
const quick = 500 * time.Millisecond

// prepare builds the tests and runs each without a fault: it must pass, and reports the faults that it reaches.
func (s *suite) prepare(dir string) error {
	s.binary = filepath.Join(dir, "bin", strings.ReplaceAll(s.folder, "/", "_")+".test")
	if out, _, err := command(dir, buildLimit, nil, "go", "test", "-c", "-vet=off", "-o", s.binary, "./"+s.folder); err != nil {
		return fmt.Errorf("%s: %w\n%s", s.folder, err, out)
	}
	names, _, err := s.run(dir, buildLimit, nil, "-test.list", "^(Test|Fuzz|Example)")
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", s.folder, err, names)
	}
	for _, name := range strings.Fields(string(names)) {
		if *leave != "" && regexp.MustCompile(*leave).MatchString(name) {
			continue
		}
		test, err := s.without(dir, name)
		if err != nil {
			return fmt.Errorf("%s %s fails without any fault: %w", s.folder, name, err)
		}
		if len(test.reaches) > 0 {
			s.tests = append(s.tests, test)
		}
	}
	slices.SortStableFunc(s.tests, func(a, b timedTest) int { return cmp.Compare(a.took, b.took) })
	return nil
}

// without runs a test without a fault.
func (s *suite) without(dir, name string) (timedTest, error) {
	test := timedTest{name: name, reaches: map[int]bool{}}
	file := filepath.Join(dir, "bin", "reached")
	defer func() { _ = os.Remove(file) }()
	out, took, err := s.run(dir, buildLimit, []string{ReachedVariable + "=" + file}, "-test.run", "^"+name+"$")
	test.took = took
	if err != nil {
		return test, fmt.Errorf("%w\n%s", err, out)
	}
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return test, err
	}
	for _, line := range strings.Fields(string(data)) {
		n, err := strconv.Atoi(line)
		if err != nil {
			return test, err
		}
		test.reaches[n] = true
	}
	return test, nil
}

// catches returns the test that detects a fault, or "", and whether any test reaches it.
func (s *suite) catches(dir string, fault int) (by string, reached bool, err error) {
	s.once.Do(func() { s.failed = s.prepare(dir) })
	if s.failed != nil {
		return "", false, s.failed
	}
	first := s.best()
	run := func(tests []timedTest) string {
		var names []string
		limit := 5 * time.Second
		for _, test := range tests {
			names = append(names, test.name)
			limit += 5 * test.took
		}
		if len(names) == 0 {
			return ""
		}
		out, _, err := s.run(dir, limit, []string{FaultVariable + "=" + strconv.Itoa(fault)},
			"-test.failfast", "-test.run", "^("+strings.Join(names, "|")+")$")
		if err == nil {
			return ""
		}
		by := strings.Join(names, " ")
		if m := failure.FindSubmatch(out); m != nil {
			by = string(m[1])
		} // otherwise a crash or a timeout
		s.count(by)
		return s.folder + " " + by
	}
	var ahead, together []timedTest
	var slow [][]timedTest
	for _, test := range s.tests {
		switch {
		case !test.reaches[fault]:
		case test.name == first:
			ahead = append(ahead, test)
		case test.took > quick:
			slow = append(slow, []timedTest{test})
		default:
			together = append(together, test)
		}
	}
	for _, tests := range append([][]timedTest{ahead, together}, slow...) {
		reached = reached || len(tests) > 0
		if by := run(tests); by != "" {
			return by, true, nil
		}
	}
	return "", reached, nil
}

func (s *suite) count(test string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.caught == nil {
		s.caught = map[string]int{}
	}
	s.caught[test]++
}

// best returns the test that has detected most faults.
func (s *suite) best() (best string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for test, n := range s.caught {
		if n > s.caught[best] || n == s.caught[best] && test < best {
			best = test
		}
	}
	return best
}

var failure = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)

// run runs the tests' binary in the package's folder, as go test does.
func (s *suite) run(dir string, limit time.Duration, env []string, args ...string) ([]byte, time.Duration, error) {
	if testing.Short() {
		args = append(args, "-test.short")
	}
	return command(filepath.Join(dir, filepath.FromSlash(s.folder)), limit, env, s.binary, args...)
}

// buildLimit is the time limit of a build, and of a test without a fault.
const buildLimit = 10 * time.Minute

// command runs a program and returns its output and processor time. A fault may cause endless allocation or endless loops,
// so memory, processor time and elapsed time are limited.
func command(dir string, limit time.Duration, env []string, name string, args ...string) ([]byte, time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*limit)
	defer cancel()
	script := fmt.Sprintf(`ulimit -d 4000000; ulimit -t %d; exec "$@"`, max(1, int(limit.Seconds())))
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", script, "sh", name}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "OREPL_TEST_LONG=0", "CGO_ENABLED=0"), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // lets child processes be killed with it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return nil, 0, err
	}
	return out.Bytes(), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), err
}
