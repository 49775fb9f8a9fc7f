package process

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/pipe"
	"github.com/orepl/orepl/runtime/job"
)

// maxOutput is the default limit of a program's collected output, in bytes.
const maxOutput = 64 << 20

// killDelay is the maximum time that a program's children may keep its output open after its end.
const killDelay = 2 * time.Second

// children tracks the running programs of a script.
type children struct {
	*lang.Engine
	mu      sync.Mutex
	running map[*exec.Cmd]bool
}

func newChildren(e *lang.Engine) *children {
	c := &children{Engine: e, running: map[*exec.Cmd]bool{}}
	e.OnClose(c.killAll)
	return c
}

// killAll kills the running programs when the engine closes.
func (c *children) killAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for cmd := range c.running {
		kill(cmd)
	}
}

// A command holds the parsed arguments and options of process.run.
type command struct {
	name, path     string
	args           []string
	dir            string
	env            []string
	input          []byte
	timeout        time.Duration
	signal         *lang.Signal
	stdout, stderr goja.Callable // callbacks for lines; if nil, the output is collected
}

// run implements process.run.
func (c *children) run(call goja.FunctionCall) (goja.Value, error) {
	a := c.Args("process.run", call)
	cmd := c.arguments(a)
	if err := a.Err(); err != nil {
		return nil, err
	}
	return c.Stream(cmd.signal, "process.run "+cmd.name, func(ctx context.Context, post func(func() error) error) (func() (goja.Value, error), error) {
		code, stdout, stderr, err := c.wait(ctx, cmd, post)
		if err != nil {
			return nil, err
		}
		return func() (goja.Value, error) {
			o := bindings.NewExports(c.Engine)
			o.Set("code", code)
			o.Set("stdout", stdout)
			o.Set("stderr", stderr)
			return o.Done()
		}, nil
	}), nil
}

func (c *children) arguments(a *lang.Args) *command {
	cmd := &command{name: a.String(0, "program")}
	if o := c.Options(); o.Files == nil { // else Dir is no directory of the machine
		cmd.dir = o.Dir
	}
	if a.Err() != nil {
		return cmd
	}
	var err error
	if cmd.path, err = c.RunPath(cmd.name); err != nil {
		a.Reject(err)
	}
	if list := a.Object(1, "args"); list != nil {
		if list.ClassName() != "Array" {
			a.Fail("args", "must be an array of strings")
			return cmd
		}
		for i := range int(list.Get("length").ToInteger()) {
			item := list.Get(fmt.Sprint(i))
			if item == nil || goja.IsUndefined(item) || goja.IsNull(item) {
				a.Fail("args", "has no element %d", i)
				return cmd
			}
			cmd.args = append(cmd.args, item.String())
		}
	}
	env := c.Options().Env
	if o := a.Options(2, "options", "input", "cwd", "env", "timeout", "signal", "stdout", "stderr"); o != nil && a.Err() == nil {
		env = c.options(a, cmd, o)
	}
	cmd.env = make([]string, 0, len(env)) // not nil, since exec would use the host's environment
	for _, name := range slices.Sorted(maps.Keys(env)) {
		cmd.env = append(cmd.env, name+"="+env[name])
	}
	cmd.env = job.Outside(cmd.env)
	return cmd
}

// options parses the options of process.run into cmd and returns the environment.
func (c *children) options(a *lang.Args, cmd *command, o *goja.Object) map[string]string {
	env := c.Options().Env
	has := func(name string) goja.Value {
		if v := o.Get(name); v != nil && !goja.IsUndefined(v) {
			return v
		}
		return nil
	}
	if v := has("input"); v != nil {
		if memory, ok := c.Bytes(v); ok {
			cmd.input = slices.Clone(memory)
		} else {
			cmd.input = []byte(v.String())
		}
	}
	if v := has("cwd"); v != nil {
		cmd.dir = c.Path(v.String())
	}
	if v := has("env"); v != nil {
		env = map[string]string{}
		o, ok := v.(*goja.Object)
		if !ok {
			a.Fail("env", "must be an object of strings")
			return env
		}
		for _, name := range o.Keys() {
			env[name] = o.Get(name).String()
		}
	}
	if v := has("timeout"); v != nil {
		ms := v.ToFloat()
		if !(ms > 0) {
			a.Fail("timeout", "must be a number of milliseconds above 0")
		}
		cmd.timeout = time.Duration(min(ms*float64(time.Millisecond), float64(1<<62)))
	}
	var err error
	if cmd.signal, err = c.Signal(has("signal")); err != nil {
		a.Reject(err)
	}
	for name, fn := range map[string]*goja.Callable{"stdout": &cmd.stdout, "stderr": &cmd.stderr} {
		if v := has(name); v != nil {
			var ok bool
			if *fn, ok = goja.AssertFunction(v); !ok {
				a.Fail(name, "must be a function, which receives each line")
			}
		}
	}
	return env
}

