// Package mpi is the plugin for devices of other processes in an MPI job. The launcher starts workers and a host together:
//
//	mpirun -np 2 orepl worker : -np 1 orepl run script.js
//
// The host's devices are mpi:0/cpu:0, mpi:1/cpu:0 and so on, by the worker's rank. The library, Open MPI or MPICH, is found
// at run time, and only in processes that a launcher started. docs/mpi.md is the manual; package remote has the protocol.
//
// # Progress
//
// One goroutine at a time calls MPI: a goroutine that waits for a message, or one that sends. If there is none, a background
// goroutine polls for messages. Its pauses grow to a millisecond, since a job may have more processes than cores. After five seconds
// without messages they are 10 ms, or 250 ms if the other processes can wake this one. While another goroutine drives MPI, it
// looks once per millisecond, since each wake-up delays that goroutine by tens of microseconds. The driving goroutine handles the
// short messages of other streams, too, whose goroutines need not wake up. It stops early where processes outnumber cores, and looks
// for longer while a script waits for a message.
//
// # Loss
//
// MPI does not report the death of a process: a send to it never ends. Heartbeats between hosts and workers detect it (package heartbeat).
//
// # Design
//
// The plugin carries byte streams, since the protocol of package remote is tested over any stream without MPI.
//
// Every process initializes MPI and finalizes it, because launchers take an exit without that for a crash.
//
// TCP connections detect deaths: with Open MPI's recovery a send to a dead process reports success.
//
// A goroutine that waits sleeps while another one drives MPI, since on small machines the worker needs the core. A stream
// sends in every step of MPI and has no goroutine that writes.
//
// Collectives of scripts do not call those of MPI, which need memory of the process and never end when a rank died.
package mpi

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/runtime/job"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote"
)

// Name is the plugin's name.
const Name = "mpi"

// Launched reports whether an MPI launcher started this process as part of a job with several.
func Launched() bool { j := job.Current(); return j.Interface != job.None && j.Size > 1 }

// apart reports whether srun started this process as one of several that cannot find each other.
func apart() bool { j := job.Current(); return j.Interface == job.None && j.Size > 1 }

// New returns the plugin.
func New() offload.Plugin { return plugin{remote.NewCluster(Name, workers)} }

type plugin struct{ offload.Plugin }

// Unconfigured returns instructions for starting a job, or "" if a launcher or srun started this process with others.
func (plugin) Unconfigured() string {
	if Launched() || apart() {
		return ""
	}
	return "mpi has devices in a job of MPI: start it with orepl mpirun -n 2 script.js, or as docs/mpi.md shows"
}

// Leave implements [offload.Member].
func (plugin) Leave() error { return Finish() }

// Open implements [offload.Plugin]. In a job of several scripts without workers, it returns a platform without devices.
func (p plugin) Open(ctx context.Context) (offload.Platform, error) {
	if Launched() {
		if w, err := start(hostRole, nil); err == nil && len(w.scripts.hosts) > 1 && !slices.Contains(w.roles, workerRole) {
			return nowhere{}, nil
		}
	}
	return p.Plugin.Open(ctx)
}

// nowhere is a platform without devices.
type nowhere struct{}

func (nowhere) Info() offload.PlatformInfo { return offload.PlatformInfo{} }
func (nowhere) Devices() []offload.Device  { return nil }
func (nowhere) CheckImage(*offload.Image) error {
	return offload.Errorf(offload.NotFound, "load", "the job has no workers").On(Name, "")
}
func (nowhere) Close() error { return nil }

// workers returns the workers of the job. It initializes MPI.
func workers(context.Context) (peers []remote.Peer, err error) {
	if apart() {
		return nil, offload.Errorf(offload.NotFound, "open", "srun started %d processes without an interface by which they find each other", job.Current().Size).On(Name, "").
			WithHint("write srun --mpi=pmix for Open MPI, srun --mpi=pmi2 for MPICH")
	}
	if !Launched() {
		return nil, offload.Errorf(offload.NotFound, "open", "no MPI launcher started this process").On(Name, "").
			WithHint("write: mpirun -np 2 orepl worker : -np 1 orepl run script.js")
	}
	w, err := start(hostRole, nil)
	if err != nil {
		e := offload.Errorf(offload.NotFound, "open", "MPI cannot be used").On(Name, "")
		e.Err = err
		return nil, e
	}
	for rank, role := range w.roles {
		if role == workerRole {
			peers = append(peers, remote.Peer{Name: strconv.Itoa(rank), Dial: func(context.Context) (io.ReadWriteCloser, error) { return w.dial(rank) }})
		}
	}
	if len(peers) == 0 {
		return nil, offload.Errorf(offload.NotFound, "open", "none of the %d processes of the MPI job is a worker", len(w.roles)).On(Name, "").
			WithHint("write: mpirun -np 2 orepl worker : -np 1 orepl run script.js")
	}
	return peers, nil
}

// Serve runs this process as a worker, which serves the devices of plugins to the job's hosts until all of them have left. If ctx ends
// first, it returns the cause. A job without hosts is an error.
func Serve(ctx context.Context, plugins ...offload.Plugin) error {
	var serving sync.WaitGroup
	w, err := start(workerRole, func(s *stream) {
		serving.Go(func() {
			server := remote.Server{Plugins: plugins, Address: strconv.Itoa(s.world.lib.Rank), DialPeer: s.world.dialPeer, LosePeer: s.world.losePeer}
			if err := server.Serve(ctx, s); err != nil && ctx.Err() == nil && (s.world.roles[s.at.rank] == hostRole || s.world.lostError(s.at.rank) == nil) {
				fmt.Fprintf(os.Stderr, "orepl worker, rank %d: %v\n", s.world.lib.Rank, err)
			}
			_ = s.Close()
		})
	})
	if err != nil {
		if broke.Load() {
			time.Sleep(brokenPause)
		}
		return err
	}
	if !slices.Contains(w.roles, hostRole) {
		_ = w.wait()
		return fmt.Errorf("none of the %d processes of the MPI job is a script: write mpirun -np 1 orepl run script.js : -np 2 orepl worker", len(w.roles))
	}
	left := make(chan error, 1)
	go func() {
		err := w.wait()
		serving.Wait()
		left <- err
	}()
	select {
	case err := <-left:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Lost reports whether this host has lost a process of its job, or could not begin because of another process.
func Lost() bool {
	return Launched() && (broke.Load() || started != nil && started.losses.Load() > 0)
}

var delegated atomic.Bool

// Delegate leaves this process's part in the job to a process that it starts. Afterwards Finish does nothing.
func Delegate() { delegated.Store(true) }

// Finish ends this host's part in an MPI job, which also ends the workers. A host that used no device still initializes and
// finalizes MPI, since the other processes wait for it. Finish does nothing without a launcher, in a worker and after Delegate.
func Finish() error {
	if !Launched() || delegated.Load() || startRole == workerRole {
		return nil
	}
	w, err := start(hostRole, nil)
	if err != nil {
		return err
	}
	return w.leave()
}
