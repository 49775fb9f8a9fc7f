package trace

import (
	"strconv"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

// DeviceCommand is a command of a device that has run.
type DeviceCommand struct {
	Program, Queue Track // of its issue and of the command itself
	Kind, Name     string
	Issued, Passed time.Duration // between which the program issued it
	Start, End     time.Duration // between which it ran
	Number         uint64        // on its queue
	Bytes          int64         // 0: none
	Size           [3]int        // work-items of a kernel
	Place          offload.Position
	Args           []Arg // further arguments of its slice
}

// Commands writes commands in order. The issue of each is a slice of the program, the command a slice of its queue, and an arrow
// joins the two. A command begins when the one before on its track has ended, at the earliest.
func (r *Recorder) Commands(list []DeviceCommand) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range list {
		if r.over() {
			return
		}
		r.command(&list[i])
	}
}

// command writes the two slices of a command. The caller holds mu. Since a program may issue many commands, command appends the
// text directly, without a struct event. It copies the parts that repeat from r.repeats.
func (r *Recorder) command(c *DeviceCommand) {
	passed := max(c.Passed, c.Issued)
	program := r.free(c.Program, c.Issued, passed)
	queue := &r.rows[c.Queue.thread-1]
	start := max(c.Start, c.Issued, queue.ended)
	queue.ended = max(c.End, start)
	r.flows++
	same := r.repeated(c, program)

	b := append(r.next(), same.issue...)
	from := len(b)
	b = appendTimes(b, c.Issued, passed)
	b = strconv.AppendUint(append(b, `,"bind_id":`...), r.flows, 10)
	to := len(b)
	b = append(b, "},\n"...)

	b = append(b, same.command...)
	if start == c.Issued && queue.ended == passed { // as for commands that run while they are issued
		b = append(b, b[from:to]...)
	} else {
		b = appendTimes(b, start, queue.ended)
		b = strconv.AppendUint(append(b, `,"bind_id":`...), r.flows, 10)
	}
	b = strconv.AppendUint(append(b, same.args...), c.Number, 10)
	if c.Issued != start {
		b = appendMicros(append(b, `,"`+issuedKey+`":`...), c.Issued)
	}
	if c.Bytes > 0 {
		b = strconv.AppendInt(append(b, `,"bytes":`...), c.Bytes, 10)
	}
	for i := range c.Args {
		b = c.Args[i].appendTo(append(b, ','))
	}
	r.text = append(b, "}}"...)
	if len(r.text) > mostText {
		r.flush()
	}
}

// appendTimes appends the beginning and the duration of a slice.
func appendTimes(b []byte, start, end time.Duration) []byte {
	b = appendMicros(append(b, `,"ts":`...), start)
	return appendMicros(append(b, `,"dur":`...), end-start)
}

// repeat is the text that commands share which have the same tracks, kind, name, size and place.
type repeat struct {
	program, queue Track
	kind, name     string
	size           [3]int
	place          offload.Position

	issue, command []byte // of both slices, up to their times
	args           []byte // of the command, up to its number
}

// repeated returns the text that a command shares with others, from its slot in r.repeats. If the last command of that slot
// differs, repeated first makes the text anew.
func (r *Recorder) repeated(c *DeviceCommand, program Track) *repeat {
	t := &r.repeats[uint(c.Place.Line+c.Place.Col+len(c.Kind)+c.Queue.thread)%uint(len(r.repeats))]
	if t.program == program && t.queue == c.Queue && t.place == c.Place && t.size == c.Size && t.kind == c.Kind && t.name == c.Name {
		return t
	}
	issue, command, args := t.issue[:0], t.command[:0], t.args[:0]
	issue = append(appendText(append(issue, `{"name":`...), c.Name), `,"cat":"issue","ph":"X","flow_out":true`...)
	command = append(appendText(append(command, `{"name":`...), c.Name), `,"cat":`...)
	command = append(appendText(command, c.Kind), `,"ph":"X","flow_in":true`...)
	args = append(args, `,"args":{`...)
	if c.Kind == Kernel {
		args = append(appendSize(append(args, `"size":"`...), c.Size), `",`...)
	}
	if c.Place != (offload.Position{}) {
		args = append(appendPlace(append(args, `"place":`...), c.Place), ',')
	}
	*t = repeat{program: program, queue: c.Queue, kind: c.Kind, name: c.Name, size: c.Size, place: c.Place,
		issue: program.appendTo(issue), command: c.Queue.appendTo(command), args: append(args, `"`+commandKey+`":`...)}
	return t
}

// appendTo appends the fields of a track.
func (t Track) appendTo(b []byte) []byte {
	b = strconv.AppendInt(append(b, `,"pid":`...), int64(t.process), 10)
	return strconv.AppendInt(append(b, `,"tid":`...), int64(t.thread), 10)
}

// appendSize appends the number of work-items of each axis.
func appendSize(b []byte, size [3]int) []byte {
	b = strconv.AppendInt(b, int64(size[0]), 10)
	b = strconv.AppendInt(append(b, "×"...), int64(size[1]), 10)
	return strconv.AppendInt(append(b, "×"...), int64(size[2]), 10)
}

// appendPlace appends a position as [offload.Position.String] has it.
func appendPlace(b []byte, p offload.Position) []byte {
	if p.File == "" || p.Line == 0 {
		return appendText(b, p.String())
	}
	b = appendText(b, p.File)
	b = strconv.AppendInt(append(b[:len(b)-1], ':'), int64(p.Line), 10)
	return append(strconv.AppendInt(append(b, ':'), int64(p.Col), 10), '"')
}
