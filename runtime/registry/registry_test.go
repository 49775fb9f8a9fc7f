package registry_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/registry"
)

var ctx = context.Background()

// platform accepts images by a table: label → fit on each of its devices.
type platform struct {
	offload.Platform // no other method is called
	name             string
	devices          []offload.Device
	refuse           error // error of hooks
	log              *[]string
}

type device struct {
	offload.Device
	platform *platform
	fits     map[string]int
	mu       sync.Mutex
	loads    int
	fail     error
}

type program struct {
	offload.Program
	device *device
	label  string
}

func (p *platform) Devices() []offload.Device { return p.devices }

func (p *platform) CheckImage(img *offload.Image) error {
	switch img.Label {
	case "foreign":
		return offload.Errorf(offload.Unsupported, "check image", "foreign to the platform")
	case "panic":
		panic("in the plugin")
	}
	return nil
}

func (p *platform) RegisterLibrary(_ context.Context, lib *offload.Library) error {
	*p.log = append(*p.log, p.name+" registers "+lib.Label)
	return p.refuse
}

func (p *platform) UnregisterLibrary(_ context.Context, lib *offload.Library) error {
	*p.log = append(*p.log, p.name+" unregisters "+lib.Label)
	return nil
}

func (d *device) CheckImage(img *offload.Image) (int, error) {
	*d.platform.log = append(*d.platform.log, d.platform.name+" checks "+img.Label)
	if fit := d.fits[img.Label]; fit > 0 {
		return fit, nil
	}
	return 0, errors.New("not for this device")
}

func (d *device) Load(_ context.Context, img *offload.Image) (offload.Program, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.loads++
	*d.platform.log = append(*d.platform.log, d.platform.name+" loads "+img.Label)
	if d.fail != nil {
		return nil, d.fail
	}
	return &program{device: d, label: img.Label}, nil
}

func (p *program) Unload() error {
	*p.device.platform.log = append(*p.device.platform.log, p.device.platform.name+" unloads "+p.label)
	return nil
}

func newPlatform(name string, log *[]string, fits map[string]int) (*platform, *device) {
	p := &platform{name: name, log: log}
	d := &device{platform: p, fits: fits}
	p.devices = []offload.Device{d}
	return p, d
}

func images(labels ...string) []*offload.Image {
	var list []*offload.Image
	for _, l := range labels {
		list = append(list, &offload.Image{Label: l})
	}
	return list
}

