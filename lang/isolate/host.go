package isolate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

// Engine is an engine in a child process. Its calls take turns. When the child has ended, every call fails with the
// reason; make a new engine to go on.
type Engine struct {
	opts lang.Options
	cmd  *exec.Cmd
	wire *wire
	pipe *os.File // requests: closing it ends the child
	last *head    // the process's own standard error

	turn    sync.Mutex
	calls   int
	replies chan reply
	ended   chan struct{} // the process is gone

	mu     sync.Mutex
	reason error // why it was killed, or ended
	closed bool
}

// Times that a child is granted beyond the limits before it is killed.
const (
	startTime = 30 * time.Second
	graceTime = time.Second
)

// processOverhead is the memory that a process needs besides what the script may use: the program, the plugins, and
// what the collector has not collected yet.
const processOverhead = 256 << 20

// Start starts a child and makes an engine in it. Of the options, Modules and OnError mean nothing here: what scripts
// can import is decided by the function that the program gave to [Serve]. Policy functions run in this process. The
// memory limit bounds the whole child where the system can do that (Linux).
func Start(ctx context.Context, opts lang.Options) (*Engine, error) {
	if os.Getenv(childVariable) != "" {
		return nil, diag.New("internal", "a child process tried to start another").
			WithHint("call isolate.Serve first thing in main")
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("this program cannot find itself: %w", err)
	}
	requests, toChild, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	fromChild, replies, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, requests.Close(), toChild.Close())
	}
	errorsRead, errorsWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, requests.Close(), toChild.Close(), fromChild.Close(), replies.Close())
	}
	e := &Engine{
		opts: opts, wire: newWire(fromChild, toChild), pipe: toChild, last: &head{},
		replies: make(chan reply, 1), ended: make(chan struct{}),
	}
	e.cmd = &exec.Cmd{
		Path: program, Args: []string{os.Args[0]}, Env: append(os.Environ(), childVariable+"=1"),
		Stdin: opts.Stdin, Stdout: opts.Stdout, Stderr: e.last,
		ExtraFiles: []*os.File{requests, replies, errorsWrite},
	}
	if e.cmd.Stdout == nil {
		e.cmd.Stdout = os.Stdout
	}
	e.cmd.WaitDelay = graceTime
	err = e.cmd.Start()
	_, _, _ = requests.Close(), replies.Close(), errorsWrite.Close()
	if err != nil {
		_, _, _ = toChild.Close(), fromChild.Close(), errorsRead.Close()
		return nil, &diag.Diagnostic{ID: "unsupported", Message: "the child process cannot be started: " + err.Error(), Cause: err}
	}
	forwarded := make(chan struct{})
	go func() {
		_, _ = io.Copy(cmp.Or[io.Writer](opts.Stderr, os.Stderr), errorsRead)
		_ = errorsRead.Close()
		close(forwarded)
	}()
	listened := make(chan struct{})
	go func() {
		e.listen()
		_ = fromChild.Close()
		close(listened)
	}()
	go func() {
		<-listened // the pipe ends when the process does
		<-forwarded
		err := e.cmd.Wait()
		e.mu.Lock()
		e.reason = cmp.Or(e.reason, e.crash(err))
		e.mu.Unlock()
		_ = toChild.Close()
		close(e.ended)
	}()
	return e, e.begin(ctx)
}

// begin sends the configuration and waits until the child is up.
func (e *Engine) begin(ctx context.Context) error {
	o := &e.opts
	conf := config{
		Args: o.Args, Env: o.Env, Dir: o.Dir, Prompt: o.Prompt, Colors: o.Colors, Limits: o.Limits,
		AskRead: o.Policy.Read != nil, AskWrite: o.Policy.Write != nil, AskRun: o.Policy.Run != nil,
	}
	if o.Limits.Memory > 0 {
		conf.MemoryBound = o.Limits.Memory + processOverhead
	}
	if err := e.wire.send(conf); err != nil {
		e.kill(err)
		<-e.ended
		return e.reason
	}
	r, err := e.await(ctx, startTime, diag.New("internal", "the child process did not answer within %v", startTime).
		WithHint("the program must call isolate.Serve first thing in main"))
	if err != nil {
		return err
	}
	if r.Error != nil {
		e.kill(r.Error.err())
		<-e.ended
		return e.reason
	}
	return nil
}

