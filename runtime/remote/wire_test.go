package remote

import (
	"bytes"
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/joint"
)

var update = flag.Bool("update", false, "write the golden bytes")

// samples are messages of every type, whose fields differ from each other.
func samples() []packet {
	pos := offload.Position{File: "a.js", Line: 3, Col: 9}
	ref := imageRef{Kind: offload.ImageIR, Target: "t", Arch: "a", Label: "l", Producers: "p", Other: "c", Meta: map[string]string{"k": "v", "a": "b"},
		Digest: digest{1, 2, 3}, Size: 77}
	info := offload.DeviceInfo{Name: "n", Vendor: "v", Type: offload.GPU, Arch: "x", UID: "u", DriverVersion: "d", Class: 1, ComputeUnits: 2, ClockMHz: 3,
		MemoryBytes: 1 << 40, VectorBits: 512, Limits: offload.Limits{AllocationBytes: 5, SharedBytes: 6, GroupItems: 7, GroupSize: [3]int{8, 9, 10},
			Groups: [3]int{11, 12, 13}, SubgroupSizes: []int{32, 64}}, Features: offload.Features{Exact: true, F64: true, Clock: true}}
	params := []offload.Param{{Name: "x", Buffer: true, Type: offload.F32, Elem: 4, Rank: 2, Reads: true}, {Name: "s", Elem: 8,
		Fields: []offload.Field{{Type: offload.I32, Offset: 4}}}}
	kernel := offload.KernelInfo{Name: "k", Params: params, Convention: offload.PerRange, ObservesGroup: true, SharedBytes: 1, GroupItems: 2, Registers: 3, DynamicShared: true,
		Cooperative: true, Services: []string{"s"}, AnyService: true, Prints: true}
	msg := offload.Message{Kernel: "k", Item: [3]int{1, -2, 3}, Pos: pos, Text: "hé"}
	w := &welcome{Version: version, Error: []byte{1}, Platform: offload.PlatformInfo{Name: "n", Vendor: "v", Version: "1", Library: "f"}, Hooks: true, Address: "2", Session: sessionID{4, 5}, Machine: machineID{8},
		Devices: []remoteDevice{{Name: "cpu:0", Platform: offload.PlatformInfo{Name: "p", Vendor: "w", Version: "2", Library: "l"}, Info: info, Properties: []byte("[]")}}}
	h := &hello{Version: version}
	copy(h.Magic[:], magic)
	copy(w.Magic[:], magic)
	ph := &peerHello{Version: version, Session: sessionID{6}, From: "3"}
	copy(ph.Magic[:], magic)
	return []packet{
		h, w,
		&reply{Request: 1, Error: []byte("e"), Value: -2, Kind: offload.SharedMemory, Symbols: []offload.Symbol{{Name: "k", Kernel: true, Size: 3}}, Info: kernel, Inexact: true},
		&cancelRequest{4}, &imageData{Digest: digest{9}, Total: 10, Data: []byte("ab")}, &forgetImages{}, &checkImage{1, anyDevice, ref}, &load{1, 2, 3, ref},
		&findKernel{Request: 1, Program: 2, Kernel: 3, Name: "k", Signed: true, Signature: offload.Signature{Params: params, Convention: offload.PerItem, Axes: 2, Pos: pos}},
		&findGlobal{1, 2, 3, "g"}, &allocate{1, 2, 3, 1 << 33, offload.HostMemory}, &newQueue{1, 2, 3, "q"}, &release{programObject, 5},
		&transfer{At: at{1, 2}, Dst: wirePlace{3, 4, 5, 6}, Src: wirePlace{7, 8, 9, 10}, Extent: [3]int64{11, 12, 13}},
		&fragment{at{1, 2}, 3, []byte("data")}, &fill{at{1, 2}, 3, 4, 5, []byte{1, 2}},
		&launchKernel{At: at{1, 2}, Kernel: 3, Size: [3]int{4, 5, 6}, GroupSize: [3]int{7, 8, 9}, Args: []wireArg{{Type: offload.F32, Bits: 1 << 63,
			Struct: true, Data: []byte{1}, Memory: 2, Offset: 3, Dims: [3]int32{-1, 2, 3}, Label: "b"}}, Checks: offload.ChecksOff, Pos: pos, Services: true,
			SharedBytes: 10, Cooperative: true, Teams: 11, ThreadLimit: 12},
		&record{at{1, 2}}, &stop{at{1, 2}}, &reached{at{1, 2}, failed, []byte("e"), true, -7}, &printed{at{1, 2}, msg},
		&serviceCall{at{1, 2}, 3, offload.Request{Message: msg, Name: "s", Args: []offload.Scalar{{Type: offload.I8, Bits: 255}}, Result: offload.F64}},
		&serviceAnswer{1, 2, []byte("e")}, &serviceCancel{1},
		&registerLibrary{1, 2, "l", []imageRef{ref}, []offload.Entry{{Name: "e", Kind: offload.EntryLink, Flags: 3, Size: 4, Data: 5}}, 6}, &unregisterLibrary{1, 2}, &alive{},
		&exchange{at{1, 2}, "3", sessionID{4}, true, wirePlace{5, 6, 7, 8}, wirePlace{9, 10, 11, 12}, [3]int64{13, 14, 15}}, ph,
		&peerCopy{true, wirePlace{1, 2, 3, 4}, [3]int64{5, 6, 7}}, &peerLost{"2"}, &printsDone{7}, &findAddress{1, 2, 3, "v"},
		&relaunch{at{1, 2}, 3, []changedArg{{4, 1 << 63}}},
		&fileRequest{at{1, 2}, 3, writeFile, 4, "n", "o", -5, 1, []byte("data")}, &fileAnswer{1, -2, []byte("data"), true, []byte("e")}, &warning{1, "w"}, &unloaded{1},
		&jointLaunch{Launch: launchKernel{At: at{1, 2}, Kernel: 3, Size: [3]int{4, 1, 1}, Args: []wireArg{{Type: offload.F32, Memory: 5, Offset: 6, Dims: [3]int32{4}}}}, Operation: 7, Member: 1,
			Members: []jointMember{{"1", sessionID{8}}, {"2", sessionID{9}}}, Flows: []joint.Flow{{Member: 0, Send: true, Offset: 10, Size: 11}}}, &abandon{1, []byte("e")},
	}
}

