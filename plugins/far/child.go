package far

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/orepl/orepl/runtime/job"
)

// child is a worker that this process started. It ends at the end of its input, and with this process.
type child struct {
	io.Writer
	input  io.Closer
	output *os.File
	cmd    *exec.Cmd

	end   sync.Once
	mu    sync.Mutex
	ended string // how the process ended; empty before Close has observed that
}

const (
	endTime  = 3 * time.Second        // time limit for the end of a worker
	restTime = 200 * time.Millisecond // time limit for reading what an ended worker wrote: its own children may keep the pipe open
)

func spawn(program string) (io.ReadWriteCloser, error) {
	if program == "" {
		var err error
		if program, err = command(); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(program, "worker", "--stdio")
	for _, v := range job.Outside(os.Environ()) {
		if !strings.HasPrefix(v, Variable+"=") { // a worker must not have workers itself
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = theirs
	err = start(cmd)
	_ = theirs.Close()
	if err != nil {
		_ = out.Close()
		return nil, err
	}
	return &child{Writer: in, input: in, output: out, cmd: cmd}, nil
}

// Read reads what the worker writes. After the worker's end and Close it returns io.EOF.
func (c *child) Read(p []byte) (int, error) {
	n, err := c.output.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, os.ErrClosed) {
		err = io.EOF
	}
	return n, err
}

// Close closes the worker's input and waits until it ends, or kills it after endTime. Read returns the rest of its output.
func (c *child) Close() error {
	c.end.Do(func() {
		_ = c.input.Close()
		overdue := time.AfterFunc(endTime, func() { _ = c.cmd.Process.Kill() })
		defer overdue.Stop()
		_ = c.cmd.Wait()
		c.mu.Lock()
		c.ended = c.cmd.ProcessState.String()
		c.mu.Unlock()
		if c.output.SetReadDeadline(time.Now().Add(restTime)) != nil {
			_ = c.output.Close()
		}
	})
	return nil
}

// Abort kills the worker: a stopped process would not end with its input.
func (c *child) Abort() { _ = c.cmd.Process.Kill() }

// Ended implements [remote.Process].
func (c *child) Ended() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// PID implements [silence.Process].
func (c *child) PID() int { return c.cmd.Process.Pid }
