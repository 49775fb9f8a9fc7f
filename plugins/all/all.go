// Package all lists the plugins that are part of orepl. A program that needs fewer can list its own.
package all

import (
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/plugins/cuda"
	"github.com/orepl/orepl/plugins/far"
	"github.com/orepl/orepl/plugins/mpi"
	"github.com/orepl/orepl/plugins/opencl"
	"github.com/orepl/orepl/runtime/offload"
)

// Plugins returns all plugins with their default options, unopened.
func Plugins() []offload.Plugin {
	return []offload.Plugin{cpu.New(cpu.Options{}), cuda.New(cuda.Options{}), opencl.New(opencl.Options{}), far.New(far.FromEnvironment()), mpi.New()}
}
