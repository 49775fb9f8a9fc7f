package conform

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
	"github.com/orepl/orepl/runtime/stopwatch"
)

// Status is the outcome of a case.
type Status string

// The statuses.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped"
)

// Result is the outcome of one case.
type Result struct {
	Name    string        `json:"name"`
	Status  Status        `json:"status"`
	Output  []string      `json:"output,omitempty"` // failures, or the reason of a skip
	Elapsed time.Duration `json:"elapsed"`
}

// Options are the options of a run.
type Options struct {
	Match   func(name string) bool // selects cases; nil selects all
	Skip    map[string]string      // cases that the device is known to fail, with reasons
	Timeout time.Duration          // time limit of one case; 0 means two minutes
	Report  func(Result)           // called after each case
	Stacks  bool                   // results of cases that do not end have the stacks of all goroutines
}

// leaksName is the name of the last case of every run.
const leaksName = "leaks"

// Names returns the names of all cases in the order of their results.
func Names() []string {
	var names []string
	for _, c := range cases() {
		names = append(names, c.name)
	}
	return append(names, leaksName)
}

// Run runs the suite on a device of a plugin. The last result, "leaks", lists the objects that were not freed. Errors: a device
// that cannot be opened, a case that did not end, and the end of ctx. The results are then those so far.
func Run(ctx context.Context, plugin offload.Plugin, device string, opts Options) ([]Result, error) {
	if p, err := plugin.Open(ctx); err == nil { // the first opening of some drivers starts goroutines that never end
		_ = p.Close()
	}
	goroutines := runtime.NumGoroutine()
	s := session.Open(session.Options{Plugins: []offload.Plugin{plugin, twin{plugin}}})
	d, err := s.Device(ctx, device)
	if err != nil {
		_ = s.Close(ctx) // no object needs closing
		return nil, err
	}
	if opts.Timeout <= 0 {
		opts.Timeout = 2 * time.Minute
	}
	var results []Result
	add := func(r Result) {
		results = append(results, r)
		if opts.Report != nil {
			opts.Report(r)
		}
	}
	for _, c := range cases() {
		if opts.Match != nil && !opts.Match(c.name) {
			continue
		}
		if reason := opts.Skip[c.name]; reason != "" {
			add(Result{Name: c.name, Status: Skipped, Output: []string{reason}})
			continue
		}
		r, hung := runCase(ctx, c, s, d, &opts)
		add(r)
		if hung { // closing the session would hang too
			return results, offload.Errorf(offload.Timeout, "conform", "case %s did not end; the rest was not run", c.name).On(d.ID(), "")
		}
		if ctx.Err() != nil {
			_ = s.Close(ctx) // the context's error is more specific
			return results, ctx.Err()
		}
	}
	last, hung := runLeaks(ctx, s, d, goroutines, &opts)
	if add(last); hung {
		return results, offload.Errorf(offload.Timeout, "conform", "case %s did not end: the session does not close", leaksName).On(d.ID(), "")
	}
	return results, nil
}

// endTime is the time that a case has to end after its context has ended.
const endTime = 10 * time.Second

// hungResult returns the result of a case that did not end.
func hungResult(name string, start time.Time, opts *Options) Result {
	r := Result{Name: name, Status: Failed, Elapsed: time.Since(start),
		Output: []string{fmt.Sprintf("the case did not end within its time limit of %v and %v more, so that no further case can run", opts.Timeout, endTime)}}
	if opts.Stacks {
		r.Output = append(r.Output, strings.Split(allStacks(), "\n")...)
	}
	return r
}

// runLeaks runs the last case and returns its result. hung is set if it did not end.
func runLeaks(ctx context.Context, s *session.Session, d *session.Device, goroutines int, opts *Options) (r Result, hung bool) {
	start := time.Now()
	limited, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	done := make(chan Result, 1)
	go func() { done <- leaks(limited, s, d, goroutines+1) }()
	select {
	case r := <-done:
		return r, false
	case <-time.After(opts.Timeout + endTime):
		return hungResult(leaksName, start, opts), true
	}
}

// twin offers a plugin under another name: a second platform, for copies between devices.
type twin struct{ offload.Plugin }

func (t twin) Name() string { return t.Plugin.Name() + "-twin" }

