// Package lanetest simulates an asynchronous device for tests of package queue. Its goroutines execute commands on memory of
// this process after random delays, and report their ends in random order. It checks that the queue obeys the rules of lanes.
package lanetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

// Options are the options of a device.
type Options struct {
	Workers int           // goroutines that execute commands; 0: 4
	Window  int           // maximum number of commands in flight for each queue; 0: 8
	Delay   time.Duration // maximum delay before a command executes or is reported; 0: none
	Seed    uint64
}

// Device executes the commands of its queues.
type Device struct {
	opts  Options
	clock queue.Clock
	ended sync.WaitGroup

	flushed func() // is called at the end of Flush; nil: nothing

	mu     sync.Mutex
	wake   *sync.Cond
	rng    *rand.Rand
	lanes  []*lane
	queues []*queue.Queue
	lost   error
	closed bool

	reports    sync.Mutex
	violations []string
}

// New returns a device. Its goroutines end with Close.
func New(opts Options) *Device {
	if opts.Workers == 0 {
		opts.Workers = 4
	}
	if opts.Window == 0 {
		opts.Window = 8
	}
	d := &Device{opts: opts, clock: queue.NewClock(), rng: rand.New(rand.NewPCG(opts.Seed, 1))}
	d.wake = sync.NewCond(&d.mu)
	for i := range opts.Workers + 1 {
		d.ended.Add(1)
		go d.work(i > 0)
	}
	return d
}

// NewQueue returns a queue on the device.
func (d *Device) NewQueue(label string) *queue.Queue {
	l := &lane{device: d, changed: make(chan struct{})}
	q := queue.NewOnLane(l, queue.Options{Label: label, Device: "test", Clock: d.clock})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lanes = append(d.lanes, l)
	d.queues = append(d.queues, q)
	return q
}

// Memory is a block of memory of the device.
type Memory struct {
	device *Device
	Data   []byte
}

// NewMemory returns memory of n bytes.
func (d *Device) NewMemory(n int) *Memory { return &Memory{d, make([]byte, n)} }

// Size implements [offload.Memory].
func (m *Memory) Size() int64 { return int64(len(m.Data)) }

// Kind implements [offload.Memory].
func (m *Memory) Kind() offload.MemoryKind { return offload.DeviceMemory }

// Bytes implements [offload.Memory].
func (m *Memory) Bytes() []byte { return nil }

// Free implements [offload.Memory].
func (m *Memory) Free() error { return nil }

// Kernel is a Go function as a kernel.
type Kernel struct {
	Name   string
	Do     func(stop func() bool) error // returns [queue.ErrStopped] if it ends because stop returns true
	Refuse error                        // error of Begin
	Calls  bool                         // the kernel's info lists a service
}

// Info implements [offload.Kernel].
func (k *Kernel) Info() *offload.KernelInfo {
	info := &offload.KernelInfo{Name: k.Name}
	if k.Calls {
		info.Services = []string{"service"}
	}
	return info
}

type launch struct{ kernel *Kernel }

func (l *launch) Set(o *offload.Launch) error {
	k, ok := o.Kernel.(*Kernel)
	if !ok {
		return offload.Errorf(offload.InvalidDevice, "launch", "the kernel is of another device")
	}
	l.kernel = k
	return nil
}

func (l *launch) Clear() { l.kernel = nil }

// Lose loses the device: commands that have not executed fail with err.
func (d *Device) Lose(err error) {
	d.mu.Lock()
	d.lost = err
	for _, l := range d.lanes {
		for _, e := range l.flying {
			e.stop.Store(true)
		}
	}
	queues := slices.Clone(d.queues)
	d.mu.Unlock()
	d.wake.Broadcast()
	for _, q := range queues {
		q.Lose(err)
	}
}

// Close ends the goroutines. It returns violations of the rules of lanes by the queues.
func (d *Device) Close() []string {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.wake.Broadcast()
	d.ended.Wait()
	return d.violations
}

// random returns a number below n. The caller holds d.mu.
func (d *Device) random(n int) int { return d.rng.IntN(n) }

// violated records a violation of the rules, if fewer than 100 are recorded.
func (d *Device) violated(format string, args ...any) {
	d.reports.Lock()
	defer d.reports.Unlock()
	if len(d.violations) < 100 {
		d.violations = append(d.violations, fmt.Sprintf(format, args...))
	}
}

func (d *Device) remove(l *lane) {
	d.lanes = slices.DeleteFunc(d.lanes, func(o *lane) bool { return o == l })
}

// work executes commands of random lanes and reports their ends until Close. One goroutine only reports, since all others may
// execute endless commands.
func (d *Device) work(executes bool) {
	defer d.ended.Done()
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		l, report := d.choose(executes)
		if l == nil {
			if d.closed {
				return
			}
			d.wake.Wait()
			continue
		}
		if report {
			l.report()
		} else {
			l.execute()
		}
		if d.opts.Delay > 0 && d.random(4) == 0 {
			delay := time.Duration(d.random(int(d.opts.Delay)))
			d.mu.Unlock()
			time.Sleep(delay)
			d.mu.Lock()
		}
		d.wake.Broadcast()
	}
}

// choose returns a random lane that has something to do, or nil. The result report states whether to report an executed command or to
// execute one, which it chooses only if executes is set.
func (d *Device) choose(executes bool) (l *lane, report bool) {
	if len(d.lanes) == 0 {
		return nil, false
	}
	first := d.random(len(d.lanes))
	for i := range d.lanes {
		l := d.lanes[(first+i)%len(d.lanes)]
		execute, report := executes && !l.running && l.executed < l.flushed, l.unreported()
		if execute && report {
			return l, d.random(2) == 0
		}
		if execute || report {
			return l, report
		}
	}
	return nil, false
}
