package rpc

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/orepl/orepl/runtime/offload"
)

const (
	opIncrement = 't'<<24 | iota
	opStream
	opCount
	opTwice
	opFail
)

// memory returns zeroed memory of a channel with the alignment that NewServer requires.
func memory(l Layout) []byte {
	words := make([]uint64, (l.Size()+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), l.Size())
}

type served struct {
	*Server
	memory []byte
	errs   chan error
	count  atomic.Uint64
}

// serve starts a server of the test operations. The test ends it.
func serve(t testing.TB, l Layout) *served {
	t.Helper()
	return serveIn(t, memory(l), l)
}

func serveIn(t testing.TB, memory []byte, l Layout) *served {
	t.Helper()
	v := &served{memory: memory, errs: make(chan error, 100)}
	s, err := NewServer(v.memory, l, func(_ *Port, err error) {
		select {
		case v.errs <- err:
		default:
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	v.Server = s
	s.Func(opIncrement, "increment", false, func(_ int, d *Packet) { d[0]++ })
	s.Func(opCount, "count", true, func(_ int, d *Packet) { v.count.Add(d[0]) })
	s.Handle(opStream, "stream", func(_ context.Context, p *Port) error {
		var data [MaxLanes][]byte
		if err := p.RecvN(1<<20, func(lane int, b []byte) { data[lane] = b }); err != nil {
			return err
		}
		return p.SendN(func(lane int) []byte { return data[lane] })
	})
	s.Handle(opTwice, "twice", func(_ context.Context, p *Port) error {
		var sum [MaxLanes]uint64
		for range 2 {
			if err := p.Recv(func(lane int, d *Packet) { sum[lane] += d[0] }); err != nil {
				return err
			}
		}
		return p.Send(func(lane int, d *Packet) { d[0] = sum[lane] })
	})
	s.Handle(opFail, "fail", func(_ context.Context, p *Port) error {
		if err := p.Recv(func(int, *Packet) {}); err != nil {
			return err
		}
		panic("a fault of the handler")
	})
	done := make(chan error, 1)
	go func() { done <- s.Serve(context.Background()) }()
	t.Cleanup(func() {
		s.Close()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Error("Serve does not end")
		}
	})
	return v
}

func (v *served) client(t testing.TB) *Client {
	t.Helper()
	c, err := NewClient(v.memory)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// call sends one packet a lane and returns the replies.
func call(ctx context.Context, c *Client, opcode uint32, mask uint64, fill func(lane int, d *Packet)) (replies [MaxLanes]Packet, err error) {
	p, err := c.Open(ctx, opcode, mask, false)
	if err != nil {
		return replies, err
	}
	defer c.Close(p)
	if err := p.Send(fill); err != nil {
		return replies, err
	}
	err = p.Recv(func(lane int, d *Packet) { replies[lane] = *d })
	return replies, err
}

// TestIncrement calls with every number of lanes, and with divergent lanes, from several clients of few and many ports.
func TestIncrement(t *testing.T) {
	for _, l := range []Layout{{1, 1}, {1, 64}, {3, 32}, {64, 7}, {MaxPorts, 2}} {
		t.Run(fmt.Sprintf("%d ports, %d lanes", l.Ports, l.Lanes), func(t *testing.T) {
			v := serve(t, l)
			ctx := within(t)
			var all sync.WaitGroup
			for g := range uint64(8) {
				all.Go(func() {
					c := v.client(t)
					random := rand.New(rand.NewPCG(g, 1))
					for i := range uint64(300) {
						mask := random.Uint64() & lanesOf(l.Lanes)
						if mask == 0 {
							mask = 1
						}
						replies, err := call(ctx, c, opIncrement, mask, func(lane int, d *Packet) { d[0] = g<<32 | i<<8 | uint64(lane) })
						if err != nil {
							t.Error(err)
							return
						}
						for lane := range l.Lanes {
							want := uint64(0)
							if mask>>lane&1 != 0 {
								want = g<<32 | i<<8 | uint64(lane) + 1
							}
							if replies[lane][0] != want {
								t.Errorf("lane %d: %#x, want %#x", lane, replies[lane][0], want)
								return
							}
						}
					}
				})
			}
			all.Wait()
		})
	}
}

// TestStream sends streams of the sizes around each boundary, of different sizes in the lanes of a call.
func TestStream(t *testing.T) {
	v := serve(t, Layout{4, 4})
	c, ctx := v.client(t), within(t)
	sizes := []int{0, 1, 7, 8, 55, 56, 57, 63, 64, 65, 119, 120, 121, 1000, 4096, 65536, 1 << 20}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range sizes {
		var data [MaxLanes][]byte
		for lane := range 4 {
			data[lane] = make([]byte, sizes[(i+lane*5)%len(sizes)]/(1+lane%2*100))
			for k := range data[lane] {
				data[lane][k] = byte(random.Uint32())
			}
		}
		p, err := c.Open(ctx, opStream, 0b1011, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.SendN(func(lane int) []byte { return data[lane] }); err != nil {
			t.Fatal(err)
		}
		if err := p.RecvN(1<<20, func(lane int, b []byte) {
			if !bytes.Equal(b, data[lane]) {
				t.Errorf("%d bytes came back different", len(data[lane]))
			}
		}); err != nil {
			t.Fatal(err)
		}
		c.Close(p)
	}
}

// TestStreamLimit sends more than the handler's limit: an error, and the port serves other calls.
func TestStreamLimit(t *testing.T) {
	v := serve(t, Layout{1, 1})
	c, ctx := v.client(t), within(t)
	p, err := c.Open(ctx, opStream, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.SendN(func(int) []byte { return make([]byte, 1<<20+1) }); err != nil {
		t.Fatal(err)
	}
	if err := p.Recv(func(int, *Packet) {}); err != nil {
		t.Fatal(err)
	}
	c.Close(p)
	if err := <-v.errs; offload.CodeOf(err) != offload.InvalidSize {
		t.Errorf("the error is %v", err)
	}
	if _, err := call(ctx, c, opIncrement, 1, func(int, *Packet) {}); err != nil {
		t.Error(err)
	}
}

// TestOneWay closes ports immediately after a send: no packet is lost, and Drain waits for all.
func TestOneWay(t *testing.T) {
	v := serve(t, Layout{5, 2})
	ctx := within(t)
	const calls = 4000
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			c := v.client(t)
			for range calls {
				p, err := c.Open(ctx, opCount, 3, true)
				if err == nil {
					err = p.Send(func(_ int, d *Packet) { d[0] = 1 })
				}
				if err != nil {
					t.Error(err)
					return
				}
				c.Close(p)
			}
		})
	}
	all.Wait()
	if err := v.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	if n := v.count.Load(); n != 4*calls*2 {
		t.Errorf("%d packets were served, want %d", n, 4*calls*2)
	}
	for _, n := range v.Counts() {
		if n.Name == "count" && n.Calls != 4*calls*2 {
			t.Errorf("the counter is %d", n.Calls)
		}
	}
}

// TestTwoSends sends twice before the reply.
func TestTwoSends(t *testing.T) {
	v := serve(t, Layout{2, 1})
	c, ctx := v.client(t), within(t)
	for i := range uint64(100) {
		p, err := c.Open(ctx, opTwice, 1, false)
		if err != nil {
			t.Fatal(err)
		}
		for k := range uint64(2) {
			if err := p.Send(func(_ int, d *Packet) { d[0] = i + k }); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Recv(func(_ int, d *Packet) {
			if d[0] != 2*i+1 {
				t.Errorf("the sum is %d, want %d", d[0], 2*i+1)
			}
		}); err != nil {
			t.Fatal(err)
		}
		c.Close(p)
	}
}

// TestUnknown calls an operation without a handler, and one that panics.
func TestUnknown(t *testing.T) {
	v := serve(t, Layout{1, 1})
	c, ctx := v.client(t), within(t)
	replies, err := call(ctx, c, 'x'<<24|5, 1, func(int, *Packet) {})
	if err != nil || Status(replies[0][0]) != StatusUnknown {
		t.Errorf("the status is %v (%v)", Status(replies[0][0]), err)
	}
	if err := <-v.errs; offload.CodeOf(err) != offload.NotFound || !strings.Contains(err.Error(), "x:5") {
		t.Errorf("the error is %v", err)
	}
	if _, err := call(ctx, c, opFail, 1, func(int, *Packet) {}); err != nil {
		t.Error(err)
	}
	if err := <-v.errs; !strings.Contains(err.Error(), "a fault of the handler") {
		t.Errorf("the error is %v", err)
	}
	if _, err := call(ctx, c, opIncrement, 1, func(int, *Packet) {}); err != nil {
		t.Error(err)
	}
}

// TestHandshake opens memory without a channel, with another version, and memory that is too small.
func TestHandshake(t *testing.T) {
	l := Layout{2, 2}
	channel := memory(l)
	if _, err := NewServer(channel, l, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func([]byte) []byte
		want   offload.Code
	}{
		{"not a channel", func(m []byte) []byte { m[0]++; return m }, offload.InvalidBinary},
		{"version", func(m []byte) []byte { m[4]++; return m }, offload.Unsupported},
		{"ports", func(m []byte) []byte { m[10] = 1; return m }, offload.InvalidArgument},
		{"short", func(m []byte) []byte { return m[:len(m)-1] }, offload.InvalidSize},
		{"empty", func(m []byte) []byte { return nil }, offload.InvalidSize},
	} {
		m := memory(l)
		copy(m, channel[:controlBytes])
		if _, err := NewClient(c.change(m)); offload.CodeOf(err) != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	if _, err := NewServer(memory(l), Layout{0, 1}, nil); offload.CodeOf(err) != offload.InvalidArgument {
		t.Errorf("no ports: %v", err)
	}
}

// TestSleep waits until the server sleeps before each call. The doorbell must wake it.
func TestSleep(t *testing.T) {
	v := serve(t, Layout{4, 1})
	c, ctx := v.client(t), within(t)
	for range 50 {
		for atomic.LoadUint32(&v.c.control.bell) == 0 {
			time.Sleep(10 * time.Microsecond)
		}
		if _, err := call(ctx, c, opIncrement, 1, func(int, *Packet) {}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHostile writes random words over the memory while the server runs. It serves an honest client of another channel, and
// ends.
func TestHostile(t *testing.T) {
	v := serve(t, Layout{8, 4})
	random := rand.New(rand.NewPCG(seed(t), 4))
	ops := []uint32{opIncrement, opStream, opCount, opTwice, opFail, 0, 12345}
	stop := time.Now().Add(2 * time.Second)
	if long {
		stop = time.Now().Add(10 * time.Minute)
	} else if testing.Short() {
		stop = time.Now().Add(200 * time.Millisecond)
	}
	if raceEnabled {
		t.Skip("the writes race by intent")
	}
	for time.Now().Before(stop) {
		i := random.IntN(8)
		switch random.IntN(4) {
		case 0:
			v.c.headers[i] = header{random.Uint64(), ops[random.IntN(len(ops))], random.Uint32()}
		case 1:
			v.c.packets[random.IntN(len(v.c.packets))][0] = random.Uint64() >> random.IntN(64)
		default:
			atomic.StoreUint32(&v.c.second[i], random.Uint32())
			ring(v.c.control)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	v.Drain(ctx)
}

// seed returns the seed of a random test, which OREPL_RPC_SEED sets, and logs it. Long runs have a new one each time.
func seed(t *testing.T) uint64 {
	n := uint64(3)
	if text := os.Getenv("OREPL_RPC_SEED"); text != "" {
		n, _ = strconv.ParseUint(text, 10, 64)
	} else if long {
		n = rand.Uint64()
	}
	t.Logf("OREPL_RPC_SEED=%d", n)
	return n
}

func BenchmarkCall(b *testing.B) {
	v := serve(b, Layout{8, 1})
	c, ctx := v.client(b), context.Background()
	for b.Loop() {
		if _, err := call(ctx, c, opIncrement, 1, func(int, *Packet) {}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOneWay(b *testing.B) {
	v := serve(b, Layout{64, 1})
	c, ctx := v.client(b), context.Background()
	for b.Loop() {
		p, err := c.Open(ctx, opCount, 1, true)
		if err != nil {
			b.Fatal(err)
		}
		p.Send(func(_ int, d *Packet) { d[0] = 1 })
		c.Close(p)
	}
}

// lanesOf returns the mask of the first n lanes.
func lanesOf(n int) uint64 { return 1<<n - 1 | -uint64(n>>6) }

// TestErrorAfterReply calls a handler that fails after its reply. The port must still serve other calls.
func TestErrorAfterReply(t *testing.T) {
	v := serve(t, Layout{1, 1})
	v.Handle(1, "late", func(_ context.Context, p *Port) error {
		if err := p.Recv(func(int, *Packet) {}); err != nil {
			return err
		}
		if err := p.Send(func(_ int, d *Packet) { d[0] = 5 }); err != nil {
			return err
		}
		return offload.Errorf(offload.HostIO, "test", "a log that is full")
	})
	c, ctx := v.client(t), within(t)
	for range 20 {
		replies, err := call(ctx, c, 1, 1, func(int, *Packet) {})
		if err != nil || replies[0][0] != 5 {
			t.Fatalf("the reply is %d (%v)", replies[0][0], err)
		}
		if _, err := call(ctx, c, opIncrement, 1, func(int, *Packet) {}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFailedCalls reads the status of calls whose service failed, never the client's own packet.
func TestFailedCalls(t *testing.T) {
	v := serve(t, Layout{1, 1})
	v.Func(1, "panics", false, func(int, *Packet) { panic("a fault") })
	v.Handle(2, "refuses", func(_ context.Context, p *Port) error {
		if err := p.Recv(func(int, *Packet) {}); err != nil {
			return err
		}
		return offload.Errorf(offload.HostIO, "test", "no")
	})
	c, ctx := v.client(t), within(t)
	for _, op := range []uint32{1, 2, opFail} {
		replies, err := call(ctx, c, op, 1, func(_ int, d *Packet) { d[1] = 42 })
		if err != nil || Status(replies[0][0]) != StatusError || replies[0][1] != 0 {
			t.Errorf("operation %#x: %v, %v", op, replies[0], err)
		}
	}
}

// TestGivenUp cancels a call in the middle, whose handler waits for more: the next call of the port has its own handler.
func TestGivenUp(t *testing.T) {
	v := serve(t, Layout{1, 1})
	answer := make(chan struct{})
	ended := make(chan error, 1)
	v.Handle(1, "slow", func(_ context.Context, p *Port) (err error) {
		defer func() { ended <- err }()
		if err := p.Recv(func(int, *Packet) {}); err != nil {
			return err
		}
		<-answer
		if err := p.Send(func(int, *Packet) {}); err != nil {
			return err
		}
		return p.Recv(func(int, *Packet) { t.Error("a packet of another call") })
	})
	c, ctx := v.client(t), within(t)
	short, cancel := context.WithCancel(ctx)
	p, err := c.Open(short, 1, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Send(func(int, *Packet) {}); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := p.Recv(func(int, *Packet) {}); err == nil {
		t.Fatal("the call was not given up")
	}
	c.Close(p)
	close(answer)
	replies, err := call(ctx, c, opIncrement, 1, func(_ int, d *Packet) { d[0] = 99 })
	if err != nil || replies[0][0] != 100 {
		t.Errorf("the reply is %d (%v)", replies[0][0], err)
	}
	if err := <-ended; offload.CodeOf(err) != offload.Cancelled {
		t.Errorf("the handler ended with %v", err)
	}
}

// TestStolenBell clears the bell without a call to the kernel, as a client that dies there does. Close wakes the server, and a
// request is served within a few seconds.
func TestStolenBell(t *testing.T) {
	v := serve(t, Layout{1, 1})
	for atomic.LoadUint32(&v.c.control.bell) == 0 {
		time.Sleep(10 * time.Microsecond)
	}
	time.Sleep(10 * time.Millisecond)
	atomic.StoreUint32(&v.c.control.bell, 0)
	if _, err := call(within(t), v.client(t), opIncrement, 1, func(int, *Packet) {}); err != nil {
		t.Error(err)
	}
	atomic.StoreUint32(&v.c.control.bell, 0)
	v.Close()
	v.Wait()
}

// TestCloseEndsHandlers closes a server whose handler waits for its client.
func TestCloseEndsHandlers(t *testing.T) {
	v := serve(t, Layout{1, 1})
	c, ctx := v.client(t), within(t)
	p, err := c.Open(ctx, opTwice, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Send(func(int, *Packet) {}); err != nil {
		t.Fatal(err)
	}
	for v.active.Load() == 0 {
		time.Sleep(10 * time.Microsecond)
	}
	v.Close()
	v.Wait()
	if err := v.Drain(ctx); err != nil && offload.CodeOf(err) != offload.Closed {
		t.Error(err)
	}
}

// long is set for ./tests/run --long.
var long = os.Getenv("OREPL_TEST_LONG") == "1"

// TestManyCalls makes calls from several clients during garbage collection, some one-way. Each must be handled once.
func TestManyCalls(t *testing.T) {
	calls := 100_000
	if long {
		calls = 10_000_000
	} else if testing.Short() {
		calls = 10_000
	}
	v := serve(t, Layout{4, 1})
	const opPlusOne = 't'<<24 | 100
	v.Handle(opPlusOne, "plus one", func(_ context.Context, p *Port) error {
		var d Packet
		if err := p.Recv(func(_ int, in *Packet) { d = *in }); err != nil {
			return err
		}
		return p.Send(func(_ int, reply *Packet) { reply[0] = d[0] + 1 })
	})
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	const clients = 3
	var all sync.WaitGroup
	for g := range clients {
		all.Go(func() {
			c := v.client(t)
			for i := range calls / clients {
				if i%1000 == 0 && g == 0 {
					runtime.GC()
				}
				want := uint64(g)<<40 | uint64(i)
				if i%4 == 3 {
					p, err := c.Open(ctx, opCount, 1, true)
					if err == nil {
						err = p.Send(func(_ int, d *Packet) { d[0] = 1 })
						c.Close(p)
					}
					if err != nil {
						t.Error(err)
						return
					}
					continue
				}
				op := uint32(opIncrement)
				if i%4 == 1 {
					op = opPlusOne
				}
				replies, err := call(ctx, c, op, 1, func(_ int, d *Packet) { d[0] = want })
				if err != nil || replies[0][0] != want+1 {
					t.Errorf("call %d of client %d: %v, %v", i, g, replies[0], err)
					return
				}
			}
		})
	}
	all.Wait()
	if err := v.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	oneWay := uint64(clients * (calls / clients / 4))
	if n := v.count.Load(); n != oneWay {
		t.Errorf("%d one-way calls were served, want %d", n, oneWay)
	}
}

// TestTurns calls while a handler blocks, while one waits for its client, and after one that ended its goroutine.
func TestTurns(t *testing.T) {
	const opBlock, opExit, opExitInline = 't'<<24 | 100, 't'<<24 | 101, 't'<<24 | 102
	v := serve(t, Layout{8, 1})
	ctx := within(t)
	blocked, release := make(chan bool, 4), make(chan bool)
	v.Handle(opBlock, "block", func(_ context.Context, p *Port) error {
		if err := p.Recv(func(int, *Packet) {}); err != nil {
			return err
		}
		blocked <- true
		<-release
		return p.Send(func(_ int, d *Packet) { d[0] = 7 })
	})
	v.Handle(opExit, "exit", func(_ context.Context, p *Port) error {
		_ = p.Recv(func(int, *Packet) {})
		runtime.Goexit()
		return nil
	})
	v.Func(opExitInline, "exit", false, func(int, *Packet) { runtime.Goexit() })
	check := func() {
		t.Helper()
		for i := range uint64(100) {
			replies, err := call(ctx, v.client(t), opIncrement, 1, func(_ int, d *Packet) { d[0] = i })
			if err != nil || replies[0][0] != i+1 {
				t.Fatalf("%d, %v", replies[0][0], err)
			}
		}
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			replies, err := call(ctx, v.client(t), opBlock, 1, func(int, *Packet) {})
			if err != nil || replies[0][0] != 7 {
				t.Errorf("a call that blocked: %d, %v", replies[0][0], err)
			}
		})
	}
	for range 3 {
		<-blocked
	}
	check()
	waiting, err := v.client(t).Open(ctx, opTwice, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := waiting.Send(func(_ int, d *Packet) { d[0] = 5 }); err != nil {
		t.Fatal(err)
	}
	check()
	for _, op := range []uint32{opExit, opExitInline, opExit, opExitInline} {
		replies, err := call(ctx, v.client(t), op, 1, func(int, *Packet) {})
		if err != nil || replies[0][0] != uint64(StatusError) {
			t.Errorf("a handler that exits: %v, %v", Status(replies[0][0]), err)
		}
		check()
	}
	close(release)
	all.Wait()
	if err := waiting.Send(func(_ int, d *Packet) { d[0] = 6 }); err != nil {
		t.Fatal(err)
	}
	if err := waiting.Recv(func(_ int, d *Packet) {
		if d[0] != 11 {
			t.Errorf("a call of two packets: %d", d[0])
		}
	}); err != nil {
		t.Fatal(err)
	}
	v.client(t).Close(waiting)
	check()
}

// TestHandlersBurst calls handlers from several clients. Their durations vary around the time at which another goroutine
// takes over.
func TestHandlersBurst(t *testing.T) {
	const opSpin = 't'<<24 | 100
	v := serve(t, Layout{4, 1})
	ctx := within(t)
	v.Handle(opSpin, "spin", func(_ context.Context, p *Port) error {
		var d Packet
		if err := p.Recv(func(_ int, in *Packet) { d = *in }); err != nil {
			return err
		}
		for start := time.Now(); time.Since(start) < time.Duration(d[0])*time.Microsecond; {
			runtime.Gosched()
		}
		return p.Send(func(_ int, reply *Packet) { *reply = Packet{d[0] + 1} })
	})
	var all sync.WaitGroup
	for g := range uint64(6) {
		all.Go(func() {
			c, random := v.client(t), rand.New(rand.NewPCG(g, 3))
			for range 400 {
				n := random.Uint64N(10)
				if random.Uint32N(4) == 0 {
					n = 60 + random.Uint64N(200)
				}
				replies, err := call(ctx, c, opSpin, 1, func(_ int, d *Packet) { d[0] = n })
				if err != nil || replies[0][0] != n+1 {
					t.Errorf("%d, want %d: %v", replies[0][0], n+1, err)
					return
				}
			}
		})
	}
	all.Wait()
	if err := v.Drain(ctx); err != nil {
		t.Error(err)
	}
}

// TestSlowHandlers calls a handler of 60 µs until it is known as slow, then once for long: calls of other ports are answered
// meanwhile, without the timer that ends the turn of handlers that overrun. A quick handler keeps the turn.
func TestSlowHandlers(t *testing.T) {
	const opSlow = 't'<<24 | 100
	v := serve(t, Layout{8, 1})
	ctx := within(t)
	v.watching.Store(true) // the timer is never set
	blocked, release := make(chan bool, 1), make(chan bool)
	v.Handle(opSlow, "slow", func(_ context.Context, p *Port) error {
		var in Packet
		if err := p.Recv(func(_ int, d *Packet) { in = *d }); err != nil {
			return err
		}
		if in[0] == 0 {
			blocked <- true
			<-release
		}
		for start := time.Now(); time.Since(start) < time.Duration(in[0])*time.Microsecond; {
			runtime.Gosched()
		}
		return p.Send(func(_ int, d *Packet) { d[0] = in[0] })
	})
	ask := func(op uint32, in, want uint64) {
		t.Helper()
		replies, err := call(ctx, v.client(t), op, 1, func(_ int, d *Packet) { d[0] = in })
		if err != nil || replies[0][0] != want {
			t.Errorf("%d, %v, want %d", replies[0][0], err, want)
		}
	}
	for range 5 * sampleEvery {
		ask(opSlow, 60, 60)
	}
	var all sync.WaitGroup
	all.Go(func() { ask(opSlow, 0, 0) })
	<-blocked
	for i := range uint64(100) {
		ask(opIncrement, i, i+1)
	}
	close(release)
	all.Wait()
	e := (*v.handlers.Load())[opSlow]
	mean := func() time.Duration { return time.Duration(e.mean.Load()) }
	for end := time.Now().Add(30 * time.Second); mean() > slowMean && !raceEnabled && time.Now().Before(end); {
		ask(opSlow, 1, 1) // a pause of the machine during a sample raises the mean
	}
	if mean() > slowMean && !raceEnabled {
		t.Errorf("a quick handler takes %v on average", mean())
	}
}
