// Package orepl lets scripts drive accelerators. It is the API for Go programs. They open a runtime with plugins and run
// scripts in engines on it. They can also load a pipeline from a script and run it on their own data.
//
//	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
//	defer rt.Close()
//	pipeline, err := rt.LoadPipeline(ctx, "filter.js", orepl.PipelineOptions{})
//	…
//	err = pipeline.Run(ctx, orepl.Data{"image": pixels}, orepl.Data{"edges": &edges})
//
// docs/embedding.md is the guide. example_test.go has examples of the functions, which pkgsite displays.
package orepl

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/array"
	"github.com/orepl/orepl/bindings/arrayjs"
	"github.com/orepl/orepl/bindings/bench"
	"github.com/orepl/orepl/bindings/bench/suites"
	"github.com/orepl/orepl/bindings/graphjs"
	"github.com/orepl/orepl/bindings/help"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/bindings/kernellang"
	"github.com/orepl/orepl/bindings/kernellib"
	"github.com/orepl/orepl/bindings/mpijs"
	"github.com/orepl/orepl/bindings/offloadjs"
	"github.com/orepl/orepl/bindings/offloadjs/launch"
	"github.com/orepl/orepl/bindings/plot"
	"github.com/orepl/orepl/bindings/std"
	"github.com/orepl/orepl/bindings/testjs"
	"github.com/orepl/orepl/bindings/tracejs"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/runtime/observe"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
	"github.com/orepl/orepl/runtime/trace"
)

// Options are the options of a runtime.
type Options struct {
	Plugins []contract.Plugin // opened when a script first needs them
	Logger  *slog.Logger      // nil: no logging
	Trace   *trace.Recorder   // nil: no time line; the caller closes it after the runtime
	Observe observe.Hook      // nil: none; receives runs, launches, copies, loads and failures

	// Modules of the program that the scripts of all engines can import, those of isolated engines, too, if [ServeIsolated] gets them.
	Modules []Module
}

// Runtime is a set of devices and the objects that scripts created on them. Several engines may share it.
type Runtime struct {
	session *session.Session
	inside  inside.Runtime
	arrays  *array.Ops
	job     *mpijs.Job
	logger  *slog.Logger
	hook    observe.Hook // may be nil
	added   []bindings.Module
	ended   atomic.Bool
	loads   sync.Map // maps goroutines that load instances to the pipelines whose runs wait for them, or to nil
}

func init() {
	inside.Of = func(runtime any) *inside.Runtime { return &runtime.(*Runtime).inside }
	inside.Lang = func(engine any) *lang.Engine { return engine.(*Engine).lang }
}

// observe ends the span s of the pipeline p now, and passes it to the hook, if there is one.
func (r *Runtime) observe(ctx context.Context, s observe.Span, p *Pipeline) {
	if r.hook != nil {
		s.Name, s.Owner, s.Duration, s.Context = filepath.Base(p.path), p.opts.Engine.Name, time.Since(s.Start), ctx
		if s.Device == "" && s.Kind != observe.Instance {
			s.Device = p.Device()
		}
		r.hook(s)
	}
}

// Open returns a new runtime. An error of opts.Modules is returned when an engine is made.
func Open(opts Options) *Runtime {
	s := session.Open(session.Options{Plugins: opts.Plugins, Logger: opts.Logger, Trace: opts.Trace, Observe: opts.Observe})
	r := &Runtime{session: s, arrays: array.New(s), job: mpijs.NewJob(opts.Plugins), logger: opts.Logger, hook: opts.Observe}
	r.inside.Environment = launch.NewEnvironment(s)
	if r.added, r.inside.Wrong = bound(opts.Modules); len(r.added) > 0 {
		if _, err := r.newRegistry(offloadjs.ModuleOptions{}, nil, nil); err != nil {
			r.added, r.inside.Wrong = nil, err
		}
	}
	r.inside.Registry = sync.OnceValue(func() *bindings.Registry {
		registry, err := r.newRegistry(offloadjs.ModuleOptions{}, nil, nil)
		if err != nil {
			panic(err) // a mistake in orepl's own modules, which every test would reveal
		}
		return registry
	})
	return r
}

// newRegistry returns the registry of the modules that scripts can import: orepl's, the runtime's, and those in added.
func (r *Runtime) newRegistry(opts offloadjs.ModuleOptions, added []bindings.Module, suite *testjs.Suite) (registry *bindings.Registry, err error) {
	opts.Extensions = append(opts.Extensions, arrayjs.Extension(r.arrays), graphjs.Extension())
	list := append(std.Modules(), offloadjs.Module(r.inside.Environment, opts), kernellang.Module(), kernellib.Module(), testjs.Module(suite), arrayjs.Module(r.arrays), bench.Module(), suites.Module(), plot.Module(), tracejs.Module(r.session.Trace()), mpijs.Module(r.job),
		help.Module(func() *bindings.Registry { return registry }))
	registry, err = bindings.NewRegistry(append(append(list, r.added...), added...)...)
	return registry, err
}

// usable returns an error for a runtime that Open did not return, or a nil context.
func (r *Runtime) usable(ctx context.Context) error {
	if !r.opened() {
		return errNoRuntime
	}
	return diag.CheckContext(ctx)
}

// opened reports whether Open returned the runtime.
func (r *Runtime) opened() bool { return r != nil && r.session != nil }

var errNoRuntime = contract.Errorf(contract.InvalidArgument, "use runtime", "the runtime is none that Open returned")

// Session returns the session, the Go API for devices, buffers and queues. The runtime closes it. Session returns nil for a nil or
// zero Runtime.
func (r *Runtime) Session() *session.Session {
	if !r.opened() {
		return nil
	}
	return r.session
}

// Register registers a library of device code: a container, as orepl kernel -o and orepl image pack write it, a single
// image, or a file with embedded images. Data may come from a go:embed directive. Images are loaded when a kernel is first
// requested. Errors: InvalidBinary for unknown and damaged data, and for a container from which all images were dropped.
func (r *Runtime) Register(ctx context.Context, label string, data []byte) (*session.Library, error) {
	if err := r.usable(ctx); err != nil {
		return nil, err
	}
	return r.session.Register(ctx, label, data)
}

// Close ends what the devices still run, returns the failures that no script has handled, and releases all resources. All
// engines must be closed before. Close does not wait for the devices, as [Runtime.Shutdown] does. Later calls of either return
// nil.
func (r *Runtime) Close() error {
	if !r.opened() || !r.ended.CompareAndSwap(false, true) {
		return nil
	}
	cause := errors.New("the runtime is closed")
	failures, _ := r.session.Cancel(cause)
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause) // a Go function that still runs is not waited for
	return errors.Join(append(failures, r.session.Close(ctx))...)
}

// Shutdown waits for the devices, or until ctx ends, and then closes the runtime as Close does.
func (r *Runtime) Shutdown(ctx context.Context) error {
	if err := r.usable(ctx); err != nil {
		return err
	}
	if !r.ended.CompareAndSwap(false, true) {
		return nil
	}
	return r.session.Close(ctx)
}
