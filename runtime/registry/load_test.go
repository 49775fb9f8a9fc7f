package registry_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/registry"
)

// loader is a device whose loading is the test's.
type loader struct {
	*device
	load func() (offload.Program, error)
}

func (l *loader) Load(context.Context, *offload.Image) (offload.Program, error) { return l.load() }

func newLoader(load func() (offload.Program, error)) (*registry.Registry, *loader) {
	var log []string
	p, d := newPlatform("p", &log, map[string]int{"a": 1})
	l := &loader{device: d, load: load}
	p.devices = []offload.Device{l}
	r := registry.New(nil)
	r.AddPlatform(ctx, "p", p, []string{"p:0"})
	return r, l
}

func TestASecondLoaderWaitsUntilItsContextEnds(t *testing.T) {
	started, gate := make(chan struct{}), make(chan struct{})
	r, d := newLoader(func() (offload.Program, error) {
		close(started)
		<-gate
		return &program{}, nil
	})
	lib := register(t, r, "lib", "a")
	first := make(chan error, 1)
	go func() { _, err := lib.Load(ctx, d); first <- err }()
	<-started
	short, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
	defer cancel()
	second := make(chan error, 1)
	go func() { _, err := lib.Load(short, d); second <- err }()
	select {
	case err := <-second:
		if offload.CodeOf(err) != offload.Cancelled {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the second loader waits for the first")
	}
	close(gate)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

func TestAPluginThatPanicsWhileLoading(t *testing.T) {
	r, d := newLoader(func() (offload.Program, error) { panic("oh") })
	lib := register(t, r, "lib", "a")
	for range 2 { // no lock is held any more
		_, err := lib.Load(ctx, d)
		if offload.CodeOf(err) != offload.BackendFailure || !strings.Contains(err.Error(), "oh") {
			t.Error(err)
		}
	}
}
