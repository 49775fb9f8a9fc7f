// Package repl is the prompt: it reads blocks of lines, evaluates them in an engine and prints their values.
//
// During editing, the engine serves timers and finished operations on its own goroutine; otherwise the prompt owns the
// engine. Ctrl-C interrupts running code but not the session.
//
// # Design
//
// Ctrl-C ends timers, since one that prints again would look like a failed Ctrl-C. Names and buffers stay; .clear drops
// them, too.
package repl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/offloadjs/launch"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/bindings/plot/graphics"
	"github.com/orepl/orepl/cmd/orepl/internal/repl/editor"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/runtime/session"
)

// Options configure a prompt.
type Options struct {
	// NewEngine returns a new engine, also for .clear. The prompt sets the streams, OnError and OnWarning of its options.
	NewEngine func(lang.Options) (*lang.Engine, error)
	Engine    lang.Options
	Session   *session.Session
	// Compiled registers a function that is called for each kernel that scripts compile.
	Compiled func(func(launch.Compilation))
	// Emit has the forms in which .explain shows a kernel, by name.
	Emit     map[string]func(launch.Compilation) (string, error)
	Registry *bindings.Registry

	Stdin    io.Reader
	Stdout   io.Writer
	Colors   bool
	Graphics *graphics.Terminal // shows pictures; nil: none
	History  string             // file for the history of blocks; empty: none
	Init     string             // file to load at the start of each session; empty: none
	Load     string             // file to load before the first prompt; empty: none
	Exit     func(code int)     // ends the process at a signal, or if code does not stop
}

// terminal reads blocks and prints all output.
type terminal interface {
	io.Writer
	Read(first, next string, whole func(block string) bool) (string, error)
	SetCompleter(editor.Completer)
	Size() (columns, rows int)
	Remember(block string)
	Stop(error)
	Close() error
}

// prompt is a session at the prompt.
type prompt struct {
	Options
	term   terminal
	engine *lang.Engine
	ctx    context.Context

	interrupts chan os.Signal
	count      int                   // number of blocks, which names them in errors
	kept       map[string]goja.Value // last values stored in _ and _error
	failures   map[string]int        // number of times that watchFailures saw each failure
	stopped    []error               // launches that Ctrl-C ended and that are not reported yet
	entered    []string              // blocks evaluated without error, for .save

	compiledMu sync.Mutex
	compiled   []launch.Compilation // compiled kernels, latest last
}

const nextPrompt = "... "

// firstPrompt returns the prompt of a block's first line, with the number by which messages name the block.
func (p *prompt) firstPrompt() string { return fmt.Sprintf("%d> ", p.count+1) }

