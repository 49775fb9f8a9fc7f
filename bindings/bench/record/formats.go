package record

import (
	"cmp"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/orepl/orepl/lang/columns"
)

// writeAligned writes rows in columns, the first one aligned to the left, the others to the right.
func writeAligned(w *strings.Builder, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], columns.Of(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-columns.Of(cell))
			if i == 0 {
				line.WriteString(cell + pad)
			} else {
				line.WriteString("  " + pad + cell)
			}
		}
		w.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

// paramNames returns the names of all parameters of the results, in the order of their first appearance.
func paramNames(results []Result) []string {
	var names []string
	for i := range results {
		for _, p := range results[i].Params {
			if !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
	}
	return names
}

// param returns a parameter as text, or "" if the result does not have it.
func param(r *Result, name string) string {
	switch v := r.Params.Get(name).(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}

// number formats a number for tables. It returns "" for one that is not finite, and for 0, which means that there is none.
func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) || v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// status returns "ok", or the reason for which a result does not count.
func status(r *Result) string { return cmp.Or(r.Bad(), "ok") }

// The columns of CSV before and behind those of the parameters.
var (
	columnsBefore = []string{"file", "name", "group"}
	columnsBehind = []string{"variant", "device", "median_ms", "low_ms", "high_ms", "least_ms", "most_ms", "deviation_ms", "samples", "batch", "gigabytes_per_second", "gigaflops", "status"}
)

// columnOf returns the column of a parameter: its name, after "params." if another column has that name.
func columnOf(name string) string {
	if slices.Contains(columnsBefore, name) || slices.Contains(columnsBehind, name) || strings.HasPrefix(name, "params.") {
		return "params." + name
	}
	return name
}

// CSV writes the results as a table of comma-separated values, with a column for each parameter. Times are in milliseconds.
func (r *Run) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	params := paramNames(r.Results())
	header := slices.Clone(columnsBefore)
	for _, name := range params {
		header = append(header, columnOf(name))
	}
	_ = out.Write(append(header, columnsBehind...)) // Flush keeps the error
	for _, f := range r.Files {
		for i := range f.Results {
			b := &f.Results[i]
			row := []string{f.Name, b.Name, b.Group}
			for _, name := range params {
				row = append(row, param(b, name))
			}
			row = append(row, b.Variant, b.Device)
			for _, v := range []Number{b.Median, b.Low, b.High, b.Least, b.Most, b.Deviation} {
				row = append(row, number(float64(v)))
			}
			row = append(row, strconv.Itoa(b.Samples), strconv.Itoa(b.Batch), number(b.GigabytesPerSecond), number(b.Gigaflops), status(b))
			_ = out.Write(row) // Flush keeps the error
		}
	}
	out.Flush()
	return out.Error()
}

// Markdown writes the results, and the comparison if there is one, as tables of Markdown.
func (r *Run) Markdown(w io.Writer, c *Comparison) error {
	cell := strings.NewReplacer("|", `\|`, "\n", " ").Replace
	var b strings.Builder
	b.WriteString("| name | median | 95 % interval | GB/s | GFLOP/s | status |\n|---|---:|---:|---:|---:|---|\n")
	rate := func(v float64) string {
		if v == 0 {
			return ""
		}
		return fmt.Sprintf("%.2f", v)
	}
	for _, res := range r.Results() {
		interval := ""
		if res.Samples > 0 {
			interval = Time(float64(res.Low)) + " … " + Time(float64(res.High))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", cell(res.Name), Time(float64(res.Median)), interval, rate(res.GigabytesPerSecond), rate(res.Gigaflops), cell(status(&res)))
	}
	if c != nil {
		b.WriteString("\n| name | before | now | change | p |\n|---|---:|---:|---:|---:|\n")
		for i := range c.Changes {
			ch := &c.Changes[i]
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", cell(ch.Name), Time(float64(ch.Old.Median)), Time(float64(ch.New.Median)), ch.Verdict(), Probability(ch.P))
		}
	}
	m := &r.Machine
	fmt.Fprintf(&b, "\n%s, %s/%s, %d processors, %s, orepl %s\n", cell(cmp.Or(m.Processor, "unknown processor")), m.OS, m.Arch, m.Processors, r.Date.Format("2006-01-02 15:04 MST"), m.Tool)
	_, err := io.WriteString(w, b.String())
	return err
}

// goName returns a benchmark's name in the form of Go's benchmarks. After "Benchmark" it has an upper-case letter or an underscore.
// Spaces and characters that cannot be printed become underscores.
func goName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, name)
	if name == "" {
		return "Benchmark_"
	}
	first := []rune(name)
	first[0] = unicode.ToUpper(first[0])
	if unicode.IsLower(first[0]) || !unicode.IsLetter(first[0]) {
		return "Benchmark_" + name
	}
	return "Benchmark" + string(first)
}

