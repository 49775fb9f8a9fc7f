package orepl

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/apart"
	"github.com/orepl/orepl/bindings/offloadjs/placement"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/isolate"
	"github.com/orepl/orepl/runtime/job"
	"github.com/orepl/orepl/runtime/offload"
)

// ServeIsolated must be called first in main of a program with isolated engines ([EngineOptions.Isolate]), each of which
// runs in another process of the same program. In such a process it serves the engine and does not return; in any other
// process it does nothing. opts are the options of that process's runtime.
func ServeIsolated(opts Options) {
	isolate.Serve(func(s isolate.Setup) (isolate.Served, error) {
		rt := Open(opts)
		var own EngineOptions
		var served isolate.Served
		server, err := apart.Serve(s)
		if err != nil {
			return served, err
		}
		if server != nil {
			own.Name, own.placement, s.Options.Cache, served.Handle = server.Name, server.Placement, server.Cache, server.Handle
		}
		registry, err := rt.modules(&own)
		if err != nil {
			return served, err
		}
		s.Options.Modules = registry.Engine()
		e, err := lang.New(s.Options)
		if server != nil {
			server.Start(e)
		}
		served.Engine, served.Close = e, func() error {
			errs := []error{script.Explain(e, rt.Shutdown(context.Background()))}
			for _, p := range opts.Plugins {
				if member, ok := p.(offload.Member); ok {
					errs = append(errs, member.Leave())
				}
			}
			return errors.Join(errs...)
		}
		return served, err
	})
}

// isolable returns why an engine cannot run in a separate process, or nil.
func (r *Runtime) isolable(opts *EngineOptions) error {
	if len(opts.Modules)+len(opts.Globals)+len(opts.Services) > 0 {
		return diag.New("unsupported", "an isolated engine cannot have modules, globals or services of the program").
			WithHint("give the modules to ServeIsolated and Open instead, pass values in the arguments or in files, or run without Isolate")
	}
	if opts.Stdin != nil && opts.Stdin != io.Reader(os.Stdin) {
		return diag.New("unsupported", "an isolated engine cannot read an input of the program").
			WithHint("set Stdin to os.Stdin, pass the data in arguments or files, or run without Isolate")
	}
	if opts.Files != nil {
		return diag.New("unsupported", "an isolated engine cannot read files of the program").
			WithHint("leave Files out, and set Policy.Read to orepl's lang.Inside of a directory")
	}
	return r.inside.Wrong
}

// inChild returns the options of an engine in a child process.
func (o *EngineOptions) inChild() lang.Options {
	return lang.Options{
		Stdin: o.Stdin, Stdout: o.Stdout, Stderr: o.Stderr, Args: o.Args, Env: o.Env, Dir: o.Dir,
		Limits: o.Limits, Policy: o.Policy, Logger: o.Logger, OnError: o.OnError,
	}
}

// isolated returns an engine in a separate process.
func (r *Runtime) isolated(opts EngineOptions, own *ownFiles) (*Engine, error) {
	if err := r.isolable(&opts); err != nil {
		return nil, err
	}
	values, err := lang.New(lang.Options{Logger: opts.Logger})
	if err != nil {
		return nil, err
	}
	child, err := isolate.StartIn(context.Background(), job.Outside(os.Environ()), opts.inChild())
	if err != nil {
		return nil, errors.Join(err, values.Close())
	}
	return &Engine{lang: values, registry: r.inside.Registry(), child: child, own: own}, nil
}

// loadIsolated makes an instance in a process of its own.
func (p *Pipeline) loadIsolated(ctx context.Context) (*instance, error) {
	opts := p.opts.Engine
	opts.Logger = cmp.Or(opts.Logger, p.rt.logger)
	if err := p.rt.isolable(&opts); err != nil {
		return nil, err
	}
	if err := opts.check(); err != nil {
		return nil, err
	}
	opts.denyRest().add(opts.script)
	taken := placement.Taken{Devices: map[string]int{}}
	p.mu.Lock()
	for _, i := range p.live {
		taken.Devices[i.device()]++
	}
	taken.Others = max(p.making-1, 0) // besides this one
	snapshot := p.snapshot
	p.mu.Unlock()
	child, err := apart.Load(ctx, apart.Options{
		Path: p.path, Name: opts.Name, Engine: opts.inChild(), Environ: job.Outside(os.Environ()),
		Wish: placement.Wish{Prefer: p.opts.Prefer, Spread: p.opts.Devices}, Taken: taken, Snapshot: snapshot,
		Failed: func(files []string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.failed = files
		},
	})
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.snapshot = child.Snapshot()
	p.mu.Unlock()
	return &instance{pipeline: child, close: child.Close}, nil
}

// width returns the number of devices over which the instances are spread.
func (p *Pipeline) width() int {
	if child, ok := p.declared.(*apart.Pipeline); ok {
		return child.Width()
	}
	return p.opts.Engine.placement.Width()
}

// files returns the paths of the files that the instances read while they loaded.
func (p *Pipeline) files() []string {
	switch {
	case p.snapshot != nil:
		return p.snapshot.Names
	case p.failed != nil:
		return p.failed
	}
	return p.opts.Engine.cache.Files()
}

// copied converts the result of an isolated engine, JSON of limited size, to a value. If err is not nil, copied returns it.
func (e *Engine) copied(ctx context.Context, result json.RawMessage, err error) (*Value, error) {
	if err != nil {
		return nil, err
	}
	v := &Value{engine: e.lang}
	err = e.lang.Do(ctx, func(*goja.Runtime) (err error) {
		v.value, err = e.lang.ParseJSON("result", result)
		return err
	})
	return v, err
}
