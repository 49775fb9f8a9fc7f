// Package orepl lets a script drive accelerators. It is the front door for Go programs. They open a runtime with the
// plugins that they need, and run scripts in engines on it. They can also load a pipeline from a script and run it on
// their own data.
//
//	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
//	defer rt.Close(ctx)
//	pipeline, err := rt.LoadPipeline(ctx, "filter.js", orepl.PipelineOptions{})
//	…
//	err = pipeline.Run(ctx, orepl.Data{"image": pixels}, orepl.Data{"edges": &edges})
//
// docs/embedding.md is the guide. The examples of each function are in example_test.go, which pkgsite shows beside it and
// go doc does not.
package orepl

import (
	"context"
	"log/slog"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/bench"
	"github.com/orepl/orepl/bindings/help"
	"github.com/orepl/orepl/bindings/kernellang"
	"github.com/orepl/orepl/bindings/kernellib"
	"github.com/orepl/orepl/bindings/offloadjs"
	"github.com/orepl/orepl/bindings/plot"
	"github.com/orepl/orepl/bindings/std"
	"github.com/orepl/orepl/lang"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Options are the options of a runtime.
type Options struct {
	Plugins []contract.Plugin // none is opened before a script needs it
	Logger  *slog.Logger      // nil: no logging
}

// Runtime is a set of devices and what scripts have made on them. Several engines may share it.
type Runtime struct {
	session  *session.Session
	env      *offloadjs.Environment
	registry *bindings.Registry
	logger   *slog.Logger
}

// Open makes a runtime.
func Open(opts Options) *Runtime {
	s := session.Open(session.Options{Plugins: opts.Plugins, Logger: opts.Logger})
	r := &Runtime{session: s, env: offloadjs.NewEnvironment(s), logger: opts.Logger}
	var err error
	if r.registry, err = r.newRegistry(offloadjs.ModuleOptions{}, nil); err != nil {
		panic(err) // the modules are this program's own: every test opens a runtime
	}
	return r
}

// newRegistry lists what scripts can import.
func (r *Runtime) newRegistry(opts offloadjs.ModuleOptions, added []bindings.Module) (registry *bindings.Registry, err error) {
	list := append(std.Modules(), offloadjs.Module(r.env, opts), kernellang.Module(), kernellib.Module(), bench.Module(), plot.Module(),
		help.Module(func() *bindings.Registry { return registry }))
	registry, err = bindings.NewRegistry(append(list, added...)...)
	return registry, err
}

// Session returns the session, with which Go uses devices, buffers and queues.
func (r *Runtime) Session() *session.Session { return r.session }

// Register makes a library of device code: a container such as orepl kernel -o and orepl image pack write, an image alone,
// or a file with embedded images. Data may come from a go:embed directive. Nothing is loaded before the first kernel is
// asked for. Errors: InvalidBinary for unknown and damaged data, and for a container from which every image was dropped.
func (r *Runtime) Register(ctx context.Context, label string, data []byte) (*session.Library, error) {
	return r.session.Register(ctx, label, data)
}

// Environment returns the state of the script module 'offload' that engines share.
func (r *Runtime) Environment() *offloadjs.Environment { return r.env }

// Registry documents every name that scripts can use: for completion, help and declarations.
func (r *Runtime) Registry() *bindings.Registry { return r.registry }

// NewEngine makes an engine for tools that work with the interpreter's own values, as the command does; other programs
// use [Runtime.Engine]. The modules that come with orepl are added to those in the options. All such engines use the
// devices' default queues.
func (r *Runtime) NewEngine(opts lang.Options) (*lang.Engine, error) {
	opts.Modules = append(r.registry.Engine(), opts.Modules...)
	return lang.New(opts)
}

// Close waits for the devices, returns the first failure that no script has seen, and frees everything. If ctx ends
// first, it cancels running commands. Engines must be closed before.
func (r *Runtime) Close(ctx context.Context) error {
	return r.session.Close(ctx)
}
