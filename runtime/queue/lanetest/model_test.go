package lanetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

// duration returns how long each of the random tests runs: 5 minutes in a long run.
func duration() time.Duration {
	switch {
	case testing.Short():
		return time.Second
	case os.Getenv("OREPL_TEST_LONG") == "1":
		return 5 * time.Minute
	}
	return 3 * time.Second
}

// eachDevice runs a test with random programs on lanes of several windows and delays, and on a synchronous device, for the
// test's time.
func eachDevice(t *testing.T, test func(t *testing.T, d testDevice, seed uint64)) {
	end := time.Now().Add(duration())
	for seed := uint64(1); seed < 6 || time.Now().Before(end); seed++ {
		rng := rand.New(rand.NewPCG(seed, 7))
		var d testDevice = New(Options{Workers: 1 + rng.IntN(6), Window: 1 + rng.IntN(12), Seed: seed,
			Delay: []time.Duration{0, 20 * time.Microsecond, time.Millisecond}[rng.IntN(3)]})
		if seed%5 == 0 {
			d = &syncDevice{queue.NewClock()}
		}
		done := make(chan struct{})
		watchdog := time.AfterFunc(2*time.Minute, func() {
			select {
			case <-done:
			default:
				panic(fmt.Sprintf("seed %d hangs", seed))
			}
		})
		test(t, d, seed)
		close(done)
		watchdog.Stop()
		for _, v := range d.Close() {
			t.Errorf("seed %d: %s", seed, v)
		}
		if t.Failed() {
			return
		}
	}
}

const (
	groups = 4
	each   = 16 // queues of a group; 64 in all
	size   = 48 // bytes of a queue's memory, and of a block of host memory
	hosts  = 3  // blocks of host memory of a group
)

// tally is the model of one queue: its recorded failures, and the effects of its host functions.
type tally struct {
	failures []tallied // unreported
	own      string    // first failure since the last recorded event
	parted   int
	commands int
	seen     []int // by host functions
	want     []int
	events   []*tallyEvent
}

type tallied struct {
	n     int
	text  string
	event *tallyEvent
}

type tallyEvent struct {
	ev  offload.Event
	n   int
	own string
}

func (q *tally) fail(text string) {
	q.failures = append(q.failures, tallied{n: q.commands, text: text})
	if q.own == "" {
		q.own = text
	}
}

func (q *tally) record(ev offload.Event) *tallyEvent {
	q.commands++
	e := &tallyEvent{ev, q.commands, q.own}
	if q.own != "" {
		for i := range q.failures {
			if q.failures[i].n > q.parted {
				q.failures[i].event = e
			}
		}
	}
	q.own, q.parted = "", q.commands
	return e
}

// take removes the failures that are wanted, and returns how an error tells of them.
func (q *tally) take(own string, wanted func(tallied) bool) string {
	var keep []tallied
	first, count := own, 0
	for _, f := range q.failures {
		if !wanted(f) {
			keep = append(keep, f)
			continue
		}
		if first == "" {
			first = f.text
		}
		count++
	}
	q.failures = keep
	if count > 1 {
		if count == 2 {
			return first + "; and 1 more command failed"
		}
		return fmt.Sprintf("%s; and %d more commands failed", first, count-1)
	}
	return first
}

// use is the last use of a memory by a queue.
type use struct {
	queue int
	write bool
}

// group is a random program on its own queues and memories, issued by one goroutine.
type group struct {
	t        *testing.T
	seed     uint64
	rng      *rand.Rand
	queues   [each]*queue.Queue
	model    [each]tally
	memory   [each]*Memory
	want     [each][]byte // contents of memory, if all ran in order of issue
	uses     [each][]use  // since the last write, which is the first of them
	host     [hosts]block // host memory that several commands use
	checks   []func()     // after the last sync
	exchange *events
}

// block is a block of host memory.
type block struct {
	data, want []byte
	uses       []use
}

// events are the newest events of all groups, for waits between them.
type events struct {
	sync.Mutex
	list [groups]offload.Event
}

func (g *group) check(err error) {
	if err != nil {
		g.t.Errorf("seed %d: %v", g.seed, err)
	}
}

// access orders a command on queue q after the conflicting uses of memory m by other queues.
func (g *group) access(q, m int, write bool) { g.follow(q, &g.uses[m], write) }

// follow orders a command on queue q after the conflicting uses, and adds its own.
func (g *group) follow(q int, uses *[]use, write bool) {
	for _, u := range *uses {
		if u.queue == q || !write && !u.write {
			continue
		}
		var ev offload.Event
		var err error
		if g.rng.IntN(2) == 0 {
			mark := g.queues[u.queue].Mark
			if u.queue%2 == 1 {
				mark = g.queues[u.queue].Stamp
			}
			ev, err = mark()
			g.model[u.queue].commands++
		} else {
			ev, err = g.queues[u.queue].Record()
			g.model[u.queue].record(ev)
		}
		g.check(err)
		g.check(g.queues[q].Wait(ev))
		g.model[q].commands++
	}
	if write {
		*uses = (*uses)[:0]
	}
	*uses = append(*uses, use{q, write})
}

