package orepl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/dts"
	"github.com/orepl/orepl/bindings/offloadjs"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/isolate"
)

// EngineOptions are the options of an engine. The zero value is usable.
type EngineOptions struct {
	Stdout, Stderr io.Writer // default: the process's

	Args []string          // the script's arguments
	Env  map[string]string // the environment variables that the script sees
	Dir  string            // where relative paths start; default: the process's directory

	Modules []Module       // modules of the program that scripts can import
	Globals map[string]any // names that every script has; values as for [Engine.Call]

	Services []Service // Go functions that the scripts' kernels call by g.call, see docs/rpc.md

	Limits lang.Limits  // of time, memory and so on
	Policy lang.Policy  // which files scripts may touch
	Logger *slog.Logger // default: the runtime's

	// OnError receives the errors that belong to no running call. These are exceptions and unhandled rejections of timers
	// and operations that an earlier call left behind. They do not fail the later call in which they run. At the close of
	// the engine it also receives failures of kernels that no call has reported. The errors are diagnostics. It is called
	// while the engine runs or closes, and must not call it. Default: they are logged, or printed on Stderr if there is no
	// Logger.
	OnError func(error)

	// OnOverdue receives the cause if a call has not returned two seconds after its end by a limit or its context. A
	// builtin then runs that checks no interrupt. It runs on a goroutine of its own, and may end the process.
	OnOverdue func(error)

	cache *lang.Cache // of a pipeline's engines

	// Isolate runs the scripts in a process of their own, which they cannot outlive nor bring down, at a price: values
	// come back as copies through JSON, functions do not, and the devices are opened again over there. The program must
	// call [ServeIsolated] first thing in main. Modules, Globals and Services cannot be set. See docs/limits.md.
	Isolate bool
}

// Service is a Go function that kernels call by g.call.
type Service = offloadjs.HostService

// Engine runs scripts of one program, one call at a time. Its methods may be called from any goroutine: they take
// turns. When the context of a call ends, its script and the kernels that the script waits for are stopped.
//
// A call fails only because of work that it started, directly or transitively. When it fails, all of that work ends.
// Timers and queued callbacks are dropped, operations are cancelled and programs killed. Its commands in queues are
// dropped, and also those of earlier calls that wait in the same queues. The call returns when that is done. Only a Go
// function that ignores its context, or a device that cannot be stopped, may continue, without effect on the engine.
//
// Work that a successful call leaves behind continues in later calls, and does not fail them. Commands of queues are
// the exception. If Eval or [Value.Call] launched and did not await them, their failure fails the next wait for their
// queue. Run and RunFile wait for theirs.
type Engine struct {
	lang     *lang.Engine
	registry *bindings.Registry
	globals  map[string]any
	child    *isolate.Engine // runs the scripts, if they are isolated; lang holds the values then
}

