package interp

import (
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// Prints buffers the text that items print in a run. Begin, Add, End, Flush and Drop belong to the goroutine of the run.
type Prints struct {
	used bool // since the last Drop
	held bool // mu is locked from Begin to End

	mu      sync.Mutex // also locked by the timer
	to      Services
	text    []byte
	entries []printed
	timer   *time.Timer // flushes the text of a long run; nil before the first
	armed   bool        // the timer runs
	failed  any         // panic of the host during the timer's flush
}

// printed is the text of one print of an item.
type printed struct {
	site, order, start, end int
	item                    [3]int
}

const (
	// MaxPending is the number of buffered bytes above which a print flushes the buffer.
	MaxPending = 1 << 20

	// printDelay is the maximum time that text is buffered if the launch is [Launch.Prompt].
	printDelay = 80 * time.Millisecond
)

// Begin locks the buffer for prints to a host. End unlocks it. Text appended to the result is passed to Add.
func (p *Prints) Begin(to Services) (text []byte) {
	p.used = true
	p.mu.Lock()
	p.held = true
	p.to = to
	return p.text
}

// Add records the text behind the previous result of Begin or Add as one print of an item. It returns the buffer to which the next
// text is appended. order is the rank of the item in the run. Add flushes a buffer of more than MaxPending bytes or MaxPending/16
// prints.
func (p *Prints) Add(text []byte, site, order int, item [3]int) []byte {
	start := len(p.text)
	p.text = text
	p.entries = append(p.entries, printed{site, order, start, len(text), item})
	if len(text) > MaxPending || len(p.entries) > MaxPending/16 {
		p.flush()
	}
	return p.text
}

// End unlocks the buffer. If prompt is set, a timer flushes it during the run. A panic of the host in the timer is repeated here or
// in Flush.
func (p *Prints) End(prompt bool) {
	failed := p.failed
	if prompt && !p.armed && len(p.entries) > 0 {
		p.armed = true
		if p.timer == nil {
			p.timer = time.AfterFunc(printDelay, p.late)
		} else {
			p.timer.Reset(printDelay)
		}
	}
	p.held = false
	p.mu.Unlock()
	if failed != nil {
		panic(failed)
	}
}

// Flush passes the text to the host, in the order of items, and disarms the timer. It repeats a panic of the host in the timer.
func (p *Prints) Flush() {
	if !p.used {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.disarm()
	if p.failed != nil {
		panic(p.failed)
	}
	p.flush()
}

// Drop discards the text of a run that did not end with Flush, perhaps by a panic of the host between Begin and End.
func (p *Prints) Drop() {
	if !p.used {
		return
	}
	if !p.held {
		p.mu.Lock()
	}
	p.held = false
	defer p.mu.Unlock()
	p.disarm()
	p.clear()
	p.to, p.failed, p.used = nil, nil, false
}

// disarm stops the timer. One that has just fired finds no text.
func (p *Prints) disarm() {
	if p.armed && p.timer.Stop() {
		p.armed = false
	}
}

// clear discards the text. The caller holds p.mu.
func (p *Prints) clear() { p.entries, p.text = p.entries[:0], p.text[:0] }

// flush passes the text to the host. The caller holds p.mu.
func (p *Prints) flush() {
	if len(p.entries) == 0 {
		return
	}
	slices.SortStableFunc(p.entries, func(a, b printed) int { return a.order - b.order })
	for _, e := range p.entries {
		p.to.Print(e.site, e.item, string(p.text[e.start:e.end]))
	}
	p.clear()
}

// late flushes the text of a running kernel. The goroutine of the run repeats a panic of the host.
func (p *Prints) late() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = false
	printed := false
	defer func() {
		if printed {
			return
		}
		p.clear()
		if p.failed = recover(); p.failed == nil {
			p.failed = "the host ended the goroutine of a print"
		} else {
			p.failed = fmt.Sprintf("%v\n%s", p.failed, debug.Stack())
		}
	}()
	p.flush()
	printed = true
}
