// Package lang is the script engine: an interpreter with an event loop, ES modules, TypeScript, limits, diagnostics and
// printing. It does not depend on accelerators; builtin modules are [Module] values.
//
// An [Engine] is single-threaded: a lock serializes the methods that run script code. All other code that uses values of the
// script must run on the loop's goroutine: in native functions, callbacks of [Engine.Post], or callbacks of held operations
// ([Engine.Hold]).
//
// # Design
//
// Calls may nest less deeply under limits, because unwinding native frames takes the square of their number, and nothing can
// interrupt it.
//
// Proxies around proxies are counted: each missing trap is one frame of Go's stack.
//
// An object behind Promise.prototype sees properties that promises lack, and warns once for each place, because such a
// mistake is otherwise silent.
package lang

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/bounds"
	"github.com/orepl/orepl/lang/builtins"
	"github.com/orepl/orepl/lang/desugar"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/disk"
	"github.com/orepl/orepl/lang/esm"
	"github.com/orepl/orepl/lang/explain"
	"github.com/orepl/orepl/lang/heap"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/instructions"
	"github.com/orepl/orepl/lang/internals"
	"github.com/orepl/orepl/lang/internals/goroutine"
	"github.com/orepl/orepl/lang/loop"
	"github.com/orepl/orepl/lang/maths"
	"github.com/orepl/orepl/lang/operators"
	"github.com/orepl/orepl/lang/output"
	"github.com/orepl/orepl/lang/polyfill"
	"github.com/orepl/orepl/lang/texts"
)

// Options configure an engine. The zero value selects the standard streams for output, the working directory and no modules.
type Options struct {
	Stdout, Stderr io.Writer
	Stdin          io.Reader // what scripts read as process.stdin; nil: reading it is an error

	Args []string // arguments of the script
	Env  map[string]string
	Dir  string // base of relative paths and of imports at the prompt; default: the process's directory

	// Files are the files that scripts read and import, instead of the machine's; its root has the path /, which is the default of
	// Dir. Policy.Read is not asked. Scripts then write no files, and without Policy.Run and Policy.Native start no programs and load
	// no native code.
	Files fs.FS

	Modules []Module // builtin modules, imported by a bare name
	Prompt  bool     // for a prompt: PromptGlobals are global, and an exception leaves timers and operations running

	Limits Limits
	Policy Policy
	Colors bool
	Cache  *esm.Cache   // imported files, shared between engines; nil: each engine reads files itself
	Logger *slog.Logger // default: no logging

	// OnError receives errors that belong to no running call: exceptions and unhandled rejections of earlier calls' work, such
	// as timers. With Prompt it also receives those of all timers and promises. The errors are diagnostics. It runs on the
	// loop's goroutine and must not call the engine. Default: they are logged, or printed on Stderr if there is no Logger.
	OnError func(error)

	// OnOverdue receives the cause if a call is still running two seconds after a limit or its context ended it. The call is
	// then in a builtin that does not check interrupts. OnOverdue runs on its own goroutine and may end the process.
	OnOverdue func(error)

	// OnWarning receives warnings, such as one for a forgotten await. It runs on the loop's goroutine. Default: they are
	// printed on Stderr.
	OnWarning  func(*diag.Diagnostic)
	NoWarnings bool // warnings are neither printed nor passed to OnWarning
}

// Limits bound a script's use of resources. Zero means no limit, except for CallDepth. docs/limits.md lists the guarantees, and
// those of a separate process (package isolate).
type Limits struct {
	// Time is the maximum duration of each call that runs scripts, such as Run, RunFile, Eval, Import, Do and Await.
	Time time.Duration
	// CallDepth is the maximum number of nested calls. The default is 10000, or 2000 where Time, Memory or Iterations is limited.
	// Unwinding calls through builtins such as getters takes quadratic time and cannot be interrupted.
	CallDepth int
	// Memory is the maximum number of bytes of Go's heap that scripts of the engine hold. It is checked every few milliseconds and
	// before builtins that may allocate much.
	Memory uint64
	// Iterations is the maximum number of loop iterations, over all loops, in each call that runs scripts. Unlike Time it does
	// not depend on the machine. Loops in the texts of eval and Function constructors count, too.
	Iterations uint64

	// DeviceMemory is the maximum number of bytes in a script's buffers on all devices, Launches the maximum number of its
	// launches. The engine's modules enforce them.
	DeviceMemory uint64
	Launches     uint64
}

