package orepl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/disk"
	"github.com/orepl/orepl/lang/internals/goroutine"
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
	// Canary has the inputs of a trial run of each version, also of the first one. Its outputs are dropped. Without it, new versions
	// that only launch kernels are refused if a kernel does not compile. No trial run is counted or reported as a run.
	Canary Data
	// OnReload receives the result of each reload: nil, or why the old version stays. A reload that is cancelled since files
	// changed again has no result. Without OnReload, errors are logged. It runs on the watcher's goroutine. It may call Close
	// and Shutdown, but not wait for another goroutine that does.
	OnReload func(error)
}

// Watched is a pipeline that follows its files. It is safe for concurrent use.
type Watched struct {
	rt   *Runtime
	path string
	opts WatchOptions

	mu      sync.Mutex
	current *Pipeline
	ending  []*Pipeline // replaced pipelines that still have runs
	closed  bool        // Close was called

	takes     declaration   // of the first version, on which callers rely
	goroutine atomic.Uint64 // number of the watcher's goroutine

	notices *notify.Watcher // nil: there are none

	stop  context.CancelFunc
	ended chan struct{}  // closed when the watcher has ended
	old   sync.WaitGroup // one per pipeline in ending
}

// Watch loads a pipeline and looks for changes of the files that it read while it loaded. Changed files are loaded as a new
// version. It replaces the old one if it loads, takes the inputs and parameters of the first one, has its outputs and passes the
// trial run. Later runs use it; current ones end on the old version, which is then closed. A reload is tried again, later each
// time, if it lacks time, memory or a device, is cancelled, or crashes the pipeline's process. If the files change during a
// reload, it is cancelled and the next one begins. The watcher ends with ctx or Close.
func (r *Runtime) Watch(ctx context.Context, path string, opts WatchOptions) (*Watched, error) {
	if err := r.usable(ctx); err != nil {
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
	if opts.Canary != nil {
		if err := first.run(ctx, opts.Canary, Data{}, nil); err != nil {
			return nil, errors.Join(fmt.Errorf("the trial run on WatchOptions.Canary: %w", err), first.Close())
		}
	}
	w.current, w.takes = first, declaration{first.Inputs(), first.Outputs(), first.Params()}
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

// Pipeline returns the version that runs use now. The next successful reload closes it. Pipeline returns nil for a nil or zero
// Watched, whose other methods return what those of a nil [Pipeline] do.
func (w *Watched) Pipeline() *Pipeline {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.current
}

// Params returns the parameters of the current version, see [Pipeline.Params].
func (w *Watched) Params() []Param { return w.Pipeline().Params() }

// Stats returns the numbers of runs and instances of the current version, see [Pipeline.Stats]. A reload begins them anew.
func (w *Watched) Stats() Stats { return w.Pipeline().Stats() }

// Parse returns a copy of in with values from the texts of a request, by the declaration of the current version, see
// [Pipeline.Parse].
func (w *Watched) Parse(texts map[string][]string, in Data) Data {
	return w.Pipeline().Parse(texts, in)
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
	if w == nil || w.stop == nil { // nothing is open
		return nil
	}
	w.stop()
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	me := goroutine.Current()
	if _, loading := w.rt.loads.Load(me); !loading && w.goroutine.Load() != me { // else OnReload or a hook calls Close
		<-w.ended
	}
	return w.Pipeline().Close()
}

// Shutdown is Close, and then waits until the current runs of all versions have completed, or ctx ends. If a function that such
// a run calls it, it is refused as by [Pipeline.Shutdown].
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
		return errors.Join(err, stillRunning(ctx))
	}
}

// version is a file with the version of its contents.
type version struct {
	path string
	disk.Version
}

