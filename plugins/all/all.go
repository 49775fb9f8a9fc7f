// Package all lists the plugins that come with orepl. A program that wants fewer lists its own.
package all

import (
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/plugins/far"
	"github.com/orepl/orepl/plugins/opencl"
	"github.com/orepl/orepl/runtime/offload"
)

// Plugins returns all plugins with their default options, and that of workers if OREPL_FAR names some. None is opened yet.
func Plugins() []offload.Plugin {
	list := []offload.Plugin{cpu.New(cpu.Options{}), opencl.New(opencl.Options{})}
	if o, ok := far.FromEnvironment(); ok {
		list = append(list, far.New(o))
	}
	return list
}
