package trace

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Summary describes the work of the devices in a time line.
type Summary struct {
	Length   time.Duration // from the first command of a device to the end of the last one
	Kernels  []Work        // kernels, the longest total time first
	Copies   []Work        // copies and fills by kind
	Tracks   []Busy        // queues, in the order of their devices and tracks in the file
	Overlap  time.Duration // during which commands of two or more queues ran
	Idle     time.Duration // during which no command ran
	Gaps     []Gap         // the longest times without commands, longest first; at most mostGaps
	Spans    []Work        // spans of the program
	Services []Work        // calls of services, and how long kernels waited for them
	Compiled []Work        // steps of compiling and loading kernels
	Waits    []Work        // reasons for which commands waited for others, and how long
	Path     []Work        // the critical path: its commands by name, and the times between them
	Cut      bool          // the file lacks its end, since the process ended early
}

// Work adds up the commands of one name.
type Work struct {
	Name           string
	Count          int
	Total, Longest time.Duration
	Bytes          int64
}

// Busy adds up the commands of a queue.
type Busy struct {
	Name     string
	Busy     time.Duration
	Commands int
}

// Gap is a time without commands.
type Gap struct {
	Start, Length time.Duration
	Before        string // the command after the gap
}

// parsed is an event of a file. Times are in microseconds.
type parsed struct {
	Name     string         `json:"name"`
	Category string         `json:"cat"`
	Phase    string         `json:"ph"`
	Time     float64        `json:"ts"`
	Duration *float64       `json:"dur"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	ID       string         `json:"id"`
	Args     map[string]any `json:"args"`
}

// duration returns microseconds as a duration.
func duration(micros float64) time.Duration { return time.Duration(math.Round(micros * 1e3)) }

// read reads the events of a time line. cut states that its end is missing, since the process ended early. An incomplete last
// line is then ignored.
func read(in io.Reader) (events []parsed, cut bool, err error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<24)
	cut = true
	for lines.Scan() {
		line := bytes.TrimSuffix(bytes.TrimSpace(lines.Bytes()), []byte(","))
		switch string(line) {
		case "", "[":
			continue
		case "]":
			cut = false
			continue
		}
		var e parsed
		if err := json.Unmarshal(line, &e); err != nil {
			if len(events) > 0 && !lines.Scan() { // the last line of a process that was killed
				break
			}
			return nil, false, errors.New("the file is no time line of orepl")
		}
		events = append(events, e)
	}
	if err := lines.Err(); err != nil {
		return nil, false, fmt.Errorf("reading the time line: %w", err)
	}
	if len(events) == 0 {
		return nil, false, errors.New("the file is no time line of orepl")
	}
	return events, cut, nil
}

// command is a slice of a device.
type command struct {
	name, kind string
	track      [2]int
	start, end time.Duration
	bytes      int64
	issued     time.Duration // or -1
	seq        uint64        // its number on its track, or 0
	needs      []need
	index      int // among the commands of its track
}

// mostGaps is the maximum number of gaps that a summary lists.
const mostGaps = 5

// Summarize reads a time line and summarizes it.
func Summarize(in io.Reader) (*Summary, error) {
	events, cut, err := read(in)
	if err != nil {
		return nil, err
	}
	s := &Summary{Cut: cut}
	processes, threads := map[int]string{}, map[[2]int]string{}
	var commands []command
	spans, begun := map[string]map[string]*Work{Program: {}, Service: {}, Compile: {}}, map[string]parsed{}
	for _, e := range events {
		switch {
		case e.Phase == "M" && e.Name == "process_name":
			processes[e.Process], _ = e.Args["name"].(string)
		case e.Phase == "M" && e.Name == "thread_name":
			threads[[2]int{e.Process, e.Thread}], _ = e.Args["name"].(string)
		case e.Phase == "b":
			begun[e.ID] = e
		case e.Phase == "e":
			if b, ok := begun[e.ID]; ok && spans[b.Category] != nil {
				add(spans[b.Category], b.Name, duration(e.Time-b.Time), 0)
			}
		case e.Phase == "X" && e.Duration != nil && (e.Category == Kernel || e.Category == Copy || e.Category == Host):
			bytes, _ := e.Args["bytes"].(float64)
			c := command{name: e.Name, kind: e.Category, track: [2]int{e.Process, e.Thread}, start: duration(e.Time), end: duration(e.Time + *e.Duration), bytes: int64(bytes)}
			c.depends(e.Args)
			commands = append(commands, c)
		}
	}
	kernels, copies, busy := map[string]*Work{}, map[string]*Work{}, map[[2]int]*Busy{}
	for _, c := range commands {
		switch c.kind {
		case Kernel:
			add(kernels, c.name, c.end-c.start, 0)
		case Copy:
			add(copies, c.name, c.end-c.start, c.bytes)
		}
		b := busy[c.track]
		if b == nil {
			b = &Busy{Name: processes[c.track[0]] + ", " + threads[c.track]}
			busy[c.track] = b
		}
		b.Busy += c.end - c.start
		b.Commands++
	}
	s.Kernels, s.Copies = sorted(kernels), sorted(copies)
	s.Spans, s.Services, s.Compiled = sorted(spans[Program]), sorted(spans[Service]), sorted(spans[Compile])
	for _, key := range slices.SortedFunc(maps.Keys(busy), func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }) {
		s.Tracks = append(s.Tracks, *busy[key])
	}
	s.sweep(commands)
	names := map[[2]int]string{}
	for track, thread := range threads {
		names[track] = processes[track[0]] + ", " + thread
	}
	s.dependencies(commands, names)
	return s, nil
}

// The categories of commands.
const (
	Kernel = "kernel"
	Copy   = "copy"
	Host   = "host function"
)

// The categories of work that may overlap.
const (
	Program = "span"
	Service = "service"
	Compile = "compile"
)

func add(to map[string]*Work, name string, d time.Duration, bytes int64) {
	w := to[name]
	if w == nil {
		w = &Work{Name: name}
		to[name] = w
	}
	w.Count++
	w.Total += d
	w.Longest = max(w.Longest, d)
	w.Bytes += bytes
}

func sorted(by map[string]*Work) []Work {
	var list []Work
	for _, w := range by {
		list = append(list, *w)
	}
	slices.SortFunc(list, func(a, b Work) int { return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name)) })
	return list
}

// sweep sorts the commands by their start. It computes the length of the time line, the gaps, and the times in which no
// command, or commands of several queues, ran.
func (s *Summary) sweep(commands []command) {
	if len(commands) == 0 {
		return
	}
	slices.SortFunc(commands, func(a, b command) int { return cmp.Compare(a.start, b.start) })
	type edge struct {
		at    time.Duration
		delta int
		track [2]int
	}
	var edges []edge
	first, last := commands[0].start, commands[0].end
	reached := commands[0].end
	for _, c := range commands {
		edges = append(edges, edge{c.start, 1, c.track}, edge{c.end, -1, c.track})
		if c.start > reached {
			s.Idle += c.start - reached
			s.Gaps = append(s.Gaps, Gap{reached, c.start - reached, c.name})
		}
		reached = max(reached, c.end)
		last = max(last, c.end)
	}
	s.Length = last - first
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.delta, b.delta)) })
	running := map[[2]int]int{}
	busy := 0
	var before time.Duration
	for _, e := range edges {
		if busy >= 2 {
			s.Overlap += e.at - before
		}
		before = e.at
		old := running[e.track]
		running[e.track] = old + e.delta
		switch {
		case old == 0 && e.delta > 0:
			busy++
		case old == 1 && e.delta < 0:
			busy--
		}
	}
	slices.SortFunc(s.Gaps, func(a, b Gap) int { return cmp.Compare(b.Length, a.Length) })
	s.Gaps = s.Gaps[:min(len(s.Gaps), mostGaps)]
}

// mostWork is the maximum number of names of each kind in the text.
const mostWork = 15

// String returns the summary as text.
func (s *Summary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v from the first command to the end of the last\n", short(s.Length))
	if s.Cut {
		b.WriteString("the file was cut off: the process ended early\n")
	}
	list := func(title string, work []Work) {
		if len(work) == 0 {
			return
		}
		wide := 32
		for _, w := range work[:min(len(work), mostWork)] {
			wide = max(wide, len([]rune(w.Name)))
		}
		fmt.Fprintf(&b, "\n%-*s %8s %12s %12s %12s %7s\n", wide, title, "count", "total", "mean", "longest", "share")
		for i, w := range work {
			if i == mostWork {
				fmt.Fprintf(&b, "and %d more\n", len(work)-i)
				break
			}
			fmt.Fprintf(&b, "%-*s %8d %12v %12v %12v %7s", wide, w.Name, w.Count, short(w.Total), short(w.Total/time.Duration(w.Count)), short(w.Longest), share(w.Total, s.Length))
			if w.Bytes > 0 {
				fmt.Fprintf(&b, "  %.1f MiB, %.2f GB/s", float64(w.Bytes)/(1<<20), float64(w.Bytes)/max(float64(w.Total), 1))
			}
			b.WriteString("\n")
		}
	}
	list("kernel", s.Kernels)
	list("copy", s.Copies)
	list("span", s.Spans)
	list("service", s.Services)
	list("compile step", s.Compiled)
	list("wait", s.Waits)
	list("critical path", s.Path)
	if len(s.Tracks) > 0 {
		fmt.Fprintf(&b, "\n%-32s %8s %12s %7s\n", "queue", "commands", "busy", "share")
		for _, t := range s.Tracks {
			fmt.Fprintf(&b, "%-32s %8d %12v %7s\n", t.Name, t.Commands, short(t.Busy), share(t.Busy, s.Length))
		}
		fmt.Fprintf(&b, "\nno command ran for %v (%s), two or more queues for %v (%s)\n", short(s.Idle), share(s.Idle, s.Length), short(s.Overlap), share(s.Overlap, s.Length))
	}
	for _, g := range s.Gaps {
		fmt.Fprintf(&b, "gap of %v at %v, before %s\n", short(g.Length), short(g.Start), g.Before)
	}
	return b.String()
}

// short rounds a duration to four digits.
func short(d time.Duration) time.Duration {
	for unit := time.Duration(1); ; unit *= 10 {
		if d < 10000*unit {
			return d.Round(unit)
		}
	}
}

func share(part, whole time.Duration) string {
	if whole <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}
