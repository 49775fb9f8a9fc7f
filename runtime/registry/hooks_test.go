package registry_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/registry"
)

// hooked is a platform whose RegisterLibrary hook is a function.
type hooked struct {
	*platform
	hook func(context.Context, *offload.Library) error
}

func (h *hooked) RegisterLibrary(ctx context.Context, lib *offload.Library) error {
	if err := h.platform.RegisterLibrary(ctx, lib); err != nil {
		return err
	}
	return h.hook(ctx, lib)
}

func TestHookIsCalledAgainAfterItsContextEnded(t *testing.T) {
	var log []string
	r := registry.New(slog.New(slog.DiscardHandler))
	p, d := newPlatform("p", &log, map[string]int{"a": 1})
	h := &hooked{p, func(ctx context.Context, _ *offload.Library) error { return ctx.Err() }}
	l := register(t, r, "lib", "a")
	ended, cancel := context.WithCancel(ctx)
	cancel()
	r.AddPlatform(ended, "p", h, []string{"p:0"})
	if f := l.Images()[0].Devices; len(f) != 1 || f[0].Err == nil {
		t.Errorf("before the hook has answered: %+v", f)
	}
	if _, err := l.Load(ended, d); offload.CodeOf(err) != offload.Cancelled {
		t.Errorf("a load whose context has ended: %v", err)
	}
	if _, err := l.Load(ctx, d); err != nil {
		t.Errorf("a load whose context lives: %v", err)
	}
	if err := l.Unregister(ctx); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(strings.Join(log, "\n"), "unregisters lib"); n != 1 {
		t.Errorf("unregistered %d times: %q", n, log)
	}
}

func TestRefusalOfHookIsFinal(t *testing.T) {
	var log []string
	r := registry.New(slog.New(slog.DiscardHandler))
	p, d := newPlatform("p", &log, map[string]int{"a": 1})
	calls := 0
	h := &hooked{p, func(context.Context, *offload.Library) error { calls++; return errors.New("no room for it") }}
	r.AddPlatform(ctx, "p", h, []string{"p:0"})
	l := register(t, r, "lib", "a")
	for range 2 {
		if _, err := l.Load(ctx, d); err == nil || !strings.Contains(err.Error(), "no room for it") {
			t.Errorf("a load on a platform that refused the library: %v", err)
		}
	}
	if err := l.Unregister(ctx); err != nil {
		t.Fatal(err)
	}
	if calls != 1 || slices.Contains(log, "p unregisters lib") {
		t.Errorf("%d calls of the hook; %q", calls, log)
	}
}

// TestSlowHookBlocksOnlyItsPair checks that a hanging hook delays neither other libraries nor other platforms.
func TestSlowHookBlocksOnlyItsPair(t *testing.T) {
	var slowLog, quickLog []string
	r := registry.New(slog.New(slog.DiscardHandler))
	slow, slowDevice := newPlatform("slow", &slowLog, map[string]int{"a": 1, "b": 1})
	quick, quickDevice := newPlatform("quick", &quickLog, map[string]int{"a": 1, "b": 1})
	entered, release := make(chan struct{}), make(chan struct{})
	h := &hooked{slow, func(_ context.Context, lib *offload.Library) error {
		if lib.Label == "stuck" {
			close(entered)
			<-release
		}
		return nil
	}}
	r.AddPlatform(ctx, "quick", quick, []string{"quick:0"})
	r.AddPlatform(ctx, "slow", h, []string{"slow:0"})
	registered := make(chan *registry.Library)
	go func() {
		l, err := r.Register(ctx, offload.Library{Label: "stuck", Images: images("a")})
		if err != nil {
			t.Error(err)
		}
		registered <- l
	}()
	<-entered
	l := register(t, r, "free", "b")
	for _, d := range []*device{quickDevice, slowDevice} {
		if _, err := l.Load(ctx, d); err != nil {
			t.Error(err)
		}
	}
	if err := l.Unregister(ctx); err != nil {
		t.Error(err)
	}
	close(release)
	select {
	case stuck := <-registered:
		if _, err := stuck.Load(ctx, slowDevice); err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the hook that was released does not end")
	}
}

func TestHooksSeeTheWholeLibrary(t *testing.T) {
	var log []string
	r := registry.New(slog.New(slog.DiscardHandler))
	p, _ := newPlatform("p", &log, nil)
	var seen *offload.Library
	h := &hooked{p, func(_ context.Context, lib *offload.Library) error { seen = lib; return nil }}
	r.AddPlatform(ctx, "p", h, []string{"p:0"})
	lib := offload.Library{Label: "lib", Images: images("a", "b"), Requires: 2,
		Entries: []offload.Entry{{Name: "k"}, {Name: "v", Kind: offload.EntryVariable, Size: 8, Flags: 1}}}
	if _, err := r.Register(ctx, lib); err != nil {
		t.Fatal(err)
	}
	if seen == nil || len(seen.Images) != 2 || !slices.Equal(seen.Entries, lib.Entries) || seen.Requires != 2 {
		t.Errorf("the hook saw %+v", seen)
	}
	if !slices.Equal(log, []string{"p registers lib"}) {
		t.Errorf("before any check: %q", log)
	}
}

func TestUnusableImagesAreNotOffered(t *testing.T) {
	var log []string
	r := registry.New(slog.New(slog.DiscardHandler))
	p, d := newPlatform("p", &log, map[string]int{"good": 1, "bad": 9})
	r.AddPlatform(ctx, "p", p, []string{"p:0"})
	list := images("good", "bad")
	list[1].Unusable = errors.New("bytes of no known format")
	l, err := r.Register(ctx, offload.Library{Label: "lib", Images: list})
	if err != nil {
		t.Fatal(err)
	}
	if prog, err := l.Load(ctx, d); err != nil || prog.(*program).label != "good" {
		t.Errorf("%v, %v", prog, err)
	}
	if f := l.Images()[1].Devices[0]; f.Chosen || f.Err == nil || f.Err.Error() != "bytes of no known format" {
		t.Errorf("the unusable image: %+v", f)
	}
	if slices.Contains(log, "p checks bad") {
		t.Errorf("the plugin was asked: %q", log)
	}
}