// MaxClass implements [offload.ClassBounded] with the bound of the plugin.
func (t twin) MaxClass() int {
	if b, ok := t.Plugin.(offload.ClassBounded); ok {
		return b.MaxClass()
	}
	return offload.ClassGPU
}

// runCase runs one case on a goroutine of its own, and reports whether it hangs: it still runs some time after its
// context's end.
func runCase(ctx context.Context, c testCase, s *session.Session, d *session.Device, opts *Options) (r Result, hung bool) {
	start := time.Now()
	limited, cancel := stopwatch.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	t := &T{ctx: limited, session: s, device: d}
	before := len(s.Live())
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.protect(func() { c.run(t) })
		for i := len(t.cleanups) - 1; i >= 0; i-- {
			t.protect(t.cleanups[i])
		}
	}()
	select {
	case <-done:
	case <-limited.Done():
		select {
		case <-done:
		case <-time.After(endTime):
			return hungResult(c.name, start, opts), true
		}
	}
	if live := s.Live(); len(live) > before {
		t.Errorf("left alive: %v", live)
	}
	r = Result{Name: c.name, Status: Passed, Output: t.output, Elapsed: time.Since(start)}
	switch {
	case t.failed:
		r.Status = Failed
	case t.skipped:
		r.Status = Skipped
	}
	return r, false
}

// leaks closes the session. It reports objects and memory that were not freed, and more running goroutines than the argument
// goroutines.
func leaks(ctx context.Context, s *session.Session, d *session.Device, goroutines int) Result {
	start := time.Now()
	r := Result{Name: leaksName, Status: Passed}
	fail := func(format string, args ...any) {
		r.Status = Failed
		r.Output = append(r.Output, fmt.Sprintf(format, args...))
	}
	for _, o := range s.Live() {
		fail("left alive: %v", o)
	}
	if err := s.Close(ctx); err != nil {
		fail("closing the session: %v", err)
	}
	if n := d.Memory().Allocated; n != 0 {
		fail("%d bytes of buffers were never freed", n)
	}
	for wait := time.Millisecond; runtime.NumGoroutine() > goroutines; wait *= 2 {
		if wait > 16*time.Second {
			fail("%d goroutines, %d before\n%s", runtime.NumGoroutine(), goroutines, allStacks())
			break
		}
		time.Sleep(wait)
	}
	r.Elapsed = time.Since(start)
	return r
}

func allStacks() string {
	stacks := make([]byte, 1<<20)
	return string(stacks[:runtime.Stack(stacks, true)])
}

// T is the context of a running case. Fatalf ends the case.
type T struct {
	ctx      context.Context
	session  *session.Session
	device   *session.Device
	output   []string
	failed   bool
	skipped  bool
	cleanups []func()
}

// ended is the panic value that ends a case.
type ended struct{}

func (t *T) protect(fn func()) {
	defer func() {
		switch r := recover(); r.(type) {
		case nil, ended:
		default:
			t.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	fn()
}

// Errorf reports a failure.
func (t *T) Errorf(format string, args ...any) {
	t.failed = true
	t.output = append(t.output, fmt.Sprintf(format, args...))
}

// Fatalf reports a failure and ends the case.
func (t *T) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	panic(ended{})
}

// skipf ends the case as skipped, and records why.
func (t *T) skipf(format string, args ...any) {
	t.skipped = true
	t.output = append(t.output, fmt.Sprintf(format, args...))
	panic(ended{})
}

func (t *T) cleanup(fn func()) { t.cleanups = append(t.cleanups, fn) }

// check ends the case if there is an error.
func (t *T) check(err error) {
	if err != nil {
		t.Fatalf("%s%v", where(), err)
	}
}

// refused reports a failure unless err has one of the codes.
func (t *T) refused(what string, err error, codes ...offload.Code) {
	for _, c := range codes {
		if offload.CodeOf(err) == c {
			return
		}
	}
	t.Errorf("%s%s gave %v, not one of %v", where(), what, err, codes)
}

// where returns the line of the case that called a helper, as "file:line: ", or "" if no case did.
func where() string {
	for skip := 2; ; skip++ {
		_, file, line, ok := runtime.Caller(skip)
		if !ok {
			return ""
		}
		if !strings.HasSuffix(file, "/run.go") && !strings.HasSuffix(file, "/helpers.go") {
			return fmt.Sprintf("%s:%d: ", file[strings.LastIndexByte(file, '/')+1:], line)
		}
	}
}