// mixing is the kernel: each byte depends on the old one and on one of another memory.
func mixing(dst, src []byte, k byte) {
	for i := range dst {
		dst[i] = dst[i]*31 + src[len(src)-1-i] + k
	}
}

func (g *group) launch(q int, k *Kernel, timeout time.Duration) {
	g.model[q].commands++
	g.check(g.queues[q].Launch(&offload.Launch{Kernel: k, Timeout: timeout}))
}

// step issues a random command on queue q.
func (g *group) step(ctx context.Context, i int) {
	rng := g.rng
	q, m, other := rng.IntN(each), rng.IntN(each), rng.IntN(each)
	model, on := &g.model[q], g.queues[q]
	span := func(m int, at, n int) offload.Span {
		return offload.Span{Memory: g.memory[m], Offset: int64(at), Size: int64(n)}
	}
	n := 1 + rng.IntN(size/2)
	at, from := rng.IntN(size-n), rng.IntN(size-n)
	switch rng.IntN(19) {
	case 0, 1, 2, 3:
		if m == other {
			return
		}
		g.access(q, m, true)
		g.access(q, other, false)
		dst, src, k := g.memory[m].Data, g.memory[other].Data, byte(i)
		g.launch(q, &Kernel{Name: "mix", Do: func(func() bool) error { mixing(dst, src, k); return nil }}, 0)
		mixing(g.want[m], g.want[other], k)
	case 4:
		if m == other {
			return
		}
		g.access(q, m, true)
		g.access(q, other, false)
		model.commands++
		g.check(on.Exchange(span(m, at, n), span(other, from, n)))
		copy(g.want[m][at:][:n], g.want[other][from:])
	case 5:
		g.access(q, m, true)
		host := make([]byte, n)
		for j := range host {
			host[j] = byte(rng.Uint32())
		}
		model.commands++
		g.check(on.Submit(span(m, at, n), host))
		copy(g.want[m][at:], host)
	case 6:
		g.access(q, m, false)
		host, want := make([]byte, n), bytes.Clone(g.want[m][at:][:n])
		model.commands++
		g.check(on.Retrieve(host, span(m, at, n)))
		g.checks = append(g.checks, func() {
			if !bytes.Equal(host, want) {
				g.t.Errorf("seed %d: retrieved %x, want %x", g.seed, host, want)
			}
		})
	case 7:
		g.access(q, m, true)
		model.commands++
		g.check(on.Fill(span(m, at&^1, 2), []byte{byte(i), 7}))
		copy(g.want[m][at&^1:], []byte{byte(i), 7})
	case 8:
		if m == other {
			return
		}
		g.access(q, m, true)
		g.access(q, other, false)
		model.commands++
		g.check(on.ExchangeRect(offload.Rect{Memory: g.memory[m], Offset: 3, RowPitch: 9}, offload.Rect{Memory: g.memory[other], Offset: 1, RowPitch: 8}, [3]int64{5, 4, 1}))
		for y := range 4 {
			copy(g.want[m][3+9*y:][:5], g.want[other][1+8*y:])
		}
	case 9:
		text := fmt.Sprintf("failure %d", i)
		failure := offload.Errorf(offload.Assertion, "launch", "%s", text)
		k := &Kernel{Name: "failing", Do: func(func() bool) error { return failure }}
		if rng.IntN(2) == 0 {
			k.Refuse = failure
		}
		g.launch(q, k, 0)
		model.fail(text)
	case 10:
		fails := rng.IntN(4) == 0
		model.commands++
		model.want = append(model.want, i)
		g.check(on.Host(func() error {
			model.seen = append(model.seen, i)
			if fails {
				return errors.New("as asked")
			}
			return nil
		}))
		if fails {
			model.fail("the host function failed")
		}
	case 11:
		ev, err := on.Record()
		g.check(err)
		model.events = append(model.events, model.record(ev))
		g.exchange.Lock()
		g.exchange.list[rng.IntN(groups)] = ev
		g.exchange.Unlock()
	case 12:
		g.exchange.Lock()
		ev := g.exchange.list[rng.IntN(groups)]
		g.exchange.Unlock()
		if ev != nil {
			model.commands++
			g.check(on.Wait(ev))
		}
	case 13:
		if len(model.events) > 0 {
			g.syncEvent(ctx, q, model.events[rng.IntN(len(model.events))])
		}
	case 14:
		if rng.IntN(4) == 0 {
			g.sync(ctx, q)
		} else if len(model.events) > 0 {
			ev := model.events[rng.IntN(len(model.events))]
			if on.Idle() && !ev.ev.Done() {
				g.t.Errorf("seed %d: an event of an idle queue is not done", g.seed)
			}
			if rng.IntN(4) == 0 {
				g.check(ev.ev.Settle(ctx))
			}
		}
	case 15:
		if rng.IntN(10) == 0 {
			g.launch(q, &Kernel{Name: "endless", Do: func(stop func() bool) error {
				for !stop() {
					time.Sleep(10 * time.Microsecond)
				}
				return queue.ErrStopped
			}}, 300*time.Microsecond)
			model.fail("the kernel ran longer than its time limit of 300µs")
		}
	case 16:
		h := &g.host[rng.IntN(hosts)]
		g.access(q, m, true)
		g.follow(q, &h.uses, false)
		model.commands++
		g.check(on.Submit(span(m, at, n), h.data[from:][:n]))
		copy(g.want[m][at:][:n], h.want[from:])
	case 17:
		h := &g.host[rng.IntN(hosts)]
		g.access(q, m, false)
		g.follow(q, &h.uses, true)
		model.commands++
		g.check(on.Retrieve(h.data[from:][:n], span(m, at, n)))
		copy(h.want[from:][:n], g.want[m][at:])
	case 18:
		h := &g.host[rng.IntN(hosts)]
		upload := rng.IntN(2) == 0
		g.access(q, m, upload)
		g.follow(q, &h.uses, !upload)
		model.commands++
		device, host, extent := offload.Rect{Memory: g.memory[m], Offset: 3, RowPitch: 9}, offload.HostRect{Data: h.data, Offset: 1, RowPitch: 8}, [3]int64{5, 4, 1}
		if upload {
			g.check(on.SubmitRect(device, host, extent))
		} else {
			g.check(on.RetrieveRect(host, device, extent))
		}
		for y := range 4 {
			if device, host := g.want[m][3+9*y:][:5], h.want[1+8*y:]; upload {
				copy(device, host)
			} else {
				copy(host, device)
			}
		}
	}
}

