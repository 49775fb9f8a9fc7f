package isolate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/pace"
)

// File descriptors of a child after the standard ones.
const (
	fdRequests = 3 + iota
	fdReplies
	fdErrors // the script's standard error; crash messages use the process's own

	// FirstFree is the lowest file descriptor that a child without a [Memory] may inherit from elsewhere.
	FirstFree

	fdMemory = FirstFree
)

// Setup has the options of a child.
type Setup struct {
	Options lang.Options
	Program json.RawMessage // of [Config]
	Memory  *Memory         // shared with the host; nil: none
}

// Served holds the engine of a child and the calls of the program.
type Served struct {
	Engine *lang.Engine
	// Handle answers calls of [Engine.Handle]; nil: there are none. The result is returned as JSON.
	Handle func(ctx context.Context, name string, body json.RawMessage) (any, error)
	// Close releases resources after the engine has closed; it may be nil.
	Close func() error
}

// Build makes the engine of a child. Its error becomes that of [Start].
type Build func(Setup) (Served, error)

// Serve runs a child process: it serves the host's calls and then exits. In any other process it returns immediately. Programs
// must call it first in main.
func Serve(build Build) {
	if os.Getenv(childVariable) == "" {
		return
	}
	for _, fd := range []int{fdRequests, fdReplies, fdErrors} {
		own(fd)
	}
	_ = os.Unsetenv(childVariable) // programs started by the script are not children
	// A terminal sends Ctrl-C to all processes, and the host decides which of them end. The signal is received rather than
	// ignored, because the script's programs would inherit an ignored signal.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	c := &child{
		wire:    newWire(os.NewFile(fdRequests, "requests"), os.NewFile(fdReplies, "replies"), maxFrame),
		calls:   make(chan call, 1),
		cancels: map[int]context.CancelFunc{},
		answers: map[int]chan error{},
	}
	if err := c.serve(build, os.NewFile(fdErrors, "stderr")); err != nil && !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

type child struct {
	*wire
	Served
	resultBytes int
	calls       chan call

	mu       sync.Mutex
	cancels  map[int]context.CancelFunc // by call ID, from the arrival of the call
	answers  map[int]chan error
	question int
}

func (c *child) serve(build Build, stderr io.Writer) error {
	var conf config
	if err := c.receive(&conf); err != nil {
		return err
	}
	if err := BoundMemory(conf.MemoryBound); err != nil {
		return err
	}
	pace.Relax(conf.Limits.Memory)
	if conf.Limits.Memory > 0 {
		debug.SetMemoryLimit(int64(conf.Limits.Memory + processOverhead/2)) // set higher than the engine's own limit
	}
	opts := lang.Options{
		Args: conf.Args, Env: conf.Env, Dir: conf.Dir, Prompt: conf.Prompt, Colors: conf.Colors, NoWarnings: conf.NoWarnings, Limits: conf.Limits,
		Stderr: stderr,
	}
	if conf.Input {
		opts.Stdin = os.Stdin
	}
	if conf.TellErrors {
		opts.OnError = func(err error) { _ = c.send(reply{Background: NewFailure(err)}) } // fails only if the host is gone
	}
	if conf.AskRead {
		opts.Policy.Read = func(path string) error { return c.ask("read", path) }
	}
	if conf.AskWrite {
		opts.Policy.Write = func(path string) error { return c.ask("write", path) }
	}
	if conf.AskRun {
		opts.Policy.Run = func(path string) error { return c.ask("run", path) }
	}
	if conf.AskNative {
		opts.Policy.Native = func(label string) error { return c.ask("native", label) }
	}
	if conf.AskDevice {
		opts.Policy.Device = func(id string) error { return c.ask("device", id) }
	}
	opts.Policy.Plugins = conf.Plugins
	c.resultBytes = conf.ResultBytes
	setup := Setup{Options: opts, Program: conf.Program}
	if conf.Shared {
		own(fdMemory)
		setup.Memory = openMemory(fdMemory)
	}
	listening := make(chan error, 1)
	served, err := build(setup)
	if err := c.send(reply{Ready: true, Error: NewFailure(err)}); err != nil || served.Engine == nil {
		return err
	}
	c.Served = served
	go func() { listening <- c.listen() }()
	closing := 0
	for q := range c.calls {
		if q.Op == opClose {
			closing = q.ID
			break
		}
		if err := c.send(c.call(q)); err != nil {
			return err
		}
	}
	err = c.Engine.Close()
	if c.Close != nil {
		err = errors.Join(err, c.Close())
	}
	if serr := c.send(reply{ID: closing, Error: NewFailure(err)}); serr != nil {
		return serr
	}
	return <-listening
}

