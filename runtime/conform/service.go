package conform

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
	"github.com/orepl/orepl/runtime/stopwatch"
)

// printer collects the lines that kernels print.
type printer struct {
	offload.Services
	mu    sync.Mutex
	lines map[string]int
	wrong []offload.Message
}

func (p *printer) Print(m *offload.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines[strings.TrimRight(m.Text, "\n")]++
	if m.Kernel != "talk" || m.Text != fmt.Sprintf("item %d", m.Item[0]) {
		p.wrong = append(p.wrong, *m)
	}
}

func launchPrint(t *T) {
	if !t.device.Info().Features.Prints {
		t.skipf("the device lacks the feature prints")
	}
	const n = 100
	q, b := t.defaultQueue(), t.buffer(offload.I32, n)
	p := &printer{lines: make(map[string]int)}
	t.launch(q, t.kernel("talk"), session.Config{Size: sized(n), Services: p}, session.Buf(b))
	t.check(q.Sync(t.ctx))
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.lines) != n || p.lines["item 0"] != 1 || p.lines["item 99"] != 1 {
		t.Errorf("%d items printed %v", n, p.lines)
	}
	if len(p.wrong) > 0 {
		t.Errorf("%d messages come from other items or kernels, the first: %+v", len(p.wrong), p.wrong[0])
	}
}

// errNumber is the cause of a failed call, which errors.Is must find in the error of the launch.
var errNumber = errors.New("a number that is wrong")

// doubler serves "double".
type doubler struct{ offload.Services }

func (doubler) Call(_ context.Context, r *offload.Request) (uint64, error) {
	if r.Name != "double" || len(r.Args) != 1 || r.Args[0].Type != offload.I32 || r.Result != offload.F32 || r.Kernel != "ask" {
		return 0, fmt.Errorf("not the request that the kernel makes: %+v", *r)
	}
	n := int32(r.Args[0].Bits)
	if n == 77 {
		return 0, &offload.Error{Code: offload.PermissionDenied, Op: "call", Detail: "not that one", Hint: "take another", Err: errNumber}
	}
	return uint64(math.Float32bits(float32(2 * n))), nil
}

func launchCall(t *T) {
	if !t.device.Info().Features.Calls {
		t.skipf("the device lacks the feature calls")
	}
	const n = 70
	q, b, k := t.queue(), t.buffer(offload.I32, 100), t.kernel("ask")
	t.launch(q, k, session.Config{Size: sized(n), Services: doubler{}}, session.Buf(b))
	t.check(q.Sync(t.ctx))
	want := make([]int32, 100)
	for i := range n {
		want[i] = int32(2 * i)
	}
	equal(t, "doubles", contents[int32](t, b), want)
	t.launch(q, k, session.Config{Size: sized(100), Services: doubler{}}, session.Buf(b))
	err := q.Sync(t.ctx)
	if err == nil || !strings.Contains(err.Error(), "not that one") {
		t.Errorf("a call that failed: %v", err)
	}
	if !errors.Is(err, errNumber) || offload.CodeOf(err) != offload.PermissionDenied {
		t.Errorf("the error of a failed call has lost its cause or its code: %v", err)
	}
	_, err = k.Bind(config(1), session.Buf(b))
	t.refused("a kernel that calls a service, without services", err, offload.NotFound)
	_, err = k.Bind(session.Config{Size: sized(1), Services: picky{}}, session.Buf(b))
	t.refused("a kernel that calls a service which is not offered", err, offload.NotFound)
}

// picky refuses every service name.
type picky struct{ doubler }

func (picky) CheckService(name string) error {
	return offload.Errorf(offload.NotFound, "call", "no service is named %q", name)
}

// patient waits for the end of its context, or ignores it.
type patient struct {
	offload.Services
	deaf    bool
	called  chan struct{}
	release chan struct{}
}

func (p *patient) Call(ctx context.Context, _ *offload.Request) (uint64, error) {
	p.called <- struct{}{}
	if p.deaf {
		<-p.release
		return 0, nil
	}
	<-ctx.Done()
	return 0, ctx.Err()
}

// launchCallCancel ends launches whose service does not answer, by a time limit and by the context of a Sync.
func launchCallCancel(t *T) {
	if f := t.device.Info().Features; !f.Calls || !f.Cancel {
		t.skipf("the device lacks one of the features calls and cancel")
	}
	for _, deaf := range []bool{false, true} {
		release := make(chan struct{})
		q, b := t.queue(), t.buffer(offload.I32, 1)
		launch := func(limit time.Duration) *patient {
			p := &patient{deaf: deaf, called: make(chan struct{}, 100), release: release}
			t.launch(q, t.kernel("ask"), session.Config{Size: sized(1), Services: p, Timeout: limit}, session.Buf(b))
			return p
		}
		// On a busy machine the time limit may end a launch before its call; the next launch then has a longer one.
		const most = 20 * time.Second
		for limit, called := 100*time.Millisecond, false; !called; limit *= 4 {
			p, start := launch(limit), stopwatch.Start()
			t.refused("a launch whose service does not answer within its time limit", q.Sync(t.ctx), offload.Timeout)
			if took := start.Elapsed(); took > limit+5*time.Second {
				t.Errorf("ending a call of at most %v took %v", limit, took)
			}
			select {
			case <-p.called:
				called = true
			case <-time.After(limit):
				if limit > most {
					t.Fatalf("the service is not called within %v", limit)
				}
			}
		}
		<-launch(0).called
		short, cancel := context.WithTimeout(t.ctx, 100*time.Millisecond)
		start := stopwatch.Start()
		t.refused("a sync during a call that does not end", q.Sync(short), offload.Timeout, offload.Cancelled)
		cancel()
		if took := start.Elapsed(); took > 5*time.Second {
			t.Errorf("ending a call took %v", took)
		}
		close(release)
		t.survives(q)
	}
}

// waiterCalls answers a call only after the goroutine that launched has sent the answer.
type waiterCalls struct {
	offload.Services
	requests chan chan uint64
}

func (w *waiterCalls) Call(ctx context.Context, _ *offload.Request) (uint64, error) {
	answer := make(chan uint64, 1)
	select {
	case w.requests <- answer:
		return <-answer, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// launchCallWaiter answers calls on the launching goroutine, between the launch and the wait: the launch must not run on that
// goroutine.
func launchCallWaiter(t *T) {
	if !t.device.Info().Features.Calls {
		t.skipf("the device lacks the feature calls")
	}
	q, b := t.queue(), t.buffer(offload.I32, 1)
	for i := range 20 {
		w := &waiterCalls{requests: make(chan chan uint64)}
		t.check(q.Sync(t.ctx))
		t.launch(q, t.kernel("ask"), session.Config{Size: sized(1), Services: w}, session.Buf(b))
		select {
		case answer := <-w.requests:
			answer <- uint64(math.Float32bits(float32(i)))
		case <-time.After(time.Minute):
			t.Fatalf("the launch does not run without its caller")
		}
		equal(t, "the answer", contents[int32](t, b), []int32{int32(i)})
	}
}
