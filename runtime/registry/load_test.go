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

// checker is a device whose check of images fails with the test's error.
type checker struct {
	*device
	err error
}

func (c *checker) CheckImage(*offload.Image) (int, error) { return 0, c.err }

// TestADeviceThatIsLostDuringACheck checks that the error is the loss, not an image that does not fit.
func TestADeviceThatIsLostDuringACheck(t *testing.T) {
	for _, images := range [][]string{{"a"}, {"a", "b"}} {
		var log []string
		p, d := newPlatform("p", &log, map[string]int{"a": 1, "b": 1})
		c := &checker{d, offload.Errorf(offload.DeviceLost, "load", "the process ended")}
		p.devices = []offload.Device{c}
		r := registry.New(nil)
		r.AddPlatform(ctx, "p", p, []string{"p:0"})
		_, err := register(t, r, "lib", images...).Load(ctx, c)
		if offload.CodeOf(err) != offload.DeviceLost || strings.Contains(err.Error(), "fit") || !strings.Contains(err.Error(), "p:0") {
			t.Errorf("%d images: %v", len(images), err)
		}
	}
}
