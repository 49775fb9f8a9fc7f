// Package app is the command line: one function per command, on a [System] that tests can replace.
package app

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/bindings/plot/graphics"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/pace"
	"github.com/orepl/orepl/lang/printable"
	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/plugins/far"
	"github.com/orepl/orepl/plugins/mpi"
	"github.com/orepl/orepl/runtime/activity"
	"github.com/orepl/orepl/runtime/fatal"
	"github.com/orepl/orepl/runtime/job"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/trace"
)

// System is the environment of a command.
type System struct {
	Args           []string // without the program's name
	Env            []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Plugins        []contract.Plugin
	Modules        []orepl.Module // of the program, which scripts can import
}

// Exit codes, documented by "orepl help exit-codes".
const (
	ExitOK          = 0
	ExitFailed      = 1   // a check failed, such as a conformance case, a test or a comparison, or a command of orepl image did
	ExitUsage       = 2   // the command line is wrong
	ExitThresholds  = 99  // a benchmark failed, had a wrong result, missed a threshold or met a condition of --fail-if
	ExitScript      = 107 // the script or a device failed, or another error occurred
	ExitTimeout     = 124 // the script's time limit passed; the option timeout of a launch is an ExitScript
	ExitInterrupted = 130 // Ctrl-C
)

// command is a subcommand.
type command struct {
	name  string
	args  string // synopsis of the arguments
	about string // one line
	run   func(*invocation) error
}

func commands() []command {
	return []command{
		{"repl", "[flags]", "the prompt; also without a command, if standard input is a terminal; -e CODE runs code, -i FILE loads a file first", runREPL},
		{"run", "[flags] FILE [ARGS…]", "run a script; also FILE [ARGS…] without a command", runScript},
		{"check", "[flags] FILE…", "load scripts and report all problems, of pipelines also those of their launches, without running a kernel", runCheck},
		{"describe", "[--format KIND] FILE…", "print the parameters, inputs and outputs of pipelines as text, JSON Schema, Markdown or TypeScript", runDescribe},
		{"test", "[flags] [FILE or FOLDER…]", "run the tests in files *.test.js, which use the module 'test'", runTest},
		{"devices", "[--json] [ID…]", "list the devices of this machine, or those with these ids", runDevices},
		{"kernel", "[flags] FILE [ARGS…]", "run a script and show what its kernels were compiled to, or write them to a file with -o", runKernel},
		{"image", "COMMAND …", "work with images of device code: " + imageNames(), runImage},
		{"bench", "[flags] FILE… [-- ARGS…]", "run scripts, or suites such as suite:memory, and print what they measure with bench(), sweep() and compare()", runBench},
		{"conform", "[flags] DEVICE", "run the conformance suite on a device", runConform},
		{"worker", "[flags]", "offer the devices of this machine to other processes, which name it in OREPL_FAR", runWorker},
		{"mpirun", "[flags] FILE [ARGS…]", "run a script in an MPI job whose workers offer it their devices", runMPI},
		{"jobs", "[--every TIME]", "list this machine's processes of jobs, workers and scripts with workers: devices, queues, bytes", runJobs},
		{"replay", "[flags] FILE", "run the commands that a script recorded with record(FILE, fn), also on another device, and compare the results", runReplay},
		{"trace", "summarize FILE", "summarize a time line that orepl run --trace or orepl bench --trace wrote", runTrace},
		{"types", "[--out FILE]", "write TypeScript declarations of everything that scripts can use", runTypes},
		{"version", "", "print the version", runVersion},
		{"help", "[TOPIC]", "explain a command, the exit codes, or a name of scripts such as fs.readText", runHelp},
	}
}

// invocation is the run of a command.
type invocation struct {
	System
	ctx    context.Context
	flags  *flag.FlagSet
	ending *atomic.Pointer[error] // the error of the script that is being closed, or nil
	trace  *trace.Recorder        // the time line, or nil
	lack   *atomic.Pointer[error] // the first failed write to standard output, or nil
}

// usageError is an error in the command line.
type usageError struct{ message, hint string }

func (e *usageError) Error() string { return e.message }
func (e *usageError) Hint() string  { return e.hint }

