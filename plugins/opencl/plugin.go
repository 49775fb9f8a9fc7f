// Package opencl is the plugin for devices of OpenCL drivers of any vendor: GPUs, accelerators, and processors (PoCL). It
// finds the loader libOpenCL.so.1 at run time. Devices are opencl:0, opencl:1 and so on, in the order of the drivers.
//
// Kernels arrive as portable IR. Package lower rewrites them in operations that OpenCL C 1.2 has, package clc prints them,
// and the driver compiles them one by one.
//
// Images of OpenCL C and SPIR-V that others wrote are built as they are, and their kernels launched without checks.
//
// # Records
//
// Each launch has a buffer of records, in which its kernel leaves its first fault and its prints. Where the driver has
// fine-grained shared virtual memory the host sees the records while the kernel runs, and can stop it. Elsewhere they are written
// before the launch and read after it.
//
// # Threads
//
// A driver that runs on the processor (PoCL) runs kernels on threads of its own in this process. The kernels that orepl
// compiles check their accesses; with checks: 'off' an access out of bounds may end the process.
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

// Options are the plugin's options; the zero value is right for most programs.
type Options struct {
	Library      string // file of the loader; "" means the system's
	Unshared     bool   // records are copied, as for a driver without shared virtual memory
	BuildOptions string // more options of the drivers' compilers, after a space
	CacheDir     string // folder of built programs; "" means that of the user, "off" none
	VendorsDir   string // folder in which drivers are registered; "" means the system's
}

type plugin struct{ options Options }

// New returns the plugin.
func New(o Options) offload.Plugin { return plugin{o} }

func (plugin) Name() string { return Name }

// MaxClass implements [offload.ClassBounded]. The files in which drivers are registered tell whether one of them may have a GPU;
// reading them spares a search for the best device the start of drivers that run on the processor.
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

// driverFiles returns the files in which drivers are registered.
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

// absent returns the error of a machine without drivers.
func absent(err error) error {
	e := offload.Errorf(offload.NotFound, "open", "OpenCL was not found").On(Name, "")
	e.Err = err
	return e.WithHint("install an OpenCL loader and a driver: the vendor's for a GPU, or PoCL for the processor (packages ocl-icd-libopencl1 and pocl-opencl-icd of Debian)")
}
