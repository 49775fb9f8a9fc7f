package status

import (
	"context"
	"slices"
	"sync"
	"time"
)

// pause is the time between looks at the file where the system does not report its changes.
const pause = 100 * time.Millisecond

// Watch watches the file of a job, and the processes of this machine that it lists.
type Watch struct {
	path string
	stop chan struct{} // closed by Stop
	done chan struct{} // closed when kernel.order is complete

	kernel kernelWatch

	mu      sync.Mutex
	report  Report
	ended   []int         // processes whose end the system has reported
	sees    bool          // the system reports ends
	changed chan struct{} // closed when the report changes, or a process has ended
}

// NewWatch begins to watch a file.
func NewWatch(path string) *Watch {
	w := &Watch{path: path, stop: make(chan struct{}), done: make(chan struct{}), changed: make(chan struct{})}
	events := w.kernel.start(path)
	go func() {
		defer close(w.done)
		w.run(events)
	}()
	return w
}

func (w *Watch) run(events bool) {
	defer w.kernel.close()
	for stopping := false; ; {
		r := Read(w.path)
		w.kernel.see(r)
		w.mu.Lock()
		w.report, w.ended, w.sees = r, slices.Clone(w.kernel.order), events
		close(w.changed)
		w.changed = make(chan struct{})
		w.mu.Unlock()
		select {
		case <-w.stop:
			stopping = true
		default:
		}
		switch {
		case stopping:
			if !w.kernel.wait(0) {
				return
			}
		case events:
			w.kernel.wait(-1)
		default:
			select {
			case <-w.stop:
			case <-time.After(pause):
			}
		}
	}
}

// Await waits until all scripts have written their exit codes, or a process has written a loss, and reports which by lost. A
// machine that the launcher does not reach is a loss. A loss of which only workers tell counts once no script runs on this
// machine: the network may have cut one off. ok is false if ctx ended before.
func (w *Watch) Await(ctx context.Context, scripts int) (lost, ok bool) {
	for {
		w.mu.Lock()
		r, changed := w.report, w.changed
		told := r.Told || r.Lost && !w.runs(scripts)
		w.mu.Unlock()
		if lost := told || len(r.Cut) > 0; lost || len(r.Codes) == scripts {
			return lost, true
		}
		select {
		case <-ctx.Done():
			return false, false
		case <-changed:
		}
	}
}

// runs reports whether one of the scripts, which are the first ranks, is known to run. The caller holds mu.
func (w *Watch) runs(scripts int) bool {
	for pid, rank := range w.report.Ranks {
		if w.sees && rank < scripts && !slices.Contains(w.ended, pid) {
			return true
		}
	}
	return false
}

// AwaitEnds waits until n processes of this machine have begun and ended. It returns false if ctx ended before.
func (w *Watch) AwaitEnds(ctx context.Context, n int) bool {
	for {
		w.mu.Lock()
		ended, changed := len(w.ended), w.changed
		w.mu.Unlock()
		if ended >= n {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-changed:
		}
	}
}

// Stop ends the watch. It returns the content of the file, and the first process that did not end by itself, nil if there is none.
func (w *Watch) Stop() (Report, *Killed) {
	close(w.stop)
	w.kernel.end()
	<-w.done
	r := Read(w.path)
	for _, pid := range w.kernel.order {
		if !r.Ended[pid] {
			return r, &Killed{r.Ranks[pid], pid}
		}
	}
	return r, nil
}
