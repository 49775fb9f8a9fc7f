// Package lang is the script engine: an interpreter with an event loop, ES modules, TypeScript, limits, diagnostics and
// printing. It does not depend on accelerators; builtin modules are [Module] values.
//
// An [Engine] is single-threaded. Its methods that run script code take turns. All other code that touches values of the
// script must run on the loop's goroutine: in native functions, callbacks of [Engine.Post], or callbacks of held
// operations ([Engine.Hold]).
package lang

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/loop"
)

// Options configure an engine. The zero value is usable: standard streams, the working directory, no modules.
type Options struct {
	Stdout, Stderr io.Writer

	Args []string // the script's arguments
	Env  map[string]string
	Dir  string // the directory that relative paths and imports at the prompt start from; default: the process's

	Modules []Module // modules that scripts import by a bare name
	Prompt  bool     // the names in Module.PromptGlobals are global too

	Limits Limits
	Policy Policy
	Colors bool
	Cache  *Cache       // of imported files, shared with other engines; nil: each engine reads for itself
	Logger *slog.Logger // default: nothing is logged

	// OnError receives the errors that belong to no running call: exceptions and unhandled rejections of work that an
	// earlier call left behind, such as a timer. With Prompt it also receives those of all timers and promises. They are
	// diagnostics. It runs on the loop's goroutine and must not call the engine. Default: they are logged, or printed on
	// Stderr if there is no Logger.
	OnError func(error)

	// OnOverdue receives the cause if a call has not returned two seconds after its end by a limit or its context. A
	// builtin then runs that checks for no interrupt. It runs on a goroutine of its own, and may end the process.
	OnOverdue func(error)

	// OnWarning receives warnings, such as one for an await that seems to be missing. It runs on the loop's goroutine.
	// Without it warnings are printed to Stderr.
	OnWarning  func(*diag.Diagnostic)
	NoWarnings bool // warnings are neither printed nor given to OnWarning
}

// Limits bound a script's use of resources. Zero means no limit, but for CallDepth. docs/limits.md lists their
// guarantees, and those of a process of its own (package isolate).
type Limits struct {
	// Time bounds each call of Run, RunFile, Eval and Import.
	Time time.Duration
	// CallDepth bounds nested calls; default 10000, or 2000 where Time or Memory is limited: unwinding calls that go
	// through getters and other builtins takes time with the square of their number, which cannot be interrupted.
	CallDepth int
	// Memory bounds the heap of the process, in bytes, while a script runs. It is checked every few milliseconds, and
	// before the builtins that may allocate much at once do so.
	Memory uint64
	// Iterations bounds how often the bodies of loops run, all together, in each call of Run, RunFile, Eval and
	// Import. Unlike Time it does not depend on the machine. Loops in code that eval or new Function makes do not count.
	Iterations uint64

	// DeviceMemory bounds the bytes of the buffers that a script holds on all devices, Launches the kernels that it
	// launches. The engine passes them on to its modules.
	DeviceMemory uint64
	Launches     uint64
}

// bounded reports whether the interpreter's builtins must be bounded.
func (l *Limits) bounded() bool { return l.Time > 0 || l.Memory > 0 || l.Iterations > 0 }

const (
	defaultCallDepth = 10000
	boundedCallDepth = 2000
)

// Policy says which files scripts may touch. A nil function allows everything.
type Policy struct {
	// Read and Write are asked with an absolute, cleaned path. An error refuses, and is shown to the script.
	Read, Write func(path string) error
	// Run is asked for a program that a script would start. If it is nil, programs are allowed where Read and Write are
	// nil too, else refused: a program could touch any file.
	Run func(path string) error
	// Native is asked for a library of native code, by its label, that a script would register: shared objects run in the
	// process, unchecked. If it is nil, they are allowed where Read and Write are nil too, else refused.
	Native func(label string) error
}

