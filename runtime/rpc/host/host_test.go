package host

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/rpc"
)

// device is device code in Go. It records the memory that Allocate returned and counts what was freed.
type device struct {
	host   *Host
	mu     sync.Mutex
	client *rpc.Client
	freed  atomic.Int32
	memory [][]byte
}

func newDevice(t *testing.T, ports int) *device {
	t.Helper()
	d := &device{}
	h, err := New(Options{
		Layout: rpc.Layout{Ports: ports, Lanes: 1},
		Allocate: func(size int) (Memory, error) {
			words := make([]uint64, size/8+1)
			m := unsafeBytes(words)
			d.memory = append(d.memory, m)
			return Memory{Bytes: m, Free: func() { d.freed.Add(1) }}, nil
		},
		Attach: func(uintptr) error {
			c, err := rpc.NewClient(d.memory[len(d.memory)-1])
			if err != nil {
				t.Error(err)
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			d.client = c
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	d.host = h
	return d
}

func (d *device) as(number uint32) *rpc.Client {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.client.Numbered(number)
}

// services answer by functions.
type services map[string]func(ctx context.Context, r *offload.Request) (uint64, error)

func (services) Print(*offload.Message) {}

func (s services) Call(ctx context.Context, r *offload.Request) (uint64, error) {
	return s[r.Name](ctx, r)
}

func (s services) CheckService(name string) error {
	if s[name] == nil {
		return offload.Errorf(offload.NotFound, "call", "no service is named %q", name)
	}
	return nil
}

// launched is a launch with the errors of its calls.
type launched struct {
	Launch
	mu   sync.Mutex
	errs []error
}

func launch(s offload.Services) *launched {
	l := &launched{}
	l.Launch.Device, l.Kernel, l.Size, l.Services, l.Context = "d", "k", [3]int{10, 10, 10}, s, context.Background()
	l.Fail = func(err error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.errs = append(l.errs, err)
	}
	return l
}

func (d *device) enter(t *testing.T, l *launched) uint32 {
	t.Helper()
	n, err := d.host.Enter(&l.Launch)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func declareIn(t *testing.T, c *rpc.Client, signature string) (status rpc.Status, number, args uint64) {
	t.Helper()
	p, err := c.Open(within(t), OpDeclare, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(p)
	if err := p.SendN(func(int) []byte { return []byte(signature) }); err != nil {
		t.Fatal(err)
	}
	if err := p.Recv(func(_ int, d *rpc.Packet) { status, number, args = rpc.Status(d[0]), d[1], d[2] }); err != nil {
		t.Fatal(err)
	}
	return status, number, args
}

// callIn calls a service with words, the first two of which are its number and the item.
func callIn(ctx context.Context, c *rpc.Client, oneWay bool, words ...uint64) (reply rpc.Packet, err error) {
	p, err := c.Open(ctx, OpCall, 1, oneWay)
	if err != nil {
		return reply, err
	}
	defer c.Close(p)
	for first := true; first || len(words) > 0; first = false {
		if err := p.Send(func(_ int, d *rpc.Packet) { words = words[copy(d[:], words):] }); err != nil {
			return reply, err
		}
	}
	if !oneWay {
		err = p.Recv(func(_ int, d *rpc.Packet) { reply = *d })
	}
	return reply, err
}

// TestDeclare checks which signatures are taken, and that a service has one number.
func TestDeclare(t *testing.T) {
	d := newDevice(t, 4)
	s := services{"f": func(context.Context, *offload.Request) (uint64, error) { return 0, nil }}
	failures := 0
	for _, k := range []struct {
		signature string
		status    rpc.Status
		args      uint64
	}{
		{"f()", 0, 0}, {"f( i32 , f64 ): bool", 0, 2}, {"f(): void", 0, 0},
		{"f(i32,i32,i32,i32,i32,i32,i32,i32,i32,i32)", 0, 10},
		{"f", rpc.StatusError, 0}, {"f(i8)", rpc.StatusError, 0}, {"f(): u8", rpc.StatusError, 0}, {"f(i32,)", rpc.StatusError, 0},
		{"", rpc.StatusError, 0}, {"g()", rpc.StatusError, 0}, {"f(" + string(make([]byte, 2000)) + ")", rpc.StatusError, 0},
	} {
		l := launch(s)
		n := d.enter(t, l)
		c := d.as(n)
		status, number, args := declareIn(t, c, k.signature)
		if status != k.status || status == 0 && (args != k.args || number == 0) {
			t.Errorf("%.40q: status %v, number %d, %d arguments", k.signature, status, number, args)
		}
		if _, again, _ := declareIn(t, c, k.signature); again != number {
			t.Errorf("%q has the numbers %d and %d", k.signature, number, again)
		}
		d.host.Leave(n, true)
		failures += len(l.errs)
	}
	if failures != 7 {
		t.Errorf("%d errors, want 7", failures)
	}
}

// TestLaunches serves two launches over one channel: each call reaches the services of its launch, with its
// coordinates.
func TestLaunches(t *testing.T) {
	d := newDevice(t, 4)
	both := make(chan struct{})
	var met atomic.Int32
	one := func(value uint64) services {
		return services{"f": func(_ context.Context, r *offload.Request) (uint64, error) {
			if met.Add(1) == 2 {
				close(both)
			}
			<-both
			if want := fmt.Sprint([3]int{3, 2, 1}); fmt.Sprint(r.Item) != want || len(r.Args) != 10 || r.Args[9].Bits != 0xffffffff {
				return 0, fmt.Errorf("item %v, arguments %v", r.Item, r.Args)
			}
			return value, nil
		}}
	}
	a, b := launch(one(100)), launch(one(200))
	na, nb := d.enter(t, a), d.enter(t, b)
	_, number, _ := declareIn(t, d.as(na), "f(i32,i32,i32,i32,i32,i32,i32,i32,i32,i32): u64")
	var all sync.WaitGroup
	for n, want := range map[uint32]uint64{na: 100, nb: 200} {
		all.Go(func() {
			reply, err := callIn(within(t), d.as(n), false, number, 123, 0, 1, 2, 3, 4, 5, 6, 7, 8, ^uint64(0))
			if err != nil || reply[0] != 0 || reply[1] != want {
				t.Errorf("launch %d: %v, %v", n, reply, err)
			}
		})
	}
	all.Wait()
	// A thread without a number, and one of a launch that has ended, are served while one launch runs.
	if reply, err := callIn(within(t), d.as(0), false, number, 0); err != nil || rpc.Status(reply[0]) != rpc.StatusError {
		t.Errorf("without a launch: %v, %v", reply, err)
	}
	d.host.Leave(nb, true)
	if reply, err := callIn(within(t), d.as(nb), false, number, 123, 0, 1, 2, 3, 4, 5, 6, 7, 8, ^uint64(0)); err != nil || reply[1] != 100 {
		t.Errorf("the only launch: %v, %v", reply, err)
	}
	d.host.Leave(na, true)
	if errs := append(a.errs, b.errs...); len(errs) > 0 {
		t.Error(errs)
	}
	if _, number, _ := declareIn(t, d.as(na), "f()"); number != 0 {
		t.Error("a call was served that no launch made")
	}
}

// TestFlush posts calls whose service takes time: all are served before the launch has left.
func TestFlush(t *testing.T) {
	d := newDevice(t, 8)
	var served atomic.Int32
	l := launch(services{"f": func(context.Context, *offload.Request) (uint64, error) {
		time.Sleep(5 * time.Millisecond)
		served.Add(1)
		return 0, nil
	}})
	n := d.enter(t, l)
	_, number, _ := declareIn(t, d.as(n), "f()")
	for range 8 {
		if _, err := callIn(within(t), d.as(n), true, number, 0); err != nil {
			t.Fatal(err)
		}
	}
	d.host.Leave(n, true)
	if served.Load() != 8 {
		t.Errorf("%d of 8 calls were served when the launch had left", served.Load())
	}
}

// TestLostPorts ends launches in the middle of calls. The next launch has a new channel, and the old one's memory is freed
// when its handler has returned.
func TestLostPorts(t *testing.T) {
	d := newDevice(t, 1)
	hang, started := make(chan struct{}), make(chan struct{})
	l := launch(services{"f": func(context.Context, *offload.Request) (uint64, error) { close(started); <-hang; return 7, nil }})
	ctx, cancel := context.WithCancel(t.Context())
	l.Context = ctx
	n := d.enter(t, l)
	_, number, _ := declareIn(t, d.as(n), "f(): i32")
	c := d.as(n)
	p, err := c.Open(within(t), OpCall, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Send(func(_ int, d *rpc.Packet) { d[0] = number }); err != nil {
		t.Fatal(err)
	}
	<-started
	cancel()
	d.host.Leave(n, false) // the port stays locked
	if len(d.memory) != 2 {
		t.Fatalf("%d channels, want a second one", len(d.memory))
	}
	if d.freed.Load() != 0 {
		t.Error("memory was freed while a handler ran")
	}
	next := launch(services{"f": func(context.Context, *offload.Request) (uint64, error) { return 8, nil }})
	n = d.enter(t, next)
	if reply, err := callIn(within(t), d.as(n), false, number, 0); err != nil || reply[1] != 8 {
		t.Errorf("after the lost port: %v, %v", reply, err)
	}
	d.host.Leave(n, true)
	close(hang)
	for end := time.Now().Add(time.Minute); d.freed.Load() != 1; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the memory of the old channel is not freed")
		}
	}
	if len(l.errs)+len(next.errs) > 0 {
		t.Error(l.errs, next.errs)
	}
}

// TestLateCalls makes calls from an ended launch while another launch runs. They must fail, belong to no other launch and
// cause no warning.
func TestLateCalls(t *testing.T) {
	d := newDevice(t, 4)
	var asked atomic.Int32
	s := warned{services{"f": func(context.Context, *offload.Request) (uint64, error) { asked.Add(1); return 0, nil }}, t}
	gone, other := launch(s), launch(s)
	n, m := d.enter(t, gone), d.enter(t, other)
	_, number, _ := declareIn(t, d.as(n), "f(): i32")
	late := d.as(n)
	d.host.Leave(n, false)
	for range 2 {
		if reply, err := callIn(within(t), late, false, number, 0); err != nil || rpc.Status(reply[0]) != rpc.StatusError {
			t.Errorf("a late call got %v, %v", reply, err)
		}
		if k := d.enter(t, launch(s)); k == n {
			t.Errorf("the number of the ended launch is used again")
		}
	}
	d.host.Leave(m, true)
	if asked.Load() != 0 || len(gone.errs)+len(other.errs) > 0 {
		t.Error(asked.Load(), gone.errs, other.errs)
	}
}

// warned are services that expect no warning.
type warned struct {
	services
	t *testing.T
}

func (w warned) Warn(text string) { w.t.Errorf("warning: %s", text) }

// TestFailures reports the errors of services to the launch, with the item.
func TestFailures(t *testing.T) {
	d := newDevice(t, 2)
	s := services{
		"fail":  func(context.Context, *offload.Request) (uint64, error) { return 0, errors.New("no more") },
		"panic": func(context.Context, *offload.Request) (uint64, error) { panic("gone") },
	}
	var errs []error
	for _, name := range []string{"fail", "panic", ""} {
		l := launch(s)
		n := d.enter(t, l)
		number := uint64(77)
		if name != "" {
			_, number, _ = declareIn(t, d.as(n), name+"()")
		}
		if reply, err := callIn(within(t), d.as(n), false, number, 999); err != nil || rpc.Status(reply[0]) != rpc.StatusError {
			t.Errorf("%s: %v, %v", name, reply, err)
		}
		// The next call fails at once, and the launch has the first error only.
		if status, _, _ := declareIn(t, d.as(n), "fail()"); status != rpc.StatusError {
			t.Errorf("after %s: %v", name, status)
		}
		d.host.Leave(n, true)
		errs = append(errs, l.errs...)
	}
	var f *Failure
	if len(errs) != 3 || !errors.As(errs[0], &f) || f.Item != [3]int{9, 9, 9} {
		t.Errorf("the errors are %v", errs)
	}
	d.host.Close()
	if _, err := d.host.Enter(&launch(s).Launch); offload.CodeOf(err) != offload.Closed {
		t.Errorf("a launch after the end: %v", err)
	}
}

func unsafeBytes(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}

// noFiles refuses and counts requests to open files.
type noFiles struct {
	services
	asked atomic.Int64
}

func (f *noFiles) OpenFile(name, mode string) (offload.File, error) {
	f.asked.Add(1)
	return nil, offload.Errorf(offload.PermissionDenied, "open", "%s", name)
}
func (f *noFiles) RemoveFile(string) error         { f.asked.Add(1); return errors.New("none") }
func (f *noFiles) RenameFile(string, string) error { f.asked.Add(1); return errors.New("none") }

// TestHostile writes random calls of every operation into a channel. The host of another channel answers meanwhile, in time.
func TestHostile(t *testing.T) {
	end := time.Now().Add(2 * time.Second)
	if os.Getenv("OREPL_TEST_LONG") == "1" {
		end = time.Now().Add(10 * time.Minute)
	} else if testing.Short() {
		end = time.Now().Add(300 * time.Millisecond)
	}
	bad, good := newDevice(t, 8), newDevice(t, 8)
	files := &noFiles{services: services{"f": func(context.Context, *offload.Request) (uint64, error) { return 1, nil }}}
	honest := launch(files.services)
	number := good.enter(t, honest)
	_, service, _ := declareIn(t, good.as(number), "f(): i32")
	seed := uint64(5)
	if text := os.Getenv("OREPL_RPC_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
	} else if os.Getenv("OREPL_TEST_LONG") == "1" {
		seed = rand.Uint64()
	}
	t.Logf("OREPL_RPC_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 6))
	for time.Now().Before(end) || files.asked.Load() == 0 && time.Now().Before(end.Add(30*time.Second)) {
		l := launch(files)
		n := bad.enter(t, l)
		for range 100 {
			op := uint32('c'<<24) + uint32(random.IntN(32))
			if random.IntN(3) == 0 {
				op = OpDeclare + uint32(random.IntN(8))
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			if p, err := bad.as(n).Open(ctx, op, 1, random.IntN(2) == 0); err == nil {
				for range random.IntN(4) {
					if random.IntN(2) == 0 {
						err = p.Send(func(_ int, d *rpc.Packet) {
							for i := range d {
								d[i] = random.Uint64() >> random.IntN(64)
							}
						})
					} else {
						err = p.Recv(func(int, *rpc.Packet) {})
					}
					if err != nil {
						break
					}
				}
				bad.as(n).Close(p)
			}
			cancel()
		}
		bad.host.Leave(n, false)
		if reply, err := callIn(within(t), good.as(number), false, service, 0); err != nil || reply[1] != 1 {
			t.Fatalf("the other host: %v, %v", reply, err)
		}
	}
	good.host.Leave(number, true)
	if len(honest.errs) > 0 {
		t.Error(honest.errs)
	}
	if files.asked.Load() == 0 {
		t.Error("no file was asked for: the calls do not reach the handlers")
	}
}
