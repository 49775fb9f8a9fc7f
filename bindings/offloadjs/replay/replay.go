// Package replay records the launches of a pipeline's runs by their parameters, and issues them in later runs with the same
// parameters, without the script.
package replay

import (
	"encoding/binary"
	"math"
	"math/big"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Limits of a tape.
const (
	mostRuns     = 32    // recorded runs
	mostLaunches = 4096  // launches of a run
	mostMisses   = 64    // runs in a row that were recorded in vain
	pauseRuns    = 10000 // runs without recording after mostMisses
)

// Run holds the launches and the end of a run.
type Run struct {
	Launches []*session.Call
	Failed   error // the error of the script after the launches, or nil

	codes []*ir.Kernel             // of the launches; nil if unknown
	sets  map[*session.Buffer]bool // results of Sets
}

// Sets reports whether the first launch that accesses a buffer's memory is known to store to every element, and to read none before.
// The contents before the run then do not matter.
func (r *Run) Sets(b *session.Buffer) bool {
	known, ok := r.sets[b]
	if !ok {
		if r.sets == nil {
			r.sets = map[*session.Buffer]bool{}
		}
		known = r.firstSets(b)
		r.sets[b] = known
	}
	return known
}

// firstSets computes the result of [Run.Sets].
func (r *Run) firstSets(b *session.Buffer) bool {
	memory := r.memoryOf(b)
	if memory == nil {
		return false
	}
	for i, c := range r.Launches {
		l := c.Command()
		at, count := -1, 0
		for j := range l.Args {
			if l.Args[j].Memory == memory {
				at = j
				count++
			}
		}
		if count == 0 {
			continue
		}
		code := r.codes[i]
		if count > 1 || c.Args()[at].Buffer() != b || code == nil || len(code.Params) != len(l.Args) || !analysis.Covers(code, code.Params[at].Array) {
			return false
		}
		dims := b.Dims()
		for axis, extent := range dims {
			if l.Size[len(dims)-1-axis] < extent {
				return false
			}
		}
		return true
	}
	return false
}

// memoryOf returns the memory of a buffer that a launch has as an argument, or nil.
func (r *Run) memoryOf(b *session.Buffer) offload.Memory {
	for _, c := range r.Launches {
		for j, arg := range c.Args() {
			if arg.Buffer() == b {
				return c.Command().Args[j].Memory
			}
		}
	}
	return nil
}

// Tape holds the launches of runs by their keys. The zero value is ready for use. Its buffers must stay allocated; Clear is to be
// called when one is replaced.
type Tape struct {
	runs   map[string]*Run
	misses int // since the last run that was found
	pause  int // runs that are still not to be recorded

	key       []byte
	recording bool
	queue     *session.Queue
	calls     []*session.Call
	codes     []*ir.Kernel
}

// Reset begins the key of a run.
func (t *Tape) Reset() { t.key = t.key[:0] }

// Number adds a number, boolean or text of the forms of pipelines' inputs to the key; nil is a default.
func (t *Tape) Number(x any) {
	word := func(kind byte, bits uint64) { t.key = binary.LittleEndian.AppendUint64(append(t.key, kind), bits) }
	switch x := x.(type) {
	case nil:
		t.key = append(t.key, 'd')
	case int64:
		word('i', uint64(x))
	case float64:
		word('f', math.Float64bits(x))
	case bool:
		bit := uint64(0)
		if x {
			bit = 1
		}
		word('b', bit)
	case string:
		word('s', uint64(len(x)))
		t.key = append(t.key, x...)
	case *big.Int:
		digits := x.Text(16)
		word('n', uint64(len(digits)))
		t.key = append(t.key, digits...)
	}
}

// Find returns the run with the current key, or nil.
func (t *Tape) Find() *Run {
	found := t.runs[string(t.key)]
	if found != nil {
		t.misses = 0
	}
	return found
}

// Begin starts the recording of a run with the current key on a queue, unless recent recordings were in vain. A nil tape
// records nothing.
func (t *Tape) Begin(q *session.Queue) {
	if t == nil {
		return
	}
	if t.pause > 0 {
		t.pause--
		return
	}
	if t.misses++; t.misses > mostMisses {
		t.misses, t.pause = 0, pauseRuns
		t.Clear()
		return
	}
	t.recording, t.queue, t.calls, t.codes = true, q, nil, nil
}

// Add records a launch that a queue has accepted. The recording ends at a launch on another queue than that of Begin, at one that
// calls services or prints, and after mostLaunches. A nil tape records nothing.
func (t *Tape) Add(q *session.Queue, c *session.Call) {
	if t == nil || !t.recording {
		return
	}
	if info := c.Kernel().Info(); q != t.queue || info.CallsServices() || info.Prints || len(t.calls) == mostLaunches {
		t.recording, t.calls, t.codes = false, nil, nil
		return
	}
	t.calls, t.codes = append(t.calls, c.Clone()), append(t.codes, nil)
}

// Describe sets the code of the launch that was added last.
func (t *Tape) Describe(code *ir.Kernel) {
	if t != nil && t.recording {
		t.codes[len(t.codes)-1] = code
	}
}

// End ends the recording, and keeps the run if it would repeat. Beyond mostRuns it forgets the earlier runs. failed is the
// error of its script.
func (t *Tape) End(repeats bool, failed error) {
	if t == nil || !t.recording {
		return
	}
	if repeats {
		if t.runs == nil || len(t.runs) == mostRuns {
			t.runs = map[string]*Run{}
		}
		t.runs[string(t.key)] = &Run{Launches: t.calls, Failed: failed, codes: t.codes}
	}
	t.recording, t.calls, t.codes = false, nil, nil
}

// Clear forgets all runs. A nil tape has none.
func (t *Tape) Clear() {
	if t != nil {
		t.runs = nil
	}
}
