package mpi

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// Network identifies this process's network.
func Network() any { return network() }

// Yields reports whether MPI's calls yield the core of a host that has connected. Only Open MPI has the variable.
func Yields() (bool, error) {
	if _, err := start(hostRole, nil); err != nil {
		return false, err
	}
	at, err := purego.Dlsym(purego.RTLD_DEFAULT, "opal_progress_yield_when_idle")
	if err != nil {
		return false, err
	}
	return **(**bool)(unsafe.Pointer(&at)), nil
}

// Unread serves streams as a worker that reads the first stream only after the second one has ended.
func Unread() error {
	first := make(chan *stream, 1)
	served := make(chan error, 2)
	w, err := start(workerRole, func(s *stream) {
		if s.at.connection == 0 {
			first <- s
			return
		}
		go func() {
			_, err := io.Copy(s, s)
			_ = s.Close()
			s = <-first
			n, e := io.Copy(io.Discard, s)
			_ = s.Close()
			if err == nil {
				err = e
			}
			if err == nil && n != flood {
				err = fmt.Errorf("%d bytes arrived, want %d", n, flood)
			}
			served <- err
		}()
	})
	if err != nil {
		return err
	}
	return errorOf(w.wait(), <-served)
}

const flood = maxInbox + 64*maxMessage

// Flood fills a stream to a worker, and checks that another stream still works.
func Flood() error {
	w, err := start(hostRole, nil)
	if err != nil {
		return err
	}
	a, err := w.dial(1)
	if err != nil {
		return err
	}
	written := make(chan error, 1)
	go func() {
		data := make([]byte, maxMessage)
		for n := 0; n < flood; n += len(data) {
			if _, err := a.Write(data); err != nil {
				written <- err
				return
			}
		}
		written <- a.Close()
	}()
	time.Sleep(500 * time.Millisecond) // exceeds the worker's buffers
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	echoed := make(chan error, 1)
	go func() {
		b, err := w.dial(1)
		if err != nil {
			echoed <- err
			return
		}
		for range 10 {
			if _, err = b.Write([]byte("are you there?")); err == nil {
				_, err = io.ReadFull(b, make([]byte, 14))
			}
		}
		echoed <- errorOf(err, b.Close())
	}()
	select {
	case err = <-echoed:
	case <-ctx.Done():
		return fmt.Errorf("the second stream stands still while the first one is full")
	}
	return errorOf(err, <-written)
}

func errorOf(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// Driven drives MPI repeatedly. It fails if a step allocates memory or if the process sleeps too often.
func Driven() error {
	w, err := start(hostRole, nil)
	if err != nil {
		return err
	}
	if _, err := w.dial(1); err != nil {
		return err
	}
	for range 20 { // retries, since other threads sleep more often on a busy machine
		if err = drive(w); err == nil {
			return nil
		}
	}
	return err
}

// drive drives MPI for a duration, and checks allocations and context switches.
func drive(w *world) error {
	const duration = 100 * time.Millisecond
	steps := 0
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	sleeps := voluntarySwitches()
	for start := time.Now(); time.Since(start) < duration; steps++ {
		w.tryStep()
	}
	sleeps = voluntarySwitches() - sleeps
	runtime.ReadMemStats(&after)
	if n := after.Mallocs - before.Mallocs; n > uint64(steps/10)+1000 {
		return fmt.Errorf("%d allocations in %d steps", n, steps)
	}
	if err := shared(w, duration); err != nil {
		return err
	}
	if sleeps > 700 { // pauses of 20 µs take 75 µs each, so polling would sleep 1300 times
		return fmt.Errorf("%d sleeps in %v", sleeps, duration)
	}
	return nil
}

func voluntarySwitches() int64 {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // cannot fail
	return u.Nvcsw
}

// shared waits with two goroutines, of which one at a time drives MPI. It fails if the other one spins.
func shared(w *world, duration time.Duration) error {
	start, steps := time.Now(), w.steps.Load()
	var looks atomic.Int64
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			for time.Since(start) < duration {
				w.drive(func() bool { looks.Add(1); return time.Since(start) > duration })
			}
		})
	}
	both.Wait()
	// A call of drive calls done once before its first step.
	if idle := looks.Load() - int64(w.steps.Load()-steps); idle > int64(duration/shortPause+2*duration/driveTime)+100 {
		return fmt.Errorf("two goroutines that wait make %d looks without a step in %v", idle, duration)
	}
	return nil
}

// Quiet uses no device for a while. It fails if the process takes more than a twelfth of that time, as if signs of life were
// messages that others follow.
func Quiet() error {
	p, err := New().Open(context.Background())
	if err != nil {
		return err
	}
	const duration = 2 * time.Second
	var took time.Duration
	for range 5 {
		before := processorTime()
		time.Sleep(duration)
		if took = processorTime() - before; took < duration/12 {
			return p.Close()
		}
	}
	return fmt.Errorf("an idle host takes %v in %v", took, duration)
}

func processorTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // cannot fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
