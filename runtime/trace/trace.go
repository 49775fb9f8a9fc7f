// Package trace writes and summarizes time lines in the JSON format of Chrome's tracing, which Perfetto displays: slices on
// tracks, flows between them, and counters.
package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/orepl/orepl/runtime/offload"
)

// flushEvery is the time after which written events are in the file, at the latest.
const flushEvery = 50 * time.Millisecond

// Recorder writes a time line. Its text is an array with an event per line, and is readable without its end. All methods may be
// called by several goroutines.
type Recorder struct {
	began time.Time

	mu     sync.Mutex
	out    io.Writer
	buffer bytes.Buffer
	err    error // the first failed write
	closed bool
	some   bool   // an event was written
	line   []byte // reused
	tracks map[[2]string]Track
	names  map[string]int // numbers of processes
	rows   []row          // by the number of the thread, from 1
	flows  uint64
	stop   chan struct{}
	ended  chan struct{}
}

// Track is a row of the time line.
type Track struct{ process, thread int }

// New returns a recorder whose time begins now.
func New(out io.Writer) *Recorder {
	r := &Recorder{began: time.Now(), out: out, tracks: map[[2]string]Track{}, names: map[string]int{}, stop: make(chan struct{}), ended: make(chan struct{})}
	r.buffer.WriteByte('[')
	go r.flushing()
	return r
}

// flushing writes the buffer regularly until the end.
func (r *Recorder) flushing() {
	defer close(r.ended)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-r.stop:
			return
		case <-tick.C:
			r.mu.Lock()
			r.flush()
			r.mu.Unlock()
		}
	}
}

// flush writes the buffer. The caller holds mu.
func (r *Recorder) flush() {
	if r.err == nil {
		_, r.err = r.out.Write(r.buffer.Bytes())
	}
	r.buffer.Reset()
}

// Close writes the end of the text and returns the first error of a write. Later events are dropped.
func (r *Recorder) Close() error {
	r.mu.Lock()
	again := r.closed
	r.closed = true
	r.mu.Unlock()
	if again {
		return nil
	}
	close(r.stop)
	<-r.ended
	r.mu.Lock()
	defer r.mu.Unlock()
	r.buffer.WriteString("\n]\n")
	r.flush()
	return r.err
}

// Now returns the time since the beginning.
func (r *Recorder) Now() time.Duration { return time.Since(r.began) }

// Track returns the row of a thread of a process, such as a queue of a device. It makes the row at the first use.
func (r *Recorder) Track(process, thread string) Track {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.track(process, thread)
}

// track is Track for callers that hold mu.
func (r *Recorder) track(process, thread string) Track {
	if t, ok := r.tracks[[2]string{process, thread}]; ok {
		return t
	}
	pid, known := r.names[process]
	if !known {
		pid = len(r.names) + 1
		r.names[process] = pid
		r.write(event{Name: "process_name", Phase: "M", Process: pid, Args: []Arg{Text("name", process)}})
		r.write(event{Name: "process_sort_index", Phase: "M", Process: pid, Args: []Arg{Number("sort_index", float64(pid))}})
	}
	t := Track{pid, len(r.tracks) + 1}
	r.tracks[[2]string{process, thread}] = t
	r.rows = append(r.rows, row{process: process, thread: thread})
	r.write(event{Name: "thread_name", Phase: "M", Process: pid, Thread: t.thread, Args: []Arg{Text("name", thread)}})
	return t
}

// Slice writes a slice of a track: a piece of work with a name, a category, its beginning and its duration. Slices of a track do not
// overlap, since Perfetto drops those that do. So a slice that would overlap is on another track, such as "commands (2)". Slice returns
// the track.
func (r *Recorder) Slice(t Track, category, name string, start, duration time.Duration, args ...Arg) Track {
	duration = max(duration, 0)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return t
	}
	first := t
	for n := 2; !r.rows[t.thread-1].take(start, start+duration); n++ {
		of := &r.rows[first.thread-1]
		t = r.track(of.process, fmt.Sprintf("%s (%d)", of.thread, n))
	}
	r.write(event{Name: name, Category: category, Phase: "X", Process: t.process, Thread: t.thread, Time: start, Duration: duration, Args: args})
	return t
}

// InOrder writes a slice of a track whose work runs in order, such as a queue's: it begins when the slice before has ended, at the
// earliest. It returns the beginning.
func (r *Recorder) InOrder(t Track, category, name string, start, end time.Duration, args ...Arg) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return start
	}
	row := &r.rows[t.thread-1]
	start = max(start, row.ended)
	row.ended = max(start, end)
	r.write(event{Name: name, Category: category, Phase: "X", Process: t.process, Thread: t.thread, Time: start, Duration: row.ended - start, Args: args})
	return start
}

// Flow writes an arrow from a time on one track to a time on another. Both lie within slices.
func (r *Recorder) Flow(category string, from Track, at time.Duration, to Track, then time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flows++
	id := strconv.FormatUint(r.flows, 10)
	r.write(event{Name: category, Category: category, Phase: "s", ID: id, Process: from.process, Thread: from.thread, Time: at})
	r.write(event{Name: category, Category: category, Phase: "f", Bind: "e", ID: id, Process: to.process, Thread: to.thread, Time: then})
}

// Counter writes a value that holds from now on.
func (r *Recorder) Counter(t Track, name string, value float64) {
	r.event(event{Name: name, Phase: "C", Process: t.process, Thread: t.thread, Time: r.Now(), Args: []Arg{Number("value", value)}})
}

// Span begins a span of the program and returns the function that ends it. Spans may overlap.
func (r *Recorder) Span(name string) (end func()) {
	return r.Begin(r.Track("program", "spans"), Program, name)
}

