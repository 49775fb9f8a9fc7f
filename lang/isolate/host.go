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
	"slices"
	"sync"
	"time"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/pipe"
)

// Engine is an engine in a child process. Its calls are serialized. After the child has ended, every call fails with the
// reason; a new engine must be started.
type Engine struct {
	opts lang.Options
	most bound // bound of results
	cmd  *exec.Cmd
	own  Config
	wire *wire
	pipe *os.File // requests; closing it ends the child
	last *head    // head of the process's own standard error

	ctx    context.Context // cancelled when the engine is closed
	cancel context.CancelCauseFunc

	turn    chan struct{} // full while a call runs
	calls   int
	status  int
	replies chan reply
	ended   chan struct{} // closed when the process has ended

	mu     sync.Mutex
	reason error // why the process was killed or ended; nil before
	closed bool  // accessed only by the holder of turn
}

var errClosed = diag.New("closed", "the engine is closed")

// startTime is the time that a child has to start, and to close its engine. graceTime is the time that it has after a limit or
// a cancellation. Then it is killed.
const (
	startTime = 30 * time.Second
	graceTime = time.Second
)

// holdTime is the time for which other processes may keep the child's pipes open after its end. drainTime is the time for which
// callbacks of the host may process its last messages.
const (
	holdTime  = 200 * time.Millisecond
	drainTime = 5 * time.Second
)

// processOverhead is the memory of the process in bytes in excess of the script's limit: the program, the plugins, and
// uncollected garbage.
const processOverhead = 256 << 20

// frameOverhead is the maximum size in bytes of a child's message without its result.
const frameOverhead = 1 << 20

// Start starts a child and creates an engine in it. It fails if the child is not ready within 30 seconds, or a second after the end of
// ctx, which has no effect later. The options Modules, Files, Cache, Logger, OnOverdue and OnWarning have no effect; the function passed
// to [Serve] determines the modules. A Stdin other than nil stands for the host's standard input. Policy functions and OnError run in
// the host process. On Linux the memory limit applies to the whole child.
func Start(ctx context.Context, opts lang.Options) (*Engine, error) {
	return StartIn(ctx, os.Environ(), opts)
}

// StartIn starts a child like Start, but with environ as the environment of its process. Scripts see the environment of
// opts.
func StartIn(ctx context.Context, environ []string, opts lang.Options) (*Engine, error) {
	return start(ctx, Config{Environ: environ}, opts, resultBound(opts.Limits))
}

// Config has the options of a child that serves calls of the program, see [Engine.Handle].
type Config struct {
	Environ []string        // the environment of the child's process
	Program json.RawMessage // passed to the child's [Build]
	Memory  *Memory         // shared with the child; nil: none
}

// StartWith starts a child like StartIn. own also has data for the child's [Build], and memory to share with the child.
func StartWith(ctx context.Context, own Config, opts lang.Options) (*Engine, error) {
	return start(ctx, own, opts, resultBound(opts.Limits))
}

// start starts a child. most bounds the results of its calls.
func start(ctx context.Context, own Config, opts lang.Options, most bound) (*Engine, error) {
	if err := diag.CheckContext(ctx); err != nil {
		return nil, err
	}
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
	answers, words := pipe.NewReader(fromChild, holdTime), pipe.NewReader(errorsRead, holdTime)
	e := &Engine{
		opts: opts, most: most, own: own, wire: newWire(answers, toChild, most.bytes+frameOverhead), pipe: toChild, last: &head{},
		turn: make(chan struct{}, 1), replies: make(chan reply, 1), ended: make(chan struct{}),
	}
	e.ctx, e.cancel = context.WithCancelCause(context.Background())
	out, errs := takeTurns(cmp.Or[io.Writer](opts.Stdout, os.Stdout), cmp.Or[io.Writer](opts.Stderr, os.Stderr))
	e.cmd = &exec.Cmd{
		Path: program, Args: []string{os.Args[0]}, Env: append(slices.Clone(own.Environ), childVariable+"=1"),
		Stdin: os.Stdin, Stdout: out, Stderr: e.last,
		ExtraFiles: []*os.File{requests, replies, errorsWrite},
	}
	if own.Memory != nil {
		e.cmd.ExtraFiles = append(e.cmd.ExtraFiles, own.Memory.file)
	}
	e.cmd.WaitDelay = graceTime
	err = e.cmd.Start()
	_, _, _ = requests.Close(), replies.Close(), errorsWrite.Close()
	if err != nil {
		_, _, _ = toChild.Close(), fromChild.Close(), errorsRead.Close()
		return nil, &diag.Diagnostic{ID: "unsupported", Message: "the child process cannot be started: " + err.Error(), Cause: err}
	}
	forwarded, listened := make(chan struct{}), make(chan struct{})
	go func() {
		_, _ = io.Copy(errs, words)
		_ = words.Close()
		close(forwarded)
	}()
	go func() {
		e.listen()
		_ = answers.Close()
		close(listened)
		time.AfterFunc(graceTime, func() { _ = e.cmd.Process.Kill() }) // the pipe is closed: no other request can end the child
	}()
	go func() {
		err := e.cmd.Wait() // does not wait for the pipes, which the script's programs may hold open
		answers.End()
		words.End()
		drain, cancel := context.WithTimeout(context.Background(), drainTime)
		defer cancel()
		for _, done := range []chan struct{}{listened, forwarded} {
			select {
			case <-done:
			case <-drain.Done():
			}
		}
		e.mu.Lock()
		e.reason = cmp.Or(e.reason, e.crash(err))
		e.mu.Unlock()
		_ = toChild.Close()
		close(e.ended)
	}()
	if err := e.begin(ctx); err != nil {
		e.kill(err) // it still runs if its configuration cannot be encoded
		<-e.ended
		return nil, err
	}
	return e, nil
}