// wait starts a command and waits for its end. It returns the exit status, which is -1 if a signal ended the program, and the
// collected output.
func (c *children) wait(ctx context.Context, cmd *command, post func(func() error) error) (code int, stdout, stderr string, err error) {
	if cmd.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, cmd.timeout, diag.New("timeout", "%s ran longer than %v", cmd.name, cmd.timeout))
		defer cancel()
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	proc := exec.CommandContext(ctx, cmd.path, cmd.args...)
	proc.Args[0], proc.Dir, proc.Env = cmd.name, cmd.dir, cmd.env
	proc.Cancel, proc.WaitDelay = func() error { kill(proc); return nil }, killDelay
	if cmd.input != nil {
		proc.Stdin = bytes.NewReader(cmd.input)
	}
	limit := maxOutput
	if memory := c.Options().Limits.Memory; memory > 0 && memory/4 < maxOutput {
		limit = int(memory / 4)
	}
	out, errs := c.sink(cmd.stdout, limit, post, fail), c.sink(cmd.stderr, limit, post, fail)
	proc.Stdout, proc.Stderr, err = out.open(), errs.open(), cmp.Or(out.failed, errs.failed)
	runtime.LockOSThread() // Pdeathsig kills the program when the starting thread ends
	defer runtime.UnlockOSThread()
	belong(proc)
	if err == nil {
		err = c.start(ctx, proc)
	}
	out.begin()
	errs.begin()
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return 0, "", "", cause
	}
	if err != nil {
		return 0, "", "", &diag.Diagnostic{ID: "io-error", Message: fmt.Sprintf("cannot start %s: %v", cmd.name, err), Cause: err}
	}
	err = proc.Wait()
	out.end()
	errs.end()
	c.mu.Lock()
	delete(c.running, proc)
	c.mu.Unlock()
	if cause := context.Cause(ctx); cause != nil {
		return 0, "", "", cause
	}
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) && !errors.Is(err, exec.ErrWaitDelay) {
		return 0, "", "", fmt.Errorf("%s: %w", cmd.name, err)
	}
	return proc.ProcessState.ExitCode(), out.text.String(), errs.text.String(), nil
}

// start starts a program, unless ctx has ended, as it has after the engine closed.
func (c *children) start(ctx context.Context, proc *exec.Cmd) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := proc.Start(); err != nil {
		return err
	}
	c.running[proc] = true
	return nil
}

// A sink reads a program's output. It collects the output, or passes lines to a script function and blocks while the script is
// busy.
type sink struct {
	c     *children
	lines goja.Callable
	limit int
	post  func(func() error) error
	fail  context.CancelCauseFunc
	text  strings.Builder // the collected output
	rest  []byte          // the incomplete last line

	file   *os.File // the program's end of the pipe
	pipe   *pipe.Reader
	read   chan struct{} // closed at the end of the output
	failed error
}

func (c *children) sink(lines goja.Callable, limit int, post func(func() error) error, fail context.CancelCauseFunc) *sink {
	return &sink{c: c, lines: lines, limit: limit, post: post, fail: fail, read: make(chan struct{})}
}

// open creates the pipe and returns the program's end. After an error, which failed then has, it returns nil.
func (s *sink) open() *os.File {
	var ours *os.File
	if ours, s.file, s.failed = os.Pipe(); s.failed == nil {
		s.pipe = pipe.NewReader(ours, killDelay)
	}
	return s.file
}

// begin starts reading. Call it after the program's start, even a failed one.
func (s *sink) begin() {
	if s.pipe == nil {
		return
	}
	_ = s.file.Close()
	go func() {
		defer close(s.read)
		defer s.pipe.Close()
		if _, err := io.Copy(s, s.pipe); err == nil && len(s.rest) > 0 { // a last line without a line break
			_ = s.line(s.rest)
		}
	}()
}

// end waits until the output of an ended program has been read. The program's children may still run.
func (s *sink) end() {
	s.pipe.End()
	<-s.read
}

// Write implements [io.Writer].
func (s *sink) Write(p []byte) (int, error) {
	if s.text.Len()+len(s.rest)+len(p) > s.limit {
		s.fail(diag.New("out-of-resources", "a program printed more than the %d bytes that are collected", s.limit).
			WithHint("take its lines as they come, with the option stdout, or let it write to a file"))
		return 0, io.ErrShortWrite
	}
	if s.lines == nil {
		return s.text.Write(p)
	}
	s.rest = append(s.rest, p...)
	begun := s.rest
	for {
		i := bytes.IndexByte(begun, '\n')
		if i < 0 {
			s.rest = append(s.rest[:0], begun...)
			return len(p), nil
		}
		if err := s.line(begun[:i]); err != nil {
			return 0, err
		}
		begun = begun[i+1:]
	}
}

// line passes a line to the script. It blocks while the script is busy.
func (s *sink) line(line []byte) error {
	text := string(bytes.TrimSuffix(line, []byte("\r")))
	return s.post(func() error {
		_, err := s.lines(goja.Undefined(), s.c.VM().ToValue(text))
		return err
	})
}
