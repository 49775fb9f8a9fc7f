package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/bench"
	"github.com/orepl/orepl/bindings/bench/load"
	"github.com/orepl/orepl/bindings/bench/record"
	"github.com/orepl/orepl/bindings/bench/suites"
	"github.com/orepl/orepl/cmd/orepl/internal/benchmark"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/disk"
)

// benchRun is a run of orepl bench.
type benchRun struct {
	*invocation
	options *benchmark.Options
	limits  *limitFlags
	run     record.Run
	names   []string // benchmarks that were left out
	refused bool     // settings of a script are invalid
	mutex   sync.Mutex
	files   []string // files that scripts would have written while benchmarks are listed; guarded by mutex
}

// runBench implements orepl bench. After a script fails, its results so far and those of later scripts are still reported.
func runBench(inv *invocation) error {
	b := &benchRun{invocation: inv, options: benchmark.Define(inv.flags)}
	b.limits = inv.limits()
	line := inv.timeLine()
	inv.noWarnings()
	files, err := b.words()
	if err != nil {
		return err
	}
	if err := misuse(b.options.Resolve(inv.flags, inv.env)); err != nil {
		return err
	}
	if len(files) == 0 {
		return misuse(b.options.ShowHistory(inv.Stdout))
	}
	b.run.Version, b.run.Date, b.run.Machine = record.Version, time.Now().Round(time.Second), record.ThisMachine()
	if dir, err := os.Getwd(); err == nil {
		b.run.Commit = record.Commit(dir)
	}
	if err := misuse(b.options.Ready(&b.run)); err != nil {
		return err
	}
	if b.options.Against != "" {
		return b.against(files)
	}
	return inv.traced(*line, func() error {
		meter := load.Begin()
		exit := b.scripts(files)
		b.run.Machine.Others = math.Round(1000*meter.Share()) / 1000
		return b.finish(exit)
	})
}

// against runs the scripts with this program and with that of --against, and reports the comparison.
func (b *benchRun) against(files []string) error {
	self, err := exec.LookPath(os.Args[0]) // a link's name may decide what the program does
	if err != nil {
		if self, err = os.Executable(); err != nil {
			return fmt.Errorf("finding this program: %w", err)
		}
	}
	run, err := b.options.RunAgainst(b.ctx, self, files, b.run.Arguments, b.Env, b.Stderr)
	if err != nil {
		return misuse(err)
	}
	b.run.Files, b.run.Machine = run.Files, run.Machine
	exit := ExitOK
	for _, f := range run.Files {
		if f.Error != "" {
			b.printf(b.Stderr, "%s ended with an error: %s\n", f.Name, f.Error)
			exit = ExitScript
		}
	}
	return b.finish(exit)
}

// words parses flags, which may stand before, between and behind the scripts, and returns the scripts. It sets the arguments of
// the scripts: words that are no scripts, and all that follows "--".
func (b *benchRun) words() ([]string, error) {
	b.run.Arguments = []string{}
	flagged, behind := b.Args, []string(nil)
	if i := slices.Index(b.Args, "--"); i >= 0 {
		flagged, behind = b.Args[:i], b.Args[i+1:]
	}
	var words []string
	for {
		rest, err := b.parseArgs(flagged)
		if err != nil {
			return nil, err
		}
		if len(rest) == 0 {
			break
		}
		words, flagged = append(words, rest[0]), rest[1:]
	}
	files, args := benchmark.Split(words)
	const usage = "write: orepl bench FILE… [-- ARGS…]"
	if len(files) == 0 && b.options.History == "" {
		return nil, &usageError{"the scripts' files are missing", usage}
	}
	for _, f := range files {
		name, suite := strings.CutPrefix(f, benchmark.SuitePrefix)
		if _, known := suites.Script(name); suite && !known {
			return nil, &usageError{fmt.Sprintf("there is no suite %q", name), "the suites are " + strings.Join(suites.Names(), ", ")}
		}
		if err := checkFile(f, usage); err != nil && !suite {
			return nil, err
		}
	}
	b.run.Arguments = append(append(b.run.Arguments, args...), behind...)
	return files, nil
}

// misuse converts a [benchmark.Misuse] to a usage error, and returns any other error unchanged.
func misuse(err error) error {
	var m *benchmark.Misuse
	if errors.As(err, &m) {
		return &usageError{m.Message, m.Hint}
	}
	return err
}

// scripts runs the scripts and returns the exit code of the first one that failed, or ExitOK.
func (b *benchRun) scripts(files []string) int {
	exit := ExitOK
	for _, file := range files {
		b.refused = false
		f, table, err := b.script(file)
		if table != "" && !b.options.List && !b.options.Printed() {
			b.printf(b.Stdout, "%s\n%s\n", file, table)
		}
		var status *lang.ExitError
		if errors.As(err, &status) && status.Code == 0 { // the script chose to end
			err = nil
		}
		if err != nil {
			f.Error = err.Error()
			code := b.invocation.finish(err)
			if b.refused && code == ExitScript {
				code = ExitUsage
			}
			if exit == ExitOK {
				exit = code
			}
		}
		b.run.Files = append(b.run.Files, f)
		if b.ctx.Err() != nil {
			break
		}
	}
	return exit
}

