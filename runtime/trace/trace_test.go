package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

const ms = time.Millisecond

// handmade writes a time line with two queues, whose summary is counted by hand.
func handmade(r *Recorder) {
	host := r.Track("program", "commands")
	a, b := r.Track("device cpu", "first"), r.Track("device cpu", "se\"co\nnd\x00é")
	r.Commands([]DeviceCommand{
		{Program: host, Queue: a, Kind: Copy, Name: "write", Passed: ms, Start: ms, End: 3 * ms, Number: 1, Bytes: 1 << 20},
		{Program: host, Queue: a, Kind: Kernel, Name: "k", Issued: 1 * ms, Passed: 2 * ms, Start: 2 * ms, End: 7 * ms, Number: 2, Size: [3]int{8, 1, 1},
			Place: offload.Position{File: "a\"ü.js", Line: 3, Col: 7}, Args: []Arg{Text("clock", "host")}},
	})
	r.Slice(b, Kernel, "k", 5*ms, 4*ms)
	r.Slice(a, Kernel, "long", 12*ms, 6*ms)
	r.Slice(a, Host, "host function", 20*ms, 1*ms)
	r.Span("all")()
}

// TestSummary compares the summary of a time line with one counted by hand: 1 to 3 write, 3 to 7 k, 5 to 9 k, 12 to 18 long, 20 to
// 21 a host function.
func TestSummary(t *testing.T) {
	var text bytes.Buffer
	r := New(&text)
	handmade(r)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Summarize(bytes.NewReader(text.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if s.Length != 20*ms || s.Idle != 5*ms || s.Overlap != 2*ms || s.Cut || len(s.Spans) != 1 {
		t.Errorf("%+v", s)
	}
	if len(s.Kernels) != 2 || s.Kernels[0] != (Work{"k", 2, 8 * ms, 4 * ms, 0}) || s.Kernels[1] != (Work{"long", 1, 6 * ms, 6 * ms, 0}) {
		t.Errorf("%+v", s.Kernels)
	}
	if len(s.Copies) != 1 || s.Copies[0] != (Work{"write", 1, 2 * ms, 2 * ms, 1 << 20}) {
		t.Errorf("%+v", s.Copies)
	}
	if len(s.Tracks) != 2 || s.Tracks[0] != (Busy{"device cpu, first", 13 * ms, 4}) || s.Tracks[1].Busy != 4*ms {
		t.Errorf("%+v", s.Tracks)
	}
	if len(s.Gaps) != 2 || s.Gaps[0] != (Gap{9 * ms, 3 * ms, "long"}) || s.Gaps[1] != (Gap{18 * ms, 2 * ms, "host function"}) {
		t.Errorf("%+v", s.Gaps)
	}
	for _, want := range []string{"20ms from the first command", "no command ran for 5ms (25.0 %), two or more queues for 2ms (10.0 %)", "1.0 MiB, 0.52 GB/s", "gap of 3ms at 9ms, before long"} {
		if !strings.Contains(s.String(), want) {
			t.Errorf("%q is missing in\n%s", want, s)
		}
	}
}

// TestFormat checks the text against the rules of the format: an array of events, each with the fields of its phase.
func TestFormat(t *testing.T) {
	var text bytes.Buffer
	r := New(&text)
	handmade(r)
	r.Counter(r.Track("device cpu", "memory"), "allocated bytes", 5)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r.Counter(r.Track("device cpu", "memory"), "after the end", 5)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	var events []map[string]any
	if err := json.Unmarshal(text.Bytes(), &events); err != nil {
		t.Fatalf("%v\n%s", err, text.String())
	}
	need := map[string][]string{"M": {"args"}, "X": {"dur", "cat"}, "b": {"id", "cat"}, "e": {"id", "cat"}, "C": {"args"}}
	seen := map[string]int{}
	for _, e := range events {
		phase, _ := e["ph"].(string)
		seen[phase]++
		fields, known := need[phase]
		if !known {
			t.Errorf("the phase %q is unknown", phase)
		}
		for _, field := range append(fields, "name", "ts", "pid", "tid") {
			if _, ok := e[field]; !ok {
				t.Errorf("%v has no %s", e, field)
			}
		}
	}
	for phase := range need {
		if seen[phase] == 0 {
			t.Errorf("no event has the phase %s", phase)
		}
	}
	for _, want := range []string{`"se\"co\nnd\u0000é"`,
		`{"name":"k","cat":"issue","ph":"X","flow_out":true,"pid":1,"tid":1,"ts":1000.000,"dur":1000.000,"bind_id":2}`,
		`{"name":"k","cat":"kernel","ph":"X","flow_in":true,"pid":2,"tid":2,"ts":3000.000,"dur":4000.000,"bind_id":2,"args":{"size":"8×1×1","place":"a\"ü.js:3:7","command":2,"issued":1000.000,"clock":"host"}}`,
		`"args":{"command":1,"issued":0.000,"bytes":1048576}}`} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%s is missing in %s", want, text.String())
		}
	}
}

