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
		if r.closed {
			return
		}
		r.command(&list[i])
	}
}

// command writes a command. The caller holds mu. Since a program may issue many commands, the text is appended without a value for
// each event.
func (r *Recorder) command(c *DeviceCommand) {
	passed := max(c.Passed, c.Issued)
	program := r.free(c.Program, c.Issued, passed)
	queue := &r.rows[c.Queue.thread-1]
	start := max(c.Start, c.Issued, queue.ended)
	queue.ended = max(c.End, start)
	r.flows++

	b := append(r.next(), `{"name":`...)
	from := len(b)
	b = appendText(b, c.Name)
	to := len(b)
	b = appendMicros(append(b, `,"cat":"issue","ph":"X","ts":`...), c.Issued)
	b = appendMicros(append(b, `,"dur":`...), passed-c.Issued)
	b = program.appendTo(b)
	b = strconv.AppendUint(append(b, `,"bind_id":`...), r.flows, 10)
	b = append(b, `,"flow_out":true}`...)

	b = append(b, ",\n{\"name\":"...)
	b = append(b, b[from:to]...)
	b = appendText(append(b, `,"cat":`...), c.Kind)
	b = appendMicros(append(b, `,"ph":"X","ts":`...), start)
	b = appendMicros(append(b, `,"dur":`...), queue.ended-start)
	b = c.Queue.appendTo(b)
	b = strconv.AppendUint(append(b, `,"bind_id":`...), r.flows, 10)
	b = strconv.AppendUint(append(b, `,"flow_in":true,"args":{"`+commandKey+`":`...), c.Number, 10)
	if c.Issued != start {
		b = appendMicros(append(b, `,"`+issuedKey+`":`...), c.Issued)
	}
	if c.Bytes > 0 {
		b = strconv.AppendInt(append(b, `,"bytes":`...), c.Bytes, 10)
	}
	if c.Kind == Kernel {
		b = appendSize(append(b, `,"size":"`...), c.Size)
		b = append(b, '"')
	}
	if c.Place != (offload.Position{}) {
		b = appendPlace(append(b, `,"place":`...), c.Place)
	}
	for i := range c.Args {
		b = c.Args[i].appendTo(append(b, ','))
	}
	r.text = append(b, "}}"...)
	if len(r.text) > mostText {
		r.flush()
	}
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
