// Package all lists the plugins that come with orepl. A program that wants fewer lists its own.
package all

import (
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/plugins/far"
	"github.com/orepl/orepl/plugins/mpi"
	"github.com/orepl/orepl/plugins/opencl"
	"github.com/orepl/orepl/runtime/offload"
)

// Plugins returns all plugins with their default options; those of workers only if OREPL_FAR names some, or an MPI launcher
// started this process. None is opened yet.
func Plugins() []offload.Plugin {
	list := []offload.Plugin{cpu.New(cpu.Options{}), opencl.New(opencl.Options{})}
	if o, ok := far.FromEnvironment(); ok {
		list = append(list, far.New(o))
	}
	if mpi.Launched() {
		list = append(list, mpi.New())
	}
	return list
}