// TestCutOff summarizes the text at every length, as a process that was killed leaves it.
func TestCutOff(t *testing.T) {
	var text bytes.Buffer
	r := New(&text)
	handmade(r)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	whole := text.String()
	first := strings.Index(whole, "}}") + 2
	for n := first; n < len(whole)-3; n++ {
		s, err := Summarize(strings.NewReader(whole[:n]))
		if err != nil || !s.Cut {
			t.Fatalf("%q: %v", whole[:n], err)
		}
	}
	for _, bad := range []string{"", "[", "nothing", "{\"a\": 1}x\n{}\n{}", "[\n5\n6\n]"} {
		if s, err := Summarize(strings.NewReader(bad)); err == nil {
			t.Errorf("%q: %+v", bad, s)
		}
	}
}

// TestFlushing checks that events reach the file while the program runs.
func TestFlushing(t *testing.T) {
	w := &watched{some: make(chan struct{})}
	r := New(w)
	r.Track("program", "commands")
	<-w.some
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// watched is a writer that closes a channel when it has an event.
type watched struct {
	once sync.Once
	some chan struct{}
}

func (w *watched) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("thread_name")) {
		w.once.Do(func() { close(w.some) })
	}
	return len(p), nil
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

// TestFailedWrites checks that a failed write is reported at the end, and that recording goes on.
func TestFailedWrites(t *testing.T) {
	r := New(broken{})
	handmade(r)
	if err := r.Close(); err == nil || err.Error() != "the disk is full" {
		t.Error(err)
	}
}

// TestFull checks that a time line ends when it has its maximum size, and is whole.
func TestFull(t *testing.T) {
	var text bytes.Buffer
	r := New(&text)
	r.room = 2 * mostText
	for range 10000 {
		handmade(r)
	}
	full := r.Full()
	if err := r.Close(); err != nil || !full || text.Len() > 4*mostText {
		t.Errorf("%d bytes, full: %v, %v", text.Len(), full, err)
	}
	var events []map[string]any
	if err := json.Unmarshal(text.Bytes(), &events); err != nil || len(events) < 100 {
		t.Errorf("%d events, %v", len(events), err)
	}
}

// TestCriticalPath summarizes a time line whose waits and critical path are counted by hand, in milliseconds:
//
//	queue a:  k 0–10              m 25–30  (issued at 20)
//	queue b:  copy 2–6   n 12–18  (issued at 3, waits for k)
//	queue c:                             o 31–40  (issued at 4, waits for n and m)
func TestCriticalPath(t *testing.T) {
	var text bytes.Buffer
	r := New(&text)
	a, b, c := r.Track("device cpu", "a"), r.Track("device cpu", "b"), r.Track("device far", "c")
	const ms = time.Millisecond
	r.Slice(a, Kernel, "k", 0, 10*ms, Command(1)) // issued when it began
	r.Slice(b, Copy, "copy", 2*ms, 4*ms, Issued(1*ms), Command(1))
	r.Slice(b, Kernel, "n", 12*ms, 6*ms, Issued(3*ms), Command(2), WaitsFor(0, "device cpu", "a", 1, "buffer x"))
	r.Slice(a, Kernel, "m", 25*ms, 5*ms, Issued(20*ms), Command(4))
	r.Slice(c, Kernel, "o", 31*ms, 9*ms, Issued(4*ms), Command(1), WaitsFor(0, "device cpu", "b", 2, "buffer y"), WaitsFor(1, "device cpu", "a", 4, "event z"))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Summarize(&text)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]time.Duration{"k": 10 * ms, "m": 5 * ms, "o": 9 * ms, issuing: 10 * ms, between: 6 * ms}
	total := time.Duration(0)
	for _, w := range s.Path {
		if want[w.Name] != w.Total {
			t.Errorf("%v of the path is %s, not %v", w.Total, w.Name, want[w.Name])
		}
		total += w.Total
	}
	if len(s.Path) != len(want) || total != s.Length {
		t.Errorf("the path has %v of %v: %+v", total, s.Length, s.Path)
	}
	waits := map[string]time.Duration{"device cpu, b waits for buffer x": 7 * ms, "device far, c waits for buffer y": 14 * ms, "device far, c waits for event z": 26 * ms}
	for _, w := range s.Waits {
		if waits[w.Name] != w.Total {
			t.Errorf("%s %v", w.Name, w.Total)
		}
	}
	if len(s.Waits) != len(waits) || !strings.Contains(s.String(), "\ncritical path ") {
		t.Errorf("%s", s)
	}
}