// Engine makes a script engine with the runtime's devices. Close it before the runtime. Its queues are its own: a fault
// of its kernels shows in no other engine.
func (r *Runtime) Engine(opts EngineOptions) (*Engine, error) {
	if opts.Logger == nil {
		opts.Logger = r.logger
	}
	if opts.Isolate {
		return r.isolated(opts)
	}
	registry, err := r.modules(opts.Modules, opts.Services)
	if err != nil {
		return nil, err
	}
	l, err := lang.New(lang.Options{
		Stdout: opts.Stdout, Stderr: opts.Stderr, Args: opts.Args, Env: opts.Env, Dir: opts.Dir,
		Modules: registry.Engine(), Limits: opts.Limits, Policy: opts.Policy, Logger: opts.Logger, OnError: opts.OnError, OnOverdue: opts.OnOverdue,
		Cache: opts.cache,
	})
	if err != nil {
		return nil, err
	}
	e := &Engine{lang: l, registry: registry, globals: opts.Globals}
	for name, value := range opts.Globals {
		if err := e.setGlobal(name, value); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	return e, nil
}

// modules lists the modules of an engine of its own queues, with those that a program adds.
func (r *Runtime) modules(added []Module, services []Service) (*bindings.Registry, error) {
	if err := offloadjs.CheckServices(services); err != nil {
		return nil, err
	}
	own := make([]bindings.Module, len(added))
	for i := range added {
		m, err := added[i].binding()
		if err != nil {
			return nil, err
		}
		own[i] = m
	}
	return r.newRegistry(offloadjs.ModuleOptions{OwnQueues: true, Services: services}, own)
}

func (e *Engine) setGlobal(name string, value any) error {
	return e.lang.Do(context.Background(), func(vm *goja.Runtime) error {
		v, err := convert.EncodeNamed(e.lang, name, value)
		if err != nil {
			return fmt.Errorf("the global %s: %w", name, err)
		}
		return vm.Set(name, v)
	})
}

// Lang returns the engine below, for programs that work with the interpreter's own values. Of an isolated engine it holds
// the results only.
func (e *Engine) Lang() *lang.Engine { return e.lang }

// Registry documents every name that the engine's scripts can use, those of the program's modules included: for
// completion in an editor of the program's own, and for help.
func (e *Engine) Registry() *bindings.Registry { return e.registry }

// Declarations writes TypeScript declarations (.d.ts) of every name that the engine's scripts can use: what orepl types
// writes, and the program's modules and globals. An editor that has the file completes and checks scripts.
func (e *Engine) Declarations() string {
	text := dts.Declarations(e.registry)
	for i, name := range sortedKeys(e.globals) {
		if i == 0 {
			text += "\n"
		}
		text += dts.Global(name, convert.TypeScript(e.globals[name]))
	}
	return text
}

// Close stops running calls and frees the engine's resources.
func (e *Engine) Close() error {
	err := e.lang.Close()
	if e.child != nil {
		err = errors.Join(err, e.child.Close())
	}
	return err
}

// Run runs a text as a module, and waits for all that it starts, also for kernels that it does not await. It returns
// the module's exports as the properties of a value. name stands in positions of errors. An error is a diagnostic with
// the position in the script, which [diag.Print] writes with the code around it, or a [lang.ExitError].
func (e *Engine) Run(ctx context.Context, name, text string) (*Value, error) {
	if e.child != nil {
		result, err := e.child.Run(ctx, name, text)
		return e.copied(ctx, result, err)
	}
	exports, err := e.lang.Run(ctx, name, text)
	return e.exported(exports, err)
}

// RunFile is Run for a file: JavaScript, or TypeScript if its name ends in .ts. Each call reads and runs it again; the
// modules that it imports are evaluated once in an engine.
func (e *Engine) RunFile(ctx context.Context, path string) (*Value, error) {
	if e.child != nil {
		result, err := e.child.RunFile(ctx, path)
		return e.copied(ctx, result, err)
	}
	exports, err := e.lang.RunFile(ctx, path)
	return e.exported(exports, err)
}

func (e *Engine) exported(exports *goja.Object, err error) (*Value, error) {
	if err != nil {
		return nil, err
	}
	return &Value{engine: e.lang, value: exports, exports: exports}, nil
}

// Eval runs a text as a prompt does: declarations are global, names of earlier calls stay, and the result is the value
// of the last expression, awaited if the text awaits.
func (e *Engine) Eval(ctx context.Context, name, text string) (*Value, error) {
	if e.child != nil {
		result, err := e.child.Eval(ctx, name, text)
		return e.copied(ctx, result, err)
	}
	v, err := e.lang.Eval(ctx, name, text)
	if err != nil {
		return nil, err
	}
	return &Value{engine: e.lang, value: v}, nil
}

// Value is a value of a script. It can be used until its engine is closed, from any goroutine.
type Value struct {
	engine  *lang.Engine
	value   goja.Value
	exports *goja.Object // of the module that it comes from, if it is known
	steps   []any        // from there
}

// Get returns a property; a value of undefined if there is none.
func (v *Value) Get(ctx context.Context, name string) (*Value, error) {
	got := &Value{engine: v.engine, value: goja.Undefined(), exports: v.exports, steps: append(v.steps[:len(v.steps):len(v.steps)], name)}
	err := v.engine.Do(ctx, func(*goja.Runtime) error {
		o, ok := v.value.(*goja.Object)
		if !ok {
			return diag.New("invalid-argument", "%s has no properties", v.engine.InspectValue(v.value, inspect.Options{}))
		}
		if p := o.Get(name); p != nil {
			got.value = p
		}
		return nil
	})
	return got, err
}

// IsUndefined reports whether the value is undefined, as a missing property is.
func (v *Value) IsUndefined() bool { return v.value == nil || goja.IsUndefined(v.value) }

// Decode stores the value in the variable that dst points to, see [convert]. If a part does not fit, the error is a
// diagnostic that wraps a [convert.Error]. It has the path, such as ".stages[2].size", and the position in the script.
// A property without a field is an error too, but for exports of a module: a script may export more than the program
// asks for.
func (v *Value) Decode(ctx context.Context, dst any) error {
	return v.engine.Do(ctx, func(vm *goja.Runtime) error {
		decode := convert.Decode
		if v.exports != nil && len(v.steps) == 0 {
			decode = convert.DecodeModule
		}
		err := decode(vm, v.value, dst)
		var misfit *convert.Error
		if !errors.As(err, &misfit) {
			return err
		}
		d := &diag.Diagnostic{ID: misfit.Code(), Message: misfit.Error(), Hint: misfit.Advice, Cause: misfit}
		steps := append(v.steps[:len(v.steps):len(v.steps)], misfit.Steps...)
		if v.exports != nil && len(steps) > 0 {
			name, _ := steps[0].(string)
			misfit.Where = v.engine.Locate(v.exports, name, steps[1:])
			d.Position = misfit.Where
			if text, ok := v.engine.SourceText(d.Position.File); ok {
				d.Excerpt = diag.Excerpted(text, d.Position, 1)
			}
		}
		return d
	})
}

// Call calls the value, which must be a function, with arguments made by [convert.Encode]; a [*Value] goes back as it
// is. A promise is awaited.
func (v *Value) Call(ctx context.Context, args ...any) (*Value, error) {
	result, err := v.engine.Await(ctx, func(*goja.Runtime) (goja.Value, error) {
		fn, ok := goja.AssertFunction(v.value)
		if !ok {
			return nil, diag.New("invalid-argument", "%s is no function", v.engine.InspectValue(v.value, inspect.Options{}))
		}
		values := make([]goja.Value, len(args))
		for i, arg := range args {
			var err error
			if values[i], err = v.argument(arg); err != nil {
				return nil, fmt.Errorf("argument %d: %w", i+1, err)
			}
		}
		return fn(goja.Undefined(), values...)
	})
	if err != nil {
		return nil, err
	}
	return &Value{engine: v.engine, value: result}, nil
}

func (v *Value) argument(arg any) (goja.Value, error) {
	if own, ok := arg.(*Value); ok {
		if own == nil {
			return goja.Null(), nil
		}
		if own.engine != v.engine {
			return nil, errors.New("the value belongs to another engine")
		}
		return own.value, nil
	}
	return convert.Encode(v.engine, arg)
}

// Text prints the value as console.log does.
func (v *Value) Text(ctx context.Context) (text string, err error) {
	err = v.engine.Do(ctx, func(*goja.Runtime) error {
		text = v.engine.Inspect(v.value, inspect.Options{})
		return nil
	})
	return text, err
}
