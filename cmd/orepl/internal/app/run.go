package app

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/cmd/orepl/internal/tuning"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/runtime/recording"
	"github.com/orepl/orepl/runtime/session"
	"github.com/orepl/orepl/runtime/trace"
)

// runScript implements orepl run.
func runScript(inv *invocation) error {
	limits := inv.limits()
	isolated := inv.flags.Bool("isolate", false, "run the script in a process of its own, so that nothing it does can harm this one")
	watch := inv.flags.Bool("watch", false, "run the script again when it, an import or a file that it reads changes")
	leaks := inv.flags.Bool("leaks", false, "at the end, list on standard error what the script made and did not free")
	line := inv.timeLine()
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
	opts, err := limits.options(lang.Options{Args: args[1:], Stdin: inv.Stdin})
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
	case *line != "" && (*watch || *isolated):
		return &usageError{"--trace writes the time line of one run in this process", "leave --watch and --isolate out"}
	case *watch && *isolated:
		return &usageError{"--watch does not see what an isolated script reads", "leave --isolate out"}
	case *watch:
		return inv.watch(args[0], opts, run)
	}
	return inv.traced(*line, func() error { return run(inv, opts) })
}

// checkFile returns a usage error for a missing file, else nil. Its hint is a similar name or usage.
func checkFile(name, usage string) error {
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	entries, _ := os.ReadDir(filepath.Dir(name)) // an unreadable folder has no similar names
	names := make([]string, len(entries))
	for i := range entries {
		names[i] = entries[i].Name()
	}
	if near := spelling.Nearest(filepath.Base(name), names); near != "" {
		usage = fmt.Sprintf("did you mean %s?", filepath.Join(filepath.Dir(name), near))
	}
	return &usageError{fmt.Sprintf("there is no file %q", name), usage}
}

// script runs a file in this process, and reports leaks if leaks is set. It prints background errors immediately, and then
// returns an error at the script's end.
func (inv *invocation) script(path string, opts lang.Options, leaks bool) error {
	rt := inv.open()
	overdue := make(chan error, 1)
	opts.OnOverdue = func(cause error) { overdue <- cause }
	var e *lang.Engine // set before any background error
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
	case cause := <-overdue: // engine and devices cannot be closed while the script runs
		return &overdueError{cause}
	}
	if leaks {
		if live := rt.Session().Live(); len(live) > 0 {
			_ = session.WriteObjects(inv.Stderr, live) // a failed write cannot be reported
		}
	}
	if err = inv.close(e, rt, err); err == nil && failed.Load() {
		return &lang.ExitError{Code: ExitScript}
	}
	return err
}

// overdueError is the reason why a script that did not stop was abandoned. The process must exit, since the script still
// runs.
type overdueError struct{ cause error }

func (e *overdueError) Error() string { return e.cause.Error() }
func (e *overdueError) Unwrap() error { return e.cause }
func (e *overdueError) Code() string  { return diag.Code(e.cause) }
func (e *overdueError) Hint() string {
	return "a builtin or a regular expression did not end by itself, so the process ends without closing its devices"
}

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
		if inv.trace.Full() {
			inv.printf(inv.Stderr, "warning: the time line in %s ends at 4 GiB, and later commands are missing: trace a shorter run\n", name)
		}
		if failure := errors.Join(inv.trace.Close(), f.Close()); failure != nil && err == nil {
			err = fmt.Errorf("writing %s: %w", name, failure)
		}
	}()
	return run()
}