// TestGoldenBytes compares the bytes of each message with golden ones: peers of other builds must parse them.
func TestGoldenBytes(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "version %d\n", version)
	for i, p := range samples() {
		if int(typeOf(p)) != i {
			t.Errorf("%T is sample %d and type %d", p, i, typeOf(p))
		}
		if made := packets[i](); reflect.TypeOf(made) != reflect.TypeOf(p) {
			t.Errorf("type %d makes %T, want %T", i, made, p)
		}
		fmt.Fprintf(&b, "%T\n%s", p, hex.Dump(appendFrame(nil, p, 0)))
	}
	if len(samples()) != len(packets) {
		t.Errorf("%d samples of %d types", len(samples()), len(packets))
	}
	const file = "testdata/wire.golden"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the bytes of messages changed: raise version and run with -update\n%s", b.String())
	}
}

func TestMessagesComeBackEqual(t *testing.T) {
	for _, p := range samples() {
		frame := appendFrame(nil, p, 0)
		got, err := parse(frame[4:])
		if err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("%T: got %+v, %v, want %+v", p, got, err, p)
		}
		for n := range len(frame) - 4 { // cut anywhere it is refused, or was complete
			if _, err := parse(frame[4 : 4+n]); err == nil {
				t.Errorf("%T: its first %d bytes are a message", p, n)
			}
		}
		if _, err := parse(append(bytes.Clone(frame[4:]), 0)); err == nil {
			t.Errorf("%T: a byte more is a message", p)
		}
	}
}