// Run reads and evaluates blocks until the end of input, .exit, or process.exit of a script, for which it returns a
// [lang.ExitError].
func Run(ctx context.Context, o Options) (err error) {
	p := &prompt{Options: o, ctx: ctx, kept: map[string]goja.Value{}, interrupts: make(chan os.Signal, 1)}
	term, prompts, err := openTerminal(o)
	if err != nil {
		return err
	}
	p.term = term
	defer p.term.Close()
	stop := p.watchSignals()
	defer stop()
	if o.Compiled != nil {
		o.Compiled(p.noteCompiled)
		defer o.Compiled(nil)
	}
	if p.engine, err = p.newEngine(); err != nil {
		return err
	}
	defer func() {
		p.reportLast()
		err = errors.Join(err, p.engine.Close())
	}()
	p.term.SetCompleter(p.complete)
	if prompts {
		p.printf("orepl: .help explains the prompt, Tab completes, Ctrl-D leaves\n")
	}
	if err := p.begin(); err != nil {
		return ended(err)
	}
	if o.Load != "" {
		if err := p.command(".load " + o.Load); err != nil {
			return ended(err)
		}
	}
	for {
		block, err := p.read()
		switch {
		case errors.Is(err, editor.ErrNothingTyped):
			p.stopDevices()
			continue
		case errors.Is(err, editor.ErrAborted):
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := p.enter(block); err != nil {
			return ended(err)
		}
	}
}

// begin loads the start-up file, which .save does not write.
func (p *prompt) begin() error {
	if p.Init == "" {
		return nil
	}
	err := p.command(".load " + p.Init)
	p.entered = nil
	return err
}

// ended returns the session's error for an error that ended it: nil for errLeave, else the error itself.
func ended(err error) error {
	if errors.Is(err, errLeave) {
		return nil
	}
	return err
}

// errLeave ends the session normally.
var errLeave = errors.New("leave")

// openTerminal opens the terminal. Without editing, lines are read as they arrive, and without prompts if the output is no
// terminal either.
func openTerminal(o Options) (term terminal, prompts bool, err error) {
	if o.Stdin == os.Stdin && o.Stdout == os.Stdout && editor.Supported() {
		term, err = editor.Open(o.History, o.Colors)
		return term, true, err
	}
	if f, ok := o.Stdout.(*os.File); ok {
		info, err := f.Stat()
		prompts = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return editor.NewPlain(o.Stdin, o.Stdout, prompts), prompts, nil
}

// watchSignals makes interrupts cancel running calls, and restores the terminal before a signal ends the process.
func (p *prompt) watchSignals() (stop func()) {
	signal.Notify(p.interrupts, os.Interrupt)
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	done := make(chan struct{})
	go func() {
		select {
		case s := <-ends:
			_ = p.term.Close()
			p.Exit(128 + int(s.(syscall.Signal)))
		case <-done:
		}
	}()
	return func() {
		signal.Stop(p.interrupts)
		signal.Stop(ends)
		close(done)
	}
}

func (p *prompt) newEngine() (*lang.Engine, error) {
	opts := p.Engine
	opts.Prompt = true
	opts.Stdout, opts.Stderr = stdout{p.term, p}, p.term
	opts.Colors = p.Colors
	opts.OnError, opts.OnWarning = p.background, p.warn
	return p.NewEngine(opts)
}

// background handles errors of timers and of promises without a handler.
func (p *prompt) background(err error) {
	var exit *lang.ExitError
	if errors.As(err, &exit) {
		p.term.Stop(exit)
		return
	}
	p.report(err)
}

// read reads a block while the engine serves background tasks.
func (p *prompt) read() (string, error) {
	defer p.serve()()
	return p.term.Read(p.firstPrompt(), nextPrompt, isWhole)
}

// isWhole reports whether a block needs no further line: it is a command, a name with a question mark behind it, or complete
// code.
func isWhole(block string) bool {
	text := strings.TrimSpace(block)
	return isCommand(text) || asksBehind(text) || !incomplete(block)
}

// asksBehind reports whether a text is a name followed by ? or ??, as in other prompts.
func asksBehind(text string) bool {
	name := strings.TrimSuffix(strings.TrimSuffix(text, "?"), "?")
	return name != text && isPathOfNames(name)
}

// serve makes the engine serve background tasks until stop is called.
func (p *prompt) serve() (stop func()) {
	ctx, cancel := context.WithCancelCause(p.ctx)
	done := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		p.watchFailures(ctx.Done())
	}()
	go func() {
		defer close(done)
		p.engine.Serve(ctx)
		<-watched
	}()
	return func() {
		p.engine.Post(func() error { cancel(nil); return nil }) // cancels between two callbacks, not within one
		p.wait(done, cancel)
	}
}

// stopDevices handles Ctrl-C without a running script: it cancels launches that no script waits for.
func (p *prompt) stopDevices() {
	p.run(func(context.Context) { p.cancelCommands() })
	if len(p.stopped) > 0 {
		p.report(p.withStopped(diag.New(errInterrupted.(interruption).Code(), "%v", errInterrupted)))
	}
}

// cancelCommands cancels the commands on all devices, and keeps those that it stopped in p.stopped. It prints earlier failures,
// since no later call reports them.
func (p *prompt) cancelCommands() {
	failures, stopped := p.Session.Cancel(errInterrupted)
	for _, err := range failures {
		p.report(script.Explain(p.engine, err))
	}
	p.stopped = stopped
}

// withStopped adds the commands in p.stopped to an error, and clears p.stopped.
func (p *prompt) withStopped(err error) error {
	err = script.ExplainStop(p.engine, err, p.stopped)
	p.stopped = nil
	return err
}

// run runs a function. Ctrl-C interrupts it and cancels the devices' commands.
func (p *prompt) run(fn func(context.Context)) {
	ctx, cancel := context.WithCancelCause(p.ctx)
	defer cancel(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn(ctx)
		if context.Cause(ctx) == errInterrupted {
			p.cancelCommands()
		}
	}()
	p.wait(done, cancel)
}

// patience is the time for an interrupted call to stop before another interrupt may end the process.
const patience = 500 * time.Millisecond

// errInterrupted is the cause of cancellations by Ctrl-C.
var errInterrupted error = interruption{}

type interruption struct{}

func (interruption) Error() string { return "stopped with Ctrl-C" }
func (interruption) Code() string  { return "interrupted" }

// wait waits until done is closed. The first interrupt cancels the call; a second one after patience ends the process.
func (p *prompt) wait(done <-chan struct{}, cancel context.CancelCauseFunc) {
	select { // discards an interrupt from before the call
	case <-p.interrupts:
	default:
	}
	var late <-chan time.Time
	stuck := false
	for {
		select {
		case <-done:
			return
		case <-p.interrupts:
			if stuck {
				_ = p.term.Close()
				p.Exit(128 + int(syscall.SIGINT))
			}
			cancel(errInterrupted)
			if late == nil {
				late = time.After(patience)
			}
		case <-late:
			stuck = true
			p.printf("%s\n", p.paint(yellow, "This does not stop: a native function runs. Ctrl-C again leaves orepl."))
		}
	}
}

// enter adds a block to the history, and runs it as a command, a question for help or code. It ignores an empty block. An error
// ends the session.
func (p *prompt) enter(block string) error {
	text := strings.TrimSpace(block)
	if text == "" {
		return nil
	}
	p.term.Remember(block)
	switch {
	case isCommand(text):
		return p.command(text)
	case text == "help":
		return p.command(".help")
	case strings.HasPrefix(text, "??"):
		return p.source(strings.TrimSpace(text[2:]))
	case strings.HasPrefix(text, "?"):
		return p.help(strings.TrimSpace(text[1:]))
	case asksBehind(text) && strings.HasSuffix(text, "??"):
		return p.source(strings.TrimSuffix(text, "??"))
	case asksBehind(text):
		return p.help(strings.TrimSuffix(text, "?"))
	}
	if c, ok := p.meant(text); ok {
		p.printf("%s\n", p.paint(gray, fmt.Sprintf("write %s: %s", c.name, c.about)))
		return nil
	}
	ok, err := p.evaluate(p.name(), block)
	if ok {
		p.entered = append(p.entered, strings.TrimRight(block, "\n"))
	}
	return err
}

// name counts a block and returns its name for errors.
func (p *prompt) name() string {
	p.count++
	return fmt.Sprintf("repl-%d.js", p.count)
}

func (p *prompt) printf(format string, args ...any) { fmt.Fprintf(p.term, format, args...) }

func (p *prompt) report(err error) {
	columns, _ := p.term.Size()
	_ = p.flow(func(b *bytes.Buffer) error { b.WriteString(diag.FormatFor(err, p.Colors, columns)); return nil })
}

// warn prints a warning in the width of the terminal.
func (p *prompt) warn(d *diag.Diagnostic) {
	columns, _ := p.term.Size()
	_ = p.flow(func(b *bytes.Buffer) error { b.WriteString(diag.FormatWarning(d, p.Colors, columns)); return nil })
}

type color string

const (
	yellow color = "\x1b[33m"
	cyan   color = "\x1b[36m"
	bold   color = "\x1b[1m"
	gray   color = "\x1b[90m"
)

func (p *prompt) paint(c color, text string) string {
	if !p.Colors {
		return text
	}
	return string(c) + text + "\x1b[0m"
}
