//go:build unix

package mutation

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var (
	count   = flag.Int("mutants", 0, "faults to plant; 0: 200 in a long run, else none")
	seed    = flag.Uint64("seed", 1, "that chooses them")
	skip    = flag.Int("skip", 0, "leave out that many of the faults chosen: those that an earlier run of the same code measured")
	workers = flag.Int("workers", 1, "copies of the tree that work at a time")
	only    = flag.String("only", "", "plant faults in this folder alone, as in plugins/cpu/internal/spmd, which no other run does")
	match   = flag.String("match", "", "plant the faults that this file lists as the test reports them, one a line, and no others")
)

// area is a part of the compiler with the tests that should notice its faults, the quickest first.
type area struct {
	folder string
	tests  [][]string
	apart  bool // faults are planted only if the folder is asked for
}

func (a *area) chosen() bool { return *only == a.folder || *only == "" && !a.apart }

var (
	rules    = []string{"./tests/kernlang", "-short", "-run", "Rules|Diagnostics"} // a second's work that notices most
	kernlang = []string{"./tests/kernlang", "-short"}
	programs = []string{"./tests/kernlang/progen", "-programs", "100"}
	oracle   = []string{"./lang/kernel/oracle"}
	areas    = []area{
		{folder: "lang/kernel", tests: [][]string{{"./lang/kernel"}, rules, kernlang, programs}},
		{folder: "lang/kernel/syntax", tests: [][]string{{"./lang/kernel"}, rules, kernlang, programs}},
		{folder: "lang/kernel/interp", tests: [][]string{{"./lang/kernel/interp"}, rules, kernlang, oracle, {"./lang/kernel"}, programs}},
		{folder: "lang/kernel/opt", tests: [][]string{{"./lang/kernel/opt"}, rules, oracle, kernlang, programs}},
		{folder: "plugins/cpu/internal/spmd", tests: [][]string{{"./plugins/cpu/internal/spmd"}, {"./plugins/cpu"}}, apart: true},
	}
)

// caughtAtLeast is the share of faults, without those known to change nothing, that the tests must notice.
const caughtAtLeast = 0.95

// testLimit ends a test that a fault keeps from ending, which counts as noticed.
const testLimit = 4 * time.Minute

// TestFaultsAreCaught plants faults and expects the tests to notice them.
func TestFaultsAreCaught(t *testing.T) {
	n := *count
	if n == 0 && *match == "" {
		if os.Getenv("OREPL_TEST_LONG") != "1" {
			t.Skip("planting faults takes hours: ./tests/run --long, or -mutants N")
		}
		n = 200
	}
	same := equivalents(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	jobs := choose(t, root, n)
	jobs = jobs[min(*skip, len(jobs)):]
	s := &score{t: t, same: same, want: len(jobs)}
	queue := make(chan job)
	var done sync.WaitGroup
	for i := range *workers {
		dir := t.TempDir()
		if err := copyTree(root, dir); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			sound(t, dir)
		}
		done.Add(1)
		go func() {
			defer done.Done()
			for j := range queue {
				s.plant(dir, j)
			}
		}()
	}
	for _, j := range jobs {
		queue <- j
	}
	close(queue)
	done.Wait()
	t.Logf("%d faults: %d caught, %d change nothing, %d survived, %d did not compile", s.planted, s.caught, s.equivalent, len(s.survived), s.invalid)
	if float64(s.caught) < caughtAtLeast*float64(s.planted-s.equivalent) {
		t.Errorf("fewer than %v of the faults are caught; the others:\n%s", caughtAtLeast, strings.Join(s.survived, "\n"))
	}
}

// sound checks that the tests pass without a fault: else each would seem to be caught.
func sound(t *testing.T, dir string) {
	ran := map[string]bool{}
	for i := range areas {
		if *match == "" && !areas[i].chosen() {
			continue
		}
		for _, test := range areas[i].tests {
			if name := strings.Join(test, " "); !ran[name] && fails(dir, test) {
				t.Fatalf("%s fails without any fault", name)
			} else {
				ran[name] = true
			}
		}
	}
}

