package app

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/orepl/orepl/cmd/orepl/internal/placement"
	"github.com/orepl/orepl/cmd/orepl/internal/status"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/mpi"
	"github.com/orepl/orepl/runtime/job"
)

// launchers are the commands for which runMPI looks. Debian's names identify the MPI; the others are of any MPI.
var launchers = []string{"mpirun.openmpi", "mpirun.mpich", "mpirun", "mpiexec"}

// mpiEndTime is the time after the scripts' end until the launcher is asked to end its job. A launcher that was asked to, as by
// Ctrl-C, is killed after the same time.
const mpiEndTime = 10 * time.Second

// mpiLossTime is the time after a loss until the launcher is asked to end its job. Launchers wait forever for a frozen process.
const mpiLossTime = 2 * time.Second

// mpiGoneTime is the time from the end of all processes, after the loss of one, until a launcher that still runs is killed.
// Open MPI's launcher may wait for a process that has ended.
const mpiGoneTime = 700 * time.Millisecond

// runMPI implements orepl mpirun.
func runMPI(inv *invocation) error {
	workers := inv.flags.Uint("n", 1, "start this `number` of workers besides the script, or of scripts with --spmd")
	spmd := inv.flags.Bool("spmd", false, "run the script in all processes, which exchange data by the module 'mpi', without workers")
	place := inv.mpiPlace()
	launcher := inv.flags.String("launcher", "", "start the job with this `command`; without it, "+strings.Join(launchers, ", ")+": the first that exists")
	limits := inv.limits()
	inv.flags.Bool("leaks", false, "at the end, list on standard error what the script made and did not free")
	inv.timeLine()
	inv.noWarnings()
	args, err := inv.parse()
	if err != nil {
		return err
	}
	if _, err := limits.options(lang.Options{}); err != nil {
		return err
	}
	switch {
	case len(args) == 0:
		return &usageError{"no script", "write: orepl mpirun -n 2 script.js"}
	case *workers == 0:
		return &usageError{"a job without workers has no devices", "write -n 1 or more; orepl run needs no MPI"}
	case mpi.Launched():
		return &usageError{"this process is part of an MPI job already", "write: mpirun -np 1 orepl run script.js : -np 2 orepl worker"}
	case slices.Contains(args, ":"):
		return &usageError{`":" cannot be an argument of a script here`, "launchers of MPI take it for the start of another program"}
	case !isFile(args[0]):
		return &usageError{fmt.Sprintf("there is no file %q", args[0]), "write: orepl mpirun -n 2 script.js"}
	}
	path, flags, err := inv.launcher(*launcher, *spmd)
	if err != nil {
		return err
	}
	if err := place.resolve(int(*workers), *spmd); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	files, err := status.NewFiles()
	if err != nil {
		return err
	}
	defer files.Remove()
	if flags, err = place.flags(flags, inv.Env, *spmd, files); err != nil {
		return err
	}

	// The script is rank 0, which receives the job's standard input.
	scripts, processes, number := 1, 1+int(*workers), strconv.FormatUint(uint64(*workers), 10)
	if *spmd {
		scripts, processes = int(*workers), int(*workers)
	}
	line := append(flags, "-np", strconv.Itoa(scripts), self, "run")
	line = append(append(line, inv.flagsOfRun()...), args...)
	if !*spmd {
		line = append(line, ":", "-np", number, self, "worker")
	}
	ctx, cancel := inv.untilSignal()
	defer cancel()
	watch := status.NewWatch(files.Path)
	running, over := context.WithCancel(context.Background())
	defer over()
	gone := make(chan struct{}) // closed when no process is left that the launcher could end
	go func() {                 // launchers wait for processes that never end, and for some that have ended
		if awaitEnd(ctx, running, watch, scripts, processes, cancel) {
			close(gone)
			cancel()
		}
	}()
	cmd := exec.CommandContext(ctx, path, line...)
	cmd.Env = append(append(slices.Clone(inv.Env), files.Variables(len(place.list) == 0)...), place.variables(*spmd)...)
	if len(place.list) > 0 {
		cmd.Env = append(cmd.Env, status.ConnectVariables(inv.Env)...)
	}
	if !inv.colors(inv.Stdout) { // Open MPI runs the script in a new terminal
		cmd.Env = append(cmd.Env, "NO_COLOR=1")
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inv.Stdin, inv.Stdout, inv.Stderr
	cmd.Cancel = func() error { return endLauncher(running, cmd.Process, gone) }
	cmd.WaitDelay = mpiEndTime
	err = cmd.Run()
	report, killed := watch.Stop()
	if inv.ctx.Err() != nil {
		return context.Canceled
	}
	if err := signalled(ctx); err != nil {
		return err
	}
	how := cmd.ProcessState
	if how != nil && ctx.Err() == nil && !how.Exited() && how.Sys().(syscall.WaitStatus).Signal() != syscall.SIGPIPE { // it may not have passed on all output
		return fmt.Errorf("the launcher %s did not end by itself: %v", path, how)
	}
	return inv.endOfJob(report, killed, scripts, path, err)
}

// endOfJob returns the error of a job that has ended, or an exitError with its exit code, also 0. scripts is the number of its
// scripts, and err the error of its launcher. killed is nil or the first process that ended without a status. MPICH's launcher
// then kills the others, or fails before it has passed on their output.
func (inv *invocation) endOfJob(report status.Report, killed *status.Killed, scripts int, launcher string, err error) error {
	codes := report.Codes
	if len(report.Cut) > 0 && len(codes) < scripts {
		return diag.New("device-lost", "mpi: the launcher cannot reach %s, or the connection to it ended", strings.Join(report.Cut, ", ")).
			WithHint("see what ssh says above; ssh %s true must work here", report.Cut[0])
	}
	if killed != nil && len(codes) == 0 {
		return killed
	}
	if killed != nil && scripts > 1 {
		diag.Print(inv.Stderr, killed, inv.colors(inv.Stderr))
	}
	if len(codes) == scripts || len(codes) > 0 && slices.Max(codes) > 0 {
		return &exitError{slices.Max(codes)}
	}
	if report.Lost {
		return errors.New("the workers have lost the process of the script, which did not end by itself")
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 { // the launcher or the job has reported the reason
		return &exitError{exit.ExitCode()}
	}
	if err == nil {
		err = errors.New("the job ended before the script did")
	}
	return fmt.Errorf("%s: %w", launcher, err)
}

// flagsOfRun returns the flags of this command line that orepl run has as well, in the form --name=value.
func (inv *invocation) flagsOfRun() (list []string) {
	inv.flags.Visit(func(f *flag.Flag) {
		if slices.Contains([]string{"n", "launcher", "spmd", "hosts", "hostfile", "devices-per-rank"}, f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if several, ok := f.Value.(*directories); ok {
			values = *several
		}
		for _, v := range values {
			list = append(list, "--"+f.Name+"="+v)
		}
	})
	return list
}

// launcher returns the path of an MPI launcher and its flags. An empty name selects the first installed one. With report set, the launcher
// lets processes report the loss of another one before they end.
func (inv *invocation) launcher(name string, report bool) (path string, flags []string, err error) {
	if name != "" {
		if path, err = exec.LookPath(name); err != nil {
			return "", nil, &usageError{fmt.Sprintf("there is no launcher %q", name), "name a command such as mpirun.openmpi or mpirun.mpich"}
		}
	}
	for _, name := range launchers {
		if path == "" {
			path, _ = exec.LookPath(name)
		}
	}
	if path == "" {
		return "", nil, &usageError{"no launcher of MPI is on the path", "install Open MPI or MPICH (Debian: openmpi-bin or mpich)"}
	}
	text, err := exec.CommandContext(inv.ctx, path, "--version").CombinedOutput()
	switch {
	case strings.Contains(string(text), "Open MPI") || strings.Contains(string(text), "OpenRTE"):
		// A worker uses all available processors, so it must not be bound to one. With recovery the launcher does not end
		// the job when a worker dies.
		flags = []string{"--oversubscribe", "--bind-to", "none", "--enable-recovery"}
		if os.Geteuid() == 0 {
			flags = append(flags, "--allow-run-as-root")
		}
		return path, flags, nil
	case strings.Contains(string(text), "HYDRA"): // MPICH
		if report {
			flags = []string{"-disable-auto-cleanup"}
		}
		return path, flags, nil
	}
	if err == nil {
		err = fmt.Errorf("it says %q", strings.TrimSpace(strings.SplitN(string(text), "\n", 2)[0]))
	}
	return "", nil, &usageError{fmt.Sprintf("%s is no launcher of Open MPI or MPICH: %v", path, err), "name one with --launcher"}
}

// mpiPlace has the machines on which orepl mpirun starts processes, and their share of accelerators, as its flags say.
type mpiPlace struct {
	hosts, file string
	share       uint
	list        []placement.Host // with the number of processes of each; empty for this machine
}

// mpiPlace defines the flags of the place.
func (inv *invocation) mpiPlace() *mpiPlace {
	var p mpiPlace
	inv.flags.StringVar(&p.hosts, "hosts", "", "start the workers, or the scripts with --spmd, on these machines: `a,b:2` for two processes on b before the next machine's turn")
	inv.flags.StringVar(&p.file, "hostfile", "", "start them on the machines that this `file` lists, one a line: a, b:2 or b slots=2")
	inv.flags.UintVar(&p.share, "devices-per-rank", 0, "show each of them this `number` of the accelerators of its machine, by its place there")
	return &p
}

// resolve sets the list to the machines of n workers, or with spmd of n scripts. Without flags for machines the list stays
// empty. The script of workers runs on this machine.
func (p *mpiPlace) resolve(n int, spmd bool) error {
	var hosts []placement.Host
	var err error
	switch {
	case p.hosts != "" && p.file != "":
		return &usageError{"--hosts and --hostfile exclude each other", "write the machines into the file, or into --hosts a,b"}
	case p.file != "":
		if hosts, err = placement.ReadHosts(p.file); err != nil {
			return &usageError{fmt.Sprintf("--hostfile: %v", err), "a file of one machine per line: a, b:2 or b slots=2"}
		}
	case p.hosts != "":
		if hosts, err = placement.ParseHosts(p.hosts); err != nil {
			return &usageError{fmt.Sprintf("--hosts: %v", err), "write --hosts a,b or --hosts a:2,b:2"}
		}
	default:
		return nil
	}
	p.list = placement.Spread(hosts, n)
	if spmd {
		return nil
	}
	name, err := os.Hostname()
	if err != nil {
		return err
	}
	here := placement.Host{Name: name, Slots: 1}
	if p.list[0].Name == name { // the launcher starts processes in the order of the list
		p.list[0].Slots++
		return nil
	}
	p.list = append([]placement.Host{here}, p.list...)
	return nil
}

// flags returns the launcher's flags with the machines. Open MPI's processes on other machines get the variables of this
// command by name. MPICH's launcher waits for machines that it does not reach, and gets a remote shell that reports them.
func (p *mpiPlace) flags(flags, env []string, spmd bool, files *status.Files) ([]string, error) {
	if len(p.list) == 0 {
		return flags, nil
	}
	machines := placement.List(p.list)
	if !slices.Contains(flags, "--oversubscribe") { // MPICH
		flags = append(flags, "-hosts", machines)
		shell, ok := status.ShellOf(env)
		if !ok {
			return flags, nil
		}
		path, err := files.Shell(shell)
		return append(flags, "-launcher-exec", path), err
	}
	if spmd { // scripts on other machines report their status to the launcher, which drops it with recovery
		flags = slices.DeleteFunc(flags, func(f string) bool { return f == "--enable-recovery" })
	}
	flags = append(flags, "--host", machines, "-x", job.StatusVariable)
	for _, variable := range append(slices.Clone(env), p.variables(spmd)...) {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "OREPL_") && name != job.StatusVariable {
			flags = append(flags, "-x", name)
		}
	}
	return flags, nil
}

// variables returns the environment variables with each process's share of the accelerators, or nil without --devices-per-rank.
func (p *mpiPlace) variables(spmd bool) (list []string) {
	if p.share == 0 {
		return nil
	}
	list = append(list, placement.ShareVariable+"="+strconv.Itoa(int(p.share)))
	if !spmd {
		list = append(list, placement.WorkersVariable+"=1")
	}
	return list
}

// clearScreen moves a terminal's cursor to its beginning and clears what follows.
const clearScreen = "\x1b[H\x1b[J"

// runJobs implements orepl jobs.
func runJobs(inv *invocation) error {
	every := inv.flags.Duration("every", 0, "print the table again after each such `time`, until Ctrl-C")
	args, err := inv.parse()
	if err != nil {
		return err
	}
	switch {
	case len(args) > 0:
		return &usageError{fmt.Sprintf("unexpected argument %q", args[0]), "write: orepl jobs --every 1s"}
	case *every < 0:
		return &usageError{fmt.Sprintf("--every %v is negative", *every), "write a time such as 1s"}
	}
	for {
		if *every > 0 && inv.colors(inv.Stdout) {
			fmt.Fprint(inv.Stdout, clearScreen)
		}
		if err := status.Write(inv.Stdout, status.Processes()); err != nil || *every == 0 {
			return err
		}
		select {
		case <-time.After(*every):
		case <-inv.ctx.Done():
			return nil
		}
	}
}

// awaitEnd waits until the scripts of a job have ended, a process is lost, or ctx ends. In the first two cases cancel is called
// after mpiEndTime or mpiLossTime. running ends with the launcher. The result is true if after a loss all processes have ended,
// and running has not ended mpiGoneTime later.
func awaitEnd(ctx, running context.Context, w *status.Watch, scripts, processes int, cancel func()) bool {
	switch lost, ok := w.Await(ctx, scripts); {
	case lost:
		time.AfterFunc(mpiLossTime, cancel)
		if !w.AwaitEnds(running, processes) {
			return false
		}
		select {
		case <-time.After(mpiGoneTime):
			return true
		case <-running.Done():
		}
	case ok:
		time.AfterFunc(mpiEndTime, cancel)
	}
	return false
}

// endLauncher asks a launcher to end all processes. It kills the launcher once gone is closed, unless running has ended before.
func endLauncher(running context.Context, p *os.Process, gone <-chan struct{}) error {
	go func() {
		select {
		case <-gone:
			_ = p.Kill() // it may have ended
		case <-running.Done():
		}
	}()
	return p.Signal(syscall.SIGTERM)
}
