package cpu

import (
	"context"
	"fmt"
	"runtime"

	"github.com/orepl/orepl/plugins/cpu/internal/machine"
	"github.com/orepl/orepl/runtime/memory"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

// Name is the plugin's name, and the id of its device. Several devices have the ids cpu:0, cpu:1 and so on.
const Name = "cpu"

// Options are the plugin's options; the zero value suits most users.
type Options struct {
	Cores int // cores that kernels may use concurrently; 0 means all cores of the process
	// Devices is the number of devices among which the cores are evenly split, to isolate programs; 0 means 1. Each device has at
	// least one core.
	Devices int
	// Debug sets switches of package debug, such as "cpu-engine=interp,gang=2". It overrides the environment variable
	// OREPL_DEBUG.
	Debug string
}

type plugin struct{ options Options }

// New returns the plugin with these options.
func New(options Options) offload.Plugin { return plugin{options} }

func (plugin) Name() string { return Name }

// MaxClass implements [offload.ClassBounded].
func (plugin) MaxClass() int { return offload.ClassCPU }

// Open opens the platform. It returns an error only for debug switches that are invalid, or that force an engine which this
// machine cannot run.
func (p plugin) Open(context.Context) (offload.Platform, error) {
	choices, err := p.options.choices()
	if err != nil {
		return nil, err
	}
	cores, n := p.options.Cores, max(1, p.options.Devices)
	if cores <= 0 {
		cores = machine.Cores()
	}
	choices.cores = cores
	info := machine.Read()
	shared := shared{
		machine: info, clock: queue.NewClock(), memory: memory.NewPool(memory.Options{}), modules: newModules(choices, &info),
	}
	pl := &platform{memory: shared.memory}
	for i := range n {
		id := Name
		if n > 1 {
			id = fmt.Sprintf("%s:%d", Name, i)
		}
		pl.devices = append(pl.devices, newDevice(shared, id, max(1, cores*(i+1)/n-cores*i/n), choices))
	}
	return pl, nil
}

type platform struct {
	devices []*device
	memory  *memory.Pool
}

func (p *platform) Info() offload.PlatformInfo {
	return offload.PlatformInfo{Name: Name, Vendor: "orepl", Version: runtime.Version()}
}

func (p *platform) Devices() []offload.Device {
	list := make([]offload.Device, len(p.devices))
	for i, d := range p.devices {
		list[i] = d
	}
	return list
}

func (p *platform) CheckImage(img *offload.Image) error {
	if img.Kind != offload.ImageIR && img.Kind != offload.ImageELF {
		return offload.Errorf(offload.Unsupported, "load", "the CPU device loads portable kernel IR and shared objects for this machine, and this one is of kind %q",
			img.Kind).On(Name, img.Label)
	}
	return nil
}

func (p *platform) Close() error {
	for _, d := range p.devices {
		d.pool.Close()
	}
	p.memory.Close()
	return nil
}