// job is faults of one area to try in turn, until one compiles.
type job struct {
	area    *area
	mutants []Mutant
}

// choose draws faults, equally many from each area. A fault that does not compile makes place for the next.
func choose(t *testing.T, root string, n int) []job {
	if *match != "" {
		return listed(t, root)
	}
	rng := rand.New(rand.NewPCG(*seed, 0))
	var jobs []job
	var use []*area
	for i := range areas {
		if areas[i].chosen() {
			use = append(use, &areas[i])
		}
	}
	for i, a := range use {
		all, err := Find(root, a.folder)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d faults to choose from", a.folder, len(all))
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		share := n / len(use)
		if i < n%len(use) {
			share++
		}
		for k := range share {
			j := job{area: a}
			for at := k; at < len(all); at += share {
				j.mutants = append(j.mutants, all[at])
			}
			jobs = append(jobs, j)
		}
	}
	rng.Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
	return jobs
}

// listed is the faults that the file of -match names.
func listed(t *testing.T, root string) (jobs []job) {
	data, err := os.ReadFile(*match)
	if err != nil {
		t.Fatal(err)
	}
	for i := range areas {
		all, err := Find(root, areas[i].folder)
		if err != nil {
			t.Fatal(err)
		}
		for k := range all {
			if strings.Contains(string(data), all[k].String()+"\n") {
				jobs = append(jobs, job{&areas[i], all[k : k+1]})
			}
		}
	}
	return jobs
}

// score counts what became of the faults.
type score struct {
	t    *testing.T
	same map[string]bool
	want int

	mu                                   sync.Mutex
	planted, caught, equivalent, invalid int
	survived                             []string
}

// plant tries the faults of a job until one compiles, and counts whether a test notices it.
func (s *score) plant(dir string, j job) {
	for i := range j.mutants {
		m := &j.mutants[i]
		path := filepath.Join(dir, filepath.FromSlash(m.File))
		text, err := os.ReadFile(path)
		if err != nil {
			s.t.Error(err)
			return
		}
		if err := os.WriteFile(path, m.Apply(text), 0o600); err != nil {
			s.t.Error(err)
			return
		}
		compiles := command(dir, "build", "./"+j.area.folder) == nil
		by := ""
		if compiles && !s.same[m.Key()] {
			by = caughtBy(dir, j.area)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			s.t.Error(err)
			return
		}
		if s.count(m, compiles, by) {
			return
		}
	}
}

func (s *score) count(m *Mutant, compiles bool, by string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !compiles {
		s.invalid++
		return false
	}
	s.planted++
	switch {
	case s.same[m.Key()]:
		s.equivalent++
	case by != "":
		s.caught++
		s.t.Logf("%d/%d caught by %s: %v", s.planted, s.want, by, m)
	default:
		s.survived = append(s.survived, m.String())
		s.t.Logf("%d/%d SURVIVED: %v", s.planted, s.want, m)
	}
	return true
}

// caughtBy runs the tests of an area and gives the package of the first that fails.
func caughtBy(dir string, a *area) string {
	for _, test := range a.tests {
		if fails(dir, test) {
			return strings.Join(test, " ")
		}
	}
	return ""
}

// fails runs a test: a package, and flags.
func fails(dir string, test []string) bool {
	return command(dir, append([]string{"test", "-vet=off", "-failfast", "-count=1", test[0]}, test[1:]...)...) != nil
}

func command(dir string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), testLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "OREPL_TEST_LONG=0", "CGO_ENABLED=0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the test that go runs ends with it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	return cmd.Run()
}

// equivalents are the faults known to change nothing that a test could see; equivalent.txt has them with the reasons.
func equivalents(t *testing.T) map[string]bool {
	f, err := os.Open("testdata/equivalent.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	out := map[string]bool{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if line := lines.Text(); line != "" && !strings.HasPrefix(line, "#") {
			out[line] = true
		}
	}
	return out
}

// copyTree copies the module's files, without version control and without what builds leave.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".git" || rel == "bin" || rel == "out" {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		if !d.Type().IsRegular() || strings.HasSuffix(path, ".test") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o600)
	})
}
