package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/bindings/bench/history"
	"github.com/orepl/orepl/bindings/bench/record"
	"github.com/orepl/orepl/bindings/bench/stats"
)

// example returns a run of three kernels over six sizes, with results that do not count and names of all kinds.
func example(slower float64) *record.Run {
	f := record.File{Name: "a <b>.js"}
	for k, kernel := range []string{"copy", "scale <&> \"add\"", "triad"} {
		for n := 10; n <= 20; n += 2 {
			for v, variant := range []string{"plain", "tiled"} {
				size := math.Exp2(float64(n))
				r := record.Result{Name: fmt.Sprintf("%s/n=%g/%s", kernel, size, variant), Group: kernel, Variant: variant, Params: record.Params{{Name: "n", Value: size}, {Name: "device", Value: "cpu"}}, Clock: "device", Batch: 1}
				median := (2e-3 + size*1e-6*float64(k+1)) * (1 + 0.2*float64(v)) * slower
				for i := range 30 {
					r.Times = append(r.Times, median*(1+0.002*float64((i*7)%30-15)))
				}
				r.Times[29] *= 6
				s := stats.Summarize(r.Times)
				r.Samples, r.Median, r.Low, r.High, r.Least, r.Most, r.Deviation = 30, record.Number(s.Median), record.Number(s.Low), record.Number(s.High), record.Number(s.Least), record.Number(s.Most), record.Number(s.Deviation)
				if k != 2 {
					r.GigabytesPerSecond = 8 * size / s.Median / 1e6
				}
				f.Results = append(f.Results, r)
			}
		}
	}
	nan := record.Number(math.NaN())
	f.Results = append(f.Results, record.Result{Name: "failed </script>", Group: "failed", Median: nan, Low: nan, High: nan, Deviation: nan, Checks: record.Checks{Failed: "no <memory>"}})
	m := record.ThisMachine()
	m.Devices = []record.Device{{ID: "cpu", Name: "P", Arch: "x86-64", Platform: "cpu 1", ComputeUnits: 2, MemoryBytes: 1 << 33}}
	return &record.Run{Version: 1, Date: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Machine: m, Files: []record.File{f, {Name: "b.js", Error: "off by one"}}}
}

// past returns a history of twelve runs, of which the last six are slower.
func past() *history.History {
	h := &history.History{}
	for i := range 12 {
		run := example(1 + 0.5*float64(i/6) + 0.001*float64(i))
		run.Date, run.Commit = run.Date.AddDate(0, 0, i), "<commit>"
		h.Runs = append(h.Runs, run)
	}
	return h
}

