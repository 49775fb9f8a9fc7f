package cpu

import (
	"context"
	"runtime"

	"github.com/orepl/orepl/runtime/offload"
)

// Name is the plugin's name, and its device's id.
const Name = "cpu"

// Options are the plugin's options; the zero value is what most want.
type Options struct {
	Cores int // that kernels may use at once; 0 means all that the process may
	// Debug forces choices that the plugin makes by itself, for tests: "cpu-engine=interp", "cpu-engine=avx512",
	// "gang=2", joined by commas. Empty means what the environment variable OREPL_DEBUG says.
	Debug string
}

type plugin struct{ options Options }

// New is the plugin.
func New(options Options) offload.Plugin { return plugin{options} }

func (plugin) Name() string { return Name }

// MaxClass implements [offload.ClassBounded].
func (plugin) MaxClass() int { return offload.ClassCPU }

// Open never fails: every machine has a processor.
func (p plugin) Open(context.Context) (offload.Platform, error) {
	return &platform{device: newDevice(p.options)}, nil
}

type platform struct{ device *device }

func (p *platform) Info() offload.PlatformInfo {
	return offload.PlatformInfo{Name: Name, Vendor: "orepl", Version: runtime.Version()}
}

func (p *platform) Devices() []offload.Device { return []offload.Device{p.device} }

func (p *platform) CheckImage(img *offload.Image) error {
	if img.Kind != offload.ImageIR {
		return offload.Errorf(offload.Unsupported, "load", "the CPU device loads images of kind %q, and this one is of kind %q",
			offload.ImageIR, img.Kind).On(Name, img.Label)
	}
	return nil
}

func (p *platform) Close() error {
	p.device.close()
	return nil
}