// finish reports the run, or with --list prints the names of its benchmarks. The exit code of a script takes precedence over
// those of results.
func (b *benchRun) finish(exit int) error {
	if b.options.List {
		for _, name := range b.names {
			b.printf(b.Stdout, "%s\n", name)
		}
		if len(b.files) > 0 {
			b.printf(b.Stderr, "--list writes no files; the scripts would write %s\n", strings.Join(b.files, ", "))
		}
		if exit != ExitOK {
			return &exitError{exit}
		}
		return nil
	}
	if len(b.run.Results()) == 0 && exit == ExitOK {
		if len(b.names) > 0 {
			return &usageError{fmt.Sprintf("no benchmark matches the filter %q", b.options.Filter), "orepl bench --list FILE prints the names"}
		}
		return &usageError{"the script measures nothing", "call bench of module 'bench'"}
	}
	passed, err := b.options.Finish(&b.run, b.Stdout, b.Stderr)
	switch {
	case exit != ExitOK:
		if err != nil {
			b.invocation.finish(misuse(err))
		}
		return &exitError{exit}
	case err != nil:
		return misuse(err)
	case !passed:
		return &exitError{ExitThresholds}
	}
	return nil
}

// script runs a script and returns its results and their table, even if the script failed later.
func (b *benchRun) script(path string) (record.File, string, error) {
	f := record.File{Name: path, Results: []record.Result{}}
	opts, err := b.limits.options(lang.Options{Args: b.run.Arguments})
	if err != nil {
		return f, "", err
	}
	if b.options.List {
		opts.Policy = b.listing(opts.Policy)
	}
	rt := b.open()
	system := *b.invocation
	if b.options.Printed() || b.options.List {
		system.Stdout = b.Stderr
	}
	e, err := system.engine(rt, opts)
	if err != nil {
		return f, "", err
	}
	progress := &benchmark.Progress{Out: b.Stderr, On: isTerminal(b.Stderr)}
	table := ""
	err = e.Do(b.ctx, func(*goja.Runtime) error {
		return errors.Join(bench.Watch(e, progress.Report), bench.Override(e, b.options.Overrides()),
			bench.Check(e, func() error { return b.adopt(e) }))
	})
	if err == nil {
		if name, suite := strings.CutPrefix(path, benchmark.SuitePrefix); suite {
			text, _ := suites.Script(name) // words has checked it
			_, err = e.Run(b.ctx, path+".js", text)
		} else {
			_, err = e.RunFile(b.ctx, path)
		}
		progress.Clear()
		if readErr := e.Do(context.Background(), func(*goja.Runtime) (err error) {
			table, err = b.read(e, &f)
			return err
		}); err == nil {
			err = readErr
		}
		b.describe(rt, f.Results)
	}
	return f, table, b.close(e, rt, err)
}

// listing returns the policy for --list, which has no results to write. Files that p lets a script write are left out, and
// listing collects their paths in b.files.
func (b *benchRun) listing(p lang.Policy) lang.Policy {
	all := lang.AllowAll
	if p.Read == nil && p.Write == nil { // the function for writes alone must not forbid programs and native code
		if p.Run == nil {
			p.Run = all.Run
		}
		if p.Native == nil {
			p.Native = all.Native
		}
	}
	allow := p.Write
	if allow == nil {
		allow = all.Write
	}
	p.Write = func(path string) error {
		if err := allow(path); err != nil {
			return err
		}
		if dir, err := os.Getwd(); err == nil {
			if below, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(below) {
				path = below
			}
		}
		b.mutex.Lock()
		defer b.mutex.Unlock()
		if !slices.Contains(b.files, path) {
			b.files = append(b.files, path)
		}
		return disk.ErrLeaveOut
	}
	return p
}

// read reads the results of an engine after its script ended or was interrupted. It returns their table, or "" without results,
// and adds the benchmarks that were left out to b.names.
func (b *benchRun) read(e *lang.Engine, f *record.File) (table string, err error) {
	list, table, err := bench.Results(e)
	if err != nil {
		return "", err
	}
	if err := json.Unmarshal(list, &f.Results); err != nil {
		return "", fmt.Errorf("reading results: %w", err)
	}
	names, err := bench.Skipped(e)
	b.names = append(b.names, names...)
	if len(f.Results) == 0 {
		table = ""
	}
	return table, err
}

// adopt checks the settings that a script configured and takes them over. It returns an error if the script may not read or
// write their files.
func (b *benchRun) adopt(e *lang.Engine) error {
	var script benchmark.Options
	if err := bench.Settings(e, &script); err != nil {
		return diag.New("invalid-argument", "configure: a setting has a value of the wrong type").WithHint("see help('BenchSettings')")
	}
	write, read := script.Paths()
	if b.options.List {
		write = nil
	}
	for _, path := range write {
		if _, err := e.WritePath(path); err != nil {
			return err
		}
	}
	if read != "" {
		if _, err := e.ReadPath(read); err != nil {
			return err
		}
	}
	err := b.options.Adopt(script, &b.run)
	var m *benchmark.Misuse
	if errors.As(err, &m) {
		b.refused = true
		return diag.New("invalid-argument", "configure: %s", m.Message).WithHint("%s", m.Hint)
	}
	return err
}

// describe adds the devices of results to the description of the machine.
func (b *benchRun) describe(rt *orepl.Runtime, results []record.Result) {
	m := &b.run.Machine
	for _, r := range results {
		if r.Device == "" || slices.ContainsFunc(m.Devices, func(d record.Device) bool { return d.ID == r.Device }) {
			continue
		}
		d, err := rt.Session().Device(context.Background(), r.Device)
		if err != nil { // a device that is lost has no description
			continue
		}
		info, platform := d.Info(), d.Platform()
		m.Devices = append(m.Devices, record.Device{ID: d.ID(), Name: info.Name, Arch: info.Arch, Platform: platform.Name + " " + platform.Version,
			ComputeUnits: info.ComputeUnits, MemoryBytes: uint64(info.MemoryBytes)})
	}
}