// state returns the versions of the files that p read while it loaded and of those at the paths others, sorted by path. If the
// system notifies the watcher of changes, state also has the folders of these files watched.
func (w *Watched) state(p *Pipeline, others ...string) []version {
	paths := append(slices.Clone(p.files()), others...)
	slices.Sort(paths)
	paths = slices.Compact(paths)
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

// emptyLooks is the maximum number of checks, [settle] apart, for which a reload waits until a file that became empty is
// written.
const emptyLooks = 10

// emptied reports whether a file is empty that was not when it was loaded. Both lists have the same files in the same order.
func emptied(now, loaded []version) bool {
	for i := range now {
		if i < len(loaded) && now[i].Empty() && !loaded[i].Empty() {
			return true
		}
	}
	return false
}

// look sets the versions to those of the files as they are now.
func (w *Watched) look(list []version) {
	files := disk.Of(w.opts.Pipeline.Engine.Files)
	for i := range list {
		list[i].Version = files.Version(list[i].path)
	}
}

// watch reloads the pipeline after changes of its files until ctx ends. loaded has the versions that were loaded. Since an editor
// may write several files, or one in parts, watch waits until the files have not changed for an interval. After a notification it
// waits for the time settle. A failed reload that [passes] accepts is repeated.
func (w *Watched) watch(ctx context.Context, loaded []version) {
	w.goroutine.Store(goroutine.Current())
	defer close(w.ended)
	tick := time.NewTicker(w.opts.Interval)
	defer tick.Stop()
	var notified <-chan struct{}
	if w.notices != nil {
		defer w.notices.Close()
		notified = w.notices.Changed()
	}
	var soon, again <-chan time.Time // when the files may be settled, and when to repeat a reload
	var wait time.Duration           // before again
	var patience int                 // number of looks for which a file may still be empty
	last := loaded
	for {
		first, due := false, false // look after a notification, or repeat
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
		case <-again:
			again, due = nil, true
		}
		now := slices.Clone(last)
		w.look(now)
		still := slices.Equal(now, last)
		last = now
		if notified != nil && soon == nil && (first || !still) {
			soon, patience = time.After(min(settle, w.opts.Interval)), emptyLooks
		}
		if slices.Equal(now, loaded) {
			if !due {
				continue
			}
		} else if wait = 0; first || !still {
			continue
		} else if patience > 0 && emptied(now, loaded) {
			soon, patience = time.After(min(settle, w.opts.Interval)), patience-1
			continue
		}
		start := time.Now()
		attempt, end := w.untilChanged(ctx, now)
		p, err := w.reload(attempt)
		if end(); notified != nil {
			soon = time.After(min(settle, w.opts.Interval)) // for a notification during the reload
		}
		if err != nil && context.Cause(attempt) == errChanged {
			continue
		}
		w.rt.observe(ctx, observe.Span{Kind: observe.Reload, Start: start, Err: err}, w.Pipeline())
		if ctx.Err() != nil {
			return
		}
		loaded, again = now, nil
		switch {
		case err == nil:
			last = w.state(p)
			loaded = before(last, now)
		case p != nil: // the mistake may be in a file that is new to it
			last = w.state(w.Pipeline(), p.files()...)
			loaded = before(last, now)
		}
		if err != nil && passes(err) {
			wait = min(max(2*wait, 4*time.Since(start), w.opts.Interval), longestWait)
			again = time.After(wait)
		}
		if w.opts.OnReload != nil {
			w.opts.OnReload(err)
		} else if err != nil && w.rt.logger != nil {
			w.rt.logger.Warn("a changed pipeline was not loaded", "path", w.path, "error", err)
		}
	}
}

// longestWait is the longest time before a failed reload is tried again.
const longestWait = 10 * time.Minute

// passes reports whether a reload that failed may succeed later with the same files.
func passes(err error) bool {
	switch CodeOf(err) {
	case CodeTimeout, CodeCancelled, CodeOutOfMemory, CodeOutOfResources, CodeDeviceLost, CodeCrashed:
		return true
	}
	return false
}

var errChanged = errors.New("the files changed again while they were loaded")

// untilChanged returns a context that ends with the cause errChanged when files no longer have the versions of list. end ends
// the context in any case and waits for the goroutine that checks the files.
func (w *Watched) untilChanged(ctx context.Context, list []version) (attempt context.Context, end func()) {
	attempt, cancel := context.WithCancelCause(ctx)
	var notified <-chan struct{}
	if w.notices != nil {
		notified = w.notices.Changed()
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(w.opts.Interval)
		defer tick.Stop()
		for {
			select {
			case <-attempt.Done():
				return
			case <-tick.C:
			case <-notified:
			}
			now := slices.Clone(list)
			if w.look(now); !slices.Equal(now, list) {
				cancel(errChanged)
				return
			}
		}
	}()
	return attempt, func() {
		cancel(nil)
		<-ended
	}
}

