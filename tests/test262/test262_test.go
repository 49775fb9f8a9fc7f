package test262

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// checkout names the environment variable with the path of a checkout of tc39/test262.
const checkout = "OREPL_TEST262"

var (
	update   = flag.Bool("update", false, "write known.txt")
	onlyPart = flag.String("only", "", "run the tests whose paths contain this, and print why they fail")
	onlySet  = flag.String("set", "", "run a set of tests: es2024, later or known")
	tableTo  = flag.String("table", "", "write the table by directory to this file")
)

func TestMain(m *testing.M) {
	if root := os.Getenv("OREPL_TEST262_SERVE"); root != "" {
		if err := serve(root, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestSuite runs the suite and compares its failures with known.txt.
func TestSuite(t *testing.T) {
	root := os.Getenv(checkout)
	switch {
	case root == "":
		t.Skip(checkout + " does not name a checkout of https://github.com/tc39/test262")
	case os.Getenv("OREPL_TEST_LONG") != "1" && *onlyPart == "" && *onlySet == "":
		t.Skip("the suite takes minutes; OREPL_TEST_LONG=1 runs it, as ./tests/run --long does")
	}
	root, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	known, reasons, err := readKnown("known.txt")
	if err != nil {
		t.Fatal(err)
	}
	all, err := load(root)
	if err != nil {
		t.Fatal(err)
	}
	var tests []*test
	failed := map[string]string{} // those that do not run now fail as before
	for _, x := range all {
		in := map[string]bool{"": true, "es2024": x.set() == es2024, "later": x.set() == newer, "known": known[x.path] != ""}
		if in[*onlySet] && strings.Contains(x.path, *onlyPart) {
			tests = append(tests, x)
		} else if known[x.path] != "" {
			failed[x.path] = known[x.path]
		}
	}
	if len(tests) == 0 {
		t.Fatalf("%s: no test", root)
	}
	now := runAll(t, root, tests)
	maps.Copy(failed, now)
	for _, x := range tests {
		switch reason, bad := now[x.path]; {
		case bad && known[x.path] == "":
			t.Errorf("%s: %s", x.path, reason)
		case bad && *onlyPart != "":
			t.Logf("%s: %s (known: %s)", x.path, reason, known[x.path])
		case !bad && known[x.path] != "":
			t.Logf("%s passes, but stands in known.txt: remove it", x.path)
		}
	}
	t.Logf("%d of %d passed", len(tests)-len(now), len(tests))
	if *tableTo != "" {
		if err := os.WriteFile(*tableTo, []byte(table(all, failed)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if *update {
		if err := writeKnown("known.txt", failed, known, reasons); err != nil {
			t.Fatal(err)
		}
	}
}

// runAll runs tests in a process for each processor and returns why those that failed did.
func runAll(t *testing.T, root string, tests []*test) map[string]string {
	queue := make(chan string)
	go func() {
		for _, x := range tests {
			queue <- x.path
		}
		close(queue)
	}()
	failed := map[string]string{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range min(runtime.NumCPU(), len(tests)) {
		wg.Go(func() {
			s := &server{root: root}
			defer s.stop()
			for path := range queue {
				r, err := s.run(path)
				mu.Lock()
				if err != nil {
					t.Errorf("%s: %v", path, err)
				}
				if err != nil || r.Reason != "" {
					failed[path] = r.Reason
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return failed
}

// A server is a process that runs tests, started again after one that ends it.
type server struct {
	root    string
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	message *strings.Builder // its standard error
}

// run runs a test. An error means that the test ended the process or did not end.
func (s *server) run(path string) (result, error) {
	if s.cmd == nil {
		if err := s.start(); err != nil {
			return result{}, err
		}
	}
	_, err := fmt.Fprintln(s.in, path)
	var line []byte
	if err == nil {
		line, err = s.out.ReadBytes('\n')
	}
	var r result
	if err == nil {
		err = json.Unmarshal(line, &r)
	}
	if err != nil {
		s.stop()
		text := s.message.String()
		return result{Path: path, Reason: "ended the process"}, fmt.Errorf("the test ended its process:\n%s", text[:min(len(text), 4000)])
	}
	if r.Ended {
		s.stop()
		return r, fmt.Errorf("%s", r.Reason)
	}
	return r, nil
}

func (s *server) start() (err error) {
	name, err := os.Executable()
	if err != nil {
		return err
	}
	s.message = &strings.Builder{}
	s.cmd = exec.Command(name)
	s.cmd.Env = append(os.Environ(), "OREPL_TEST262_SERVE="+s.root, "GOMAXPROCS=2", "GOMEMLIMIT=1GiB")
	s.cmd.Stderr = s.message
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	s.out = bufio.NewReader(out)
	return s.cmd.Start()
}

func (s *server) stop() {
	if s.cmd != nil {
		s.in.Close()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}