// GoBench writes a line per sample in the format of Go's benchmarks, which benchstat reads.
func (r *Run) GoBench(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "goos: %s\ngoarch: %s\n", r.Machine.OS, r.Machine.Arch)
	if r.Machine.Processor != "" {
		fmt.Fprintf(&b, "cpu: %s\n", r.Machine.Processor)
	}
	for _, f := range r.Files {
		fmt.Fprintf(&b, "pkg: %s\n", f.Name)
		for _, res := range f.Results {
			for _, t := range res.Times {
				fmt.Fprintf(&b, "%s-%d\t%d\t%s ns/op", goName(res.Name), r.Machine.Processors, res.Batch, strconv.FormatFloat(t*1e6, 'f', 3, 64))
				if res.GigabytesPerSecond > 0 { // MB/s of this sample
					fmt.Fprintf(&b, "\t%.2f MB/s", 1e3*res.GigabytesPerSecond*float64(res.Median)/t)
				}
				if res.Gigaflops > 0 {
					fmt.Fprintf(&b, "\t%.4g GFLOP/s", res.Gigaflops*float64(res.Median)/t)
				}
				b.WriteString("\n")
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// The elements of a JUnit file.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name      string      `xml:"name,attr"`
		Tests     int         `xml:"tests,attr"`
		Failures  int         `xml:"failures,attr"`
		Errors    int         `xml:"errors,attr"`
		Timestamp string      `xml:"timestamp,attr"`
		Cases     []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitMessage `xml:"failure,omitempty"`
		Error   *junitMessage `xml:"error,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes the results as test cases for CI systems. A result that failed, is wrong, missed a threshold or met a condition is a
// failure. A script that ended with an error is a case with an error.
func (r *Run) JUnit(w io.Writer) error {
	all := junitSuites{}
	for _, f := range r.Files {
		s := junitSuite{Name: f.Name, Timestamp: r.Date.UTC().Format("2006-01-02T15:04:05")}
		for i := range f.Results {
			res := &f.Results[i]
			seconds := 0.0
			for _, t := range res.Times {
				seconds += t * float64(res.Batch) / 1e3
			}
			c := junitCase{Name: clean(res.Name), Class: clean(cmp.Or(res.Group, f.Name)), Time: strconv.FormatFloat(seconds, 'f', 6, 64)}
			reasons := res.Met
			if bad := res.Bad(); bad != "" && (len(reasons) == 0 || bad != reasons[0]) {
				reasons = append([]string{bad}, reasons...)
			}
			if len(reasons) > 0 {
				s.Failures++
				c.Failure = &junitMessage{clean(reasons[0]), clean(strings.Join(reasons, "\n"))}
			}
			s.Cases = append(s.Cases, c)
		}
		if f.Error != "" {
			s.Errors++
			s.Cases = append(s.Cases, junitCase{Name: "the script", Class: clean(f.Name), Time: "0", Error: &junitMessage{clean(f.Error), clean(f.Error)}})
		}
		s.Tests = len(s.Cases)
		all.Tests, all.Failures, all.Errors = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors
		all.Suites = append(all.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return fmt.Errorf("writing JUnit: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// clean replaces characters below U+0020 other than tabs and line feeds by question marks, since XML forbids most of them.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' {
			return '?'
		}
		return r
	}, text)
}
