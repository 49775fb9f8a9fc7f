// Package trace writes and summarizes time lines in the JSON format of Chrome's tracing, which Perfetto displays: slices on
// tracks, flows between them, and counters.
package trace

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"
)

// mostText is the number of bytes above which the text is written without waiting for flushEvery.
const mostText = 1 << 17

// mostBytes is the size from which a time line drops further events, about a minute and a half of short launches. Larger ones would
// fill the disk and could not be displayed.
const mostBytes = 4 << 30

// flushEvery is the time after which written events are in the file, at the latest.
const flushEvery = 50 * time.Millisecond

// Recorder writes a time line. Its text is an array with an event per line, and is readable without its end. All methods may be
// called by several goroutines.
type Recorder struct {
	began time.Time

	mu      sync.Mutex
	out     io.Writer
	text    []byte // not yet written
	err     error  // the first failed write
	room    int64  // bytes that may still be written
	closed  bool
	some    bool // there is an event
	tracks  map[[2]string]Track
	names   map[string]int // numbers of processes
	rows    []row          // by the number of the thread, from 1
	flows   uint64
	repeats [16]repeat // of recent commands
	stop    chan struct{}
	ended   chan struct{}
}

// Track is a row of the time line.
type Track struct{ process, thread int }

// New returns a recorder whose time begins now.
func New(out io.Writer) *Recorder {
	r := &Recorder{began: time.Now(), out: out, room: mostBytes, tracks: map[[2]string]Track{}, names: map[string]int{}, stop: make(chan struct{}), ended: make(chan struct{})}
	r.text = append(make([]byte, 0, mostText+mostText/8), '[')
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
		_, r.err = r.out.Write(r.text)
	}
	r.room -= int64(len(r.text))
	r.text = r.text[:0]
}

// over reports whether no more events are written. The caller holds mu.
func (r *Recorder) over() bool { return r.closed || r.room <= 0 }

// Full reports whether the time line has reached its maximum of 4 GiB, so that later events are missing.
func (r *Recorder) Full() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.room <= 0
}

// Close writes the end of the text and returns the first error of a write. A second call returns nil. Later events are dropped,
// as are those after 4 GiB.
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
	r.text = append(r.text, "\n]\n"...)
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
	if r.over() {
		return t
	}
	t = r.free(t, start, start+duration)
	r.write(event{Name: name, Category: category, Phase: "X", Process: t.process, Thread: t.thread, Time: start, Duration: duration, Args: args})
	return t
}

// free reserves a time on a track for a slice, or on one beside it if another slice takes the time, and returns the track. The
// caller holds mu.
func (r *Recorder) free(t Track, start, end time.Duration) Track {
	first := t
	for n := 2; !r.rows[t.thread-1].take(start, end); n++ {
		of := &r.rows[first.thread-1]
		t = r.track(of.process, fmt.Sprintf("%s (%d)", of.thread, n))
	}
	return t
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

func (a *Arg) appendTo(b []byte) []byte {
	b = append(appendText(b, a.key), ':')
	if a.isText {
		return appendText(b, a.text)
	}
	return strconv.AppendFloat(b, a.number, 'f', -1, 64)
}

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

// The keys of the arguments above; that of a wait is followed by its number.
const (
	issuedKey  = "issued"
	commandKey = "command"
	needKey    = "waits for "
)

// event is an event of Chrome's trace format.
type event struct {
	Name, Category, Phase string
	Time, Duration        time.Duration
	Process, Thread       int
	ID                    string
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
	b = Track{e.Process, e.Thread}.appendTo(b)
	if e.ID != "" {
		b = appendText(append(b, `,"id":`...), e.ID)
	}
	for i := range e.Args {
		if i == 0 {
			b = append(b, `,"args":{`...)
		} else {
			b = append(b, ',')
		}
		b = e.Args[i].appendTo(b)
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
	if r.over() {
		return
	}
	r.text = e.appendTo(r.next())
	if len(r.text) > mostText {
		r.flush()
	}
}

// next returns the text with what precedes an event. The caller holds mu.
func (r *Recorder) next() []byte {
	if r.some {
		return append(r.text, ",\n"...)
	}
	r.some = true
	return append(r.text, '\n')
}
