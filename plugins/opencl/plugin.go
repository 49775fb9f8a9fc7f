// Package opencl is the plugin for devices of OpenCL drivers: GPUs, accelerators, and processors (PoCL). It finds the loader
// libOpenCL.so.1 at run time. Devices are opencl:0, opencl:1 and so on, in the order of the drivers.
//
// Package lower rewrites kernels of portable IR in operations of OpenCL C 1.2, package clc prints them, and the driver
// compiles each by itself.
//
// Images of OpenCL C and SPIR-V are built unchanged, and their kernels run without checks.
//
// # Records
//
// Each launch has a buffer of records, in which its kernel stores its first fault and its prints. If the driver has
// fine-grained shared virtual memory, the host reads the records while the kernel runs, and can stop it. Otherwise they are
// copied before and after the launch.
//
// # Threads
//
// A driver for the processor (PoCL) runs kernels on its own threads in this process. Kernels compiled by orepl check their
// accesses; with checks: 'off' an access out of bounds may end the process.
//
// # Design
//
// Records are in shared virtual memory where the driver has it, so a launch is one command and can be stopped. printf of
// OpenCL has neither owner nor order.
//
// Arithmetic is compared before the first kernel and not at opening, because only a run shows contraction, and it takes
// longer than opening.
//
// Launches choose among forms of a kernel: drivers for processors vectorize only work-items that never end early. A launch
// of at most 2³¹ instructions is not stopped.
//
// Binaries are kept on disk: with PoCL's own cache empty a first kernel took 8.1 s, and 1.4 s from these.
//
// Simple loops have barriers on PoCL, which then vectorizes over work-items; n-body went from 0.7 to 1.9 times the
// speed of a kernel written by hand. With addresses of 64 bits PoCL needs no tests for wraps.
//
// Names of drivers' files are read before a driver is loaded, since loading PoCL takes 20 ms and its device never wins.
package opencl

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/orepl/orepl/runtime/offload"
)

// Name is the plugin's name.
const Name = "opencl"

// Options are the plugin's options; the zero value suits most programs.
type Options struct {
	Library      string // file of the loader; "" for the system's
	Unshared     bool   // copy records even if the driver has shared virtual memory
	BuildOptions string // further options of the drivers' compilers, with a leading space
	CacheDir     string // folder of built programs; "" for the user's, "off" for none
	VendorsDir   string // folder in which drivers are registered; "" for the system's
}

type plugin struct{ options Options }

// New returns the plugin.
func New(o Options) offload.Plugin { return plugin{o} }

func (plugin) Name() string { return Name }

// MaxClass implements [offload.ClassBounded]. It looks for GPU drivers among the registered files, unless an option or a
// variable names the loader or drivers, which may have GPUs. If there are none, the search for the best device need not start
// the drivers.
func (p plugin) MaxClass() int {
	if p.options.Library != "" || os.Getenv("OCL_ICD_FILENAMES") != "" || os.Getenv("OCL_ICD_VENDORS") != "" {
		return offload.ClassGPU
	}
	for _, f := range p.options.driverFiles() {
		if name := strings.ToLower(filepath.Base(f)); !strings.Contains(name, "pocl") && !strings.Contains(name, "oclgrind") {
			return offload.ClassGPU
		}
	}
	return offload.ClassEmulated
}

// driverFiles returns the files that register drivers.
func (o *Options) driverFiles() []string {
	dir := o.VendorsDir
	if dir == "" {
		dir = os.Getenv("OCL_ICD_VENDORS")
	}
	if dir == "" {
		dir = "/etc/OpenCL/vendors"
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.icd"))
	return files
}

func (p plugin) Open(ctx context.Context) (offload.Platform, error) { return open(ctx, p.options) }

// absent returns the error for a machine without drivers.
func absent(err error) error {
	e := offload.Errorf(offload.NotFound, "open", "OpenCL was not found").On(Name, "")
	e.Err = err
	return e.WithHint("install an OpenCL loader and a driver: the vendor's for a GPU, or PoCL for the processor (packages ocl-icd-libopencl1 and pocl-opencl-icd of Debian)")
}