// A call is a queued or running request. It can be cancelled once it has arrived.
type call struct {
	request
	ctx context.Context
}

// listen receives messages while calls run, and returns after the request to close the engine. It ends the child if the host is gone.
func (c *child) listen() error {
	for {
		var q request
		if err := c.receive(&q); err != nil {
			os.Exit(1)
		}
		switch q.Op {
		case opCancel:
			c.mu.Lock()
			if cancel := c.cancels[q.ID]; cancel != nil {
				cancel()
			}
			c.mu.Unlock()
		case opAnswer:
			c.answer(q)
		default:
			ctx, cancel := context.WithCancel(context.Background())
			c.mu.Lock()
			c.cancels[q.ID] = cancel
			c.mu.Unlock()
			c.calls <- call{q, ctx}
			if q.Op == opClose {
				return nil
			}
		}
	}
}

// call runs a function for the host and returns the reply. A result of more than c.resultBytes is replaced by an error.
func (c *child) call(q call) reply {
	result, err := c.run(q.ctx, q.request)
	c.mu.Lock()
	cancel := c.cancels[q.ID]
	delete(c.cancels, q.ID)
	c.mu.Unlock()
	cancel()
	if len(result) > c.resultBytes {
		result, err = nil, bound{bytes: c.resultBytes}.check(result)
	}
	return reply{ID: q.ID, Result: result, Error: NewFailure(err), Status: c.Engine.Status()}
}

func (c *child) run(ctx context.Context, q request) ([]byte, error) {
	var exports *goja.Object
	var err error
	switch q.Op {
	case opRun:
		exports, err = c.Engine.Run(ctx, q.Name, q.Text)
	case opFile:
		exports, err = c.Engine.RunFile(ctx, q.Name)
	case opImport:
		exports, err = c.Engine.Import(ctx, q.Name)
	case opEval:
		v, err := c.Engine.Eval(ctx, q.Name, q.Text)
		if err != nil {
			return nil, err
		}
		return c.Engine.JSON(ctx, v)
	case opHandle:
		if c.Handle == nil {
			return nil, errors.New("the program has no calls of its own")
		}
		result, err := c.Handle(ctx, q.Name, q.Body)
		if err != nil {
			return nil, err
		}
		return json.Marshal(result)
	default:
		return nil, fmt.Errorf("there is no operation %q", q.Op)
	}
	if err != nil {
		return nil, err
	}
	return c.Engine.JSON(ctx, exports)
}

// ask asks the host's policy. what names its function, such as read, and path is the path, label or id to check. A denial is an
// error.
func (c *child) ask(what, path string) error {
	c.mu.Lock()
	c.question++
	n := c.question
	answer := make(chan error, 1)
	c.answers[n] = answer
	c.mu.Unlock()
	if err := c.send(reply{Question: what, Path: path, QuestionN: n}); err != nil {
		return err
	}
	return <-answer
}

func (c *child) answer(q request) {
	c.mu.Lock()
	answer := c.answers[q.QuestionN]
	delete(c.answers, q.QuestionN)
	c.mu.Unlock()
	if answer == nil {
		return
	}
	if q.Allowed {
		answer <- nil
	} else {
		answer <- errors.New(q.Reason)
	}
}