// exitError ends the process with a code and without a message.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// Main runs the command line and returns the exit code.
func Main(sys System) int {
	ctx, stop := untilInterrupt()
	defer stop()
	pace.Relax(0)
	args := sys.Args
	name := "repl"
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	list := commands()
	known := func(name string) bool {
		return slices.ContainsFunc(list, func(c command) bool { return c.name == name })
	}
	switch {
	case name == "-h" || name == "--help" || name == "-help":
		name = "help"
	case name == "-v" || name == "--version":
		name = "version"
	case strings.HasPrefix(name, "-") && name != "-": // flags of the prompt
		name, args = "repl", sys.Args
	case !known(name) && isFile(name):
		name, args = "run", sys.Args
	}
	for i := range list {
		if list[i].name != name {
			continue
		}
		inv := &invocation{System: sys, ctx: ctx, flags: flag.NewFlagSet("orepl "+name, flag.ContinueOnError), ending: new(atomic.Pointer[error]), lack: new(atomic.Pointer[error])}
		inv.Args = args
		inv.flags.SetOutput(io.Discard)
		fatal.Handle(inv.lost)
		if name != "repl" || !isTerminal(sys.Stdin) { // at the prompt, Ctrl-C ends only the code that runs
			ended := make(chan struct{})
			defer close(ended)
			go inv.endInterrupted(ended)
		}
		return inv.finish(list[i].run(inv))
	}
	inv := &invocation{System: sys, ctx: ctx, lack: new(atomic.Pointer[error])}
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].name
	}
	hint := "see orepl help"
	if near := spelling.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %q? see orepl help", near)
	}
	return inv.finish(&usageError{fmt.Sprintf("there is no command or file %q", name), hint})
}

// isFile reports whether name exists and is not a directory.
func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.IsDir()
}

// finish prints an error and returns its exit code, or ExitOK for nil. It prints nothing if the error is only an exit code.
func (inv *invocation) finish(err error) int {
	var exit *exitError
	var scriptExit *lang.ExitError
	var usage *usageError
	if failed := inv.lack.Load(); failed != nil && (err == nil || errors.As(err, &exit) && exit.code == ExitOK) {
		err = *failed
	}
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &exit):
		return exit.code
	case errors.As(err, &scriptExit):
		return scriptExit.Code
	case inv.ctx.Err() != nil && (errors.Is(err, context.Canceled) || diag.Code(err) == "cancelled"):
		var d *diag.Diagnostic
		if errors.As(err, &d) {
			shown := *d
			shown.ID, shown.Message = "interrupted", "stopped with Ctrl-C"
			diag.Print(inv.Stderr, &shown, inv.colors(inv.Stderr))
		} else {
			fmt.Fprintln(inv.Stderr, "interrupted")
		}
		return ExitInterrupted
	case errors.As(err, &usage):
		inv.printf(inv.Stderr, "orepl: %s\n", usage.message)
		if usage.hint != "" {
			inv.printf(inv.Stderr, "  %s\n", usage.hint)
		}
		return ExitUsage
	}
	diag.Print(inv.Stderr, err, inv.colors(inv.Stderr))
	var device *contract.Error // a kernel's time limit is an error of the script
	if diag.Code(err) == "timeout" && !errors.As(err, &device) {
		return ExitTimeout
	}
	return ExitScript
}

// parse parses the flags and returns the remaining arguments. For -h it prints the command's help and returns an exitError.
func (inv *invocation) parse() ([]string, error) { return inv.parseArgs(inv.Args) }

func (inv *invocation) parseArgs(args []string) ([]string, error) {
	err := inv.flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		inv.printUsage(inv.command())
		return nil, &exitError{ExitOK}
	}
	if err != nil {
		return nil, inv.flagError(err)
	}
	return inv.flags.Args(), nil
}

// parseMixed parses flags, which may also follow other arguments, and returns the other arguments. After "--" nothing is a
// flag.
func (inv *invocation) parseMixed() ([]string, error) {
	var others []string
	for args := inv.Args; ; {
		rest, err := inv.parseArgs(args)
		if err != nil {
			return nil, err
		}
		if i := len(args) - len(rest) - 1; len(rest) == 0 || i >= 0 && args[i] == "--" {
			return append(others, rest...), nil
		}
		others, args = append(others, rest[0]), rest[1:]
	}
}

// command returns the command's name.
func (inv *invocation) command() string { return strings.TrimPrefix(inv.flags.Name(), "orepl ") }

// env returns the value of an environment variable, or "" if it is not set.
func (inv *invocation) env(name string) string {
	for _, kv := range inv.Env {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v
		}
	}
	return ""
}

// colors reports whether to write colors to a stream: it is a terminal, TERM is not dumb and NO_COLOR is not set. Open MPI's
// launcher runs programs at terminals of its own, whatever its output is. In a job, colors is thus false unless orepl mpirun
// started it, which sets NO_COLOR itself.
func (inv *invocation) colors(w io.Writer) bool {
	return !(mpi.Launched() && inv.env(job.StatusVariable) == "") && inv.env("NO_COLOR") == "" && inv.env("TERM") != "dumb" && isTerminal(w)
}