// Begin begins work of a category on a track and returns the function that ends it. Such work may overlap, unlike slices.
func (r *Recorder) Begin(t Track, category, name string, args ...Arg) (end func()) {
	r.mu.Lock()
	r.flows++
	id := strconv.FormatUint(r.flows, 10)
	r.mu.Unlock()
	r.event(event{Name: name, Category: category, Phase: "b", ID: id, Process: t.process, Thread: t.thread, Time: r.Now(), Args: args})
	return sync.OnceFunc(func() {
		r.event(event{Name: name, Category: category, Phase: "e", ID: id, Process: t.process, Thread: t.thread, Time: r.Now()})
	})
}

// Arg is an argument of an event.
type Arg struct {
	key    string
	text   string
	number float64
	isText bool
}

// Text returns an argument that is a text.
func Text(key, text string) Arg { return Arg{key: key, text: text, isText: true} }

// Number returns an argument that is a number.
func Number(key string, n float64) Arg { return Arg{key: key, number: n} }

// Issued returns the argument of a command's slice that holds the time of its issue.
func Issued(at time.Duration) Arg { return Number(issuedKey, float64(at)/1e3) }

// Command returns the argument of a command's slice that holds its number on its track.
func Command(seq uint64) Arg { return Number(commandKey, float64(seq)) }

// WaitsFor returns the argument i, from 0, of a command's slice that names a command of another track for which it waits.
func WaitsFor(i int, process, thread string, seq uint64, reason string) Arg {
	key := needKey + "0"
	if i > 0 {
		key = needKey + strconv.Itoa(i)
	}
	return Text(key, strconv.FormatUint(seq, 10)+" of "+process+", "+thread+": "+reason)
}

// CommandArgs appends the arguments of a command's slice: when it was issued, its number, its bytes unless they are 0, the size of
// a kernel, and the place in a script.
func CommandArgs(list []Arg, kind string, issued time.Duration, seq uint64, bytes int64, size [3]int, place offload.Position) []Arg {
	list = append(list, Issued(issued), Command(seq))
	if bytes > 0 {
		list = append(list, Number("bytes", float64(bytes)))
	}
	if kind == Kernel {
		list = append(list, Size(size))
	}
	if place != (offload.Position{}) {
		list = append(list, Text("place", place.String()))
	}
	return list
}

// Size returns the argument of a kernel's slice that holds the number of work-items of each axis.
func Size(extents [3]int) Arg {
	b := strconv.AppendInt(make([]byte, 0, 32), int64(extents[0]), 10)
	b = strconv.AppendInt(append(b, "×"...), int64(extents[1]), 10)
	return Text("size", string(strconv.AppendInt(append(b, "×"...), int64(extents[2]), 10)))
}

// The keys of the arguments above; that of a wait is followed by its number.
const (
	issuedKey  = "issued"
	commandKey = "command"
	needKey    = "waits for "
)

// event is an event of the format.
type event struct {
	Name, Category, Phase string
	Time, Duration        time.Duration
	Process, Thread       int
	ID, Bind              string
	Args                  []Arg
}

// appendTo appends the event as JSON. It is written without reflection, since it takes time from the traced program.
func (e *event) appendTo(b []byte) []byte {
	b = appendText(append(b, `{"name":`...), e.Name)
	if e.Category != "" {
		b = appendText(append(b, `,"cat":`...), e.Category)
	}
	b = appendText(append(b, `,"ph":`...), e.Phase)
	b = appendMicros(append(b, `,"ts":`...), e.Time)
	if e.Phase == "X" {
		b = appendMicros(append(b, `,"dur":`...), e.Duration)
	}
	b = strconv.AppendInt(append(b, `,"pid":`...), int64(e.Process), 10)
	b = strconv.AppendInt(append(b, `,"tid":`...), int64(e.Thread), 10)
	if e.ID != "" {
		b = appendText(append(b, `,"id":`...), e.ID)
	}
	if e.Bind != "" {
		b = appendText(append(b, `,"bp":`...), e.Bind)
	}
	for i, a := range e.Args {
		if i == 0 {
			b = append(b, `,"args":{`...)
		} else {
			b = append(b, ',')
		}
		b = append(appendText(b, a.key), ':')
		if a.isText {
			b = appendText(b, a.text)
		} else {
			b = strconv.AppendFloat(b, a.number, 'f', -1, 64)
		}
		if i == len(e.Args)-1 {
			b = append(b, '}')
		}
	}
	return append(b, '}')
}

// appendMicros appends a time in microseconds with a resolution of a nanosecond.
func appendMicros(b []byte, d time.Duration) []byte {
	if d < 0 {
		b, d = append(b, '-'), -d
	}
	b = strconv.AppendInt(b, int64(d/1000), 10)
	rest := int64(d % 1000)
	return append(b, '.', byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10))
}

// appendText appends a JSON string.
func appendText(b []byte, text string) []byte {
	plain, ascii := true, true
	for i := range len(text) {
		c := text[i]
		plain = plain && c >= ' ' && c != 0x7f && c != '"' && c != '\\'
		ascii = ascii && c < 0x80
	}
	if !plain || !ascii && !utf8.ValidString(text) {
		quoted, _ := json.Marshal(text) // a string has a JSON form
		return append(b, quoted...)
	}
	return append(append(append(b, '"'), text...), '"')
}

func (r *Recorder) event(e event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.write(e)
}

// write adds an event to the buffer. The caller holds mu.
func (r *Recorder) write(e event) {
	if r.closed {
		return
	}
	if r.some {
		r.buffer.WriteByte(',')
	}
	r.some = true
	r.buffer.WriteByte('\n')
	r.line = e.appendTo(r.line[:0])
	r.buffer.Write(r.line)
	if r.buffer.Len() > 1<<20 {
		r.flush()
	}
}
