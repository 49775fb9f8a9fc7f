package record

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/bindings/bench/stats"
)

// result returns a result with samples around a median.
func result(name string, median float64) Result {
	r := Result{Name: name, Clock: "host", Batch: 3}
	for i := range 30 {
		r.Times = append(r.Times, median*(1+0.001*float64(i*7%30-15)))
	}
	s := stats.Summarize(r.Times)
	r.Median, r.Low, r.High, r.Least, r.Most, r.Deviation, r.Outliers = Number(s.Median), Number(s.Low), Number(s.High), Number(s.Least), Number(s.Most), Number(s.Deviation), s.Outliers
	r.Samples = len(r.Times)
	return r
}

// example returns a run with results of all kinds.
func example() *Run {
	yes := true
	fine := result("copy/n=64/plain", 0.5)
	fine.Group, fine.Params, fine.Variant, fine.Device = "copy", Params{{"type", "f32"}, {"n", 64.0}, {"device", "<cpu>"}, {"status", 1.0}}, "plain", "cpu"
	fine.Verified, fine.GigabytesPerSecond, fine.Modes = &yes, 12.5, []float64{0.4, 0.6}
	fine.Against = &VariantComparison{Variant: "first", Comparison: stats.ComparePairs(fine.Times, fine.Times, 0.01), Verdict: "~"}
	nan := Number(math.NaN())
	failed := Result{Name: "copy/n=128 | a\nb\x1b", Clock: "host", Median: nan, Low: nan, High: nan, Least: nan, Most: nan, Deviation: nan, Times: []float64{}, Checks: Checks{Failed: "no <memory> & \"time\"\x00"}}
	missed := result("größe", 2000)
	missed.Missed = []string{"median 2 s, threshold 1 s"}
	m := ThisMachine()
	m.Devices = []Device{{"cpu", "A processor", "x86-64-v3", "cpu 1", 2, 1 << 33}}
	return &Run{Version: Version, Date: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Commit: "abc", Arguments: []string{"8192"}, Machine: m,
		Files: []File{{Name: "a.js", Results: []Result{fine, failed}}, {Name: "b.js", Results: []Result{missed}, Error: "off by one"}}}
}