// terminal returns the terminal that standard output is, or nil. Terminals of MPI's launcher do not count; see colors.
func (inv *invocation) terminal() *graphics.Terminal {
	f, ok := inv.Stdout.(*os.File)
	if !ok || !isTerminal(f) || mpi.Launched() && inv.env(job.StatusVariable) == "" {
		return nil
	}
	return graphics.New(f, f, inv.env)
}

// printf writes formatted text. Names from elsewhere, such as a file's, may be in it: U+FFFD replaces characters that a
// terminal obeys.
func (inv *invocation) printf(w io.Writer, format string, args ...any) {
	if w == inv.Stdout {
		w = output{inv}
	}
	_, _ = io.WriteString(w, printable.Text(fmt.Sprintf(format, args...)))
}

// output is the standard output of an invocation. The first failed write fails a command that succeeds otherwise.
type output struct{ inv *invocation }

func (o output) Write(p []byte) (int, error) {
	n, err := o.inv.Stdout.Write(p)
	if err != nil {
		o.inv.lack.CompareAndSwap(nil, &err)
	}
	return n, err
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull) // also a character device
	return err != nil || !os.SameFile(info, null)
}

// open returns a runtime with the plugins and modules of the system, and the time line. If the process uses devices of others,
// orepl jobs shows it from then on.
func (inv *invocation) open() *orepl.Runtime {
	publish(inv.env(far.Variable) != "" || mpi.Launched())
	return orepl.Open(orepl.Options{Plugins: inv.Plugins, Modules: inv.Modules, Trace: inv.trace})
}

// publish lets orepl jobs show what this process does with devices of other processes, if it uses or offers any.
func publish(uses bool) {
	if uses {
		_ = activity.Publish() // after an error, orepl jobs does not show this process
	}
}

// environ returns the environment as a map.
func (inv *invocation) environ() map[string]string {
	m := make(map[string]string, len(inv.Env))
	for _, kv := range inv.Env {
		if k, v, ok := strings.Cut(kv, "="); ok {
			m[k] = v
		}
	}
	return m
}

// engineOptions adds the process's streams, environment and colors to options of an engine, and obeys noWarningsFlag. Without an
// OnOverdue in opts, a script that does not stop ends the process.
func (inv *invocation) engineOptions(opts lang.Options) lang.Options {
	opts.Stdout, opts.Stderr = inv.Stdout, inv.Stderr
	opts.Env = inv.environ()
	opts.Colors = inv.colors(inv.Stdout)
	if t := inv.terminal(); t != nil {
		opts.Stdout = t
	}
	if opts.OnOverdue == nil {
		opts.OnOverdue = func(cause error) { inv.exit(&overdueError{cause}) }
	}
	if f := inv.flags.Lookup(noWarningsFlag); f != nil && f.Value.String() == "true" {
		opts.NoWarnings = true
	}
	return opts
}

// engine returns an engine on a runtime, with opts completed by engineOptions.
func (inv *invocation) engine(rt *orepl.Runtime, opts lang.Options) (*lang.Engine, error) {
	return inside.Of(rt).NewEngine(inv.engineOptions(opts))
}

// closeAll closes engine and runtime. err is the error of the script, and the result that of the whole run. After a successful
// script it waits for the devices, for at most the script's time limit. Failures that the script has not handled then fail the
// run. After a failed script it cancels all commands, and prints the failures that are not reported yet.
func (inv *invocation) closeAll(e *lang.Engine, rt *orepl.Runtime, err error) error {
	ctx, cancel := context.WithCancel(inv.ctx)
	defer cancel()
	limit := e.Options().Limits.Time
	switch {
	case err != nil:
		cancel()
	case limit > 0:
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	closing := e.Close()
	if err != nil { // an error of the script also ends running kernels
		failures, stopped := rt.Session().Cancel(err)
		for _, failure := range failures {
			diag.Print(e.Options().Stderr, script.Explain(e, failure), e.Options().Colors)
		}
		if diag.Code(err) == "timeout" || inv.ctx.Err() != nil { // running kernels are reported for timeouts and interrupts only
			err = script.ExplainStop(e, err, stopped)
		}
	}
	failure := rt.Shutdown(ctx)
	switch {
	case err != nil:
		return err
	case errors.Is(ctx.Err(), context.DeadlineExceeded) && failure != nil:
		late := diag.New("timeout", "the devices ran longer than %v after the script had ended", limit).
			WithHint("raise the time limit, or launch less")
		return script.ExplainStop(e, late, []error{failure})
	case failure != nil && ctx.Err() != nil:
		return script.ExplainStop(e, ctx.Err(), []error{failure})
	case failure != nil:
		return script.Explain(e, failure)
	}
	if closing == nil && e.Status() != 0 {
		return &lang.ExitError{Code: e.Status()}
	}
	return closing
}