// before returns a list of versions, with those of another list for files that are in both. So a change that is made while the
// files are loaded is noticed afterwards.
func before(list, earlier []version) []version {
	list = slices.Clone(list)
	for i := range list {
		if at := slices.IndexFunc(earlier, func(v version) bool { return v.path == list[i].path }); at >= 0 {
			list[i] = earlier[at]
		}
	}
	return list
}

// load loads a new version from the files as they are now. It returns the results of loadPipeline.
func (w *Watched) load(ctx context.Context) (*Pipeline, error) {
	return w.rt.loadPipeline(ctx, w.path, w.opts.Pipeline)
}

// reload replaces the current version, or returns why not. It returns the new version in any case, which may be closed or nil.
func (w *Watched) reload(ctx context.Context) (*Pipeline, error) {
	late := contract.Errorf(contract.Timeout, "reload", "the new version of %s was not ready within %v", w.path, w.opts.Timeout).
		WithHint("see whether its code or its trial run ends, or raise WatchOptions.Timeout")
	ctx, cancel := context.WithTimeoutCause(ctx, w.opts.Timeout, late)
	defer cancel()
	p, err := w.load(ctx)
	if err != nil {
		return p, err
	}
	old := w.Pipeline()
	switch err = p.replaces(w.takes); {
	case err != nil:
	case w.opts.Canary != nil:
		err = p.run(ctx, w.opts.Canary, Data{}, nil)
	case p.declared.OnlyLaunches():
		err = p.compiles(ctx)
	}
	if err != nil {
		return p, errors.Join(err, p.Close())
	}
	w.mu.Lock()
	if w.closed { // by a function of the trial run
		w.mu.Unlock()
		return p, errors.Join(ErrClosed, p.Close())
	}
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

// compiles returns the problems that [Pipeline.Check] finds with made-up inputs, such as kernels that do not compile. It leaves out
// problems that may be due to these inputs.
func (p *Pipeline) compiles(ctx context.Context) error {
	var found diag.List
	for _, d := range diag.All(p.Check(ctx, nil)) {
		switch Code(d.ID) {
		case CodeException, CodeInvalidArgument, CodeOutOfResources, contract.InvalidSize:
		default:
			found = append(found, d)
		}
	}
	return found.Err()
}

// declaration holds the ports and parameters on which callers of a pipeline rely.
type declaration struct {
	inputs, outputs []Port
	params          []Param
}

// replaces returns an error for each change with which runs of callers that rely on the old declaration would fail.
func (p *Pipeline) replaces(old declaration) error {
	refuse := func(format string, args ...any) error {
		return p.named(contract.Errorf(contract.InvalidArgument, "reload", format, args...).
			WithHint("callers rely on the version that was loaded first: restart the program to change them"))
	}
	var failed []error
	for _, in := range p.Inputs() {
		if !slices.Contains(old.inputs, in) {
			failed = append(failed, refuse("the input %s is new or has changed", describePort(in)))
		}
	}
	for _, in := range old.inputs {
		if !slices.ContainsFunc(p.Inputs(), func(other Port) bool { return other.Name == in.Name }) {
			failed = append(failed, refuse("the input %s is missing", describePort(in)))
		}
	}
	for _, param := range p.Params() {
		if param.Default == nil && !slices.ContainsFunc(old.params, func(other Param) bool { return other.Name == param.Name }) {
			failed = append(failed, refuse("the parameter %q is new and has no default", param.Name))
		}
	}
	for _, param := range old.params {
		if !slices.ContainsFunc(p.Params(), func(other Param) bool { return other.Name == param.Name && other.Type == param.Type }) {
			failed = append(failed, refuse("the parameter %s is missing or has another type", &param))
		}
	}
	for _, out := range old.outputs {
		if !slices.ContainsFunc(p.Outputs(), func(other Port) bool { return other.Name == out.Name && other.Type == out.Type }) {
			failed = append(failed, refuse("the output %s is missing or has another type", describePort(out)))
		}
	}
	return errors.Join(failed...)
}
