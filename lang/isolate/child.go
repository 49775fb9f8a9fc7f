package isolate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang"
)

// File descriptors of a child after the standard ones.
const (
	fdRequests = 3 + iota
	fdReplies
	fdErrors // the script's standard error; crash messages use the process's own

	// FirstFree is the lowest file descriptor that a child may inherit from elsewhere.
	FirstFree
)

// Build returns the engine of a child and a function that releases its resources after the engine has closed.
type Build func(lang.Options) (*lang.Engine, func() error, error)

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
	engine      *lang.Engine
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
	if conf.Limits.Memory > 0 {
		debug.SetMemoryLimit(int64(conf.Limits.Memory + processOverhead/2)) // set higher than the engine's own limit
	}
	opts := lang.Options{
		Args: conf.Args, Env: conf.Env, Dir: conf.Dir, Prompt: conf.Prompt, Colors: conf.Colors, NoWarnings: conf.NoWarnings, Limits: conf.Limits,
		Stderr: stderr,
	}
	if conf.TellErrors {
		opts.OnError = func(err error) { _ = c.send(reply{Background: newFailure(err)}) } // fails only if the host is gone
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
	c.resultBytes = conf.ResultBytes
	listening := make(chan error, 1)
	engine, closeRest, err := build(opts)
	if err := c.send(reply{Ready: true, Error: newFailure(err)}); err != nil || engine == nil {
		return err
	}
	c.engine = engine
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
	err = engine.Close()
	if closeRest != nil {
		err = errors.Join(err, closeRest())
	}
	if serr := c.send(reply{ID: closing, Error: newFailure(err)}); serr != nil {
		return serr
	}
	return <-listening
}

// A call is a queued or running request. It can be cancelled once it has arrived.
type call struct {
	request
	ctx context.Context
}

// listen receives messages while calls run. It ends the child if the host is gone.
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

// call runs one call of the host.
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
	return reply{ID: q.ID, Result: result, Error: newFailure(err), Status: c.engine.Status()}
}

func (c *child) run(ctx context.Context, q request) ([]byte, error) {
	var exports *goja.Object
	var err error
	switch q.Op {
	case opRun:
		exports, err = c.engine.Run(ctx, q.Name, q.Text)
	case opFile:
		exports, err = c.engine.RunFile(ctx, q.Name)
	case opImport:
		exports, err = c.engine.Import(ctx, q.Name)
	case opEval:
		v, err := c.engine.Eval(ctx, q.Name, q.Text)
		if err != nil {
			return nil, err
		}
		return c.engine.JSON(ctx, v)
	default:
		return nil, fmt.Errorf("there is no operation %q", q.Op)
	}
	if err != nil {
		return nil, err
	}
	return c.engine.JSON(ctx, exports)
}

// ask queries the host's policy for a file.
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
