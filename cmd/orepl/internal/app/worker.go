package app

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/far"
	"github.com/orepl/orepl/plugins/mpi"
	"github.com/orepl/orepl/runtime/job"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote"
	"github.com/orepl/orepl/runtime/remote/socket"
)

// joinTime is the default time in which a worker tries to join a script that does not listen yet.
const joinTime = time.Minute

// runWorker implements orepl worker.
func runWorker(inv *invocation) error {
	listen := inv.flags.String("listen", "tcp:127.0.0.1:0", "where to listen: tcp:HOST:PORT, tls:HOST:PORT with encryption, or unix:`PATH`; port 0 is any free one")
	tokenFile := inv.flags.String("token-file", "", "read the secret token from this `file`; without it, from OREPL_TOKEN or the file in OREPL_TOKEN_FILE, or a new one is made")
	join := inv.flags.String("join", "", "join the script that waits for workers at this `address`: tcp:HOST:PORT, tls:HOST:PORT or unix:PATH; its OREPL_FAR has listen: and the address")
	patience := inv.flags.Duration("wait", joinTime, "with --join, try for this `time` until the script listens")
	stdio := inv.flags.Bool("stdio", false, "serve one client on standard input and output")
	args, err := inv.parse()
	if err != nil {
		return err
	}
	if len(args) > 0 {
		return &usageError{fmt.Sprintf("unexpected argument %q", args[0]), "write: orepl worker --listen tcp:127.0.0.1:0"}
	}
	publish(true)
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
	set := map[string]bool{}
	inv.flags.Visit(func(f *flag.Flag) { set[f.Name] = true })
	switch {
	case set["join"] && set["listen"]:
		return &usageError{"--join and --listen exclude each other", "a worker that joins a script serves that script alone"}
	case set["wait"] && !set["join"]:
		return &usageError{"--wait needs --join", "write: orepl worker --join tcp:127.0.0.1:4711 --wait 1m"}
	case *patience < 0:
		return &usageError{fmt.Sprintf("--wait %v is negative", *patience), "write a time such as 30s, or 0s to try once"}
	case mpi.Launched() && set["listen"]:
		return &usageError{"a worker of an MPI job serves the job alone", "leave --listen out, or start the worker without mpirun"}
	case mpi.Launched() && !set["join"]:
		return mpi.Serve(inv.ctx, plugins...)
	case !set["listen"] && !set["join"]:
		if err := alone(job.Current()); err != nil {
			return err
		}
	}
	option, text := "listen", *listen
	if set["join"] {
		option, text = "join", *join
	}
	address, err := socket.ParseAddress(text)
	if err != nil {
		return &usageError{fmt.Sprintf("--%s: %q is no address", option, text), fmt.Sprintf("write --%s tcp:127.0.0.1:4711, tls:HOST:4711 or unix:/run/user/1000/orepl", option)}
	}
	if address, err = address.WithToken(*tokenFile); err != nil {
		text := err.Error()
		if *tokenFile != "" {
			text = "--token-file: " + text
		}
		return &usageError{text, "a token has 16 characters or more; without one, orepl worker --listen makes it"}
	}
	if set["join"] {
		if err := address.CheckProtected(); err != nil {
			return &usageError{"--join: " + err.Error(), "the script's OREPL_FAR must then have listen:tls:"}
		}
		return inv.joinScript(address, *patience, plugins)
	}
	l, err := socket.Listen(address)
	if err != nil {
		return err
	}
	ctx, cancel := inv.untilSignal()
	defer cancel()
	inv.tellListening(l)
	served := make(chan error, 1)
	go func() {
		served <- l.Serve(ctx, func(err error) { fmt.Fprintln(inv.Stderr, "orepl worker:", err) }, plugins...)
	}()
	return inv.awaitServed(ctx, served)
}

// tellListening says where a worker listens, which token scripts need, and what others in the network can read.
func (inv *invocation) tellListening(l *socket.Listener) {
	if l.Address().CheckProtected() != nil {
		shown := l.Address().Reachable()
		inv.printf(inv.Stderr, "warning: %s is open to other machines, and what it carries is not encrypted: others in the network can read and change data and code\n", shown)
		fmt.Fprintf(inv.Stderr, "hint: write --listen tls:%s for other machines, tcp:127.0.0.1:0 for scripts on this one or at the end of a tunnel\n", shown.Place)
	}
	if !l.Made() {
		fmt.Fprintf(inv.Stderr, "orepl worker: the address is shown without its token, which scripts take from %s, or from the file that %s names\n", socket.TokenVariable, socket.TokenFileVariable)
	}
	fmt.Fprintf(output{inv}, "OREPL_FAR=%s\n", l.Shown())
}

// joinScript serves the script that waits for workers at an address, until the script ends. It tries to reach the script for at
// most the time patience.
func (inv *invocation) joinScript(address socket.Address, patience time.Duration, plugins []offload.Plugin) error {
	ctx, cancel := inv.untilSignal()
	defer cancel()
	conn, err := address.Join(ctx, patience)
	if err != nil {
		if exit := signalled(ctx); exit != nil {
			return exit
		}
		if inv.ctx.Err() != nil {
			return context.Canceled
		}
		var advised *remote.Unreachable
		if errors.As(err, &advised) {
			return diag.New("not-found", "%v", err).WithHint("%s", advised.Hint)
		}
		return err
	}
	fmt.Fprintf(output{inv}, "joined %s\n", address)
	served := make(chan error, 1)
	go func() { served <- remote.Serve(ctx, conn, plugins...) }()
	return inv.awaitServed(ctx, served)
}

// awaitServed waits until a server has ended, but after a signal or Ctrl-C for stopPatience only: the kernel of a client may
// run on.
func (inv *invocation) awaitServed(ctx context.Context, served <-chan error) (err error) {
	select {
	case err = <-served:
	case <-ctx.Done(): // connections are closed, and a socket of the file system is removed
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

// alone returns an error for a worker in a launcher's job that cannot have a script, else nil.
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

// standard combines standard input and output to a stream.
type standard struct {
	io.Reader
	io.Writer
}

// Close closes the reader and the writer where they can be closed. It ignores their errors.
func (s *standard) Close() error {
	for _, f := range []any{s.Reader, s.Writer} {
		if c, ok := f.(io.Closer); ok {
			_ = c.Close()
		}
	}
	return nil
}