// TestBytesInFlight issues copies with more bytes than a server buffers for a queue.
func TestBytesInFlight(t *testing.T) {
	here, there := net.Pipe()
	served := make(chan error)
	go func() { served <- Serve(context.Background(), there, cpu.New(cpu.Options{})) }()
	p, err := NewPlugin("far", func(context.Context) (io.ReadWriteCloser, error) { return here, nil }).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	d := p.Devices()[0]
	const size = laneBytes / 3
	m, err := d.Allocate(size, offload.DeviceMemory)
	check(err)
	q, err := d.NewQueue(offload.QueueOptions{})
	check(err)
	var l *lane
	for _, l = range p.(*client).lanes {
	}
	span := offload.Span{Memory: m, Size: size}
	gate := make(chan struct{})
	check(q.Host(func() error { <-gate; return nil }))
	out := make([][]byte, 12)
	for i := range out {
		check(q.Fill(span, []byte{byte(i)}))
		out[i] = make([]byte, size)
		check(q.Retrieve(out[i], span))
	}
	ctx, cancel := context.WithCancel(t.Context())
	most := make(chan int64)
	go func() {
		var n int64
		for ctx.Err() == nil {
			n = max(n, l.bytes.Load())
			runtime.Gosched()
		}
		most <- n
	}()
	close(gate)
	check(q.Sync(t.Context()))
	cancel()
	if n := <-most; n > laneBytes+size {
		t.Errorf("%d bytes in flight", n)
	}
	for i, b := range out {
		if b[0] != byte(i) || b[size-1] != byte(i) {
			t.Errorf("copy %d has %d and %d", i, b[0], b[size-1])
		}
	}
	check(q.Close())
	check(m.Free())
	check(p.Close())
	check(<-served)
}

// TestCloseWithoutReader closes a client whose server no longer reads, while a request waits.
func TestCloseWithoutReader(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	go func() {
		_, _ = io.ReadFull(there, make([]byte, len(appendFrame(nil, &hello{}, 0)))) // the other end may close first
		w := &welcome{Version: version, Devices: []remoteDevice{{Name: "x"}}}
		copy(w.Magic[:], magic)
		_, _ = there.Write(appendFrame(nil, w, 0))
	}()
	p, err := NewPlugin("far", func(context.Context) (io.ReadWriteCloser, error) { return here, nil }).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	refused := make(chan error)
	go func() {
		_, err := p.Devices()[0].Allocate(16, offload.DeviceMemory)
		refused <- err
	}()
	time.Sleep(10 * time.Millisecond)
	closed := make(chan error)
	go func() { closed <- p.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("close hangs")
	}
	if err := <-refused; offload.CodeOf(err) != offload.DeviceLost {
		t.Errorf("the request: %v", err)
	}
}

// stream is a recorded stream: reads come from a buffer, writes are dropped.
type stream struct{ io.Reader }

func (s *stream) Write(b []byte) (int, error) { return len(b), nil }
func (s *stream) Close() error                { return nil }

// session returns the bytes of a client that sends most kinds of messages in a legal order.
func session() []byte {
	h := &hello{Version: version}
	copy(h.Magic[:], magic)
	var b []byte
	for _, p := range []packet{h, &allocate{1, 0, 10, 64, 0}, &newQueue{2, 0, 20, "q"}} {
		b = appendFrame(b, p, 0)
	}
	return b
}

