package far

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

// Mishap is a kind of injected fault.
type Mishap int

// The mishaps.
const (
	DeviceLost Mishap = iota // all devices are lost
	Once                     // the call fails; later ones succeed
	Always                   // the call fails, and so do all later ones of its kind
	Late                     // like Once, but a command is accepted and fails when it runs
)

// String returns the mishap's name.
func (m Mishap) String() string { return [...]string{"lost", "once", "always", "late"}[m] }

// The kinds of calls that a [Loss] counts.
const (
	callAllocate   = "allocate"
	callLoad       = "load"
	callNewQueue   = "create queue"
	callCommand    = "command"
	callRecord     = "record"
	callRegister   = "register library"
	callUnregister = "unregister library"
)

// Loss injects a fault at one numbered call: the devices are lost, or the call fails. Calls are commands, allocations, loads,
// new queues, recorded events and hooks. Loss also counts live objects. A nil Loss injects nothing.
type Loss struct {
	// Delay bounds a random delay before each command. It must be set before the device is used.
	Delay time.Duration

	at   int // number of the call, from 1; 0: only Lose loses the devices
	how  Mishap
	lost chan struct{}

	mu     sync.Mutex
	count  int
	kind   string // kind of the failing call
	queues []*queue
	live   map[any]string // description of each live object
	wrong  []string       // descriptions of objects that were ended without being alive
}

// NewLoss returns a Loss that loses the devices at call number at, from 1; 0 means that only Lose loses them.
func NewLoss(at int) *Loss { return NewMishap(at, DeviceLost) }

// NewMishap returns a Loss that injects the fault at call number at, from 1; 0 means never.
func NewMishap(at int, how Mishap) *Loss {
	return &Loss{at: at, how: how, lost: make(chan struct{}), live: map[any]string{}}
}

// WrapLossy is [Wrap] with faults of l. The platform implements library hooks.
func WrapLossy(name string, p offload.Plugin, l *Loss) offload.Plugin { return plugin{p, name, l} }

// Calls returns the number of calls so far, or 0 for a nil Loss.
func (l *Loss) Calls() int {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

// Kind returns the kind of the call that failed, or "".
func (l *Loss) Kind() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kind
}

// Leaks returns descriptions of live objects and of objects that were ended twice.
func (l *Loss) Leaks() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := slices.Clone(l.wrong)
	for _, what := range l.live {
		list = append(list, what+" is alive")
	}
	return list
}

// made adds a live object.
func (l *Loss) made(object any, what string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.live[object] = what
}

// end removes a live object. An object that is not alive is recorded as ended twice.
func (l *Loss) end(object any) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.live[object]; !ok {
		l.wrong = append(l.wrong, fmt.Sprintf("%T was ended twice", object))
	}
	delete(l.live, object)
}

// Lose loses the devices. Later calls do nothing.
func (l *Loss) Lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lose()
}

// lose marks the devices as lost, and cancels the outstanding commands on separate goroutines. The caller holds l.mu.
func (l *Loss) lose() {
	if l.isLost() {
		return
	}
	close(l.lost)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, q := range l.queues {
		if q.near.Idle() {
			continue
		}
		q.cut.Store(true)
		go func() { _ = q.near.Sync(ended) }() // callers receive the error of the lost device instead
	}
}

func (l *Loss) add(q *queue) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queues = append(l.queues, q)
}

func (l *Loss) isLost() bool {
	select {
	case <-l.lost:
		return true
	default:
		return false
	}
}

func lostError() error {
	return offload.Errorf(offload.DeviceLost, "command", "the far process is gone")
}

// step counts a call and returns its error. late reports that the error is the command's, at its execution.
func (l *Loss) step(kind string) (late bool, err error) {
	if l == nil {
		return false, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	met := l.count == l.at
	if met {
		l.kind = kind
	}
	switch l.how {
	case DeviceLost:
		if met {
			l.lose()
		}
		if l.isLost() {
			return false, lostError()
		}
		return false, nil
	case Always:
		met = met || l.kind == kind
	}
	switch {
	case !met:
		return false, nil
	case kind == callAllocate:
		return false, offload.Errorf(offload.OutOfResources, kind, "the far device has no memory left")
	}
	return l.how == Late && kind == callCommand, offload.Errorf(offload.BackendFailure, kind, "the far device failed")
}

// delay blocks a queue for a random time below l.Delay, or until the device is lost if that is earlier.
func (l *Loss) delay(q *queue) error {
	if l == nil || l.Delay <= 0 {
		return nil
	}
	d := rand.N(l.Delay)
	return moved(q.near.Host(func() error {
		select {
		case <-time.After(d):
		case <-l.lost:
		}
		return nil
	}))
}

// refusal counts a call that is not a command, and returns its error.
func (l *Loss) refusal(kind string) error {
	_, err := l.step(kind)
	return err
}

// settled replaces the cancellation of a lost device's command by a DeviceLost error. It returns other errors unchanged.
func (l *Loss) settled(err error) error {
	if l == nil || !l.isLost() || offload.CodeOf(err) != offload.Cancelled {
		return err
	}
	return lostError()
}

// succeeded drops the cancellation of a lost device's command: ending an object of a lost device succeeds.
func (l *Loss) succeeded(err error) error {
	if l != nil && l.isLost() && offload.CodeOf(err) == offload.Cancelled {
		return nil
	}
	return err
}

// lossyDevice implements [offload.Losable].
type lossyDevice struct{ *device }

func (d *lossyDevice) Lost() <-chan struct{} { return d.loss.lost }
func (d *lossyDevice) LostError() error      { return lostError() }

// lossyPlatform implements [offload.LibraryHooks].
type lossyPlatform struct {
	*platform
	loss *Loss
}

func (p *lossyPlatform) RegisterLibrary(ctx context.Context, lib *offload.Library) error {
	if err := p.loss.refusal(callRegister); err != nil {
		return err
	}
	if h, ok := p.near.(offload.LibraryHooks); ok {
		if err := h.RegisterLibrary(ctx, lib); err != nil {
			return moved(err)
		}
	}
	p.loss.made(lib, "registration of library "+lib.Label)
	return nil
}

func (p *lossyPlatform) UnregisterLibrary(ctx context.Context, lib *offload.Library) error {
	p.loss.end(lib)
	err := p.loss.refusal(callUnregister)
	if h, ok := p.near.(offload.LibraryHooks); ok {
		if failed := h.UnregisterLibrary(ctx, lib); failed != nil && err == nil {
			err = moved(failed)
		}
	}
	if offload.CodeOf(err) == offload.DeviceLost {
		return nil
	}
	return err
}