// bounded reports whether a limit requires checks of the interpreter's builtins.
func (l *Limits) bounded() bool { return l.Time > 0 || l.Memory > 0 || l.Iterations > 0 }

const defaultCallDepth, boundedCallDepth = 10000, 2000 // of engines without and with limits

// Policy restricts the files, programs and devices that scripts may use. A nil function allows all, except for Run and Native.
type Policy struct {
	// Read and Write get an absolute path with all links followed. An error denies the access and is shown to the script. If
	// Write returns disk.ErrLeaveOut, the module 'fs' writes nothing and reports success.
	Read, Write func(path string) error
	// Run is called with the absolute path of a program, with all links followed, before a script starts it. If nil, programs
	// are allowed only if Read, Write and [Options.Files] are nil too, because a program can access any file.
	Run func(path string) error
	// Native is called with the label of a native library before a script registers it. Shared objects run in the process,
	// unchecked. If nil, they are allowed only if Read, Write and [Options.Files] are nil too.
	Native func(label string) error
	// Device is called with the id of a device before a script uses the device. Scripts do not see devices for which it returns an error.
	Device func(id string) error
	// Plugins are the plugins that may be opened for the script; nil: all.
	Plugins []string
}

// AllowAll is the policy of scripts that may do what the program may.
var AllowAll = Policy{Read: allow, Write: allow, Run: allow, Native: allow, Device: allow}

func allow(string) error { return nil }

// Engine runs scripts. [New] creates one.
type Engine struct {
	opts   Options
	output *output.Output
	vm     *goja.Runtime
	loop   *loop.Loop
	turn   turn

	ctx    context.Context // cancelled when the engine closes
	cancel context.CancelCauseFunc

	intrinsics *intrinsics
	builtins   *builtins.Set
	inspector  *inspect.Inspector
	explainer  *explain.Explainer
	caught     goja.Callable // wraps a function so that it reports its errors; nil before the first Microtask

	running running
	limit   limiter
	esm     modules
	objects hostObjects
	report  reports
	hooks   hooks
}

// running is the state of the running call.
type running struct {
	now    context.Context                 // context of the call, or nil; read on the loop's goroutine
	values atomic.Pointer[context.Context] // now, for other goroutines
	scope  *loop.Scope                     // scope of the call's timers and operations, or nil
	exit   error                           // set by Exit until the ended call has returned
	status int                             // exit status; see SetStatus
}

// A limiter ends calls that exceed a limit and holds the bounds of the builtins.
type limiter struct {
	guard
	share      *heap.Owner // nil without a limit of memory
	unwinder   internals.Unwinder
	bounds     *bounds.Bounds
	deadline   time.Time // deadline of the running call, or zero
	iterations uint64    // iterations of the running call
}

// hostObjects holds the state that host objects and their operations share.
type hostObjects struct {
	hiddenSymbol *goja.Symbol // on host objects: the Go value
	errorSymbol  *goja.Symbol // on errors: the underlying Go error
	lightTypes   map[reflect.Type]bool
	operations   operations
}

