package orepl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/dts"
	"github.com/orepl/orepl/bindings/help"
	"github.com/orepl/orepl/bindings/offloadjs"
	"github.com/orepl/orepl/bindings/offloadjs/placement"
	"github.com/orepl/orepl/bindings/offloadjs/service"
	"github.com/orepl/orepl/bindings/testjs"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/disk"
	"github.com/orepl/orepl/lang/esm"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/isolate"
	contract "github.com/orepl/orepl/runtime/offload"
)

// EngineOptions are the options of an engine. The zero value lets scripts compute on all devices, and read the files that the program
// runs; they may read, import, write, start and load nothing else.
type EngineOptions struct {
	Stdout, Stderr io.Writer // default: the process's
	Stdin          io.Reader // what scripts read as process.stdin; nil: nothing, which is an error. With Isolate it must be os.Stdin

	Name string // names the engine in spans of [Options.Observe]; default for pipelines: the file

	Args []string          // the script's arguments
	Env  map[string]string // the script's environment variables
	Dir  string            // the base of relative paths; default: the process's working directory

	// Files are the files that scripts read and import, such as an embed.FS or [Texts], instead of the machine's. Paths begin at its
	// root, or at Dir in it. Policy.Read is not asked. Scripts then write no files, and start no programs and load no native code
	// unless Policy.Run and Policy.Native allow it.
	Files fs.FS

	Modules []Module       // modules of the program that scripts can import
	Globals map[string]any // globals of every script; values as for [Value.Call]

	Services []Service // Go functions that the scripts' kernels call by g.call, see docs/rpc.md

	Limits lang.Limits  // limits of time, memory and so on
	Policy lang.Policy  // permissions of scripts for files and programs, beside their own files; [lang.AllowAll] has all
	Logger *slog.Logger // default: the runtime's

	// OnError receives errors that belong to no running call: exceptions and unhandled rejections of timers and operations
	// that an earlier call started. They do not fail the later call during which they occur. When the engine closes, OnError
	// also receives failures of kernels that no call has reported. The errors are diagnostics. OnError runs while the engine
	// runs or closes, and must not call it. By default errors are logged, or printed on Stderr without a Logger.
	OnError func(error)

	// OnOverdue receives the cause if a call has not returned two seconds after a limit or its context ended it. The reason is a
	// builtin function that checks no interrupt. OnOverdue runs on its own goroutine and may end the process. With Isolate it is not
	// called.
	OnOverdue func(error)

	cache  *esm.Cache    // shared by a pipeline's engines
	suite  *testjs.Suite // collects tests; nil: they run at once
	script string        // the file of a pipeline, which may be read

	placement *placement.Policy // shared by a pipeline's engines

	// Isolate runs the scripts in a separate process, which cannot outlive or crash this one. Values are copied through
	// JSON, functions cannot be passed, and the process opens the devices again. The program must call [ServeIsolated] first
	// in main. Files, Modules, Globals and Services cannot be set. See docs/limits.md.
	Isolate bool
}

// Texts is a file system of texts in memory for [EngineOptions.Files]: names with slashes, such as "filters/blur.js", and contents.
// It must not change while it is read.
type Texts = disk.Texts

// Service is a Go function that kernels call by g.call.
type Service = service.Host

// Engine runs scripts of one program, one call at a time. Its methods are safe for concurrent use: calls wait for each
// other. When the context of a call ends, its script and the kernels that the script waits for are stopped.
//
// A call fails only because of work that it started, directly or transitively. When it fails, all of that work ends. Timers
// and queued callbacks are dropped, operations are cancelled and programs killed. Its commands in queues are dropped, and
// also those of earlier calls that wait in the same queues. The call returns when that is done. Only a Go function that
// ignores its context, or a device that cannot be stopped, may continue, without effect on the engine.
//
// Work that continues after a successful call runs during later calls and does not fail them. Commands of queues are the
// exception. If Eval or [Value.Call] launched and did not await them, their failure fails the next wait for their queue. Run
// and RunFile wait for theirs.
type Engine struct {
	lang     *lang.Engine
	registry *bindings.Registry
	globals  map[string]any
	child    *isolate.Engine // runs the scripts if they are isolated; lang then holds the values
	own      *ownFiles
	closed   atomic.Bool
}

