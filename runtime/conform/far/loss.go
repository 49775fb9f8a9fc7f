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

// Mishap is an injected fault at a call of a plugin's devices.
type Mishap int

// The mishaps.
const (
	DeviceLost Mishap = iota // all devices are lost
	Once                     // the call fails; later ones succeed
	Always                   // the call fails, and so do all later ones of its kind
	Late                     // as Once, but a command is accepted and fails when it runs
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

// Loss injects a fault at the call with a number: the devices are lost, or the call fails. Calls are commands,
// allocations, loads, new queues, recorded events and hooks. It counts live objects. Its methods may be called on nil,
// without a fault.
type Loss struct {
	// Delay, if it is set before the device is used, bounds a random time that passes before each command runs.
	Delay time.Duration

	at   int // number of the call, from 1; 0: at a call of Lose only
	how  Mishap
	lost chan struct{}

	mu     sync.Mutex
	count  int
	kind   string // of the call that met the mishap
	queues []*queue
	live   map[any]string // objects that were made and not ended, by description
	wrong  []string       // ends of objects that were not alive
}

// NewLoss returns a loss at the call of that number, from 1; 0 means that only Lose loses the devices.
func NewLoss(at int) *Loss { return NewMishap(at, DeviceLost) }

// NewMishap returns a mishap at the call of that number, from 1; 0 means none.
func NewMishap(at int, how Mishap) *Loss {
	return &Loss{at: at, how: how, lost: make(chan struct{}), live: map[any]string{}}
}

// WrapLossy is [Wrap] for devices that l loses. The platform takes the hooks of libraries.
func WrapLossy(name string, p offload.Plugin, l *Loss) offload.Plugin { return plugin{p, name, l} }

// Calls returns the number of calls so far.
func (l *Loss) Calls() int {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

// Kind returns the kind of the call that met the mishap, or "".
func (l *Loss) Kind() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kind
}

// Leaks returns the live objects, and those that were ended twice.
func (l *Loss) Leaks() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := slices.Clone(l.wrong)
	for _, what := range l.live {
		list = append(list, what+" is alive")
	}
	return list
}

// made counts an object as alive.
func (l *Loss) made(object any, what string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.live[object] = what
}

// end counts an object as ended.
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

// Lose loses the devices now. A second call does nothing.
func (l *Loss) Lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lose()
}

// lose ends the commands that were issued, on goroutines of their own. l.mu is held.
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
		go func() { _ = q.near.Sync(ended) }() // the failure is that of cut
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

// step counts a call, and returns why it fails. late says that it is a command which fails when it runs.
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

// delay holds a queue up for a random time.
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

// refusal is step for calls other than commands.
func (l *Loss) refusal(kind string) error {
	_, err := l.step(kind)
	return err
}

// settled returns err as callers of a lost device see it: cancelled commands were lost.
func (l *Loss) settled(err error) error {
	if l == nil || !l.isLost() || offload.CodeOf(err) != offload.Cancelled {
		return err
	}
	return lostError()
}

// succeeded drops the failures of commands that were lost: ending an object of a lost device succeeds.
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
