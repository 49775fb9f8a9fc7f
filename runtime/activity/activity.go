// Package activity counts the queues, commands and bytes of a process that uses devices of other processes, or offers its own.
// The counts of the command orepl are in shared memory without a file. [Find] sees them at any time, and they end with the
// process.
package activity

import (
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Counts are the counts of a process.
type Counts struct {
	Queues   atomic.Int64 // open queues on devices of other processes, or for clients
	Commands atomic.Int64 // commands issued to them so far
	Memory   atomic.Int64 // bytes of the clients' memory
	Received atomic.Int64 // bytes received so far
	Sent     atomic.Int64 // bytes sent so far
}

// countBytes is the size of the counts in shared memory, in bytes.
const countBytes = 5 * 8

var (
	mu      sync.Mutex
	shown   atomic.Pointer[Counts]
	names   []string
	showing []byte // the names in shared memory; nil: not published
)

func init() { shown.Store(new(Counts)) }

// Current returns the counts of this process.
func Current() *Counts { return shown.Load() }

// Devices adds devices to the names of those that this process offers or uses.
func Devices(list ...string) {
	mu.Lock()
	defer mu.Unlock()
	for _, name := range list {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	show()
}

// show writes the names to shared memory if this process publishes its activity: as many as fit, then "+" for others. The
// caller holds mu.
func show() {
	if showing == nil {
		return
	}
	text := strings.Join(names, ",")
	if most := len(showing) - 2; len(text) > most {
		text = text[:strings.LastIndexByte(text[:most-1], ',')+1] + "+"
	}
	binary.LittleEndian.PutUint16(showing, uint16(len(text)))
	copy(showing[2:], text)
}

// Process contains what a process has published: the names of the devices that it offers or uses, and its counts.
type Process struct {
	PID     int
	Devices []string
	More    bool // there are more devices than those named

	Queues, Commands, Memory, Received, Sent int64
}

// parse returns the counts in the shared memory of a process. ok is false if it has none.
func parse(pid int, data []byte) (p Process, ok bool) {
	if len(data) != size || string(data[:len(magic)]) != magic {
		return p, false
	}
	p.PID = pid
	for i, to := range []*int64{&p.Queues, &p.Commands, &p.Memory, &p.Received, &p.Sent} {
		*to = int64(binary.NativeEndian.Uint64(data[countsAt+8*i:]))
	}
	n := int(binary.LittleEndian.Uint16(data[namesAt:]))
	if n > len(data)-namesAt-2 {
		return p, false
	}
	if n > 0 {
		p.Devices = strings.Split(string(data[namesAt+2:][:n]), ",")
		if last := len(p.Devices) - 1; p.Devices[last] == "+" {
			p.Devices, p.More = p.Devices[:last], true
		}
	}
	return p, true
}

// The layout of the shared memory.
const (
	magic    = "orepl activity 1"
	countsAt = 64
	namesAt  = countsAt + countBytes
	size     = 4096
)

// CountReads returns a reader that counts the bytes read from r as received.
func CountReads(r io.Reader) io.Reader { return reads{r} }

// CountWrites returns a writer that counts the bytes written to w as sent.
func CountWrites(w io.Writer) io.Writer { return writes{w} }

type reads struct{ io.Reader }

func (r reads) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	Current().Received.Add(int64(n))
	return n, err
}

type writes struct{ io.Writer }

func (w writes) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	Current().Sent.Add(int64(n))
	return n, err
}
