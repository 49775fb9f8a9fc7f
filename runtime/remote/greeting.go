package remote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/protocol"
	"github.com/orepl/orepl/runtime/remote/silence"
)

// Process is a stream to a process that this one has started.
type Process interface {
	silence.Process
	// Ended returns how the process ended, such as "exit status 3", or "" if it has not.
	Ended() string
}

// answerTime is the time limit for a server's first message, as a multiple of the time limit for silence. A process that starts on
// a busy machine is slow.
const answerTime = 10

// greet sends the first message and waits for the server's answer. limit is the time limit for silence, 0 for none. If ctx
// ends, or the server is silent or stopped by a signal for too long, greet ends the connection. It returns an error then, and
// also if the connection ends before the answer.
func (c *client) greet(ctx context.Context, heard *hearing, limit time.Duration) (*protocol.Welcome, error) {
	m := &protocol.Hello{Version: protocol.Version}
	copy(m.Magic[:], protocol.Magic)
	c.link.send(m)
	tick := time.NewTicker(silence.Tick)
	defer tick.Stop()
	meter, frozen := silence.NewMeter(c.dialed), time.Duration(0)
	for {
		select {
		case w := <-c.welcomed:
			return w, nil
		case <-c.lost:
			<-c.ended
			select {
			case w := <-c.welcomed: // the server refused, and closed the connection
				return w, nil
			default:
			}
			return nil, c.unanswered(offload.DeviceLost, c.lostReason())
		case <-ctx.Done():
			c.abort(context.Cause(ctx)) // a process that was stopped would hold up the end of its stream
			<-c.ended
			return nil, c.unanswered(offload.Cancelled, context.Cause(ctx))
		case <-tick.C:
		}
		frozen += silence.Tick
		if !meter.Stopped() {
			frozen = 0
		}
		reads := heard.reads.Load()
		silent, most := meter.Tick(reads), answerTime*limit
		if reads > 0 { // an opening server sends messages, too
			most = limit
		}
		var why error
		switch {
		case limit == 0:
		case frozen >= limit:
			why = errors.New("a signal has stopped its process")
		case silent >= most:
			why = fmt.Errorf("it has sent nothing for %v", most)
		}
		if why != nil {
			c.abort(why)
			<-c.ended
			return nil, c.unanswered(offload.DeviceLost, why)
		}
	}
}

// unanswered returns the error of a connection whose server did not answer.
func (c *client) unanswered(code offload.Code, why error) error {
	e := offload.Errorf(code, "open", "the worker of %s did not answer", c.name)
	e.Err = why
	if code == offload.DeviceLost {
		e.Hint = "see what its process prints, and start the program again"
	}
	return e
}

// lostReason returns why the connection ended, or nil before. If the server's process has ended, it says how, if that is known.
func (c *client) lostReason() error {
	c.mu.Lock()
	why := c.why
	c.mu.Unlock()
	if !hasEnded(why) {
		return why
	}
	if p, ok := c.dialed.(Process); ok {
		if how := p.Ended(); how != "" {
			return fmt.Errorf("the process ended (%s)", how)
		}
	}
	return errors.New("the process ended, or closed the connection")
}

// Unreachable is the error of a worker that cannot be reached, with advice for the user.
type Unreachable struct {
	Err  error
	Hint string
}

// Error returns the text of Err.
func (u *Unreachable) Error() string { return u.Err.Error() }

// Unwrap returns Err.
func (u *Unreachable) Unwrap() error { return u.Err }
