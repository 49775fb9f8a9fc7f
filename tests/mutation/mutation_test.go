//go:build unix

package mutation

import (
	"bufio"
	"errors"
	"flag"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

var (
	count   = flag.Int("mutants", 0, "faults to plant; 0: 200 in a long run, else none")
	seed    = flag.Uint64("seed", 1, "that chooses them")
	skip    = flag.Int("skip", 0, "leave out that many of the faults chosen: those that an earlier run of the same code measured")
	workers = flag.Int("workers", 1, "faults to test at a time")
	leave   = flag.String("leave", "", "leave out tests whose names this regular expression matches; -short leaves out parts of them")
	using   = flag.String("using", "", "run the tests of those packages alone whose folders this regular expression matches")
	only    = flag.String("only", "", "plant faults in this folder alone, as in plugins/cpu/internal/spmd, which no other run does")
	match   = flag.String("match", "", "plant the faults that this file lists as the test reports them, one a line, and no others")
)

// area is a part of the compiler with the packages whose tests should detect its faults, the fastest first.
type area struct {
	folder string
	suites []*suite
	apart  bool // faults are planted only if the folder is requested
}

// areas returns the parts in which faults are planted.
func areas() []area {
	known := map[string]*suite{}
	suites := func(folders ...string) (list []*suite) {
		for _, f := range folders {
			if !regexp.MustCompile(*using).MatchString(f) {
				continue
			}
			if known[f] == nil {
				known[f] = &suite{folder: f}
			}
			list = append(list, known[f])
		}
		return list
	}
	// Packages that test the behaviour of kernels; the last ones take minutes.
	programs := []string{"tests/kernlang", "tests/kernlang/progen", "kernels", "plugins/cpu", "tests/kernlang/scripts"}
	of := func(folders ...string) []*suite { return suites(append(folders, programs...)...) }
	return []area{
		{folder: "lang/kernel", suites: of("lang/kernel", "lang/kernel/advice")},
		{folder: "lang/kernel/syntax", suites: of("lang/kernel/syntax", "lang/kernel")},
		{folder: "lang/kernel/interp", suites: of("lang/kernel/interp", "lang/kernel", "lang/kernel/oracle")},
		{folder: "lang/kernel/opt", suites: of("lang/kernel/opt", "lang/kernel", "lang/kernel/advice", "lang/kernel/oracle")},
		{folder: "plugins/cpu/internal/spmd", suites: suites("plugins/cpu/internal/spmd", "plugins/cpu"), apart: true},
		{folder: "plugins/cpu/internal/amd64", suites: suites("plugins/cpu/internal/amd64", "plugins/cpu/internal/spmd"), apart: true},
	}
}

// chosen returns the areas selected by the flags.
func chosen() (list []area) {
	for _, a := range areas() {
		if *only == a.folder || *only == "" && (!a.apart || *match != "") {
			list = append(list, a)
		}
	}
	return list
}

// caughtAtLeast is the minimum share of faults that tests must detect, not counting known equivalent mutants.
const caughtAtLeast = 0.95

// TestFaultsAreCaught inserts faults and checks that tests detect them. All are inserted together in one copy of the tree
// and activated one at a time, so each package is built once.
func TestFaultsAreCaught(t *testing.T) {
	n := *count
	if n == 0 && *match == "" {
		if os.Getenv("OREPL_TEST_LONG") != "1" {
			t.Skip("planting faults takes hours: ./tests/run --long, or -mutants N")
		}
		n = 200
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := copyTree(root, dir); err != nil {
		t.Fatal(err)
	}
	s := &score{t: t, dir: dir, same: equivalents(t)}
	jobs := choose(t, root, dir, n)
	jobs = jobs[min(*skip, len(jobs)):]
	s.want = len(jobs)
	queue := make(chan job)
	var done sync.WaitGroup
	for range *workers {
		done.Go(func() {
			for j := range queue {
				s.test(j)
			}
		})
	}
	for _, j := range jobs {
		if s.hasFailed() {
			break
		}
		queue <- j
	}
	close(queue)
	done.Wait()
	t.Logf("%d faults: %d caught, %d change nothing, %d survived", s.tested, s.caught, s.equivalent, len(s.survived))
	if !s.failed && float64(s.caught) < caughtAtLeast*float64(s.tested-s.equivalent) {
		t.Errorf("fewer than %v of the faults are caught; the others:\n%s", caughtAtLeast, strings.Join(s.survived, "\n"))
	}
}

// job is a fault with its area.
type job struct {
	Fault
	area area
}

// choose draws the same number of faults from each area and plants them in the copy of the tree. It skips faults that do not
// compile.
func choose(t *testing.T, root, dir string, n int) (jobs []job) {
	rng := rand.New(rand.NewPCG(*seed, 0))
	use := chosen()
	for i, a := range use {
		all, err := Find(root, a.folder)
		if err != nil {
			t.Fatal(err)
		}
		share := n / len(use)
		if i < n%len(use) {
			share++
		}
		if *match != "" {
			all = listed(t, all)
			share = len(all)
		}
		if share == 0 {
			continue
		}
		check, err := NewChecker(root, a.folder)
		if err != nil {
			t.Fatal(err)
		}
		total := len(all)
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		var faults []Fault
		for invalid := 0; len(all) > 0 && len(faults) < share; all = all[1:] {
			if f, ok := check.Fault(&all[0], len(jobs)+1); ok {
				faults = append(faults, f)
				jobs = append(jobs, job{f, a})
			} else {
				invalid++
			}
			if len(faults) == share {
				t.Logf("%s: %d faults of %d; %d do not compile", a.folder, share, total, invalid)
			}
		}
		if err := check.Plant(dir, faults); err != nil {
			t.Fatal(err)
		}
	}
	rng.Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
	return jobs
}

var atLine = regexp.MustCompile(`\.go:\d+ `)

// listed returns the faults in the file of -match, regardless of their lines.
func listed(t *testing.T, all []Mutant) (list []Mutant) {
	data, err := os.ReadFile(*match)
	if err != nil {
		t.Fatal(err)
	}
	wanted := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		wanted[atLine.ReplaceAllString(strings.TrimSpace(line), " ")] = true
	}
	for i := range all {
		if wanted[atLine.ReplaceAllString(all[i].String(), " ")] {
			list = append(list, all[i])
		}
	}
	return list
}

// score counts the results of the faults.
type score struct {
	t    *testing.T
	dir  string
	same map[string]bool
	want int

	mu                         sync.Mutex
	failed                     bool // the tests failed to run
	tested, caught, equivalent int
	survived                   []string
}

// fail ends the run after an error without a fault.
func (s *score) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.failed {
		s.t.Error(err)
	}
	s.failed = true
}

