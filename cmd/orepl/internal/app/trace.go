package app

import (
	"errors"
	"fmt"
	"os"

	"github.com/orepl/orepl/runtime/trace"
)

// timeLine defines the flag for the file of a time line.
func (inv *invocation) timeLine() *string {
	return inv.flags.String("trace", "", "write a time line of the devices' commands to this `file`, for ui.perfetto.dev and orepl trace summarize")
}

// traced runs a function and writes its time line to a file, unless the name is empty.
func (inv *invocation) traced(name string, run func() error) (err error) {
	if name == "" {
		return run()
	}
	f, err := os.Create(name)
	if err != nil {
		return &usageError{fmt.Sprintf("--trace: %s cannot be written: %v", name, errors.Unwrap(err)), "name a file in a folder that exists"}
	}
	inv.trace = trace.New(f)
	defer func() {
		if failure := errors.Join(inv.trace.Close(), f.Close()); failure != nil && err == nil {
			err = fmt.Errorf("writing %s: %w", name, failure)
		}
	}()
	return run()
}

// runTrace implements orepl trace.
func runTrace(inv *invocation) error {
	args, err := inv.parse()
	if err != nil {
		return err
	}
	const usage = "write: orepl trace summarize FILE"
	switch {
	case len(args) == 0 || args[0] != "summarize":
		return &usageError{"the command of orepl trace is missing", usage}
	case len(args) != 2:
		return &usageError{"the time line's file is missing", usage}
	}
	if err := checkFile(args[1], usage); err != nil {
		return err
	}
	f, err := os.Open(args[1])
	if err != nil {
		return &usageError{fmt.Sprintf("%s cannot be read: %v", args[1], errors.Unwrap(err)), ""}
	}
	defer f.Close()
	s, err := trace.Summarize(f)
	if err != nil {
		return &usageError{fmt.Sprintf("%s: %v", args[1], err), "orepl run --trace FILE writes time lines"}
	}
	inv.printf(inv.Stdout, "%s", s)
	return nil
}