// Run runs a text as a module, as [lang.Engine.Run] does, and gives its exports as JSON: see [lang.Engine.JSON].
func (e *Engine) Run(ctx context.Context, name, text string) (json.RawMessage, error) {
	return e.call(ctx, request{Op: opRun, Name: name, Text: text})
}

// RunFile runs a file, as [lang.Engine.RunFile] does.
func (e *Engine) RunFile(ctx context.Context, path string) (json.RawMessage, error) {
	return e.call(ctx, request{Op: opFile, Name: path})
}

// Import loads a module, as [lang.Engine.Import] does.
func (e *Engine) Import(ctx context.Context, specifier string) (json.RawMessage, error) {
	return e.call(ctx, request{Op: opImport, Name: specifier})
}

// Eval runs a line, as [lang.Engine.Eval] does, and gives its value as JSON.
func (e *Engine) Eval(ctx context.Context, name, text string) (json.RawMessage, error) {
	return e.call(ctx, request{Op: opEval, Name: name, Text: text})
}

func (e *Engine) call(ctx context.Context, q request) (json.RawMessage, error) {
	e.turn.Lock()
	defer e.turn.Unlock()
	select {
	case <-e.ended:
		return nil, e.reason
	default:
	}
	e.calls++
	q.ID = e.calls
	if err := e.wire.send(q); err != nil {
		e.kill(nil)
		<-e.ended
		return nil, e.reason
	}
	limit := time.Duration(0)
	if t := e.opts.Limits.Time; t > 0 {
		limit = t + graceTime
	}
	r, err := e.await(ctx, limit, diag.New("timeout", "the script ran longer than %v and could not be interrupted", e.opts.Limits.Time).
		WithHint("raise the time limit, or do less per call; the process that ran it was ended"))
	if err != nil {
		return nil, err
	}
	return r.Result, r.Error.err()
}

// await waits for the reply of the running call. When the context ends, the child gets a moment to end the call.
func (e *Engine) await(ctx context.Context, limit time.Duration, late error) (reply, error) {
	var alarm <-chan time.Time
	if limit > 0 {
		t := time.NewTimer(limit)
		defer t.Stop()
		alarm = t.C
	}
	cancelled := ctx.Done()
	for {
		select {
		case r, ok := <-e.replies:
			if ok {
				return r, nil
			}
			<-e.ended
			return reply{}, e.reason
		case <-cancelled:
			cancelled = nil
			_ = e.wire.send(request{Op: opCancel})
			grace := time.NewTimer(graceTime)
			defer grace.Stop()
			alarm, late = grace.C, context.Cause(ctx)
		case <-alarm:
			e.kill(late)
			alarm = nil
		}
	}
}

// kill ends the process; the first reason counts.
func (e *Engine) kill(reason error) {
	e.mu.Lock()
	e.reason = cmp.Or(e.reason, reason)
	e.mu.Unlock()
	_ = e.cmd.Process.Kill()
}

// listen takes the child's messages until it ends, and answers its questions.
func (e *Engine) listen() {
	defer close(e.replies)
	for {
		var r reply
		if err := e.wire.receive(&r); err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				e.kill(diag.New("internal", "the child process sent nonsense: %v", err))
			}
			return
		}
		if r.Question == "" {
			e.replies <- r
			continue
		}
		a := request{Op: opAnswer, QuestionN: r.QuestionN, Allowed: true}
		if err := e.policy(r.Question, r.Path); err != nil {
			a.Allowed, a.Reason = false, err.Error()
		}
		_ = e.wire.send(a)
	}
}

func (e *Engine) policy(what, path string) error {
	ask := e.opts.Policy.Read
	switch what {
	case "write":
		ask = e.opts.Policy.Write
	case "run":
		ask = e.opts.Policy.Run
	}
	if ask == nil {
		return nil
	}
	return ask(path)
}

// Close ends the child. It waits for a call that runs.
func (e *Engine) Close() error {
	e.turn.Lock()
	defer e.turn.Unlock()
	if e.closed {
		return nil
	}
	e.closed = true
	select {
	case <-e.ended: // whoever called was told
		return nil
	default:
	}
	if err := e.wire.send(request{Op: opClose}); err != nil {
		e.kill(nil)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	r, err := e.await(ctx, 0, nil)
	_ = e.pipe.Close()
	if err == nil {
		err = r.Error.err()
	}
	<-e.ended
	e.mu.Lock()
	e.reason = diag.New("closed", "the engine is closed")
	e.mu.Unlock()
	return err
}