func (s *score) hasFailed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// test determines whether a test detects a fault.
func (s *score) test(j job) {
	by, reached := "", false
	own, inLine, inFunc := j.Keys()
	same := s.same[own] || s.same[inLine]
	if !same {
		for _, suite := range j.area.suites {
			caught, comes, err := suite.catches(s.dir, j.Number)
			if err != nil {
				s.fail(err)
				return
			}
			reached = reached || comes
			if by = caught; by != "" {
				break
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tested++
	switch {
	case same, by == "" && s.same[inFunc]:
		s.equivalent++
		s.t.Logf("%d/%d changes nothing: %v", s.tested, s.want, j.Mutant)
	case by != "":
		s.caught++
		s.t.Logf("%d/%d caught by %s: %v", s.tested, s.want, by, j.Mutant)
	case !reached:
		s.survived = append(s.survived, j.Mutant.String())
		s.t.Logf("%d/%d SURVIVED, no test reaches it: %v", s.tested, s.want, j.Mutant)
	default:
		s.survived = append(s.survived, j.Mutant.String())
		s.t.Logf("%d/%d SURVIVED: %v", s.tested, s.want, j.Mutant)
	}
}

// equivalents returns the faults that are known to be undetectable; equivalent.txt has them with the reasons.
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

// copyTree copies the module's files, except version control and build output.
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
