package orepl

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/disk"
	"github.com/orepl/orepl/lang/notify"
	"github.com/orepl/orepl/runtime/observe"
	contract "github.com/orepl/orepl/runtime/offload"
)

// WatchOptions are the options of a watched pipeline.
type WatchOptions struct {
	Pipeline PipelineOptions
	// Interval is the time after which the files are checked again. Default: half a second. The watcher also checks them when the
	// system notifies it of changes in their folders, if they are the machine's.
	Interval time.Duration
	// Timeout limits the load of a new version with its trial run. Default: a minute. The first load has the limits of the engine alone.
	Timeout time.Duration
	// Canary has the inputs of a trial run of each new version, whose outputs are dropped. Default: there is none.
	Canary Data
	// OnReload receives the result of each reload: nil, or why the old version stays. It runs on the watcher's goroutine.
	OnReload func(error)
}

// Watched is a pipeline that follows its files. It is safe for concurrent use.
type Watched struct {
	rt   *Runtime
	path string
	opts WatchOptions

	mu      sync.Mutex
	current *Pipeline
	ending  []*Pipeline // replaced ones with runs

	notices *notify.Watcher // nil: there are none

	stop  context.CancelFunc
	ended chan struct{}  // closed when the watcher has ended
	old   sync.WaitGroup // replaced pipelines with runs
}

// Watch loads a pipeline and looks for changes of the files that it read while it loaded. Changed files are loaded as a new
// version. It replaces the old one if it loads, takes the inputs of the old one, has its outputs and passes the trial run.
// Later runs use it; current ones end on the old version, which is then closed. The watcher ends with ctx or Close.
func (r *Runtime) Watch(ctx context.Context, path string, opts WatchOptions) (*Watched, error) {
	if err := diag.CheckContext(ctx); err != nil {
		return nil, err
	}
	if opts.Interval < 0 {
		return nil, contract.Errorf(contract.InvalidArgument, "watch", "Interval is %v", opts.Interval).WithHint("a positive duration, or 0 for the default")
	}
	if opts.Interval == 0 {
		opts.Interval = time.Second / 2
	}
	if opts.Timeout < 0 {
		return nil, contract.Errorf(contract.InvalidArgument, "watch", "Timeout is %v", opts.Timeout).WithHint("a positive duration, or 0 for the default")
	}
	if opts.Timeout == 0 {
		opts.Timeout = time.Minute
	}
	w := &Watched{rt: r, path: path, opts: opts, ended: make(chan struct{})}
	first, err := w.load(ctx)
	if err != nil {
		return nil, err
	}
	w.current = first
	ctx, w.stop = context.WithCancel(ctx)
	if opts.Pipeline.Engine.Files == nil {
		if w.notices, err = notify.New(); err != nil {
			w.without(err)
		}
	}
	go w.watch(ctx, w.state(first))
	return w, nil
}

// without logs that files are watched without notifications of the system, for the reason err.
func (w *Watched) without(err error) {
	if w.rt.logger != nil {
		w.rt.logger.Debug("files of a pipeline are watched without notifications", "path", w.path, "error", err)
	}
}

// Pipeline returns the version that runs use now. The next reload closes it.
func (w *Watched) Pipeline() *Pipeline {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.current
}

// Run runs the current version once, see [Pipeline.Run].
func (w *Watched) Run(ctx context.Context, in, out Data) error {
	for {
		p := w.Pipeline()
		err := p.Run(ctx, in, out)
		if err != ErrClosed || p == w.Pipeline() { // else it was replaced before the run began
			return err
		}
	}
}

// Close ends the watcher and closes the current version. Current runs complete.
func (w *Watched) Close() error {
	if w.stop == nil { // nothing is open
		return nil
	}
	w.stop()
	<-w.ended
	w.mu.Lock()
	p := w.current
	w.mu.Unlock()
	return p.Close()
}