// detail returns an error's text without its cause, and with the number of further failures.
func detail(err error) string {
	var e *offload.Error
	if !errors.As(err, &e) {
		return ""
	}
	return (&offload.Error{Detail: e.Detail, More: e.More}).Message()
}

func (g *group) told(what string, err error, want string) {
	if got := detail(err); got != want {
		g.t.Errorf("seed %d: %s gave %q, want %q", g.seed, what, got, want)
	}
}

func (g *group) syncEvent(ctx context.Context, q int, e *tallyEvent) {
	err := e.ev.Sync(ctx)
	if e.own != "" {
		g.told("an event", err, g.model[q].take(e.own, func(f tallied) bool { return f.event == e }))
		return
	}
	g.told("an event", err, g.model[q].take("", func(f tallied) bool { return f.n <= e.n }))
}

func (g *group) sync(ctx context.Context, q int) {
	g.told("sync", g.queues[q].Sync(ctx), g.model[q].take("", func(tallied) bool { return true }))
}

// TestModel runs random programs on 64 queues: copies, fills, kernels, host functions and failures, ordered by events, and
// compares memory, failures and host functions with a sequential model.
func TestModel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context()) // a wait under a context takes another path
	defer cancel()
	eachDevice(t, func(t *testing.T, d testDevice, seed uint64) {
		var all sync.WaitGroup
		exchange := &events{}
		programs := make([]*group, groups)
		for i := range programs {
			g := &group{t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, uint64(i))), exchange: exchange}
			programs[i] = g
			for q := range g.queues {
				g.queues[q] = d.NewQueue(fmt.Sprintf("%d.%d", i, q))
				g.memory[q], g.want[q] = d.NewMemory(size), make([]byte, size)
			}
			for h := range g.host {
				g.host[h].data, g.host[h].want = make([]byte, size), make([]byte, size)
			}
			all.Go(func() {
				for i := range 400 {
					wait := ctx
					if g.rng.IntN(2) == 0 {
						wait = context.Background()
					}
					g.step(wait, i)
				}
				for q := range g.queues {
					g.sync(ctx, q)
				}
				for _, check := range g.checks {
					check()
				}
			})
		}
		all.Wait()
		for _, g := range programs {
			for q := range g.queues {
				g.check(g.queues[q].Close())
				if !bytes.Equal(g.memory[q].Data, g.want[q]) {
					t.Errorf("seed %d: memory %d is %x, want %x", seed, q, g.memory[q].Data, g.want[q])
				}
				if m := &g.model[q]; fmt.Sprint(m.seen) != fmt.Sprint(m.want) {
					t.Errorf("seed %d: host functions %v, want %v", seed, m.seen, m.want)
				}
			}
			for h, b := range g.host {
				if !bytes.Equal(b.data, b.want) {
					t.Errorf("seed %d: host memory %d is %x, want %x", seed, h, b.data, b.want)
				}
			}
		}
	})
}