// TestSchema validates written runs against the published schema, and checks that they are read as they were.
func TestSchema(t *testing.T) {
	s := readSchema(t)
	for name, run := range map[string]*Run{"full": example(), "empty": {Version: Version, Arguments: []string{}, Machine: ThisMachine(), Files: []File{}}} {
		var text, again bytes.Buffer
		if err := run.Write(&text); err != nil {
			t.Fatal(err)
		}
		for _, complaint := range s.complaints(t, text.Bytes()) {
			t.Errorf("%s: %s", name, complaint)
		}
		if name == "full" && strings.Index(text.String(), `"type": "f32"`) > strings.Index(text.String(), `"n": 64`) {
			t.Error("the parameters are not in the order of the script")
		}
		read, err := Read(text.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if err := read.Write(&again); err != nil || again.String() != text.String() {
			t.Errorf("%s: %v, another text is written after reading", name, err)
		}
	}
	// The schema rejects what a run cannot be.
	for _, bad := range []string{
		`{}`, `[]`, `{"version": 2, "date": "", "arguments": [], "machine": {"os": "", "arch": "", "processors": 1, "tool": "", "devices": []}, "files": []}`,
		`{"version": 1, "date": "", "arguments": [1], "machine": {"os": "", "arch": "", "processors": 1, "tool": "", "devices": []}, "files": []}`,
		`{"version": 1, "date": "", "arguments": [], "machine": {"os": "", "arch": "", "processors": 0, "tool": "", "devices": []}, "files": []}`,
		`{"version": 1, "date": "", "arguments": [], "machine": {"os": "", "arch": "", "processors": 1, "tool": "", "devices": []}, "files": [], "more": 1}`,
		`{"version": 1, "date": "", "arguments": [], "machine": {"os": "", "arch": "", "processors": 1, "tool": "", "devices": []}, "files": [{"file": "a", "results": [{"name": "b"}]}]}`,
	} {
		if got := s.complaints(t, []byte(bad)); len(got) != 1 && bad != `{}` && !strings.Contains(bad, `"b"`) || len(got) == 0 {
			t.Errorf("%s: %q", bad, got)
		}
	}
}

func TestReadMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"": "does not hold results", "{}": "does not hold results", "[1]": "does not hold results", `{"version": 99, "files": []}`: "version 99",
		`{"version": 1, "files": [{"file": "a", "results": [{"name": "b", "times": [-1]}]}]}`: "the sample -1 of b is not a time",
	} {
		if _, err := Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestGoBench checks that every sample is a line in the format of Go's benchmarks.
func TestGoBench(t *testing.T) {
	var b bytes.Buffer
	run := example()
	if err := run.GoBench(&b); err != nil {
		t.Fatal(err)
	}
	// A line is a name, a number of iterations, and pairs of a value and a unit.
	line := regexp.MustCompile(`^Benchmark(\S+)\t(\d+)((?:\t\d+(?:\.\d+)?(?:e[-+]\d+)? \S+)+)$`)
	count, pkg := map[string]int{}, ""
	for text := range strings.Lines(b.String()) {
		text = strings.TrimSuffix(text, "\n")
		if key, value, ok := strings.Cut(text, ": "); ok && !strings.HasPrefix(text, "Benchmark") {
			if key == "pkg" {
				pkg = value
			}
			continue
		}
		m := line.FindStringSubmatch(text)
		if m == nil || m[2] != "3" || !strings.HasSuffix(strings.Split(m[3], "\t")[1], " ns/op") {
			t.Errorf("no benchmark: %q", text)
			continue
		}
		count[m[1]+" "+pkg]++
	}
	procs := "-" + number(float64(run.Machine.Processors))
	if count["Copy/n=64/plain"+procs+" a.js"] != 30 || count["Größe"+procs+" b.js"] != 30 || len(count) != 2 {
		t.Errorf("%v", count)
	}
	for name, want := range map[string]string{"a b": "BenchmarkA_b", "64": "Benchmark_64", "Copy": "BenchmarkCopy", "größe": "BenchmarkGröße", "世界": "Benchmark世界"} {
		if got := goName(name); got != want && got != "Benchmark_"+name {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestJUnit checks the counts and reasons of a JUnit file, which must be well-formed for any text.
func TestJUnit(t *testing.T) {
	var b bytes.Buffer
	run := example()
	run.Files[0].Results[0].Met = []string{"median is 1 ms, which meets median > 1µs"}
	if err := run.JUnit(&b); err != nil {
		t.Fatal(err)
	}
	var read junitSuites
	if err := xml.Unmarshal(b.Bytes(), &read); err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	if read.Tests != 4 || read.Failures != 3 || read.Errors != 1 || len(read.Suites) != 2 || read.Suites[1].Cases[1].Error.Message != "off by one" {
		t.Errorf("%+v", read)
	}
	for i, want := range []string{"median is 1 ms, which", "failed: no <memory> & \"time\"?"} {
		if f := read.Suites[0].Cases[i].Failure; f == nil || !strings.HasPrefix(f.Message, want) {
			t.Errorf("case %d: %+v", i, f)
		}
	}
}

func TestTables(t *testing.T) {
	var b bytes.Buffer
	run := example()
	if err := run.CSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 4 || strings.Join(rows[0][:9], ",") != "file,name,group,type,n,params.device,params.status,variant,device" || rows[1][4] != "64" || rows[1][5] != "<cpu>" || rows[1][8] != "cpu" || rows[2][len(rows[2])-1] != "failed: no <memory> & \"time\"\x00" {
		t.Errorf("%v, %q", err, rows)
	}
	b.Reset()
	c := Compare(run, run, 0.01)
	if err := run.Markdown(&b, &c); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if strings.HasPrefix(line, "|") && cells != 7 && cells != 6 {
			t.Errorf("a row has another number of cells: %s", line)
		}
	}
}

// TestCompare compares runs with themselves and with one that is slower.
func TestCompare(t *testing.T) {
	old := example()
	c := Compare(old, old, 0.01)
	for _, ch := range c.Changes {
		if ch.Different || ch.Verdict() != "~" {
			t.Errorf("%s differs from itself: %+v", ch.Name, ch.Comparison)
		}
	}
	if len(c.Changes) != 2 || len(c.Added)+len(c.Gone) > 0 {
		t.Errorf("%+v", c)
	}
	fresh := example()
	fresh.Files[0].Results[0] = result("copy/n=64/plain", 0.6)
	fresh.Files[1].Results = []Result{result("new", 1)}
	c = Compare(old, fresh, 0.01)
	if len(c.Changes) != 1 || c.Changes[0].Verdict() != "+20.0 %" || strings.Join(c.Added, ",") != "new" || strings.Join(c.Gone, ",") != "größe" {
		t.Errorf("%+v", c)
	}
	if text := c.Table(); !strings.Contains(text, "+20.0 %") || !strings.Contains(text, "not in the baseline: new\n") || !strings.Contains(text, "only in the baseline: größe\n") {
		t.Error(text)
	}
	for text, want := range map[string]int{"median > 5%": 1, "median > 25%": 0, "median < -5%": 0, "median < 0%": 0, "median>500µs": 2, "median > 2s": 0, "least > 0.1 ns": 2, "gigabytesPerSecond < 10": 0} {
		cond, err := ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := cond.Failures(fresh, c); len(got) != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	for _, text := range []string{"", "median", "median > ", "median = 5%", "mean > 5%", "median > 5", "gigaflops < 5 ms", "gigaflops < 5 GB/s", "median > 5e%", "median < 5%", "gigabytesPerSecond < 5%", "median > -5%"} {
		if c, err := ParseCondition(text); err == nil {
			t.Errorf("%q is the condition %+v", text, c)
		}
	}
}

// TestCompareRepeated checks which results of equal names are compared: the nth of a file with the nth of the same file, if both have
// equally many.
func TestCompareRepeated(t *testing.T) {
	run := func(files ...File) *Run { return &Run{Files: files} }
	file := func(name string, medians ...float64) File {
		f := File{Name: name}
		for _, m := range medians {
			f.Results = append(f.Results, result("sum", m))
		}
		return f
	}
	for _, c := range []struct {
		old, fresh  *Run
		changes     []float64 // the new median relative to the old one
		added, gone int
		uneven      int
		repeated    int
	}{
		{run(file("a.js", 1)), run(file("moved/a.js", 2)), []float64{2}, 0, 0, 0, 0},
		{run(file("a.js", 1), file("b.js", 10)), run(file("b.js", 20), file("a.js", 1)), []float64{2, 1}, 0, 0, 0, 0},
		{run(file("a.js", 1), file("b.js", 10)), run(file("b.js", 20)), []float64{2}, 0, 1, 0, 0},
		{run(file("a.js", 1, 10)), run(file("a.js", 2, 10)), []float64{2, 1}, 0, 0, 0, 1},
		{run(file("a.js", 1, 10)), run(file("a.js", 10)), nil, 0, 0, 1, 0},
		{run(file("a.js", 1)), run(file("a.js", 10, 1)), nil, 0, 0, 1, 1},
	} {
		got := Compare(c.old, c.fresh, 0.01)
		var changes []float64
		for _, ch := range got.Changes {
			changes = append(changes, math.Round(float64(ch.New.Median/ch.Old.Median)))
		}
		if !slices.Equal(changes, c.changes) || len(got.Added) != c.added || len(got.Gone) != c.gone || len(got.Uneven) != c.uneven {
			t.Errorf("%v, added %d, gone %d of %+v", changes, len(got.Added), len(got.Gone), c)
		}
		if repeated := c.fresh.Files[0].Repeated(); len(repeated) != c.repeated {
			t.Errorf("%q are repeated in %+v", repeated, c.fresh)
		}
	}
}

// TestCompareRuns compares runs of two programs, of which one is slower, by the medians of their runs.
func TestCompareRuns(t *testing.T) {
	runs := func(factor float64) (list []*Run) {
		for i := range 10 {
			r := example()
			r.Files[0].Results[0] = result("copy/n=64/plain", 0.5*factor*(1+0.003*float64(i*7%10)))
			r.Files[0].Results[0].GigabytesPerSecond = 4 / float64(r.Files[0].Results[0].Median)
			list = append(list, r)
		}
		return list
	}
	_, now, c := CompareRuns(runs(1), runs(1.05), 0.01)
	if ch := c.Changes[0]; ch.Verdict() != "+5.0 %" || ch.Test != "Wilcoxon signed-rank and t" || ch.New.Samples != 300 || len(ch.New.Times) != 300 {
		t.Errorf("%s, %d samples", ch.Verdict(), ch.New.Samples)
	}
	if r := now.Results()[0]; math.Abs(r.GigabytesPerSecond*float64(r.Median)-4) > 1e-9 || r.Median < 0.525 || len(now.Files) != 2 {
		t.Errorf("%+v", r.Rates)
	}
	_, _, c = CompareRuns(runs(1), runs(1), 0.01)
	for _, ch := range c.Changes {
		if ch.Different {
			t.Errorf("%s differs from itself", ch.Name)
		}
	}
}

func TestUnlike(t *testing.T) {
	a := Machine{OS: "linux", Arch: "amd64", Processors: 8, Devices: []Device{{ID: "cuda", Name: "A", Platform: "cuda 1"}, {ID: "cpu", Name: "P"}}}
	b := a
	b.Load, b.Tool = 3, "another"
	if r := b.Unlike(&a); len(r) != 0 {
		t.Errorf("load and version make machines unlike: %q", r)
	}
	b.Governor, b.Processors = "powersave", 4
	b.Devices = []Device{{ID: "cuda", Name: "A", Platform: "cuda 2"}}
	if r := strings.Join(b.Unlike(&a), "; "); r != "processors: 8, then 4; clock policy: unknown, then powersave; device cuda: A, cuda 1, then A, cuda 2" {
		t.Error(r)
	}
	var m Machine
	m.describe(func(path string) string {
		return map[string]string{"/proc/cpuinfo": "processor : 0\nmodel name\t: Some CPU\nflags : fpu avx avx2 fma\n", "/proc/loadavg": "1.50 1 1 2/3 4\n"}[path]
	})
	if m.Processor != "Some CPU" || strings.Join(m.Features, " ") != "avx avx2 fma" || m.Load != 1.5 || m.Governor != "" {
		t.Errorf("%+v", m)
	}
}

// TestCommit reads repositories with a branch, a packed branch, a detached head and a linked work tree.
func TestCommit(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("r/.git/HEAD", "ref: refs/heads/main\n")
	write("r/.git/refs/heads/main", "1111\n")
	write("r/below/x", "")
	write("r/.git/worktrees/w/HEAD", "ref: refs/heads/old\n")
	write("r/.git/worktrees/w/commondir", "../..\n")
	write("r/.git/packed-refs", "# pack-refs\n2222 refs/heads/old\n")
	write("w/.git", "gitdir: "+filepath.Join(dir, "r/.git/worktrees/w")+"\n")
	write("d/.git/HEAD", "3333\n")
	for name, want := range map[string]string{"r": "1111", "r/below": "1111", "w": "2222", "d": "3333"} {
		if got := Commit(filepath.Join(dir, name)); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestNumbers(t *testing.T) {
	text, err := json.Marshal([]Number{1.5, Number(math.NaN()), Number(math.Inf(1))})
	if err != nil || string(text) != "[1.5,null,null]" {
		t.Errorf("%s, %v", text, err)
	}
	for ms, want := range map[float64]string{1500: "1.5 s", 2: "2 ms", 0.25: "250 µs", 1e-5: "10 ns", math.NaN(): "-"} {
		if got := Time(ms); got != want {
			t.Errorf("%v: %s", ms, got)
		}
	}
}

func TestProbability(t *testing.T) {
	for p, want := range map[float64]string{0: "< 0.001", 0.0009: "< 0.001", 0.001: "0.001", 0.25: "0.250", 1: "1.000"} {
		if got := Probability(p); got != want {
			t.Errorf("%v: %s", p, got)
		}
	}
}
