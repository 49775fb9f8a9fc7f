// Package orepl lets a script drive accelerators. It is the front door for Go programs: open a runtime with the
// plugins that the program wants, make a script engine on it, and run scripts.
//
//	rt := orepl.Open(orepl.Options{Plugins: all.Plugins()})
//	defer rt.Close(ctx)
//	engine, err := rt.NewEngine(lang.Options{})
//	…
//	_, err = engine.RunFile(ctx, "pipeline.js")
package orepl

import (
	"context"
	"log/slog"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/help"
	"github.com/orepl/orepl/bindings/kernellang"
	"github.com/orepl/orepl/bindings/offload"
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
	env      *offload.Environment
	registry *bindings.Registry
}

// Open makes a runtime.
func Open(opts Options) *Runtime {
	s := session.Open(session.Options{Plugins: opts.Plugins, Logger: opts.Logger})
	r := &Runtime{session: s, env: offload.NewEnvironment(s)}
	r.registry = r.newRegistry()
	return r
}

// newRegistry lists what every script can import.
func (r *Runtime) newRegistry() *bindings.Registry {
	list := append(std.Modules(), offload.Module(r.env), kernellang.Module(), help.Module(r.Registry))
	registry, err := bindings.NewRegistry(list...)
	if err != nil {
		panic(err) // the modules are this program's own: a test opens a runtime
	}
	return registry
}

// Session gives the devices, buffers and queues to Go.
func (r *Runtime) Session() *session.Session { return r.session }

// Environment is what the script module 'offload' shares between engines.
func (r *Runtime) Environment() *offload.Environment { return r.env }

// Registry documents every name that scripts can use: for completion, help and declarations.
func (r *Runtime) Registry() *bindings.Registry { return r.registry }

// NewEngine makes a script engine. The modules that come with orepl are added to those in the options.
func (r *Runtime) NewEngine(opts lang.Options) (*lang.Engine, error) {
	opts.Modules = append(r.registry.Engine(), opts.Modules...)
	return lang.New(opts)
}

// Close waits for the devices, gives the first failure that no script was told of, and frees everything. If ctx ends
// first, what runs is cancelled. Engines must be closed before.
func (r *Runtime) Close(ctx context.Context) error {
	return r.session.Close(ctx)
}