// begin sends the configuration and waits until the child is ready. If the child cannot make its engine, begin waits for the child's
// end and returns the error.
func (e *Engine) begin(ctx context.Context) error {
	o := &e.opts
	conf := config{
		Args: o.Args, Env: o.Env, Dir: o.Dir, Prompt: o.Prompt, Colors: o.Colors, NoWarnings: o.NoWarnings, Limits: o.Limits,
		ResultBytes: e.most.bytes,
		AskRead:     o.Policy.Read != nil, AskWrite: o.Policy.Write != nil, AskRun: o.Policy.Run != nil, AskNative: o.Policy.Native != nil,
		AskDevice: o.Policy.Device != nil, Plugins: o.Policy.Plugins, Shared: e.own.Memory != nil, Program: e.own.Program,
		Input: o.Stdin != nil, TellErrors: o.OnError != nil,
	}
	if o.Limits.Memory > 0 {
		conf.MemoryBound = o.Limits.Memory + processOverhead
	}
	r, err := e.ask(ctx, 0, conf, startTime, diag.New("internal", "the child process did not answer within %v", startTime).
		WithHint("the program must call isolate.Serve first thing in main"))
	if err != nil {
		return err
	}
	if r.Error != nil {
		e.kill(r.Error.Err())
		<-e.ended
		return e.why()
	}
	return nil
}

// Run runs a text as a module like [lang.Engine.Run], and returns its exports as JSON; see [lang.Engine.JSON].
func (e *Engine) Run(ctx context.Context, name, text string) (json.RawMessage, error) {
	return e.call(ctx, request{Op: opRun, Name: name, Text: text})
}

// RunFile runs a file like [lang.Engine.RunFile], and returns its exports as JSON.
func (e *Engine) RunFile(ctx context.Context, path string) (json.RawMessage, error) {
	return e.call(ctx, request{Op: opFile, Name: path})
}

// Import loads a module like [lang.Engine.Import], and returns its exports as JSON.
func (e *Engine) Import(ctx context.Context, specifier string) (json.RawMessage, error) {
	return e.call(ctx, request{Op: opImport, Name: specifier})
}

// Eval runs a line like [lang.Engine.Eval], and returns its value as JSON.
func (e *Engine) Eval(ctx context.Context, name, text string) (json.RawMessage, error) {
	return e.call(ctx, request{Op: opEval, Name: name, Text: text})
}

// Handle makes a call of the program, which [Served.Handle] answers in the child. body and the result are JSON. Like other calls,
// it ends at the limit of time, and when ctx or the child ends.
func (e *Engine) Handle(ctx context.Context, name string, body any) (json.RawMessage, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return e.call(ctx, request{Op: opHandle, Name: name, Body: text})
}

// Explain returns err, the error of a call in a child. If ctx has ended and err has the code cancelled, Explain returns the cause
// of ctx at the position of err instead. The child does not know the cause.
func Explain(ctx context.Context, err error) error {
	var d *diag.Diagnostic
	if ctx.Err() == nil || diag.Code(err) != "cancelled" || !errors.As(err, &d) {
		return err
	}
	end := lang.EndOf(ctx)
	end.Position, end.Excerpt, end.Stack = d.Position, d.Excerpt, d.Stack
	return end
}

// Ended reports whether the child has ended, after which every call fails.
func (e *Engine) Ended() bool {
	select {
	case <-e.ended:
		return true
	default:
		return false
	}
}

// Status returns the exit status set by the last call's script, like [lang.Engine.Status]. It waits for a running call.
func (e *Engine) Status() int {
	e.turn <- struct{}{}
	defer func() { <-e.turn }()
	return e.status
}