func register(t *testing.T, r *registry.Registry, label string, labels ...string) *registry.Library {
	t.Helper()
	l, err := r.Register(ctx, offload.Library{Label: label, Images: images(labels...)})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestBestFitWinsAndReasonsAreKept(t *testing.T) {
	var log []string
	r := registry.New(slog.New(slog.DiscardHandler))
	p, d := newPlatform("p", &log, map[string]int{"poor": 1, "good": 5, "as good": 5})
	r.AddPlatform(ctx, "p", p, []string{"p:0"})
	l := register(t, r, "lib", "foreign", "poor", "panic", "good", "as good", "unfit")
	prog, err := l.Load(ctx, d)
	if err != nil || prog.(*program).label != "good" {
		t.Fatalf("%v, %v", prog, err)
	}
	if again, err := l.Load(ctx, d); again != prog || err != nil || d.loads != 1 {
		t.Errorf("a second load: %v, %v, %d loads", again, err, d.loads)
	}
	for i, want := range []struct {
		chosen bool
		reason string
	}{{false, "foreign to the platform"}, {false, ""}, {false, "in the plugin"}, {true, ""}, {false, ""}, {false, "not for this device"}} {
		f := l.Images()[i].Devices[0]
		if f.Device != "p:0" || f.Chosen != want.chosen || f.Loaded != want.chosen || (f.Err == nil) != (want.reason == "") ||
			f.Err != nil && !strings.Contains(f.Err.Error(), want.reason) {
			t.Errorf("image %d: %+v", i, f)
		}
	}
	none := register(t, r, "none", "foreign", "unfit")
	_, err = none.Load(ctx, d)
	var e *offload.Error
	if !errors.As(err, &e) || e.Code != offload.NotFound || !strings.Contains(e.Hint, "foreign to the platform") || !strings.Contains(e.Hint, "not for this device") {
		t.Errorf("no image fits: %v", err)
	}
	_, err = register(t, r, "one", "foreign").Load(ctx, d)
	if offload.CodeOf(err) != offload.Unsupported || !strings.Contains(err.Error(), "foreign to the platform") {
		t.Errorf("the only image does not fit: %v", err)
	}
	if _, err := r.Register(ctx, offload.Library{Label: "empty"}); offload.CodeOf(err) != offload.InvalidArgument {
		t.Errorf("no images: %v", err)
	}
}

func TestStepsNest(t *testing.T) {
	var log []string
	r := registry.New(slog.New(slog.DiscardHandler))
	early, d1 := newPlatform("early", &log, map[string]int{"img": 1})
	late, d2 := newPlatform("late", &log, map[string]int{"img": 1})
	r.AddPlatform(ctx, "early", early, []string{"early:0"})
	l := register(t, r, "lib", "img")
	if _, err := l.Load(ctx, d1); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Load(ctx, d2); offload.CodeOf(err) != offload.InvalidDevice {
		t.Errorf("a device of no platform: %v", err)
	}
	r.AddPlatform(ctx, "late", late, []string{"late:0"})
	if _, err := l.Load(ctx, d2); err != nil {
		t.Fatal(err)
	}
	if err := l.Unregister(ctx); err != nil {
		t.Fatal(err)
	}
	if err := l.Unregister(ctx); offload.CodeOf(err) != offload.Closed {
		t.Errorf("a second unregister: %v", err)
	}
	if _, err := l.Load(ctx, d1); offload.CodeOf(err) != offload.Closed {
		t.Errorf("a load after it: %v", err)
	}
	want := []string{"early registers lib", "early checks img", "early loads img", "late registers lib", "late checks img", "late loads img",
		"late unloads img", "late unregisters lib", "early unloads img", "early unregisters lib"}
	if !slices.Equal(log, want) {
		t.Errorf("got  %q\nwant %q", log, want)
	}
}

func TestPlatformsLeave(t *testing.T) {
	var log []string
	r := registry.New(slog.New(slog.DiscardHandler))
	p, d := newPlatform("p", &log, map[string]int{"img": 1})
	r.AddPlatform(ctx, "p", p, []string{"p:0"})
	a, b := register(t, r, "a", "img"), register(t, r, "b", "img")
	for _, l := range []*registry.Library{a, b} {
		if _, err := l.Load(ctx, d); err != nil {
			t.Fatal(err)
		}
	}
	log = nil
	if err := r.RemovePlatform(ctx, p); err != nil {
		t.Fatal(err)
	}
	if want := []string{"p unloads img", "p unregisters b", "p unloads img", "p unregisters a"}; !slices.Equal(log, want) {
		t.Errorf("got %q, want %q", log, want)
	}
	if _, err := a.Load(ctx, d); offload.CodeOf(err) != offload.InvalidDevice {
		t.Errorf("a load afterwards: %v", err)
	}
	if err := a.Unregister(ctx); err != nil || len(log) != 4 {
		t.Errorf("%v, %q", err, log)
	}
}

// TestRefusedLibraries checks that a hook's failure affects only loads on its platform.
func TestRefusedLibraries(t *testing.T) {
	var log []string
	r := registry.New(slog.New(slog.DiscardHandler))
	bad, d1 := newPlatform("bad", &log, map[string]int{"img": 1})
	bad.refuse = errors.New("no room")
	good, d2 := newPlatform("good", &log, map[string]int{"img": 1})
	r.AddPlatform(ctx, "bad", bad, []string{"bad:0"})
	r.AddPlatform(ctx, "good", good, []string{"good:0"})
	l := register(t, r, "lib", "img")
	_, err := l.Load(ctx, d1)
	if offload.CodeOf(err) != offload.BackendFailure || !strings.Contains(err.Error(), "no room") || !strings.Contains(err.Error(), "bad") {
		t.Errorf("load on the refusing platform: %v", err)
	}
	if _, err := l.Load(ctx, d2); err != nil {
		t.Error(err)
	}
	if f := l.Images()[0].Devices[0]; f.Err == nil || f.Chosen {
		t.Errorf("%+v", f)
	}
	if err := l.Unregister(ctx); err != nil {
		t.Error(err)
	}
	if slices.Contains(log, "bad unregisters lib") {
		t.Error("a platform that refused a library was told of its end")
	}
}

// TestLoads checks that a failed load is retried, and that concurrent loads share one program.
func TestLoads(t *testing.T) {
	var log []string
	r := registry.New(slog.New(slog.DiscardHandler))
	p, d := newPlatform("p", &log, map[string]int{"img": 1})
	r.AddPlatform(ctx, "p", p, []string{"p:0"})
	l := register(t, r, "lib", "img")
	d.fail = offload.Errorf(offload.LinkFailure, "load", "as asked")
	_, err := l.Load(ctx, d)
	var e *offload.Error
	if !errors.As(err, &e) || e.Code != offload.LinkFailure || e.Device != "p:0" {
		t.Errorf("%v", err)
	}
	d.fail = nil
	var wg sync.WaitGroup
	programs := make([]offload.Program, 8)
	for i := range programs {
		wg.Go(func() { programs[i], _ = l.Load(ctx, d) })
	}
	wg.Wait()
	for _, p := range programs {
		if p == nil || p != programs[0] {
			t.Errorf("%v", programs)
		}
	}
	if d.loads != 2 {
		t.Errorf("%d loads", d.loads)
	}
}