// Engine returns a new script engine with the runtime's devices. It must be closed before the runtime. It has its own queues, so
// faults of its kernels do not affect other engines, unless the device is lost.
func (r *Runtime) Engine(opts EngineOptions) (*Engine, error) {
	if !r.opened() {
		return nil, errNoRuntime
	}
	if r.ended.Load() {
		return nil, contract.Errorf(contract.Closed, "new engine", "the runtime is closed")
	}
	if opts.Logger == nil {
		opts.Logger = r.logger
	}
	if err := opts.check(); err != nil {
		return nil, err
	}
	own := opts.denyRest()
	own.add(opts.script)
	if opts.Isolate {
		return r.isolated(opts, own)
	}
	registry, err := r.modules(&opts)
	if err != nil {
		return nil, err
	}
	l, err := lang.New(lang.Options{
		Stdin: opts.Stdin, Stdout: opts.Stdout, Stderr: opts.Stderr, Args: opts.Args, Env: opts.Env, Dir: opts.Dir, Files: opts.Files,
		Modules: registry.Engine(), Limits: opts.Limits, Policy: opts.Policy, Logger: opts.Logger, OnError: opts.OnError, OnOverdue: opts.OnOverdue,
		Cache: opts.cache,
	})
	if err != nil {
		return nil, err
	}
	e := &Engine{lang: l, registry: registry, globals: opts.Globals, own: own}
	for name, value := range opts.Globals {
		if err := e.setGlobal(name, value); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	return e, nil
}

// check returns an error for an invalid option, or nil.
func (o *EngineOptions) check() error {
	if err := o.checkLimits(); err != nil {
		return err
	}
	for _, name := range sortedKeys(o.Env) {
		if name == "" || strings.ContainsAny(name+o.Env[name], "\x00") || strings.Contains(name, "=") {
			return contract.Errorf(contract.InvalidArgument, "new engine", "Env has the variable %q, which cannot be one", name)
		}
	}
	if o.Dir == "" {
		return nil
	}
	if info, err := disk.Of(o.Files).Stat(o.Dir); err != nil || !info.IsDir() {
		return contract.Errorf(contract.InvalidArgument, "new engine", "Dir is %q, which is no directory", o.Dir)
	}
	return nil
}

// modules returns the registry of a new engine: the modules of the runtime and those of opts. The engine has queues of its own.
func (r *Runtime) modules(opts *EngineOptions) (*bindings.Registry, error) {
	if err := service.Check(opts.Services); err != nil {
		return nil, err
	}
	if r.inside.Wrong != nil {
		return nil, r.inside.Wrong
	}
	own, err := bound(opts.Modules)
	if err != nil {
		return nil, err
	}
	return r.newRegistry(offloadjs.ModuleOptions{OwnQueues: true, Owner: opts.Name, Services: opts.Services, Placement: opts.placement}, own, opts.suite)
}

func (e *Engine) setGlobal(name string, value any) error {
	err := e.lang.Do(context.Background(), func(vm *goja.Runtime) error {
		v, err := convert.EncodeNamed(e.lang, name, value)
		if err != nil {
			return err
		}
		return vm.Set(name, v)
	})
	if err != nil {
		return fmt.Errorf("the global %s: %w", name, err)
	}
	return nil
}

// usable returns an error for an engine that [Runtime.Engine] did not return.
func (e *Engine) usable() error {
	if e == nil || e.lang == nil {
		return errNoEngine
	}
	return nil
}

var errNoEngine = diag.New("invalid-argument", "the engine is none that Runtime.Engine returned")

// Help returns the documentation of a name in the engine's scripts as text. The name is that of a module, such as "fs" or one
// of the program's, of an export, such as "fs.readText", or an error code. For the name "" Help returns the list of modules. An
// unknown name is an error.
func (e *Engine) Help(name string) (string, error) {
	if err := e.usable(); err != nil {
		return "", err
	}
	var text strings.Builder
	if name == "" {
		help.WriteIndex(&text, e.registry)
		return text.String(), nil
	}
	err := help.Write(&text, e.registry, name)
	return text.String(), err
}

// Names returns the names that [Engine.Help] explains, sorted: modules, their exports, such as "fs.readText", globals, types,
// and the members of these. Completions are made from them. Names returns nil for a nil or zero Engine.
func (e *Engine) Names() []string {
	if e.usable() != nil {
		return nil
	}
	return e.registry.Names()
}

// Declarations returns TypeScript declarations (.d.ts) of all names in the engine's scripts: the output of orepl types, and
// the program's modules and globals. Editors use the file to complete and check scripts. Declarations returns "" for a nil or zero
// Engine.
func (e *Engine) Declarations() string {
	if e.usable() != nil {
		return ""
	}
	text := dts.Declarations(e.registry)
	for i, name := range sortedKeys(e.globals) {
		if i == 0 {
			text += "\n"
		}
		text += dts.Global(name, convert.TypeScript(e.globals[name]))
	}
	return text
}

// Close stops running calls and frees the engine's resources; [Engine.Shutdown] waits for the calls. A function that a script
// calls cannot close the script's engine: Close fails with the code "reentrant" and closes nothing.
func (e *Engine) Close() error {
	if e.usable() != nil { // nothing is open
		return nil
	}
	err := e.lang.Close()
	if diag.Code(err) == "reentrant" {
		return err
	}
	e.closed.Store(true)
	if e.child != nil {
		err = errors.Join(err, e.child.Close())
	}
	return err
}

// Shutdown waits until the engine's calls have returned, or ctx ends, and then closes the engine as Close does. A call that
// begins meanwhile may be stopped. The error is Close's, or describes the end of ctx. For a closed engine Shutdown returns nil.
//
// If a function that a script calls shuts the engine down, Shutdown fails at once with the code "reentrant" and closes nothing. A
// function that is Async must not call Shutdown, which would wait for the call that awaits the function.
func (e *Engine) Shutdown(ctx context.Context) error {
	err := cmp.Or(e.usable(), diag.CheckContext(ctx))
	if err != nil {
		return err
	}
	if e.closed.Load() {
		return nil
	}
	if e.child != nil {
		_, err = e.child.Eval(ctx, "shutdown", "0") // waits for its turn
	} else {
		err = e.lang.Do(ctx, func(*goja.Runtime) error { return nil })
		if diag.Code(err) == "reentrant" {
			return err
		}
	}
	if diag.Code(err) == "closed" && !lang.WasCut(ctx, err) { // Close was called meanwhile
		err = nil
	}
	return errors.Join(err, e.Close())
}

// Run runs a text as a module and waits for everything that it starts, including kernels that it does not await. It returns
// the module's exports as properties of a value. name is the file name in errors. An error is a diagnostic with the position
// in the script, which [diag.Print] prints with the code around it, or a [lang.ExitError].
func (e *Engine) Run(ctx context.Context, name, text string) (*Value, error) {
	if err := e.usable(); err != nil {
		return nil, err
	}
	if e.child != nil {
		result, err := e.child.Run(ctx, name, text)
		return e.copied(ctx, result, err)
	}
	exports, err := e.lang.Run(ctx, name, text)
	return e.exported(exports, err)
}

// RunFile is Run for a file: JavaScript, or TypeScript if its name ends in .ts or .mts. Each call reads and runs the file again; the
// modules that it imports are evaluated once per engine. The file may be read whatever the policy says.
func (e *Engine) RunFile(ctx context.Context, path string) (*Value, error) {
	if err := e.usable(); err != nil {
		return nil, err
	}
	e.own.add(path)
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

// Eval runs a text like a prompt: declarations are global, and names of earlier calls remain. name is the file name in errors.
// The result is the value of the last expression, awaited if the text awaits.
func (e *Engine) Eval(ctx context.Context, name, text string) (*Value, error) {
	if err := e.usable(); err != nil {
		return nil, err
	}
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

// Value is a value of a script. It is valid until its engine is closed, and safe for concurrent use.
type Value struct {
	engine  *lang.Engine
	value   goja.Value
	exports *goja.Object // exports of the value's module, if known
	steps   []any        // path from exports to the value
}

// usable returns an error for a value that no call returned.
func (v *Value) usable() error {
	if v == nil || v.engine == nil {
		return errNoValue
	}
	return nil
}

var errNoValue = diag.New("invalid-argument", "the value is none that an engine returned")

// do runs fn on the goroutine of the value's engine.
func (v *Value) do(ctx context.Context, fn func(*goja.Runtime) error) error {
	if err := v.usable(); err != nil {
		return err
	}
	return v.engine.Do(ctx, fn)
}

// Get returns a property. A missing property is a value of undefined. A value without properties, such as a number, is an
// error.
func (v *Value) Get(ctx context.Context, name string) (*Value, error) {
	if err := v.usable(); err != nil {
		return nil, err
	}
	got := &Value{engine: v.engine, value: goja.Undefined(), exports: v.exports, steps: append(v.steps[:len(v.steps):len(v.steps)], name)}
	err := v.do(ctx, func(*goja.Runtime) error {
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

// IsUndefined reports whether the value is undefined, such as a missing property. It returns true for a nil Value.
func (v *Value) IsUndefined() bool { return v == nil || v.value == nil || goja.IsUndefined(v.value) }

// Decode stores the value in the variable that dst points to, see [convert]. If a part does not fit, the error is a
// diagnostic that wraps a [convert.Error]. It has the path, such as ".stages[2].size", and the position in the script. A
// property without a field is an error. Exports of a module are exempt: a script may export more than the program decodes.
func (v *Value) Decode(ctx context.Context, dst any) error {
	if v.usable() == nil && v.exports != nil && len(v.steps) == 0 {
		return v.decode(ctx, dst, convert.DecodeModule)
	}
	return v.decode(ctx, dst, convert.Decode)
}

func (v *Value) decode(ctx context.Context, dst any, decode func(*goja.Runtime, goja.Value, any) error) error {
	return v.do(ctx, func(vm *goja.Runtime) error {
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
			if text, ok := v.engine.SourceText(d.Position.File); ok && !misfit.Secret && !convert.HoldsSecret(reflect.TypeOf(dst)) {
				d.Excerpt = diag.Excerpted(text, d.Position, 1)
			}
		}
		return d
	})
}

// Call calls the value, which must be a function. [convert.Encode] converts the arguments; a [*Value] is passed unchanged, or
// as null if it is nil. A promise that the function returns is awaited.
func (v *Value) Call(ctx context.Context, args ...any) (*Value, error) {
	if err := v.usable(); err != nil {
		return nil, err
	}
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
		if err := own.usable(); err != nil {
			return nil, err
		}
		if own.engine != v.engine {
			return nil, errors.New("the value belongs to another engine")
		}
		return own.value, nil
	}
	return convert.Encode(v.engine, arg)
}

// Text returns the value in the form of console.log.
func (v *Value) Text(ctx context.Context) (text string, err error) {
	err = v.do(ctx, func(*goja.Runtime) error {
		text = v.engine.Inspect(v.value, inspect.Options{})
		return nil
	})
	return text, err
}
