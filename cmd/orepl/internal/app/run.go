package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/runtime/session"
)

// runScript is orepl run.
func runScript(inv *invocation) error {
	limits := inv.limits()
	isolated := inv.flags.Bool("isolate", false, "run the script in a process of its own, so that nothing it does can harm this one")
	watch := inv.flags.Bool("watch", false, "run the script again when it, an import or a file that it reads changes")
	leaks := inv.flags.Bool("leaks", false, "at the end, list on standard error what the script made and did not free")
	inv.noWarnings()
	args, err := inv.parse()
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return &usageError{"the script's file is missing", "write: orepl run FILE [ARGS…]"}
	}
	if args[0] == "-" {
		return &usageError{"- is no file", "standard input is read without FILE: orepl < script.js; for a file of that name write ./-"}
	}
	if err := checkFile(args[0], "write: orepl run FILE [ARGS…]"); err != nil {
		return err
	}
	opts, err := limits.options(lang.Options{Args: args[1:]})
	if err != nil {
		return err
	}
	run := func(inv *invocation, opts lang.Options) error {
		if *isolated {
			return inv.isolated(args[0], opts)
		}
		return inv.script(args[0], opts, *leaks)
	}
	switch {
	case *watch && *isolated:
		return &usageError{"--watch does not see what an isolated script reads", "leave --isolate out"}
	case *watch:
		return inv.watch(args[0], opts, run)
	}
	return run(inv, opts)
}

// checkFile returns an error of usage for a file that does not exist, with the name of a near one or the usage as hint.
func checkFile(name, usage string) error {
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	entries, _ := os.ReadDir(filepath.Dir(name)) // a directory that cannot be read has no near names
	names := make([]string, len(entries))
	for i := range entries {
		names[i] = entries[i].Name()
	}
	if near := spelling.Nearest(filepath.Base(name), names); near != "" {
		usage = fmt.Sprintf("did you mean %s?", filepath.Join(filepath.Dir(name), near))
	}
	return &usageError{fmt.Sprintf("there is no file %q", name), usage}
}

// script runs a file in this process, and reports on leaks if it is to. An error that belongs to no call is printed at
// once, and the script fails at its end.
func (inv *invocation) script(path string, opts lang.Options, leaks bool) error {
	rt := inv.open()
	overdue := make(chan error, 1)
	opts.OnOverdue = func(cause error) { overdue <- cause }
	var e *lang.Engine // no error comes before it is set
	var err error
	var failed atomic.Bool
	opts.OnError = func(err error) {
		failed.Store(true)
		diag.Print(e.Options().Stderr, err, e.Options().Colors)
	}
	e, err = inv.engine(rt, opts)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		_, err := e.RunFile(inv.ctx, path)
		ended <- err
	}()
	select {
	case err = <-ended:
	case cause := <-overdue: // neither engine nor devices can be closed while it runs
		return &overdueError{cause}
	}
	if leaks {
		if live := rt.Session().Live(); len(live) > 0 {
			_ = session.WriteObjects(inv.Stderr, live) // where a failure would be told
		}
	}
	if err = inv.close(e, rt, err); err == nil && failed.Load() {
		return &lang.ExitError{Code: ExitScript}
	}
	return err
}

// An overdueError says why a script was ended that did not stop. The process must end, because the script still runs.
type overdueError struct{ cause error }

func (e *overdueError) Error() string { return e.cause.Error() }
func (e *overdueError) Unwrap() error { return e.cause }
func (e *overdueError) Code() string  { return diag.Code(e.cause) }
func (e *overdueError) Hint() string {
	return "a builtin or a regular expression did not end by itself, so the process ends without closing its devices"
}