// render returns the report of a run against a faster one.
func render(t *testing.T) string {
	t.Helper()
	run, old := example(1.1), example(1)
	old.Files[0].Results = old.Files[0].Results[1:]
	c := record.Compare(old, run, 0.01)
	var b bytes.Buffer
	if err := Write(&b, run, &c, past(), 0.01); err != nil {
		t.Fatal(err)
	}
	if path := os.Getenv("OREPL_TEST_REPORT"); path != "" { // to look at it
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// TestReport checks that the page is well-formed without its script, has all results, and refers to nothing else.
func TestReport(t *testing.T) {
	text := render(t)
	bare := regexp.MustCompile(`(?s)<script>.*?</script>|<style>.*?</style>|<!DOCTYPE html>`).ReplaceAllString(text, "")
	count := map[string]int{}
	dec := xml.NewDecoder(strings.NewReader(bare))
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok {
			count[start.Name.Local]++
			for _, a := range start.Attr {
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") || a.Name.Local == "href" || a.Name.Local == "src" {
					t.Errorf("<%s %s=%q>", start.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
	if count["svg"] != 5+36 || count["polyline"] != 6+36 || count["polygon"] != 6 {
		t.Errorf("%v", count)
	}
	for _, want := range []string{
		"copy/n=1024/plain", "scale &lt;&amp;&gt;", "no &lt;memory&gt;", "The script ended with an error: off by one", "copy: GB/s over n", "triad: ms over n",
		">1 Ki<", ">1 Mi<", "prefers-color-scheme: dark", "Not in the baseline: copy/n=1024/plain", "device cpu", "&#43;10.0 %", "&#43;50.5 % since 2026-01-08 03:04 (&lt;commit&gt;)", `class="slower"><title>`, "Mann-Whitney U and t, p &lt; 0.05 for 35 rows", "<td>&lt; 0.001</td>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(text, "http") || strings.Contains(text, "@import") || strings.Count(text, "</script>") != 1 {
		t.Error("the page refers to another file, or its script can be ended by a name")
	}
}

// TestEmpty checks reports without results and without a comparison.
func TestEmpty(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, &record.Run{Machine: record.ThisMachine()}, nil, nil, 0.01); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "Against the baseline") || strings.Contains(b.String(), "<svg") {
		t.Error(b.String())
	}
}

// TestGaps checks that lines and bands end at a result without a value, which has a cross with the reason, also as the first one.
func TestGaps(t *testing.T) {
	for _, c := range []struct {
		name                                      string
		bad                                       map[int]string // by the position in a series of six
		lines, bands, intervals, marks, crossings int
	}{
		{"whole", nil, 1, 1, 0, 6, 0},
		{"middle", map[int]string{3: "off by <one>"}, 2, 2, 0, 5, 1},
		{"first", map[int]string{0: "off"}, 1, 1, 0, 5, 1},
		{"single", map[int]string{1: "off", 3: "off"}, 1, 1, 2, 4, 2},
		{"last", map[int]string{5: "off"}, 1, 1, 0, 5, 1},
	} {
		all := example(1).Files[0].Results
		var list []record.Result
		for i := range 6 {
			r := all[2*i]
			if reason, bad := c.bad[i]; bad {
				nan := record.Number(math.NaN())
				r.Samples, r.Times, r.Median, r.Low, r.High, r.GigabytesPerSecond, r.Wrong = 0, nil, nan, nan, nan, 0, reason
			}
			list = append(list, r)
		}
		charts := curves(list)
		if len(charts) != 1 || charts[0].Title != "copy: GB/s over n" {
			t.Fatalf("%s: %v", c.name, charts)
		}
		svg := string(charts[0].SVG)
		drawn, legend, _ := strings.Cut(svg, `class="legend`)
		got := [...]int{strings.Count(drawn, "<polyline"), strings.Count(drawn, `class="band"`), strings.Count(drawn, `class="interval"`), strings.Count(drawn, `class="mark"`), strings.Count(drawn, `class="cross"`)}
		if got != [...]int{c.lines, c.bands, c.intervals, c.marks, c.crossings} || strings.Contains(legend, "cross") || strings.Contains(svg, "NaN") {
			t.Errorf("%s: %v\n%s", c.name, got, svg)
		}
		for i, reason := range c.bad {
			if want := all[2*i].Name + ": wrong: " + strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(reason); !strings.Contains(svg, "<title>"+want) {
				t.Errorf("%s: %s is missing in %s", c.name, want, svg)
			}
		}
	}
	nan := record.Number(math.NaN())
	if charts := curves([]record.Result{{Group: "a", Params: record.Params{{Name: "n", Value: 1.0}}, Median: nan}, {Group: "a", Params: record.Params{{Name: "n", Value: 2.0}}, Median: nan}}); len(charts) > 0 {
		t.Error("there is a chart without a value")
	}
}

// changed returns changes with intervals of ±10 %.
func changed(list ...float64) (changes []record.Change) {
	for _, c := range list {
		changes = append(changes, record.Change{Name: fmt.Sprintf("change of %g", c), Comparison: stats.Comparison{Change: c, Low: (1+c)*0.9 - 1, High: (1+c)*1.1 - 1}})
	}
	return changes
}

// TestForest checks the order and the places of changes on a chart against the baseline, with arrows for what is beyond it.
func TestForest(t *testing.T) {
	places := regexp.MustCompile(`<g class="change [a-z]+"><title>change of ([^:]*): [^<]*</title><line x1="([0-9.]+)" x2="([0-9.]+)"[^>]*>(<path class="mark arrow"[^>]*>)?<[a-z]+ class="mark(?: arrow)?" (?:cx|d)="M?([0-9.]+)`)
	for _, c := range []struct {
		changes []float64
		want    string // changes from the top
		labels  string
		arrows  int
	}{
		{[]float64{0.02, -0.01, 0.1}, "0.1 0.02 -0.01", "-10 % 0 % +10 % +20 %", 0},
		{[]float64{0, 3.5, 10, -0.5, 0.1}, "10 3.5 0.1 0 -0.5", "-50 % 0 % +100 % +400 % +900 %", 0},
		{[]float64{1e6, 0.5, -0.9999}, "1e+06 0.5 -0.9999", "-99.9 % -99 % -90 % 0 % +900 % +9900 % +99900 %", 2},
	} {
		svg, note := forest(changed(c.changes...))
		var order []string
		var last float64 = 1e9
		for _, m := range places.FindAllStringSubmatch(string(svg), -1) {
			order = append(order, m[1])
			at, _ := strconv.ParseFloat(m[5], 64)
			from, _ := strconv.ParseFloat(m[2], 64)
			to, _ := strconv.ParseFloat(m[3], 64)
			if at >= last || c.arrows == 0 && !(from < at && at < to) {
				t.Errorf("%v: %s is at %v of %v … %v, the one before at %v", c.changes, m[1], at, from, to, last)
			}
			last = at
		}
		type label struct {
			at   float64
			text string
		}
		var labels []label
		for _, m := range regexp.MustCompile(`class="tick"[^>]* x="([0-9.]+)"[^>]*>([^<]*)<`).FindAllStringSubmatch(string(svg), -1) {
			at, _ := strconv.ParseFloat(m[1], 64)
			labels = append(labels, label{at, m[2]})
		}
		slices.SortFunc(labels, func(a, b label) int { return int(a.at - b.at) })
		var texts []string
		for _, l := range labels {
			texts = append(texts, l.text)
		}
		if got := strings.Join(texts, " "); got != c.labels {
			t.Errorf("%v: the labels are %s, want %s", c.changes, got, c.labels)
		}
		if got := strings.Join(order, " "); got != c.want || strings.Count(string(svg), "arrow") != c.arrows || note != "" {
			t.Errorf("%v: %s with %d arrows, %s\n%s", c.changes, got, strings.Count(string(svg), "arrow"), note, svg)
		}
	}
	wide := changed(0.1)
	wide[0].Low, wide[0].High = -0.9, 60
	if svg, _ := forest(wide); strings.Count(string(svg), "arrow") != 2 {
		t.Errorf("an interval beyond both ends has no arrows: %s", svg)
	}
	many := make([]float64, 300)
	for i := range many {
		many[i] = float64(i-150) / 1000
	}
	if svg, note := forest(changed(many...)); strings.Count(string(svg), `class="change`) != 200 || note != "the 200 largest changes of 300" || !strings.Contains(string(svg), "of 0.149:") || strings.Contains(string(svg), "of 0.02:") {
		t.Errorf("of 300 changes: %s", note)
	}
	if svg, _ := forest(changed(math.NaN())); svg != "" {
		t.Error(svg)
	}
}

// TestNames checks that names of rows and legends are whole where there is room, and else keep their ends.
func TestNames(t *testing.T) {
	c := changed(0.1)
	c[0].Name = "single/n=1048576/device=opencl:0/layout=column-major/branch"
	if svg, _ := forest(c); !strings.Contains(string(svg), ">"+c[0].Name+"<") {
		t.Errorf("a name is not whole in %s", svg)
	}
	c[0].Name = strings.Repeat("n=1048576/", 20) + "branch"
	if svg, _ := forest(c); !regexp.MustCompile(`>n=1048576/[^<>…]*…[^<>…]*/branch<`).MatchString(string(svg)) {
		t.Errorf("a long name is not shortened in its middle: %s", svg)
	}
	for name, across := range map[string]int{"a": 3, "layout=column-major, branch": 2, "device=opencl:0, layout=column-major, without-branch": 1} {
		list := []series{{name: "b"}, {name: name}}
		if got, room := legendOf(list); got != across || fit(name, room) != name {
			t.Errorf("%s: %d columns of %v", name, got, room)
		}
	}
	for text, want := range map[string]string{"short": "short", "aaaaaaaaaabbbbbbbbbb": "aaa…bbbb", "日本語日本語日本語": "日…本語"} {
		if got := fit(text, 60); got != want || textWidth(got) > 60 {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// TestPlaces checks that labels along x are those of measured sizes, where there is room.
func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		sizes []float64
		want  string
	}{
		{[]float64{1024, 4096, 16384, 65536}, "[1024 4096 16384 65536]"},
		{[]float64{1000, 5000, 100000}, "[1000 5000 100000]"},
		{[]float64{10, 20, 30}, "[10 20 30]"},
		{[]float64{10, 10.1, 30}, "[10 15 20 25 30]"},
	} {
		var s series
		for _, n := range c.sizes {
			s.points = append(s.points, point{x: n, y: 1}, point{x: n, y: 2})
		}
		x, _, binary := ranges([]series{s}, chartHeight)
		if got := fmt.Sprint(places([]series{s}, &x, binary)); got != c.want {
			t.Errorf("%v: %s, want %s", c.sizes, got, c.want)
		}
	}
	var s series
	for e := range 40 {
		s.points = append(s.points, point{x: math.Exp2(float64(e)), y: 1})
	}
	x, _, binary := ranges([]series{s}, chartHeight)
	if got := places([]series{s}, &x, binary); len(got) < 8 || len(got) > 20 || got[1] != 4 && got[1] != 8 {
		t.Errorf("40 sizes: %v", got)
	}
}

// TestNewest checks that the course of a benchmark whose newest result does not count ends without a median and a dot for that run.
func TestNewest(t *testing.T) {
	h := past()
	nan := record.Number(math.NaN())
	bad := &h.Runs[len(h.Runs)-1].Files[0].Results[0]
	bad.Median, bad.Low, bad.High, bad.Samples, bad.Times, bad.Wrong = nan, nan, nan, 0, nil, "off"
	var b bytes.Buffer
	if err := Write(&b, h.Runs[len(h.Runs)-1], nil, h, 0.01); err != nil {
		t.Fatal(err)
	}
	_, courses, _ := strings.Cut(b.String(), "<h2>History</h2>")
	first, others, _ := strings.Cut(courses, "</tr>\n<tr><td>copy/n=1024/tiled")
	if !strings.Contains(first, ">-</td>") || strings.Contains(first, "newest\"") || strings.Count(others, "newest\"") != 35 {
		t.Errorf("%d dots of the newest run\n%s", strings.Count(others, "newest\""), first)
	}
}

// TestColumns checks that tables have only the columns that some row has a value of.
func TestColumns(t *testing.T) {
	run := example(1)
	var b bytes.Buffer
	if err := Write(&b, run, nil, nil, 0.01); err != nil {
		t.Fatal(err)
	}
	for column, want := range map[string]bool{"median": true, "GB/s": true, "GFLOP/s": false, "roofline": false, "against the first": false, "status": true} {
		if got := strings.Contains(b.String(), "<th>"+column+"</th>"); got != want {
			t.Errorf("there is a column %s: %v", column, got)
		}
	}
	run.Files[0].Results[3].Roofline = 0.5
	b.Reset()
	if err := Write(&b, run, nil, nil, 0.01); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "<th>roofline</th>") || !strings.Contains(b.String(), "<td>50 %</td>") {
		t.Error("there is no column for the roofline")
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		s      scale
		binary bool
		want   string
	}{
		{scale{low: 0, high: 10}, false, "[0 2 4 6 8 10]"},
		{scale{low: 1024, high: 65536, log: true}, true, "[1024 2048 4096 8192 16384 32768 65536]"},
		{scale{low: 0.5, high: 2000, log: true}, false, "[1 10 100 1000]"},
		{scale{low: 2, high: 2}, false, "[2]"},
		{scale{low: 3, high: 7, log: true}, false, "[3 4 5 6 7]"},
	} {
		if got := fmt.Sprint(c.s.ticks(c.binary)); got != c.want {
			t.Errorf("%+v: %s, want %s", c.s, got, c.want)
		}
	}
	for v, want := range map[float64]string{0: "0 %", 0.05: "+5 %", -0.999: "-99.9 %", 999: "+99900 %", 0.0025: "+0.25 %"} {
		if got := relative(v); got != want {
			t.Errorf("%v: %s", v, got)
		}
	}
	for v, want := range map[float64]string{1024: "1 Ki", 1 << 20: "1 Mi", 512: "512", 1 << 31: "2 Gi", 1536: "1536"} {
		if got := short(v, true); got != want {
			t.Errorf("%v: %s", v, got)
		}
	}
}