// Shutdown is Close, and then waits until the current runs of all versions have completed, or ctx ends. A function that one of
// them calls is refused as by [Pipeline.Shutdown].
func (w *Watched) Shutdown(ctx context.Context) error {
	if err := w.Pipeline().usable(ctx); err != nil {
		return err
	}
	w.mu.Lock()
	versions := append(slices.Clone(w.ending), w.current)
	w.mu.Unlock()
	if slices.ContainsFunc(versions, func(p *Pipeline) bool { return p.calls(ctx) }) {
		return errOwnRun
	}
	err := errors.Join(w.Close(), w.Pipeline().Shutdown(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.old.Wait()
	}()
	select {
	case <-done:
		return err
	case <-ctx.Done():
		return errors.Join(err, lang.EndOf(ctx))
	}
}

// version is a file with the version of its contents.
type version struct {
	path string
	disk.Version
}

// state returns the versions of the files that a pipeline read while it loaded.
func (w *Watched) state(p *Pipeline) []version {
	paths := p.files()
	list := make([]version, len(paths))
	for i, path := range paths {
		list[i].path = path
	}
	if w.notices != nil {
		if err := w.notices.Set(paths); err != nil {
			w.without(err)
		}
	}
	w.look(list)
	return list
}

// settle is the time for which files must not have changed after a notification.
const settle = 20 * time.Millisecond

// look sets the versions to those of the files as they are now.
func (w *Watched) look(list []version) {
	files := disk.Of(w.opts.Pipeline.Engine.Files)
	for i := range list {
		list[i].Version = files.Version(list[i].path)
	}
}

// watch reloads the pipeline after changes. It loads when the files have not changed for an interval, or for a moment after a
// notification. An editor may write several files, or one in parts.
func (w *Watched) watch(ctx context.Context, loaded []version) {
	defer close(w.ended)
	tick := time.NewTicker(w.opts.Interval)
	defer tick.Stop()
	var notified <-chan struct{}
	if w.notices != nil {
		defer w.notices.Close()
		notified = w.notices.Changed()
	}
	var soon <-chan time.Time // when the files may be settled
	last := loaded
	for {
		first := false // look after a notification
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-notified:
			first = soon == nil
			if !first {
				continue
			}
		case <-soon:
			soon = nil
		}
		now := slices.Clone(last)
		w.look(now)
		still := slices.Equal(now, last)
		last = now
		if notified != nil && soon == nil && (first || !still) {
			soon = time.After(min(settle, w.opts.Interval))
		}
		if first || !still || slices.Equal(now, loaded) {
			continue
		}
		start := time.Now()
		p, err := w.reload(ctx)
		w.rt.observe(ctx, observe.Span{Kind: observe.Reload, Start: start, Err: err}, w.Pipeline())
		if ctx.Err() != nil {
			return
		}
		loaded = now
		if err == nil {
			last = w.state(p)
			loaded = before(last, now)
		}
		if w.opts.OnReload != nil {
			w.opts.OnReload(err)
		} else if err != nil && w.rt.logger != nil {
			w.rt.logger.Warn("a changed pipeline was not loaded", "path", w.path, "error", err)
		}
	}
}

// before returns a list of versions, with those of another list for files that are in both. So a change while files were loaded is
// another change.
func before(list, earlier []version) []version {
	list = slices.Clone(list)
	for i := range list {
		if at := slices.IndexFunc(earlier, func(v version) bool { return v.path == list[i].path }); at >= 0 {
			list[i] = earlier[at]
		}
	}
	return list
}

// load returns a new version with files as they are now.
func (w *Watched) load(ctx context.Context) (*Pipeline, error) {
	return w.rt.LoadPipeline(ctx, w.path, w.opts.Pipeline)
}

// reload replaces the current version, or returns why not.
func (w *Watched) reload(ctx context.Context) (*Pipeline, error) {
	late := contract.Errorf(contract.Timeout, "reload", "the new version of %s was not ready within %v", w.path, w.opts.Timeout).
		WithHint("see whether its code or its trial run ends, or raise WatchOptions.Timeout")
	ctx, cancel := context.WithTimeoutCause(ctx, w.opts.Timeout, late)
	defer cancel()
	p, err := w.load(ctx)
	if err != nil {
		return nil, err
	}
	old := w.Pipeline()
	if err = p.replaces(old); err == nil && w.opts.Canary != nil {
		err = p.Run(ctx, w.opts.Canary, Data{})
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	w.mu.Lock()
	w.current = p
	w.ending = append(w.ending, old)
	w.mu.Unlock()
	w.old.Go(func() {
		_ = old.Shutdown(context.Background())
		w.mu.Lock()
		w.ending = slices.DeleteFunc(w.ending, func(p *Pipeline) bool { return p == old })
		w.mu.Unlock()
	})
	return p, nil
}

// replaces returns why runs of another version would fail in this one, or nil.
func (p *Pipeline) replaces(old *Pipeline) error {
	refuse := func(format string, args ...any) error {
		return p.named(contract.Errorf(contract.InvalidArgument, "reload", format, args...).
			WithHint("callers pass the inputs of the version that runs: restart the program to change them"))
	}
	var failed []error
	for _, in := range p.Inputs() {
		if !slices.Contains(old.Inputs(), in) {
			failed = append(failed, refuse("the input %s is new or has changed", describePort(in)))
		}
	}
	for _, in := range old.Inputs() {
		if !slices.ContainsFunc(p.Inputs(), func(other Port) bool { return other.Name == in.Name }) {
			failed = append(failed, refuse("the input %s is missing", describePort(in)))
		}
	}
	for _, param := range p.Params() {
		if param.Default == nil && !slices.ContainsFunc(old.Params(), func(other Param) bool { return other.Name == param.Name }) {
			failed = append(failed, refuse("the parameter %q is new and has no default", param.Name))
		}
	}
	for _, param := range old.Params() {
		if !slices.ContainsFunc(p.Params(), func(other Param) bool { return other.Name == param.Name && other.Type == param.Type }) {
			failed = append(failed, refuse("the parameter %s is missing or has another type", &param))
		}
	}
	for _, out := range old.Outputs() {
		if !slices.ContainsFunc(p.Outputs(), func(other Port) bool { return other.Name == out.Name && other.Type == out.Type }) {
			failed = append(failed, refuse("the output %s is missing or has another type", describePort(out)))
		}
	}
	return errors.Join(failed...)
}
