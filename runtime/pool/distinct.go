package pool

import (
	"slices"
	"strings"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Distinct returns devices without the processors that an earlier plugin of the same process already offers, such as PoCL's beside
// cpu. Work on both would use the same cores.
func Distinct(devices []*session.Device) []*session.Device {
	first := map[string]string{} // by process, the plugin of its processor
	return slices.DeleteFunc(slices.Clone(devices), func(d *session.Device) bool {
		info := d.Info()
		if info.Type != offload.CPU {
			return false
		}
		process, plugin := origin(d.ID(), info.Class == offload.ClassRemote)
		if _, ok := first[process]; !ok {
			first[process] = plugin
		}
		return first[process] != plugin
	})
}

// origin returns the worker in a device's id, empty for this process, and the plugin there: of mpi:1/opencl:0, they are mpi:1 and opencl.
func origin(id string, remote bool) (process, plugin string) {
	if at := strings.LastIndexByte(id, '/'); at >= 0 {
		process, id = id[:at], id[at+1:]
	} else if remote {
		process, id, _ = strings.Cut(id, ":")
	}
	plugin, _, _ = strings.Cut(id, ":")
	return process, plugin
}