// call waits for its turn, sends a request to the child, and returns the result of the reply.
func (e *Engine) call(ctx context.Context, q request) (json.RawMessage, error) {
	if err := diag.CheckContext(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(e.ctx, func() { cancel(errClosed) })()
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return nil, lang.EndOf(ctx)
	}
	if e.closed {
		return nil, errClosed
	}
	select {
	case <-e.ended:
		return nil, e.why()
	default:
	}
	e.calls++
	q.ID = e.calls
	limit := time.Duration(0)
	if t := e.opts.Limits.Time; t > 0 {
		limit = t + graceTime
	}
	r, err := e.ask(ctx, q.ID, q, limit, diag.New("timeout", "the script ran longer than %v and could not be interrupted", e.opts.Limits.Time).
		WithHint("raise the time limit, or do less per call; the process that ran it was ended"))
	if err != nil {
		return nil, err
	}
	e.status = r.Status
	if e.ctx.Err() != nil && r.Error != nil {
		return nil, errClosed
	}
	if r.Error != nil {
		return nil, Explain(ctx, r.Error.Err())
	}
	return r.Result, e.most.check(r.Result) // repeats the check, because the child is not trusted
}

// ask sends the message of call id and waits for its reply. When the context is cancelled, the child has graceTime to end the call.
// Otherwise it has the time limit, which may be 0 for none. A child that exceeds its time is killed. The reason is late after limit,
// and the end of ctx after a cancellation.
func (e *Engine) ask(ctx context.Context, id int, message any, limit time.Duration, late error) (reply, error) {
	frame, err := encode(message)
	if err != nil {
		return reply{}, err
	}
	sent := make(chan struct{})
	go func() { // a child that does not read must not block the caller
		defer close(sent)
		if err := e.wire.write(frame); err != nil {
			e.kill(nil)
		}
	}()
	var alarm <-chan time.Time
	if limit > 0 {
		t := time.NewTimer(limit)
		defer t.Stop()
		alarm = t.C
	}
	cancelled := ctx.Done()
	for {
		select {
		case r := <-e.replies:
			return e.answered(id, r)
		case <-e.ended:
			select {
			case r := <-e.replies: // the last reply of an ended child
				return e.answered(id, r)
			default:
				return reply{}, e.why()
			}
		case <-cancelled:
			cancelled = nil
			go func() {
				<-sent // the cancellation must arrive after its call
				_ = e.wire.send(request{Op: opCancel, ID: id})
			}()
			grace := time.NewTimer(graceTime)
			defer grace.Stop()
			alarm, late = grace.C, lang.EndOf(ctx)
		case <-alarm:
			e.kill(late)
			alarm = nil
		}
	}
}

// answered returns a reply that belongs to the request id. For any other reply it kills the child and returns an error.
func (e *Engine) answered(id int, r reply) (reply, error) {
	if r.ID == id {
		return r, nil
	}
	e.kill(errNonsense("an answer to no question"))
	<-e.ended
	return reply{}, e.why()
}

func errNonsense(what string) error {
	return diag.New("internal", "the child process sent nonsense: %s", what)
}

// why returns the reason for the end of the process. It is nil only while the process runs.
func (e *Engine) why() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.reason
}

// kill ends the process and records the first reason.
func (e *Engine) kill(reason error) {
	e.mu.Lock()
	e.reason = cmp.Or(e.reason, reason)
	e.mu.Unlock()
	_ = e.cmd.Process.Kill()
}

// listen receives the child's messages. It passes on replies and background errors, and answers policy queries. It returns when the
// child has closed the pipe, or after a message that makes no sense, for which it kills the child.
func (e *Engine) listen() {
	for {
		var r reply
		if err := e.wire.receive(&r); err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				e.kill(errNonsense(err.Error()))
			}
			return
		}
		if r.Background != nil {
			if e.opts.OnError != nil {
				e.opts.OnError(r.Background.Err())
			}
			continue
		}
		if r.Question == "" {
			select {
			case e.replies <- r:
			default:
				e.kill(errNonsense("two answers to one question"))
				return
			}
			continue
		}
		a := request{Op: opAnswer, QuestionN: r.QuestionN, Allowed: true}
		if err := e.policy(r.Question, r.Path); err != nil {
			a.Allowed, a.Reason = false, err.Error()
		}
		_ = e.wire.send(a)
	}
}

// policy asks the engine's policy about a path. It returns the reason of a refusal, or nil.
func (e *Engine) policy(what, path string) error {
	ask := e.opts.Policy.Read
	switch what {
	case "write":
		ask = e.opts.Policy.Write
	case "run":
		ask = e.opts.Policy.Run
	case "native":
		ask = e.opts.Policy.Native
	case "device":
		ask = e.opts.Policy.Device
	}
	if ask == nil {
		return nil
	}
	return ask(path)
}

// Close ends the child. It interrupts a running call and waits for it. The error is that of closing the child's engine, or of a
// child that does not end in time. It is nil if the child has ended, or the engine was closed, before.
func (e *Engine) Close() error {
	e.cancel(errClosed)
	e.turn <- struct{}{}
	defer func() { <-e.turn }()
	if e.closed {
		return nil
	}
	e.closed = true
	select {
	case <-e.ended: // the caller receives the error
		return nil
	default:
	}
	e.calls++
	r, err := e.ask(context.Background(), e.calls, request{Op: opClose, ID: e.calls}, startTime,
		diag.New("timeout", "the engine's process did not end within %v", startTime))
	_ = e.pipe.Close()
	if err == nil {
		err = r.Error.Err()
	}
	<-e.ended
	return err
}