// runTrace implements orepl trace.
func runTrace(inv *invocation) error {
	args, err := inv.parseMixed()
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

// runs is the number of timed runs of orepl replay --time.
const runs = 20

// runReplay implements orepl replay.
func runReplay(inv *invocation) error {
	device := inv.flags.String("device", "", "run all commands on the device with this `id`")
	verify := inv.flags.Bool("verify", false, "compare the contents of all buffers with the recorded ones, bit by bit; exit with status 1 if they differ")
	timed := inv.flags.Bool("time", false, fmt.Sprintf("run the commands %d times, and print how long they take", runs))
	tune := inv.flags.Bool("tune", false, "find the fastest group size of each launch whose results do not depend on it; the buffers must keep the recorded bits")
	output := inv.flags.String("json", "", "write what --tune found to this `file`; - is standard output")
	native := inv.flags.Bool("native", false, "run images of native code that the recording holds; it can do whatever this program may")
	args, err := inv.parseMixed()
	if err != nil {
		return err
	}
	const usage = "write: orepl replay [--device ID] [--verify] [--time] [--tune [--json FILE]] FILE"
	if len(args) != 1 {
		return &usageError{"orepl replay needs one file", usage}
	}
	if *output != "" && !*tune {
		return &usageError{"--json writes what --tune finds", usage}
	}
	if err := checkFile(args[0], usage); err != nil {
		return err
	}
	in, err := os.Open(args[0])
	if err != nil {
		return &usageError{fmt.Sprintf("%s cannot be read: %v", args[0], errors.Unwrap(err)), ""}
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	f, err := recording.Read(in, info.Size())
	if err != nil {
		return err
	}
	rt := inv.open()
	defer rt.Close()
	r, err := f.Open(inv.ctx, rt.Session(), recording.Options{Device: *device, Native: *native})
	if err != nil {
		return err
	}
	defer r.Close(inv.ctx)
	stdout := inv.Stdout
	if *tune && *output == "-" {
		inv.Stdout = inv.Stderr // the tables
	}
	if err := inv.replay(f, r, *verify, *timed); err != nil || !*tune {
		return err
	}
	return inv.tune(r, *output, stdout)
}

// tune prints the fastest group sizes of a recording's launches. It writes them as JSON to file, or to stdout for "-", or
// nowhere for "". If buffers differ from the recorded ones, it prints the differences and returns an exitError.
func (inv *invocation) tune(r *recording.Replay, file string, stdout io.Writer) error {
	found, err := tuning.Run(inv.ctx, r)
	var differs *tuning.Differs
	if errors.As(err, &differs) {
		for _, d := range differs.List {
			inv.printf(inv.Stdout, "%s\n", d)
		}
		return &exitError{ExitFailed}
	}
	if err != nil {
		return err
	}
	inv.printf(inv.Stdout, "%s%d buffers have the recorded bits with each group size\n", found, found.Checked)
	if file == "" {
		return nil
	}
	text, err := found.JSON()
	if err != nil {
		return err
	}
	if file == "-" {
		_, err = stdout.Write(text)
		return err
	}
	if err := os.WriteFile(file, text, 0o666); err != nil {
		return &usageError{fmt.Sprintf("%s cannot be written: %v", file, errors.Unwrap(err)), ""}
	}
	return nil
}

// replay runs a recording and prints its devices. With verify it then compares buffers, and returns an exitError if they
// differ. With timed it prints the times of further runs.
func (inv *invocation) replay(f *recording.File, r *recording.Replay, verify, timed bool) error {
	run := func() (time.Duration, error) {
		if err := r.Restore(inv.ctx); err != nil {
			return 0, err
		}
		return r.Run(inv.ctx)
	}
	if _, err := run(); err != nil {
		return err
	}
	inv.printf(inv.Stdout, "replayed %d commands of %s on %s\n", r.Commands(), strings.Join(f.Devices(), ", "), strings.Join(r.Devices(), ", "))
	if verify {
		checked, differ, err := r.Verify(inv.ctx)
		if err != nil {
			return err
		}
		for _, d := range differ {
			inv.printf(inv.Stdout, "%s\n", d)
		}
		if len(differ) > 0 {
			return &exitError{ExitFailed}
		}
		inv.printf(inv.Stdout, "%d buffers have the recorded bits\n", checked)
	}
	if !timed {
		return nil
	}
	var times []time.Duration
	for range runs {
		t, err := run()
		if err != nil {
			return err
		}
		times = append(times, t)
	}
	slices.Sort(times)
	inv.printf(inv.Stdout, "median %v, least %v, of %d runs\n", times[runs/2], times[0], runs)
	return nil
}
