package lanetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

// journal records the kernels and host functions of one queue, which are numbered from 1 in order of issue.
type journal struct {
	queue  *queue.Queue
	issued int    // by the queue's goroutine
	behind *point // the newest event that the queue waits for

	mu    sync.Mutex
	ran   []int        // in order of execution
	asked atomic.Int64 // cancellation of the numbers up to this one may have begun
}

// run notes that number n runs now, and returns an error if a later one ran before.
func (j *journal) run(n int) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if k := len(j.ran); k > 0 && j.ran[k-1] >= n {
		return fmt.Errorf("%d ran after %d", n, j.ran[k-1])
	}
	j.ran = append(j.ran, n)
	return nil
}

// missing returns the numbers up to n that have neither run nor may be cancelled.
func (j *journal) missing(n int) (list []int) {
	asked := int(j.asked.Load())
	j.mu.Lock()
	defer j.mu.Unlock()
	at := 0
	for i := 1; i <= n; i++ {
		if at < len(j.ran) && j.ran[at] == i {
			at++
		} else if i > asked {
			list = append(list, i)
		}
	}
	return list
}

// point is an event and the command that it follows.
type point struct {
	ev      offload.Event
	journal *journal
	number  int
}

// TestCancellations runs random programs on 64 queues that wait for each other, with host functions and endless
// kernels, and cancels waits at random moments. Commands that are not cancelled run once and in order. Cancelled
// commands run before those that are dropped. No command overtakes an event that it waits for.
func TestCancellations(t *testing.T) {
	eachDevice(t, func(t *testing.T, d testDevice, seed uint64) {
		var points sync.Map // some of the newest points
		var all sync.WaitGroup
		fail := func(format string, args ...any) {
			t.Errorf("seed %d: %s", seed, fmt.Sprintf(format, args...))
		}
		for group := range groups {
			all.Go(func() {
				rng := rand.New(rand.NewPCG(seed, uint64(group)))
				var journals [each]*journal
				for i := range journals {
					journals[i] = &journal{queue: d.NewQueue(fmt.Sprint(group, ".", i))}
				}
				for range 400 {
					cancelStep(rng, journals[rng.IntN(each)], &points, fail)
				}
				for _, j := range journals {
					if err := j.queue.Sync(context.Background()); err != nil && offload.CodeOf(err) != offload.Cancelled {
						fail("the last sync: %v", err)
					}
					if list := j.missing(j.issued); len(list) > 0 {
						fail("%v did not run and were not cancelled", list)
					}
					if err := j.queue.Close(); err != nil {
						fail("close: %v", err)
					}
				}
			})
		}
		all.Wait()
	})
}

// cancelStep issues a random command, or waits with a context that may end.
func cancelStep(rng *rand.Rand, j *journal, points *sync.Map, fail func(string, ...any)) {
	check := func(err error) {
		if err != nil {
			fail("%v", err)
		}
	}
	launch := func(do func(stop func() bool) error) {
		j.issued++
		n, behind := j.issued, j.behind
		check(j.queue.Launch(&offload.Launch{Kernel: &Kernel{Name: "k", Calls: rng.IntN(4) == 0, Do: func(stop func() bool) error {
			check(j.run(n))
			if p := behind; p != nil {
				if p.journal != j && !p.ev.Done() { // the host may see the end of another queue's command later
					fail("a kernel ran before the event that its queue waits for")
				}
				if list := p.journal.missing(p.number); len(list) > 0 {
					fail("an event was reached before %v had run", list)
				}
			}
			return do(stop)
		}}}))
	}
	cancelling := func(wait func(ctx context.Context) error) {
		j.asked.Store(int64(j.issued))
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rng.IntN(300))*time.Microsecond)
		defer cancel()
		if err := wait(ctx); err != nil && offload.CodeOf(err) != offload.Cancelled {
			fail("a cancelled wait: %v", err)
		}
	}
	switch rng.IntN(10) {
	case 0, 1, 2:
		launch(func(func() bool) error { return nil })
	case 3:
		j.issued++
		n := j.issued
		check(j.queue.Host(func() error { check(j.run(n)); return nil }))
	case 4:
		ev, err := j.queue.Record()
		check(err)
		points.Store(rng.IntN(8), point{ev, j, j.issued})
	case 5:
		if p, ok := points.Load(rng.IntN(8)); ok {
			p := p.(point)
			check(j.queue.Wait(p.ev))
			j.behind = &p // a cancellation does not end the order
		}
	case 6:
		if rng.IntN(4) == 0 {
			launch(func(stop func() bool) error { // ended by the cancellation at once behind it
				for !stop() {
					time.Sleep(10 * time.Microsecond)
				}
				return queue.ErrStopped
			})
			launch(func(func() bool) error { return nil })
			cancelling(j.queue.Sync)
		}
	case 7:
		cancelling(j.queue.Sync)
	case 8:
		ev, err := j.queue.Record()
		check(err)
		cancelling(ev.Sync)
	case 9:
		if rng.IntN(8) == 0 {
			if err := j.queue.Sync(context.Background()); err != nil && offload.CodeOf(err) != offload.Cancelled {
				fail("sync: %v", err)
			}
		} else {
			j.queue.Idle()
		}
	}
}

// TestLoss loses the device at random times. Every command, event and wait must end, and later commands must fail.
func TestLoss(t *testing.T) {
	eachDevice(t, func(t *testing.T, d testDevice, seed uint64) {
		lossy, ok := d.(*Device)
		if !ok {
			return
		}
		rng := rand.New(rand.NewPCG(seed, 3))
		why := offload.Errorf(offload.DeviceLost, "test", "as asked")
		var queues []*queue.Queue
		var events []offload.Event
		for i := range 8 {
			queues = append(queues, d.NewQueue(fmt.Sprint(i)))
		}
		after := time.AfterFunc(time.Duration(rng.IntN(1000))*time.Microsecond, func() { lossy.Lose(why) })
		defer after.Stop()
		refused := false
		note := func(err error) {
			refused = refused || offload.CodeOf(err) == offload.DeviceLost
			if err != nil && offload.CodeOf(err) != offload.DeviceLost {
				t.Errorf("seed %d: %v", seed, err)
			}
		}
		for end := time.Now().Add(time.Minute); !refused && time.Now().Before(end); {
			q := queues[rng.IntN(len(queues))]
			switch rng.IntN(5) {
			case 0, 1:
				note(q.Launch(&offload.Launch{Kernel: &Kernel{Name: "k", Do: func(stop func() bool) error {
					for i := 0; i < 3 && !stop(); i++ {
						time.Sleep(10 * time.Microsecond)
					}
					return nil
				}}}))
			case 2:
				note(q.Host(func() error { return nil }))
			case 3:
				ev, err := q.Record()
				note(err)
				events = append(events, ev)
			case 4:
				if len(events) > 0 {
					note(q.Wait(events[rng.IntN(len(events))]))
				}
			}
			note(q.Failure())
		}
		last, err := queues[0].Record()
		if err != nil {
			t.Errorf("seed %d: a lost device refuses a record: %v", seed, err)
		}
		for _, ev := range append(events, last) {
			if err := ev.Settle(t.Context()); err != nil || !ev.Done() {
				t.Errorf("seed %d: an event of a lost device: %v", seed, err)
			}
		}
		for _, q := range queues {
			_ = q.Sync(t.Context()) // DeviceLost if a command was lost
			if err := q.Close(); err != nil {
				t.Errorf("seed %d: close: %v", seed, err)
			}
		}
	})
}
