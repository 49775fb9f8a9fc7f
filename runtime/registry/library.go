package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/orepl/orepl/runtime/offload"
)

// Library is a set of images that were registered together.
type Library struct {
	registry *Registry
	lib      offload.Library

	mu          sync.Mutex
	closed      bool
	attachments []*attachment // in the order in which the platforms were paired with the library
	slots       map[offload.Device]*slot
}

// slot holds a library's state on one device.
type slot struct {
	attachment *attachment
	device     offload.Device
	id         string

	lock    lock // held while images are checked and loaded
	checked bool
	fits    []fit // by image
	chosen  int   // index of the best image; -1: none fits
	program offload.Program
	gone    bool // the platform or the library has ended
}

// lock is a mutex whose acquisition can be cancelled by a context.
type lock chan struct{}

func newLock() lock { return make(lock, 1) }

func (l lock) acquire(ctx context.Context) error {
	select {
	case l <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l lock) release() { <-l }

type fit struct {
	score int
	err   error // reason for refusing the image
}

// ImageStatus is an image with its fit on each device.
type ImageStatus struct {
	Image   *offload.Image
	Devices []ImageFit
}

// ImageFit is the fit of an image on a device.
type ImageFit struct {
	Device string // id
	Score  int    // higher is better
	Chosen bool   // the best of the library's images
	Loaded bool
	Err    error // reason for refusing the image; nil if it fits
}

// Decision returns chosen, loaded, refused, or unused if another image fits better.
func (f *ImageFit) Decision() string {
	switch {
	case f.Err != nil:
		return "refused"
	case f.Loaded:
		return "loaded"
	case f.Chosen:
		return "chosen"
	}
	return "unused"
}

// Entries returns the host program's table of entries; nil without one.
func (l *Library) Entries() []offload.Entry { return l.lib.Entries }

// Label returns the library's label.
func (l *Library) Label() string { return l.lib.Label }

func (s *slot) unload() error {
	s.lock <- struct{}{}
	defer s.lock.release()
	s.gone = true
	program := s.program
	if s.program = nil; program == nil {
		return nil
	}
	return guard("unload", "", program.Unload)
}

// Load returns the library's program on a device; the first call loads the image that fits best. Errors: Closed after Unregister;
// InvalidDevice for a device of no open platform; Cancelled when ctx ends; NotFound with every image's reason if none of several
// fits. The reason of a single image keeps its code. Failures of the plugin's hook and of loading are returned, too.
func (l *Library) Load(ctx context.Context, dev offload.Device) (offload.Program, error) {
	l.mu.Lock()
	s := l.slots[dev]
	closed := l.closed
	l.mu.Unlock()
	switch {
	case closed:
		return nil, l.closedError("load")
	case s == nil:
		return nil, &offload.Error{Code: offload.InvalidDevice, Op: "load", Label: l.lib.Label, Detail: "the device is not of an open platform"}
	}
	if err := s.attachment.announce(ctx); err != nil {
		return nil, &offload.Error{Code: codeOr(err, offload.BackendFailure), Op: "load", Device: s.id, Label: l.lib.Label,
			Detail: fmt.Sprintf("plugin %s refused the library", s.attachment.platform.name), Err: err}
	}
	if cause := s.lock.acquire(ctx); cause != nil { // another goroutine is loading the image
		return nil, &offload.Error{Code: offload.Cancelled, Op: "load", Device: s.id, Label: l.lib.Label, Err: cause}
	}
	defer s.lock.release()
	if s.gone {
		return nil, l.closedError("load")
	}
	if s.program != nil {
		return s.program, nil
	}
	l.check(s)
	if s.chosen < 0 {
		return nil, l.noneFits(s)
	}
	img := l.lib.Images[s.chosen]
	var program offload.Program
	err := guard("load", img.Label, func() (err error) {
		program, err = s.device.Load(ctx, img)
		return err
	})
	if err != nil {
		if e, ok := err.(*offload.Error); ok && e.Device == "" {
			c := *e
			c.Device = s.id
			err = &c
		}
		return nil, err
	}
	s.program = program
	return program, nil
}

// check calls the platform's and the device's check of every image once. The caller holds s.lock.
func (l *Library) check(s *slot) {
	if s.checked {
		return
	}
	s.checked = true
	s.fits = make([]fit, len(l.lib.Images))
	for i, img := range l.lib.Images {
		f := &s.fits[i]
		if f.err = img.Unusable; f.err != nil {
			continue
		}
		f.err = guard("check image", img.Label, func() error {
			if err := s.attachment.platform.raw.CheckImage(img); err != nil {
				return err
			}
			score, err := s.device.CheckImage(img)
			f.score = score
			return err
		})
		if f.err == nil && f.score <= 0 {
			f.err = &offload.Error{Code: offload.Unsupported, Op: "check image", Device: s.id, Label: img.Label, Detail: "the device gave no reason"}
		}
		if f.err == nil && (s.chosen < 0 || f.score > s.fits[s.chosen].score) {
			s.chosen = i
		}
	}
}

// noneFits returns the error of a library without an image for a device. The device may have been lost while it checked one.
func (l *Library) noneFits(s *slot) error {
	for _, f := range s.fits {
		if offload.CodeOf(f.err) == offload.DeviceLost {
			return lostError(f.err, s.id, l.lib.Label)
		}
	}
	if len(s.fits) == 1 {
		return &offload.Error{Code: codeOr(s.fits[0].err, offload.InvalidBinary), Op: "load", Device: s.id, Label: l.lib.Label,
			Detail: "the image does not fit the device", Err: s.fits[0].err}
	}
	reasons := make([]string, len(s.fits))
	for i, f := range s.fits {
		reasons[i] = fmt.Sprintf("%s: %v", l.lib.Images[i].Label, f.err)
	}
	e := offload.Errorf(offload.NotFound, "load", "none of the %d images fits the device", len(s.fits))
	return e.On(s.id, l.lib.Label).WithHint("%s", strings.Join(reasons, "; "))
}

// lostError returns an error with the code DeviceLost, which names a device and a label unless it names others.
func lostError(err error, device, label string) error {
	lost, ok := err.(*offload.Error)
	switch {
	case !ok:
		return &offload.Error{Code: offload.DeviceLost, Op: "load", Device: device, Label: label, Err: err}
	case lost.Device != "":
		return err
	}
	named := *lost
	return named.On(device, label)
}

// Images returns the fit of each image on the devices of the open platforms. It loads nothing.
func (l *Library) Images() []ImageStatus {
	list := make([]ImageStatus, len(l.lib.Images))
	for i, img := range l.lib.Images {
		list[i].Image = img
	}
	l.mu.Lock()
	attachments := slices.Clone(l.attachments)
	l.mu.Unlock()
	for _, a := range attachments {
		refused := a.failure()
		for _, s := range a.slots {
			s.lock <- struct{}{}
			if refused == nil {
				l.check(s)
			}
			for i := range list {
				f := ImageFit{Device: s.id, Err: refused}
				if refused == nil {
					f.Score, f.Err = s.fits[i].score, s.fits[i].err
					f.Chosen = s.chosen == i
					f.Loaded = f.Chosen && s.program != nil
				}
				list[i].Devices = append(list[i].Devices, f)
			}
			s.lock.release()
		}
	}
	return list
}

// Unregister unloads the library from all platforms and calls their hooks, in the reverse order of pairing. Commands that use
// the library must have finished. A second call is a Closed error.
func (l *Library) Unregister(ctx context.Context) error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return l.closedError("unregister")
	}
	l.closed = true
	attachments := slices.Clone(l.attachments)
	l.mu.Unlock()
	var errs []error
	for _, a := range slices.Backward(attachments) {
		errs = append(errs, a.end(ctx))
	}
	l.registry.forget(l) // after the loop: RemovePlatform waits for attachments of ending libraries
	return errors.Join(errs...)
}

func (l *Library) closedError(op string) error {
	return &offload.Error{Code: offload.Closed, Op: op, Label: l.lib.Label, Detail: "the library has been unregistered"}
}

// guard calls fn, and turns a panic of the plugin into an error.
func guard(op, label string, fn func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &offload.Error{Code: offload.BackendFailure, Op: op, Label: label, Detail: fmt.Sprintf("the plugin panicked: %v", r)}
		}
	}()
	return fn()
}

func codeOr(err error, code offload.Code) offload.Code {
	if c := offload.CodeOf(err); c != "" {
		return c
	}
	return code
}
