//go:build linux && (amd64 || arm64) && !nonative

package cuda

import (
	"context"
	"errors"
	"fmt"

	"github.com/orepl/orepl/lang/kernel/emit/ptx"
	"github.com/orepl/orepl/plugins/cuda/internal/driver"
	"github.com/orepl/orepl/plugins/internal/lowered"
	"github.com/orepl/orepl/plugins/internal/process"
	"github.com/orepl/orepl/runtime/offload"
)

// platform implements [offload.Platform].
type platform struct {
	driver  *driver.Driver
	info    offload.PlatformInfo
	devices []offload.Device
}

// open opens the driver's devices and skips those that fail. If none is left, it returns their
// errors, or NoDevice if the driver has none.
func open(_ context.Context, o Options) (offload.Platform, error) {
	target, err := ptx.Target()
	if err != nil {
		return nil, err
	}
	p := &platform{}
	count := 0
	err = process.KeepSignals(func() (err error) {
		if p.driver, err = driver.Open(o.Library); err == nil {
			count, err = p.driver.DeviceCount()
		}
		return err
	})
	if err != nil {
		return nil, absent(err)
	}
	var failed error
	for n := range count {
		d := &device{Device: lowered.Device{ID: fmt.Sprintf("%s:%d", Name, n), Dialect: &dialect}, driver: p.driver, target: target, lost: make(chan struct{})}
		if err := process.KeepSignals(func() error { return d.open(n) }); err != nil {
			failed = errors.Join(failed, fmt.Errorf("device %d: %w", n, err))
			continue
		}
		p.devices = append(p.devices, d)
	}
	if len(p.devices) == 0 {
		if failed == nil {
			failed = driver.NoDevice
		}
		return nil, absent(failed)
	}
	p.info = offload.PlatformInfo{Name: Name, Vendor: "NVIDIA", Version: versionText(p.driver.Version), Library: p.driver.Path}
	return p, nil
}

// versionText returns a version in the usual form: 12040 is CUDA 12.4.
func versionText(n int) string { return fmt.Sprintf("CUDA %d.%d", n/1000, n%1000/10) }

func (p *platform) Info() offload.PlatformInfo { return p.info }
func (p *platform) Devices() []offload.Device  { return p.devices }

func (p *platform) CheckImage(img *offload.Image) error {
	switch img.Kind {
	case offload.ImageIR, offload.ImagePTX, offload.ImageCubin, offload.ImageFatbin:
		return nil
	}
	return offload.Errorf(offload.Unsupported, "load", "CUDA devices load PTX, cubins, fat binaries and portable kernel IR, and this image is of kind %q", img.Kind).On(Name, img.Label)
}

func (p *platform) Close() error {
	for _, d := range p.devices {
		d.(*device).close()
	}
	return nil
}
