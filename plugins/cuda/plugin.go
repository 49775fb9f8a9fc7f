// Package cuda is the plugin for NVIDIA's GPUs. It finds the driver's library libcuda.so.1 at run time and needs no toolkit.
// Devices are cuda:0, cuda:1 and so on, in the driver's order, which CUDA_VISIBLE_DEVICES can change.
//
// Package lower rewrites kernels of portable IR in operations of PTX, package ptx prints them, and the driver compiles each
// kernel at its first use.
//
// # Contexts
//
// A device retains the primary context, which other code in the process shares, and never resets it. Each group of calls
// pushes the context on its thread and pops it afterwards, so goroutines may call from any thread.
//
// # Records
//
// Each launch has a buffer of records in pinned host memory that is mapped to the device. The kernel stores its first fault,
// its prints and its calls there, and polls a stop word.
//
// # Transfers
//
// Copies between host and device go through blocks of pinned memory, unless the caller has pinned its own.
//
// # Loss
//
// After a sticky error, such as an illegal address in an image's kernel, every call in the context fails. The device then
// reports that it is lost.
//
// # Design
//
// Copies go through pinned blocks of the plugin, because the driver may block the caller of a copy from pageable memory.
//
// A variant is compiled for the axes, facts, checks and group class of a launch. Code for one axis without checks has 16
// instructions for saxpy instead of 55.
//
// Loops of launches with at most 2³⁶ instructions, and 2²⁶ for each item, do not poll the stop word. ld.global.nc loads only
// buffers in device memory that the launch does not write.
//
// The driver caches machine code by text, so no cubins are kept on disk.
//
// Tests use a stand-in of libcuda that runs streams on threads, checks order and ownership, and fails any call on request.
package cuda

import (
	"context"
	"errors"
	"os"

	"github.com/orepl/orepl/plugins/cuda/internal/driver"
	"github.com/orepl/orepl/runtime/offload"
)

// Name is the plugin's name.
const Name = "cuda"

// Options are the plugin's options; the zero value suits most programs.
type Options struct {
	Library string // file of the driver's library; "" for the system's
}

type plugin struct{ options Options }

// New returns the plugin.
func New(o Options) offload.Plugin { return plugin{o} }

func (plugin) Name() string { return Name }

// MaxClass implements [offload.ClassBounded]. It returns 0 if the kernel driver's files are missing and the options name no
// library. The search for the best device then does not load the library.
func (p plugin) MaxClass() int {
	if p.options.Library != "" {
		return offload.ClassGPU
	}
	for _, file := range []string{"/dev/nvidiactl", "/proc/driver/nvidia/version", "/dev/dxg", "/dev/nvhost-ctrl-gpu", "/dev/nvgpu"} {
		if _, err := os.Stat(file); err == nil {
			return offload.ClassGPU
		}
	}
	return 0
}

func (p plugin) Open(ctx context.Context) (offload.Platform, error) { return open(ctx, p.options) }

// absent returns the error for a machine without a driver or a device.
func absent(err error) error {
	e := offload.Errorf(offload.NotFound, "open", "no CUDA device was found").On(Name, "")
	e.Err = err
	hint := "install NVIDIA's driver (its library is libcuda.so.1; the package libcuda1 of Debian)"
	var s driver.Status
	if errors.As(err, &s) {
		hint = "look whether nvidia-smi lists a device"
		if s == driver.NoDevice {
			hint = "the driver's library is there and sees no device: look whether nvidia-smi lists one, and at CUDA_VISIBLE_DEVICES"
		}
	}
	e.Hint = hint
	return e
}
