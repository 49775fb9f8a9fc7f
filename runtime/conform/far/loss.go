package far

import (
	"context"
	"sync"

	"github.com/orepl/orepl/runtime/offload"
)

// Loss makes the devices of a plugin be lost at one of their commands. Its methods may be called on nil: never lost.
type Loss struct {
	at   int // number of the command, from 1; 0: at a call of Lose only
	lost chan struct{}

	mu     sync.Mutex
	count  int
	queues []*queue
}

// NewLoss returns a loss at the command of that number, from 1; 0 means that only Lose loses the devices.
func NewLoss(at int) *Loss { return &Loss{at: at, lost: make(chan struct{})} }

// WrapLossy is [Wrap] for devices that l loses.
func WrapLossy(name string, p offload.Plugin, l *Loss) offload.Plugin { return plugin{p, name, l} }

// Commands returns the number of commands so far.
func (l *Loss) Commands() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

// Lose loses the devices now. A second call does nothing.
func (l *Loss) Lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lose()
}

// lose ends the commands that were issued, on goroutines of their own. l.mu is held.
func (l *Loss) lose() {
	if l.refused() {
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

func (l *Loss) refused() bool {
	select {
	case <-l.lost:
		return true
	default:
		return false
	}
}

// refusal returns DeviceLost once the device is lost.
func (l *Loss) refusal() error {
	if l == nil || !l.refused() {
		return nil
	}
	return lostError()
}

func lostError() error {
	return offload.Errorf(offload.DeviceLost, "command", "the far process is gone")
}

// step counts a command, and refuses it if the device is lost or is lost now.
func (l *Loss) step() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	if l.count == l.at {
		l.lose()
	}
	return l.refusal()
}

// ended returns err as callers of a lost device see it: cancelled commands were lost.
func (l *Loss) ended(err error) error {
	if l == nil || !l.refused() || offload.CodeOf(err) != offload.Cancelled {
		return err
	}
	return lostError()
}

// succeeded drops the failures of commands that were lost: ending an object of a lost device succeeds.
func (l *Loss) succeeded(err error) error {
	if l != nil && l.refused() && offload.CodeOf(err) == offload.Cancelled {
		return nil
	}
	return err
}

// lossyDevice implements [offload.Losable].
type lossyDevice struct{ *device }

func (d *lossyDevice) Lost() <-chan struct{} { return d.loss.lost }
func (d *lossyDevice) LostError() error      { return lostError() }
