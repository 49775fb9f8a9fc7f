package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/orepl/orepl/lang"
)

// watchPeriod is the interval between two checks of the files.
const watchPeriod = 100 * time.Millisecond

var errChanged = errors.New("a file changed")

// watch runs a script, and again whenever it, an import, or a file that it reads changes; it stops an unfinished run first. It
// returns when Ctrl-C ends inv.ctx.
func (inv *invocation) watch(path string, opts lang.Options, run func(*invocation, lang.Options) error) error {
	for {
		files := &watched{stamps: map[string]stamp{}, written: map[string]bool{}}
		if absolute, err := filepath.Abs(path); err == nil {
			files.read(absolute)
		}
		ctx, cancel := context.WithCancelCause(inv.ctx)
		changed := make(chan string, 1)
		go files.wait(ctx, func(name string) {
			changed <- name
			cancel(errChanged)
		})
		once := *inv
		once.ctx = ctx
		err := run(&once, files.observe(opts))
		if !errors.Is(context.Cause(ctx), errChanged) && inv.ctx.Err() == nil {
			once.finish(err)
			inv.printf(inv.Stderr, "-- waiting for a change of %s or a file that it reads; Ctrl-C ends\n", path)
		}
		select {
		case name := <-changed:
			inv.printf(inv.Stderr, "-- %s changed\n", name)
		case <-inv.ctx.Done():
			cancel(nil)
			return inv.ctx.Err()
		}
	}
}

// stamp identifies the version of a file.
type stamp struct {
	modified time.Time
	size     int64
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{} // the stamp of a missing file
	}
	return stamp{info.ModTime(), info.Size()}
}

// watched are the files read by a run, with their stamps.
type watched struct {
	mu      sync.Mutex
	stamps  map[string]stamp
	written map[string]bool // files written by the script, which are not watched
}

// observe returns opts with a policy that also records the files that the script reads or writes.
func (w *watched) observe(opts lang.Options) lang.Options {
	policy := opts.Policy
	if policy.Run == nil && policy.Read == nil && policy.Write == nil { // setting Read and Write must not forbid programs
		opts.Policy.Run = func(string) error { return nil }
	}
	opts.Policy.Read = func(path string) error {
		w.read(path)
		if policy.Read == nil {
			return nil
		}
		return policy.Read(path)
	}
	opts.Policy.Write = func(path string) error {
		w.write(path)
		if policy.Write == nil {
			return nil
		}
		return policy.Write(path)
	}
	return opts
}

func (w *watched) read(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.stamps[path]; !known && !w.written[path] {
		w.stamps[path] = stampOf(path)
	}
}

func (w *watched) write(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.written[path] = true
	delete(w.stamps, path)
}

// change returns one of the files that have changed since they were added, or false if none has.
func (w *watched) change() (path string, found bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for path, before := range w.stamps {
		if stampOf(path) != before {
			return path, true
		}
	}
	return "", false
}

// wait waits until a file has changed, and then until it stays unchanged, since editors write in several steps. Then it calls
// changed with the path. It returns without a call when ctx ends.
func (w *watched) wait(ctx context.Context, changed func(path string)) {
	tick := time.NewTicker(watchPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		path, found := w.change()
		if !found {
			continue
		}
		for last := (stamp{}); ; {
			now := stampOf(path)
			if now == last && now != (stamp{}) {
				break
			}
			last = now
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
		changed(path)
		return
	}
}
