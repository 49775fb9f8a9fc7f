package remote

import (
	"sync"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

// Warn implements [offload.Warner]. It may be called after the end of the launch.
func (h *hostServices) Warn(text string) {
	h.server.link.waitForSpace()
	h.server.link.send(&warning{h.program, text})
}

// warners are the receivers of the warnings of programs, which may come until the server has unloaded a program.
type warners struct {
	mu      sync.Mutex
	list    map[uint64]*warned // by program
	inbox   []packet           // warnings, and reports of unloaded programs
	serving bool               // a goroutine delivers inbox
}

// warned is a program whose device code may warn.
type warned struct {
	to       offload.Warner // services of the newest launch
	unloaded chan struct{}  // closed when no warnings follow
}

// launches records the services of a program's newest launch.
func (w *warners) launches(program uint64, s offload.Services) {
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

// handle delivers a warning or a report in order, on a separate goroutine, since the host may be slow.
func (w *warners) handle(p packet) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := p.(*warning); ok && len(w.inbox) >= maxWarnings {
		return
	}
	w.inbox = append(w.inbox, p)
	if !w.serving {
		w.serving = true
		go w.deliver()
	}
}

func (w *warners) deliver() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.inbox) > 0 {
		p := w.inbox[0]
		w.inbox = w.inbox[1:]
		switch m := p.(type) {
		case *warning: // dropped if no launch of the program had an [offload.Warner]
			if of := w.list[m.Program]; of != nil {
				to := of.to
				w.mu.Unlock()
				warnTo(to, m.Text)
				w.mu.Lock()
			}
		case *unloaded:
			if of := w.list[m.Program]; of != nil {
				close(of.unloaded)
				delete(w.list, m.Program)
			}
		}
	}
	w.serving = false
}

// warnTo passes on a warning and recovers from a panic of the host.
func warnTo(to offload.Warner, text string) {
	defer func() { _ = recover() }()
	to.Warn(text)
}

// unloadTime is the maximum time that Unload waits for a program's last warnings. Later ones are passed on as they come.
const unloadTime = 500 * time.Millisecond

// wait waits until the server has unloaded a program that may warn, or the connection ends.
func (w *warners) wait(program uint64, lost <-chan struct{}) {
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
