package orepl

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"github.com/dop251/goja"

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
	isolate.Serve(func(o lang.Options) (*lang.Engine, func() error, error) {
		rt := Open(opts)
		registry, err := rt.modules(&EngineOptions{})
		if err != nil {
			return nil, nil, err
		}
		o.Modules = registry.Engine()
		e, err := lang.New(o)
		return e, func() error {
			errs := []error{script.Explain(e, rt.Close(context.Background()))}
			for _, p := range opts.Plugins {
				if member, ok := p.(offload.Member); ok {
					errs = append(errs, member.Leave())
				}
			}
			return errors.Join(errs...)
		}, err
	})
}

// isolated returns an engine in a separate process.
func (r *Runtime) isolated(opts EngineOptions, own *ownFiles) (*Engine, error) {
	if len(opts.Modules)+len(opts.Globals)+len(opts.Services) > 0 {
		return nil, diag.New("unsupported", "an isolated engine cannot have modules, globals or services of the program").
			WithHint("give the modules to ServeIsolated and Open instead, pass values in the arguments or in files, or run without Isolate")
	}
	if r.wrong != nil {
		return nil, r.wrong
	}
	if opts.Files != nil {
		return nil, diag.New("unsupported", "an isolated engine cannot read files of the program").
			WithHint("leave Files out, and set Policy.Read to orepl's lang.Inside of a directory")
	}
	values, err := lang.New(lang.Options{Logger: opts.Logger})
	if err != nil {
		return nil, err
	}
	child, err := isolate.StartIn(context.Background(), job.Outside(os.Environ()), lang.Options{
		Stdout: opts.Stdout, Stderr: opts.Stderr, Args: opts.Args, Env: opts.Env, Dir: opts.Dir,
		Limits: opts.Limits, Policy: opts.Policy, Logger: opts.Logger, OnError: opts.OnError,
	})
	if err != nil {
		return nil, err
	}
	return &Engine{lang: values, registry: r.registry, child: child, own: own}, nil
}

// copied converts the result of an isolated engine, which bounds its size, to a value.
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
