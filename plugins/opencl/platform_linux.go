//go:build linux && (amd64 || arm64) && !nonative

package opencl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/orepl/orepl/lang/kernel/emit/clc"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/plugins/internal/lowered"
	"github.com/orepl/orepl/plugins/internal/process"
	"github.com/orepl/orepl/plugins/opencl/internal/cl"
	"github.com/orepl/orepl/runtime/offload"
)

// platform implements [offload.Platform] for the devices of all drivers.
type platform struct {
	lib     *cl.Library
	info    offload.PlatformInfo
	devices []offload.Device
}

// open opens the devices of all drivers, and skips drivers that fail. If no device is left that can
// compile kernels, it returns the reasons.
func open(_ context.Context, o Options) (offload.Platform, error) {
	target, err := clc.Target()
	if err != nil {
		return nil, err
	}
	p := &platform{}
	var drivers []cl.Platform
	err = process.KeepSignals(func() (err error) {
		if p.lib, err = cl.Open(o.Library); err == nil {
			drivers, err = p.lib.Platforms()
		}
		return err
	})
	if errors.Is(err, cl.PlatformNotFound) {
		err = errors.Join(err, brokenDrivers(&o))
	}
	if err != nil {
		return nil, absent(err)
	}
	var names, versions []string
	var failed error
	for _, driver := range drivers {
		name := p.lib.PlatformText(driver, cl.PlatformName)
		if err := process.KeepSignals(func() error { return p.addDevices(driver, target, o) }); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", name, err))
			continue
		}
		names, versions = append(names, name), append(versions, p.lib.PlatformText(driver, cl.PlatformVersion))
	}
	if len(p.devices) == 0 {
		if failed == nil {
			failed = errors.New("the drivers have no devices that can compile kernels")
		}
		return nil, absent(failed)
	}
	p.info = offload.PlatformInfo{Name: Name, Vendor: strings.Join(names, ", "), Version: strings.Join(versions, ", "), Library: p.lib.Path}
	return p, nil
}

// brokenDrivers returns the reasons why registered drivers cannot be loaded. Loaders skip them silently.
func brokenDrivers(o *Options) (broken error) {
	for _, file := range o.driverFiles() {
		data, err := os.ReadFile(file)
		if err == nil {
			err = process.KeepSignals(func() error { return cl.Loadable(strings.TrimSpace(string(data))) })
		}
		if err != nil {
			broken = errors.Join(broken, fmt.Errorf("the driver of %s: %w", file, err))
		}
	}
	return broken
}

func (p *platform) addDevices(driver cl.Platform, target *lower.Target, o Options) error {
	list, err := p.lib.Devices(driver)
	if err != nil {
		return err
	}
	for _, id := range list {
		if p.lib.DeviceNumber(id, cl.Available)&1 == 0 || p.lib.DeviceNumber(id, cl.CompilerAvailable)&1 == 0 || p.lib.DeviceNumber(id, cl.EndianLittle)&1 == 0 {
			continue
		}
		c, err := p.lib.NewContext(driver, id)
		if err != nil {
			return err
		}
		pocl := p.lib.PlatformText(driver, cl.PlatformName) == "Portable Computing Language"
		d := &device{pocl: pocl, cache: newCache(o.CacheDir), driver: p.lib.PlatformText(driver, cl.PlatformName) + p.lib.PlatformText(driver, cl.PlatformVersion),
			lib: p.lib, handle: id, context: c, target: target, options: o.BuildOptions, Device: lowered.Device{ID: fmt.Sprintf("%s:%d", Name, len(p.devices)), Dialect: &dialect}}
		d.describe(!o.Unshared)
		if d.aux, err = p.lib.NewQueue(c, id); err != nil {
			p.lib.ReleaseContext(c)
			return err
		}
		p.devices = append(p.devices, d)
	}
	return nil
}

func (p *platform) Info() offload.PlatformInfo { return p.info }
func (p *platform) Devices() []offload.Device  { return p.devices }

func (p *platform) CheckImage(img *offload.Image) error {
	switch img.Kind {
	case offload.ImageIR, offload.ImageOpenCLC, offload.ImageSPIRV:
		return nil
	}
	return offload.Errorf(offload.Unsupported, "load", "OpenCL devices load OpenCL C, SPIR-V and portable kernel IR, and this image is of kind %q", img.Kind).On(Name, img.Label)
}

func (p *platform) Close() error {
	for _, d := range p.devices {
		d.(*device).close()
	}
	return nil
}
