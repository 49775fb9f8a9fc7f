package app

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/orepl/orepl/plugins/far"
	"github.com/orepl/orepl/plugins/mpi"
	"github.com/orepl/orepl/runtime/job"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote"
)

// tokenBytes is the minimum length of a token: 16 hexadecimal digits are 64 bits.
const tokenBytes = 16

// runWorker implements orepl worker.
func runWorker(inv *invocation) error {
	listen := inv.flags.String("listen", "tcp:127.0.0.1:0", "where to listen: tcp:HOST:PORT or unix:`PATH`; port 0 is any free one")
	tokenFile := inv.flags.String("token-file", "", "read the secret token from this `file`; without it, a new one is made")
	stdio := inv.flags.Bool("stdio", false, "serve one client on standard input and output")
	args, err := inv.parse()
	if err != nil {
		return err
	}
	if len(args) > 0 {
		return &usageError{fmt.Sprintf("unexpected argument %q", args[0]), "write: orepl worker --listen tcp:127.0.0.1:0"}
	}
	collectLess()
	plugins := slices.DeleteFunc(slices.Clone(inv.Plugins), func(p offload.Plugin) bool { return p.Name() == far.Name || p.Name() == mpi.Name })
	if *stdio {
		// The terminal's Ctrl-C also reaches this process, but the script's process decides what ends.
		stream := &standard{inv.Stdin, inv.Stdout}
		if inv.Stdin == io.Reader(os.Stdin) && inv.Stdout == io.Writer(os.Stdout) {
			if stream, err = ownStandard(); err != nil {
				return err
			}
		}
		return remote.Serve(context.WithoutCancel(inv.ctx), stream, plugins...)
	}
	given := false
	inv.flags.Visit(func(f *flag.Flag) { given = given || f.Name == "listen" })
	if mpi.Launched() && given {
		return &usageError{"a worker of an MPI job serves the job alone", "leave --listen out, or start the worker without mpirun"}
	}
	if mpi.Launched() {
		return mpi.Serve(inv.ctx, plugins...)
	}
	if !given {
		if err := alone(job.Current()); err != nil {
			return err
		}
	}
	address, err := remote.ParseAddress(*listen)
	if err != nil {
		return &usageError{fmt.Sprintf("--listen: %q is no address", *listen), "write --listen tcp:127.0.0.1:0 or --listen unix:/run/user/1000/orepl"}
	}
	if *tokenFile != "" {
		data, err := os.ReadFile(*tokenFile)
		if err != nil {
			return &usageError{fmt.Sprintf("--token-file: %v", err), "a file of the token alone, 16 characters or more; without --token-file the worker makes one"}
		}
		address.Token = strings.TrimSpace(string(data))
		if address.Token == "" {
			return &usageError{fmt.Sprintf("--token-file: the file %s has no token", *tokenFile), "a file of the token alone, 16 characters or more; without --token-file the worker makes one"}
		}
	}
	if n := len(address.Token); n > 0 && n < tokenBytes {
		return &usageError{fmt.Sprintf("the token has %d characters; %d are the least", n, tokenBytes), "leave it out: the worker makes one and prints it"}
	}
	l, err := remote.Listen(address)
	if err != nil {
		return err
	}
	ctx, cancel := inv.untilSignal()
	defer cancel()
	fmt.Fprintf(inv.Stdout, "OREPL_FAR=%s\n", l.Address().Secret())
	served := make(chan error, 1)
	go func() {
		served <- l.Serve(ctx, func(err error) { fmt.Fprintln(inv.Stderr, "orepl worker:", err) }, plugins...)
	}()
	select {
	case err = <-served:
	case <-ctx.Done(): // the listener has ended, and its socket is removed; a client's kernel may run on
		select {
		case err = <-served:
		case <-time.After(stopPatience):
		}
	}
	if exit := signalled(ctx); exit != nil {
		return exit
	}
	return err
}

// alone returns an error for a worker in a launcher's job that cannot have a script.
func alone(j job.Job) error {
	const socket = "; with --listen the worker serves at a socket"
	switch {
	case j.Size > 1: // without an interface of MPI
		return &usageError{fmt.Sprintf("srun started %d processes without an interface by which they find each other", j.Size), "write srun --mpi=pmix for Open MPI, srun --mpi=pmi2 for MPICH" + socket}
	case j.Size == 1 && j.Interface != job.None:
		return &usageError{"the launcher started this worker alone: its job has no script", "write mpirun -np 1 orepl run script.js : -np 2 orepl worker, or orepl mpirun -n 2 script.js" + socket}
	}
	return nil
}

// workerGC is GOGC for a worker, whose small heap contains mainly messages.
const workerGC = 400

// collectLess makes collections rare unless GOGC is set, since they take a quarter of the time of short launches.
func collectLess() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(workerGC)
	}
}

// standard combines standard input and output to a stream.
type standard struct {
	io.Reader
	io.Writer
}

// Close closes both.
func (s *standard) Close() error {
	for _, f := range []any{s.Reader, s.Writer} {
		if c, ok := f.(io.Closer); ok {
			_ = c.Close()
		}
	}
	return nil
}