// Engine runs scripts. Use [New].
type Engine struct {
	opts   Options
	output *output
	vm     *goja.Runtime
	loop   *loop.Loop
	turn   turn

	ctx    context.Context // ends when the engine closes
	cancel context.CancelCauseFunc

	intrinsics *intrinsics
	inspector  *inspect.Inspector
	caught     goja.Callable // makes a function hand over its errors; see Microtask

	running running
	limit   limiter
	esm     modules
	objects hostObjects
	report  reports
	hooks   hooks
}

// running is the state of the call that runs.
type running struct {
	now    context.Context // of the call, or nil; read on the loop's goroutine
	scope  *loop.Scope     // of the call's timers and operations, or nil
	exit   error           // set by Exit until the call that it ends has ended
	status int             // see SetStatus
}

// A limiter ends calls that pass a limit, and keeps builtins within it.
type limiter struct {
	guard
	unwinder   unwinder
	bounds     *bounds
	deadline   time.Time // of the call that runs, or zero
	iterations uint64    // of the call that runs
}

// modules are the modules of the engine and the cells of the prompt.
type modules struct {
	files       map[string]*module
	builtins    map[string]*builtin
	promptCells map[string]promptBinding
	imported    map[string]*module // the line of the prompt that imported a name last
	markSymbol  *goja.Symbol       // on functions: where they were made
	unset       *goja.Symbol       // the value of an import before it has one
	script      string             // the file that RunFile ran last
	entry       *module            // that the running call evaluates, or nil
	turns       int                // of modules that await, see module.turn
}

// hostObjects are shared by objects with Go values behind them, and by their operations.
type hostObjects struct {
	hiddenSymbol *goja.Symbol // on host objects: the Go value
	errorSymbol  *goja.Symbol // on errors: the Go error behind
	lightTypes   map[reflect.Type]bool
	operations   operations
}

// reports holds the inputs of diagnostics, and the diagnostics reported so far.
type reports struct {
	aside    bool                              // exceptions of timers and promises go to OnError, whosever they are
	sources  texts                             // as written, for code frames
	stack    []goja.StackFrame                 // scratch of Caller
	places   map[goja.StackFrame]diag.Position // of calls seen by Caller
	warned   map[diag.Position]bool            // see warnOfAwait
	told     map[placed]bool                   // of WarnOf
	rejected []rejection                       // without a handler so far
}

// hooks are functions of modules.
type hooks struct {
	closed []func()
	failed []func(*loop.Scope, error) func()
	quiet  []func(*loop.Scope) error
}

var errClosed = fmt.Errorf("the engine is closed")