// FuzzServer sends arbitrary bytes to a server after a client's start.
func FuzzServer(f *testing.F) {
	for _, p := range samples() {
		f.Add(appendFrame(nil, p, 0))
	}
	f.Add(appendFrame(appendFrame(nil, &transfer{At: at{20, 1}, Dst: wirePlace{Memory: 10}, Extent: [3]int64{4, 2, 1}}, 0), &fragment{at{20, 1}, 0, []byte("12345678")}, 0))
	f.Add(appendFrame(nil, &fill{at{20, 1}, 10, 0, 8, []byte{1, 2}}, 0))
	f.Fuzz(func(t *testing.T, data []byte) {
		err := Serve(t.Context(), &stream{Reader: io.MultiReader(bytes.NewReader(session()), bytes.NewReader(data))}, small{cpu.New(cpu.Options{})})
		if err != nil && strings.Contains(err.Error(), "panic") {
			t.Error(err)
		}
	})
}

// small is a plugin whose devices have little memory.
type small struct{ offload.Plugin }

func (p small) Open(ctx context.Context) (offload.Platform, error) {
	platform, err := p.Plugin.Open(ctx)
	return smallPlatform{platform}, err
}

type smallPlatform struct{ offload.Platform }

func (p smallPlatform) Devices() []offload.Device {
	return []offload.Device{smallDevice{p.Platform.Devices()[0]}}
}

type smallDevice struct{ offload.Device }

func (d smallDevice) Allocate(size int64, kind offload.MemoryKind) (offload.Memory, error) {
	if size > 1<<20 {
		return nil, offload.Errorf(offload.OutOfResources, "allocate", "%d bytes", size)
	}
	return d.Device.Allocate(size, kind)
}

// FuzzClient sends arbitrary bytes to a client after a server's welcome.
func FuzzClient(f *testing.F) {
	for _, p := range samples() {
		f.Add(appendFrame(nil, p, 0))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w := &welcome{Version: version, Devices: []remoteDevice{{Name: "x"}}}
		copy(w.Magic[:], magic)
		s := &stream{Reader: io.MultiReader(bytes.NewReader(appendFrame(nil, w, 0)), bytes.NewReader(data))}
		useClient(t, s)
	})
}

// useClient opens a client on a stream and uses it until it is lost.
func useClient(t *testing.T, s io.ReadWriteCloser) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	p, err := NewPlugin("far", func(context.Context) (io.ReadWriteCloser, error) { return s, nil }).Open(ctx)
	if err != nil {
		return
	}
	d := p.Devices()[0]
	if m, err := d.Allocate(16, offload.DeviceMemory); err == nil {
		if q, err := d.NewQueue(offload.QueueOptions{}); err == nil {
			_ = q.Retrieve(make([]byte, 16), offload.Span{Memory: m, Size: 16})
			_, _ = q.Record()
			_ = q.Sync(ctx)
			_ = q.Close()
		}
		_ = m.Free()
	}
	if ctx.Err() != nil {
		t.Error("the client hangs")
	}
	_ = p.Close()
}

// TestDamage changes bytes of real conversations in both directions: neither side crashes or hangs.
func TestDamage(t *testing.T) {
	seeds := uint64(200)
	if testing.Short() {
		seeds = 20
	}
	for seed := range seeds {
		rng, far := rand.New(rand.NewPCG(seed, 5)), rand.New(rand.NewPCG(seed, 7))
		here, there := net.Pipe()
		served := make(chan struct{})
		go func() {
			defer close(served)
			_ = Serve(context.Background(), &noisy{ReadWriteCloser: there, rng: far, good: 20 + far.IntN(1000)}, cpu.New(cpu.Options{}))
		}()
		useClient(t, &noisy{ReadWriteCloser: here, rng: rng, good: 20 + rng.IntN(3000)})
		here.Close()
		<-served
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// noisy changes a byte that it reads after some good ones, and then ends.
type noisy struct {
	io.ReadWriteCloser
	rng  *rand.Rand
	good int
	done bool
}

func (n *noisy) Read(b []byte) (int, error) {
	if n.done {
		return 0, io.EOF
	}
	k, err := n.ReadWriteCloser.Read(b)
	if n.good -= k; n.good < 0 && k > 0 {
		n.done = true
		b[n.rng.IntN(k)] ^= 1 << n.rng.IntN(8)
	}
	return k, err
}