// reports holds the inputs of diagnostics, and the diagnostics reported so far.
type reports struct {
	caught  caughtErrors
	aside   bool                              // exceptions of timers and promises go to OnError, even those of the running call
	sources texts.Texts                       // source texts as written, for excerpts
	stack   []goja.StackFrame                 // scratch space of Caller
	places  map[goja.StackFrame]diag.Position // positions of calls seen by Caller

	lastStack []goja.StackFrame      // of the last call of Caller
	called    diag.Position          // the position that it returned, or zero
	warned    map[diag.Position]bool // positions for which warning has returned a warning
	reported  map[placed]bool        // warnings reported by WarnOf
	rejected  []rejection            // rejections without a handler so far
	calls     []TextCall             // calls recorded by RecordCalls
}

// hooks holds functions that modules registered.
type hooks struct {
	watcher instructions.Watcher
	closed  []func()
	failed  []func(*loop.Scope, error) func()
	quiet   []func(*loop.Scope) error
}

var errClosed = diag.New("closed", "the engine is closed")

// New returns a new engine. Modules are instantiated when a script first uses them. The error is that of an invalid limit or
// module, or of a working directory that cannot be found. New also fails with a version of the interpreter that this package
// does not know.
func New(o Options) (*Engine, error) {
	aside := o.Prompt && o.OnError != nil
	if err := o.complete(); err != nil {
		return nil, err
	}
	vm := goja.New()
	e := &Engine{
		opts: o, output: o.Stdout.(*output.Output), vm: vm, loop: loop.New(), turn: newTurn(), intrinsics: newIntrinsics(vm),
		limit:   limiter{guard: guard{vm: vm}, unwinder: internals.NewUnwinder(vm)},
		esm:     modules{builtins: map[string]*builtin{}, promptCells: map[string]promptBinding{}},
		objects: hostObjects{hiddenSymbol: goja.NewSymbol("orepl.hidden"), errorSymbol: goja.NewSymbol("orepl.error"), lightTypes: map[reflect.Type]bool{}},
		report:  reports{aside: aside, sources: texts.New(), places: map[goja.StackFrame]diag.Position{}, warned: map[diag.Position]bool{}},
	}
	e.ctx, e.cancel = context.WithCancelCause(context.Background())
	e.esm.graph = esm.New(vm, e.loop, moduleHost{e}, esm.Options{
		Cache: o.Cache, Dir: o.Dir, CountLoops: o.Limits.Iterations > 0, Call: e.intrinsics.call, Generators: e.intrinsics.generators,
		Run: nativeHost{e}.Run,
	})
	vm.SetMaxCallStackSize(o.Limits.CallDepth)
	vm.SetPromiseRejectionTracker(e.trackRejection)
	e.loop.AfterTurn = e.reportRejection
	e.loop.OnError = e.uncaught
	polyfill.Define(vm, nativeHost{e})
	e.intrinsics.operators = operators.New(vm, nativeHost{e}, o.Limits.bounded())
	e.intrinsics.lowered = desugar.NewIntrinsics(vm, e.intrinsics.generators)
	e.watchPromises()
	e.hooks.watcher = instructions.Watcher{Shift: e.intrinsics.operators.CheckShift, Join: e.joins, Catch: e.explainCaught, Grow: e.checkMemory}
	instructions.Watch(vm, &e.hooks.watcher)
	polyfill.FixPrototypes(vm, nativeHost{e})
	if err := e.boundBuiltins(); err != nil {
		return nil, err
	}
	e.inspector = inspect.New(vm, e.inspectHost) // it keeps the replaced builtins
	e.inspector.Live, e.inspector.Calls = e.esm.graph.Live, e.builtins.Calls
	e.explainer = explain.New(vm, e.inspector, explainedHost{e})
	maths.Define(vm, e)
	for _, m := range o.Modules {
		if err := e.addModule(m); err != nil {
			return nil, err
		}
	}
	if o.Limits.Memory > 0 {
		e.limit.share = heap.NewOwner(heap.Machine)
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
	out := output.New(output.Inner(o.Stdout)) // the options may be those of another engine
	o.Stdout, o.Stderr = out, output.Behind(out, output.Inner(o.Stderr))
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
	if err := bounds.Check(o.Limits.Time, o.Limits.CallDepth, o.Limits.Memory, o.Limits.Iterations, o.Limits.DeviceMemory, o.Limits.Launches); err != nil {
		return err
	}
	if o.Limits.CallDepth == 0 {
		o.Limits.CallDepth = defaultCallDepth
		if o.Limits.bounded() {
			o.Limits.CallDepth = boundedCallDepth
		}
	}
	if o.Files != nil {
		o.Dir = filepath.Join(disk.Root, o.Dir)
		return nil
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return fmt.Errorf("the working directory: %w", err)
	}
	o.Dir = dir
	return nil
}

// reporter returns the default handler of errors that belong to no call.
func (o *Options) reporter() func(error) {
	if o.Logger == nil {
		return func(err error) { diag.Print(o.Stderr, err, o.Colors) }
	}
	return func(err error) {
		o.Logger.Error("an error in the background", "error", err, "code", diag.Code(err))
	}
}

// confined reports whether Files replaces the machine's files, or a function of the policy decides which of them scripts may
// use.
func (o *Options) confined() bool {
	return o.Policy.Read != nil || o.Policy.Write != nil || o.Files != nil
}

// Disk returns the files that scripts read.
func (o *Options) Disk() disk.Files { return disk.Of(o.Files) }

// Options returns the options with defaults filled in.
func (e *Engine) Options() *Options { return &e.opts }

// VM returns the interpreter. It must only be used on the loop's goroutine.
func (e *Engine) VM() *goja.Runtime { return e.vm }

// Context returns the engine's context, which is cancelled when the engine closes. Host operations that outlive a call should
// use it.
func (e *Engine) Context() context.Context { return e.ctx }

// Running returns the context of the running call, which is cancelled with the call or when the engine closes. Native functions
// that block must observe it. Between calls it is [Engine.Context]. Running must be called on the loop's goroutine.
func (e *Engine) Running() context.Context {
	if e.running.now == nil {
		return e.ctx
	}
	return e.running.now
}

// Post queues fn for the loop's goroutine; it runs no later than in the engine's next call. Post is safe for concurrent use,
// and unlike [Engine.Hold] announces no later callbacks. An error of fn goes to Options.OnError; [loop.Pending.Post] queues
// callbacks of an operation.
func (e *Engine) Post(fn func() error) { e.loop.Post(fn) }

// Hold registers a pending operation, for which the engine waits. See [loop.Pending].
func (e *Engine) Hold(label string) *loop.Pending { return e.loop.Hold(label) }

// Loop returns the engine's event loop.
func (e *Engine) Loop() *loop.Loop { return e.loop }

// OnFailure registers a function that runs when a call has failed and its callbacks on the loop are cancelled. fn receives the
// call's scope, or nil if the work of all calls is cancelled, and the cause. A module with work elsewhere, such as on a device,
// cancels that work. fn runs on the loop's goroutine. It may return a function, which runs on another goroutine; the call waits
// for it up to a time limit. fn does not run for an exception at a prompt.
func (e *Engine) OnFailure(fn func(*loop.Scope, error) (work func())) {
	e.hooks.failed = append(e.hooks.failed, fn)
}

// OnQuiet registers a function that runs when Run or RunFile is about to return and the loop is empty. The function of a module
// with work elsewhere waits for the scope's work, until [Engine.Running] is cancelled. An error fails the call. fn runs on the
// loop's goroutine.
func (e *Engine) OnQuiet(fn func(*loop.Scope) error) { e.hooks.quiet = append(e.hooks.quiet, fn) }

// OnClose registers a function that Close calls after it has cancelled the work of the loop. Functions registered later run earlier.
func (e *Engine) OnClose(fn func()) { e.hooks.closed = append(e.hooks.closed, fn) }

// Close cancels pending operations and releases the modules' resources. It interrupts a running call and waits for it. Later calls
// of the engine fail with the code closed. If the script itself calls Close, Close has no effect and returns an error. Any other error
// is that of writing lines of [Engine.PrintLine].
func (e *Engine) Close() error {
	if e.turn.holder.Load() == goroutine.Current() {
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
	e.limit.share.Release()
	return e.output.Close()
}

// Inspect formats a value like console.log. It must be called on the loop's goroutine.
func (e *Engine) Inspect(v goja.Value, o inspect.Options) string { return e.inspector.Text(v, o) }

// InspectValue formats a value like Inspect, with strings quoted.
func (e *Engine) InspectValue(v goja.Value, o inspect.Options) string {
	return e.inspector.Value(v, o)
}

// Path returns a script's path as a cleaned absolute one; relative paths begin at Options.Dir.
func (e *Engine) Path(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(e.opts.Dir, name)
}

// ReadPath returns the absolute path of a file to be read. If Policy.Read decides, the path has all links followed. The error has the
// code permission-denied, and wraps that of the policy or of following the links.
func (e *Engine) ReadPath(name string) (string, error) {
	if e.opts.Files != nil {
		return e.Path(name), nil
	}
	path, err := e.allowed(name, e.opts.Policy.Read)
	if named := e.Path(name); err == nil && path != named && !e.esm.loaded.Load() {
		e.opts.Cache.Link(named)
	}
	return path, err
}

// WritePath is like ReadPath, for a file to be written, created or removed and for Policy.Write. With Options.Files it always returns an
// error.
func (e *Engine) WritePath(name string) (string, error) {
	if e.opts.Files != nil {
		return "", denied(name, errors.New("the script's files are part of the program, and none can be written"))
	}
	return e.allowed(name, e.opts.Policy.Write)
}

// RunPath returns the absolute path of a program, which it looks up like a shell. If Policy.Run decides, the path has all links
// followed. The error has the code not-found, or is as that of ReadPath.
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
	if ask == nil && e.opts.confined() {
		ask = func(string) error {
			return errors.New("the script may touch some files only, and so it may start no programs")
		}
	}
	return e.allowed(path, ask)
}

// AllowNative returns the policy's error for registering a library of native code, or nil. Without Policy.Native it refuses
// scripts that are confined.
func (e *Engine) AllowNative(label string) error {
	switch p := &e.opts.Policy; {
	case p.Native != nil:
		return p.Native(label)
	case e.opts.confined():
		return errors.New("the script may touch some files only, and so it may run no native code")
	}
	return nil
}

// Script returns the absolute path of the last file run by [Engine.RunFile], or "".
func (e *Engine) Script() string { return e.esm.script }

// allowed returns the absolute path of a file, with all links followed, if ask permits that path. If ask is nil, every path is
// permitted, and links are not followed.
func (e *Engine) allowed(name string, ask func(string) error) (string, error) {
	path := e.Path(name)
	if ask == nil {
		return path, nil
	}
	path, err := disk.Real(path)
	if err == nil {
		err = ask(path)
	}
	if err != nil {
		return "", denied(name, err)
	}
	return path, nil
}

func denied(name string, err error) error {
	return &diag.Diagnostic{
		ID: "permission-denied", Message: fmt.Sprintf("%s: %v", name, err), Cause: err,
		Hint: "the program that runs this script decides what it may touch",
	}
}

// PrintLine writes a line to Options.Stdout, ordered with the engine's other output. The line appears within ten milliseconds
// and before the running call returns. It is safe for concurrent use.
func (e *Engine) PrintLine(text string) { e.output.Line(text) }

// Flush writes the buffered lines. It returns the first write error since the last call.
func (e *Engine) Flush() error { return e.output.Flush() }

// Terminal returns Options.Stdout as passed by the embedding program, after a flush.
func (e *Engine) Terminal() io.Writer {
	_ = e.Flush() // the caller's own writes report the error
	return output.Inner(e.output)
}
