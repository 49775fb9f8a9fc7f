package repl

import (
	"errors"
	"fmt"
	"time"

	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/runtime/offload"
)

// failurePeriod is the interval of checks for failures of queues during editing.
const failurePeriod = 200 * time.Millisecond

// watchFailures reports failures of commands that no call waits for, until done is closed. A reported failure no longer fails
// the next sync or read. It reports a failure at the second check, since the script may be about to wait.
func (p *prompt) watchFailures(done <-chan struct{}) {
	tick := time.NewTicker(failurePeriod)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		seen := map[string]int{}
		for _, err := range p.Session.Failures() {
			key := failureKey(err)
			if seen[key] = p.failures[key] + 1; seen[key] == 2 {
				p.engine.Post(func() error { p.reportFailure(err, key); return nil })
			}
		}
		p.failures = seen
	}
}

// failureKey identifies a failure by its text and the position of its launch.
func failureKey(err error) string {
	var e *offload.Error
	if errors.As(err, &e) {
		return fmt.Sprint(e.Pos, err)
	}
	return err.Error()
}

// reportLast reports the failures that are not acknowledged yet. It runs at the end of the session.
func (p *prompt) reportLast() {
	for _, err := range p.Session.TakeFailures(p.ctx) {
		p.report(script.Explain(p.engine, err))
	}
}

// reportFailure prints a failure with a note on why it is printed now, and acknowledges it. It runs on the engine's goroutine.
func (p *prompt) reportFailure(err error, key string) {
	p.Session.Acknowledge(func(err error) bool { return failureKey(err) == key })
	err = script.Explain(p.engine, err)
	var d *diag.Diagnostic
	if errors.As(err, &d) {
		d.Notes = append(d.Notes, diag.Note{Message: "no line waits for this command, so its error is shown now; later lines do not fail with it"})
	}
	p.report(err)
}
