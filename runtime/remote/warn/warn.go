// Package warn passes the warnings of programs on to their hosts, until the server has unloaded a program.
package warn

import (
	"sync"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

// Warners are the receivers of the warnings of programs.
type Warners struct {
	mu      sync.Mutex
	list    map[uint64]*warned // by program
	inbox   []message
	serving bool // a goroutine delivers inbox
}

// message is a warning of a program, or the report that it is unloaded.
type message struct {
	program uint64
	text    string
	over    bool
}

// warned is a program whose device code may warn.
type warned struct {
	to       offload.Warner // services of the newest launch
	unloaded chan struct{}  // closed when no warnings follow
}

// Launches records the services of a program's newest launch, if they are an [offload.Warner].
func (w *Warners) Launches(program uint64, s offload.Services) {
	to, ok := s.(offload.Warner)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.list[program]; p != nil {
		p.to = to
		return
	}
	if w.list == nil {
		w.list = map[uint64]*warned{}
	}
	w.list[program] = &warned{to, make(chan struct{})}
}

// maxWarnings is the maximum number of warnings that wait for the host. Further ones are dropped.
const maxWarnings = 1024

// Warn passes a warning on to the services of the program's newest launch, on another goroutine. It drops the warning if
// maxWarnings wait.
func (w *Warners) Warn(program uint64, text string) { w.handle(message{program: program, text: text}) }

// Unloaded ends Wait for a program that is unloaded, after the warnings before it were passed on.
func (w *Warners) Unloaded(program uint64) { w.handle(message{program: program, over: true}) }

// handle delivers a message after those before it, on a separate goroutine, since the host may be slow. It drops a warning if
// maxWarnings wait.
func (w *Warners) handle(m message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !m.over && len(w.inbox) >= maxWarnings {
		return
	}
	w.inbox = append(w.inbox, m)
	if !w.serving {
		w.serving = true
		go w.deliver()
	}
}

func (w *Warners) deliver() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.inbox) > 0 {
		m := w.inbox[0]
		w.inbox = w.inbox[1:]
		of := w.list[m.program]
		switch {
		case of == nil: // no launch of the program had an [offload.Warner]
		case m.over:
			close(of.unloaded)
			delete(w.list, m.program)
		default:
			to := of.to
			w.mu.Unlock()
			warnTo(to, m.text)
			w.mu.Lock()
		}
	}
	w.serving = false
}

// warnTo passes on a warning and recovers from a panic of the host.
func warnTo(to offload.Warner, text string) {
	defer func() { _ = recover() }()
	to.Warn(text)
}

// unloadTime is the maximum time that Wait waits for a program's last warnings. Later ones are passed on as they come.
const unloadTime = 500 * time.Millisecond

// Wait waits until the server has unloaded a program that may warn, lost is closed, or unloadTime has passed.
func (w *Warners) Wait(program uint64, lost <-chan struct{}) {
	w.mu.Lock()
	p := w.list[program]
	w.mu.Unlock()
	if p == nil {
		return
	}
	late := time.NewTimer(unloadTime)
	defer late.Stop()
	select {
	case <-p.unloaded:
	case <-lost:
	case <-late.C:
	}
}