// New makes an engine. Modules are instantiated when a script first uses them.
func New(o Options) (*Engine, error) {
	aside := o.Prompt && o.OnError != nil
	if err := o.complete(); err != nil {
		return nil, err
	}
	vm := goja.New()
	e := &Engine{
		opts: o, output: o.Stdout.(*output), vm: vm, loop: loop.New(), turn: newTurn(), intrinsics: newIntrinsics(vm),
		limit: limiter{guard: guard{vm: vm}, unwinder: newUnwinder(vm)},
		esm: modules{
			files: map[string]*module{}, builtins: map[string]*builtin{}, promptCells: map[string]promptBinding{}, imported: map[string]*module{},
			markSymbol: goja.NewSymbol("orepl.mark"), unset: goja.NewSymbol("orepl.unset"),
		},
		objects: hostObjects{hiddenSymbol: goja.NewSymbol("orepl.hidden"), errorSymbol: goja.NewSymbol("orepl.error"), lightTypes: map[reflect.Type]bool{}},
		report:  reports{aside: aside, sources: newTexts(), places: map[goja.StackFrame]diag.Position{}, warned: map[diag.Position]bool{}},
	}
	e.ctx, e.cancel = context.WithCancelCause(context.Background())
	e.inspector = inspect.New(vm, e.inspectHost)
	e.inspector.Live = e.live
	vm.SetMaxCallStackSize(o.Limits.CallDepth)
	vm.SetPromiseRejectionTracker(e.trackRejection)
	e.loop.AfterTurn = e.reportRejection
	e.loop.OnError = e.uncaught
	e.definePolyfills()
	e.watchPromises()
	e.fixPrototypes()
	if err := e.boundBuiltins(); err != nil {
		return nil, err
	}
	e.defineMath()
	if err := e.defineOperators(); err != nil {
		return nil, err
	}
	for _, m := range o.Modules {
		if err := e.addModule(m); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (o *Options) complete() error {
	if o.Stdout == nil {
		o.Stdout = os.Stdout
	}
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	if inner, ok := o.Stdout.(*output); ok { // of another engine
		o.Stdout = inner.to
	}
	if inner, ok := o.Stderr.(behind); ok {
		o.Stderr = inner.to
	}
	out := newOutput(o.Stdout)
	o.Stdout, o.Stderr = out, behind{out, o.Stderr}
	if o.NoWarnings {
		o.OnWarning = func(*diag.Diagnostic) {}
	}
	if o.OnWarning == nil {
		o.OnWarning = func(d *diag.Diagnostic) { diag.PrintWarning(o.Stderr, d, o.Colors) }
	}
	if o.OnError == nil {
		o.OnError = o.reporter()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Limits.CallDepth == 0 {
		o.Limits.CallDepth = defaultCallDepth
		if o.Limits.bounded() {
			o.Limits.CallDepth = boundedCallDepth
		}
	}
	if o.Limits.CallDepth < 0 {
		return diag.New("invalid-argument", "the call depth is limited to %d", o.Limits.CallDepth).WithHint("give a positive number, or 0 for %d", defaultCallDepth)
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return fmt.Errorf("the working directory: %w", err)
	}
	o.Dir = dir
	return nil
}

// reporter handles errors that belong to no call, by default.
func (o *Options) reporter() func(error) {
	if o.Logger == nil {
		return func(err error) { diag.Print(o.Stderr, err, o.Colors) }
	}
	return func(err error) {
		o.Logger.Error("an error in the background", "error", err, "code", diag.Code(err))
	}
}

// Options returns the options, completed by defaults.
func (e *Engine) Options() *Options { return &e.opts }

// VM returns the interpreter. It must only be touched on the loop's goroutine.
func (e *Engine) VM() *goja.Runtime { return e.vm }

// Context ends when the engine is closed. Host operations that outlive a call should end with it.
func (e *Engine) Context() context.Context { return e.ctx }

// Running returns the context of the call that runs: it ends when that call is cancelled or the engine closes. A native
// function that blocks must end with it. Call it on the loop's goroutine.
func (e *Engine) Running() context.Context {
	if e.running.now == nil {
		return e.ctx
	}
	return e.running.now
}

// Post runs fn on the loop's goroutine, at the latest when the engine next runs. It may be called from any goroutine
// and does not keep the engine running. An error of fn goes to Options.OnError; use [loop.Pending.Post] for callbacks
// of an operation.
func (e *Engine) Post(fn func() error) { e.loop.Post(fn) }

// Hold registers an operation that ends later, so that the engine waits for it. See [loop.Pending].
func (e *Engine) Hold(label string) *loop.Pending { return e.loop.Hold(label) }

// Loop returns the engine's event loop.
func (e *Engine) Loop() *loop.Loop { return e.loop }

// OnFailure registers a function that is called when a call has failed and its callbacks on the loop are cancelled. A
// module that keeps work elsewhere, such as on a device, ends there the work of the scope, or all if the scope is nil.
// fn runs on the loop's goroutine. The function that it returns, if any, runs on another goroutine, and the call waits
// for it, up to a limit. It is not called for an exception at a prompt.
func (e *Engine) OnFailure(fn func(*loop.Scope, error) (work func())) {
	e.hooks.failed = append(e.hooks.failed, fn)
}

// OnQuiet registers a function that is called when Run or RunFile would return and the loop is empty. A module that
// keeps work elsewhere waits there for the work of the scope, as long as [Engine.Running] lasts. An error fails the
// call. fn runs on the loop's goroutine.
func (e *Engine) OnQuiet(fn func(*loop.Scope) error) { e.hooks.quiet = append(e.hooks.quiet, fn) }

// OnClose registers a function that Close calls, last registered first.
func (e *Engine) OnClose(fn func()) { e.hooks.closed = append(e.hooks.closed, fn) }

// Close ends pending operations and releases the modules' resources. It interrupts a running call and waits for it; a
// function that the script runs gets an error instead. It returns a failure to write lines of kernels.
func (e *Engine) Close() error {
	if e.turn.holder.Load() == goroutine() {
		return errReentrant
	}
	e.cancel(errClosed)
	e.limit.interrupt(errClosed)
	if err := e.turn.take(context.Background()); err != nil {
		return err
	}
	defer e.turn.giveBack()
	e.loop.Cancel(errClosed)
	e.objects.operations.wait(nil, cutPatience)
	for i := len(e.hooks.closed) - 1; i >= 0; i-- {
		e.hooks.closed[i]()
	}
	e.hooks.closed = nil
	return e.output.flushNow(true)
}

// Inspect prints a value for a person, as console.log does. Call it on the loop's goroutine.
func (e *Engine) Inspect(v goja.Value, o inspect.Options) string { return e.inspector.Text(v, o) }

// InspectValue is Inspect with strings quoted.
func (e *Engine) InspectValue(v goja.Value, o inspect.Options) string {
	return e.inspector.Value(v, o)
}

// Path makes a script's path absolute.
func (e *Engine) Path(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(e.opts.Dir, name)
}

// ReadPath is Path for a file to be read; the policy may refuse it.
func (e *Engine) ReadPath(name string) (string, error) { return e.allowed(name, e.opts.Policy.Read) }

// WritePath is Path for a file to be written, made or removed; the policy may refuse it.
func (e *Engine) WritePath(name string) (string, error) { return e.allowed(name, e.opts.Policy.Write) }

// RunPath returns the program with a name, found as a shell does; the policy may refuse it.
func (e *Engine) RunPath(name string) (string, error) {
	path := name
	if strings.ContainsRune(name, filepath.Separator) {
		path = e.Path(name)
	}
	path, err := exec.LookPath(path)
	if err != nil {
		return "", &diag.Diagnostic{
			ID: "not-found", Message: fmt.Sprintf("there is no program %q", name), Cause: err,
			Hint: "it is looked for in the directories of PATH; a path needs a slash, as in ./tool",
		}
	}
	p := &e.opts.Policy
	ask := p.Run
	if ask == nil && (p.Read != nil || p.Write != nil) {
		ask = func(string) error {
			return errors.New("the script may touch some files only, and so it may start no programs")
		}
	}
	return e.allowed(path, ask)
}

// AllowNative returns why the policy does not allow the script to register a library of native code; nil if it does.
func (e *Engine) AllowNative(label string) error {
	switch p := &e.opts.Policy; {
	case p.Native != nil:
		return p.Native(label)
	case p.Read != nil || p.Write != nil:
		return errors.New("the script may touch some files only, and so it may run no native code")
	}
	return nil
}

// Script returns the absolute path of the file that [Engine.RunFile] ran last; empty before.
func (e *Engine) Script() string { return e.esm.script }

func (e *Engine) allowed(name string, ask func(string) error) (string, error) {
	path := e.Path(name)
	if ask == nil {
		return path, nil
	}
	path, err := realPath(path)
	if err == nil {
		err = ask(path)
	}
	if err != nil {
		return "", &diag.Diagnostic{
			ID: "permission-denied", Message: fmt.Sprintf("%s: %v", name, err), Cause: err,
			Hint: "the program that runs this script decides what it may touch",
		}
	}
	return path, nil
}
