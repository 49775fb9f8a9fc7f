package remote_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/conform"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote"
)

// inMemory connects to a server in this process that serves the CPU plugin.
func inMemory(t testing.TB, opts cpu.Options) remote.Dial {
	return func(context.Context) (io.ReadWriteCloser, error) {
		here, there := net.Pipe()
		go func() {
			if err := remote.Serve(context.Background(), there, cpu.New(opts)); err != nil {
				t.Errorf("the server ended: %v", err)
			}
		}()
		return here, nil
	}
}

// TestConformance runs the conformance suite on devices whose every object and command passes through bytes.
func TestConformance(t *testing.T) {
	match := func(name string) bool { return !testing.Short() || name != "copy/256-mib" }
	plugin := remote.NewPlugin("pipe", inMemory(t, cpu.Options{Devices: 2}))
	_, err := conform.Run(t.Context(), plugin, "pipe:cpu:0", conform.Options{Match: match, Report: func(r conform.Result) {
		t.Run(r.Name, func(t *testing.T) {
			switch text := strings.Join(r.Output, "\n"); r.Status {
			case conform.Failed:
				t.Errorf("%v\n%s", r.Elapsed, text)
			case conform.Skipped:
				t.Skip(text)
			}
			t.Log(r.Elapsed)
		})
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// hooking is a plugin that records calls of its library hooks and refuses libraries with the label "refused".
type hooking struct {
	offload.Plugin
	mu  sync.Mutex
	log []string
}

func (h *hooking) Open(ctx context.Context) (offload.Platform, error) {
	p, err := h.Plugin.Open(ctx)
	return &hookingPlatform{p, h}, err
}

type hookingPlatform struct {
	offload.Platform
	plugin *hooking
}

func (p *hookingPlatform) note(what string, lib *offload.Library) {
	p.plugin.mu.Lock()
	defer p.plugin.mu.Unlock()
	p.plugin.log = append(p.plugin.log, fmt.Sprintf("%s %s %d %x %v %d", what, lib.Label, len(lib.Images), lib.Images[0].Digest(), lib.Entries, lib.Requires))
}

func (p *hookingPlatform) RegisterLibrary(_ context.Context, lib *offload.Library) error {
	if lib.Label == "refused" {
		return offload.Errorf(offload.LinkFailure, "register", "as asked").WithHint("ask for less")
	}
	p.note("+", lib)
	return nil
}

func (p *hookingPlatform) UnregisterLibrary(_ context.Context, lib *offload.Library) error {
	p.note("-", lib)
	return nil
}

// TestLibraries registers libraries with images and entries at a server and unregisters them. When the client leaves, the
// remaining libraries are unregistered in reverse order.
func TestLibraries(t *testing.T) {
	h := &hooking{Plugin: cpu.New(cpu.Options{})}
	here, there := net.Pipe()
	served := make(chan error)
	go func() { served <- remote.Serve(context.Background(), there, h) }()
	p, err := remote.NewPlugin("far", func(context.Context) (io.ReadWriteCloser, error) { return here, nil }).Open(t.Context())
	must(t, err)
	hooks := p.(offload.LibraryHooks)
	data := bytes.Repeat([]byte("image"), 300000) // spans several pieces
	lib := func(label string) *offload.Library {
		return &offload.Library{Label: label, Images: []*offload.Image{{Kind: offload.ImageIR, Data: data}, {Unusable: errors.New("unknown")}},
			Entries: []offload.Entry{{Name: "f", Kind: offload.EntryIndirect, Flags: 8, Size: 1, Data: 2}}, Requires: 3}
	}
	first, second, third := lib("first"), lib("second"), lib("third")
	must(t, hooks.RegisterLibrary(t.Context(), first))
	must(t, hooks.RegisterLibrary(t.Context(), second))
	must(t, hooks.RegisterLibrary(t.Context(), third))
	var e *offload.Error
	if err := hooks.RegisterLibrary(t.Context(), lib("refused")); !errors.As(err, &e) || e.Code != offload.LinkFailure || e.Hint != "ask for less" {
		t.Errorf("a refusal became %v", err)
	}
	must(t, hooks.UnregisterLibrary(t.Context(), second))
	must(t, p.Close())
	must(t, <-served)
	var want []string
	rest := fmt.Sprintf("1 %x [{f indirect 8 1 2}] 3", sha256.Sum256(data))
	for _, what := range []string{"+ first", "+ second", "+ third", "- second", "- third", "- first"} {
		want = append(want, what+" "+rest)
	}
	if !slices.Equal(h.log, want) {
		t.Errorf("got %q, want %q", h.log, want)
	}
	must(t, hooks.UnregisterLibrary(t.Context(), first)) // the server is gone
}

// BenchmarkLaunch launches a kernel of one work-item on a server behind a socket of this machine: each launch waited for, and a
// thousand launches at once.
func BenchmarkLaunch(b *testing.B) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer listener.Close()
	served := make(chan error)
	go func() {
		there, err := listener.Accept()
		if err == nil {
			err = remote.Serve(context.Background(), there, cpu.New(cpu.Options{}))
		}
		served <- err
	}()
	dial := func(ctx context.Context) (io.ReadWriteCloser, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", listener.Addr().String())
	}
	p, err := remote.NewPlugin("far", dial).Open(b.Context())
	must(b, err)
	data, err := os.ReadFile("../conform/testdata/kernels.irb")
	must(b, err)
	d := p.Devices()[0]
	program, err := d.Load(b.Context(), &offload.Image{Kind: offload.ImageIR, Data: data})
	must(b, err)
	k, err := program.Kernel("ids")
	must(b, err)
	m, err := d.Allocate(64, offload.DeviceMemory)
	must(b, err)
	q, err := d.NewQueue(offload.QueueOptions{})
	must(b, err)
	l := &offload.Launch{Kernel: k, Size: [3]int{1, 1, 1}, Args: []offload.Arg{{Type: offload.I32, Memory: m, Dims: [3]int32{1}}}}
	b.Run("wait", func(b *testing.B) {
		for b.Loop() {
			must(b, q.Launch(l))
			must(b, q.Sync(context.Background()))
		}
	})
	b.Run("1000", func(b *testing.B) {
		for b.Loop() {
			for range 1000 {
				must(b, q.Launch(l))
			}
			must(b, q.Sync(context.Background()))
		}
	})
	host := make([]byte, 64<<20)
	big, err := d.Allocate(int64(len(host)), offload.DeviceMemory)
	must(b, err)
	for _, c := range []struct {
		name string
		copy func() error
	}{
		{"submit 64 MiB", func() error { return q.Submit(offload.Span{Memory: big, Size: big.Size()}, host) }},
		{"retrieve 64 MiB", func() error { return q.Retrieve(host, offload.Span{Memory: big, Size: big.Size()}) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(host)))
			for b.Loop() {
				must(b, c.copy())
				must(b, q.Sync(context.Background()))
			}
		})
	}
	must(b, q.Close())
	must(b, p.Close())
	must(b, <-served)
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
