// Package occupancy documents how scripts see the occupancy of a kernel, and converts it.
package occupancy

import (
	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/runtime/offload"
)

const (
	text = "how its groups share the device. groupItems is the number of work-items of a group; suggested and most are the suggested and the greatest number of them. " +
		"Groups whose size is a multiple of the number multiple use all lanes. perComputeUnit and groups are the numbers of groups that a compute unit and the device run at the same time. " +
		"cooperativeGroups is the greatest number of groups of a cooperative launch, 0 if there is none. Counts that the device does not report are undefined. May compile the kernel."
	result = "{ groupItems: number, suggested?: number, most?: number, multiple?: number, perComputeUnit?: number, groups?: number, cooperativeGroups: number }"
)

// OfKernel documents the method of a script's kernel.
func OfKernel() bindings.Entry {
	return bindings.NewMethod("occupancy", "Takes the options and arguments of a launch, does not start it, and returns "+text, "(options: LaunchOptions, ...args: Arguments<A>): "+result)
}

// OfLibrary documents the method of a library's kernel.
func OfLibrary() bindings.Entry {
	return bindings.NewMethod("occupancy", "Takes options of a launch, and returns "+text, "(options?: { groupSize?: Counts, sharedBytes?: number, device?: Device }): "+result)
}

// Object returns the script's object for o.
func Object(vm *goja.Runtime, o offload.Occupancy) (goja.Value, error) {
	obj := vm.NewObject()
	for _, f := range []struct {
		name  string
		n     int
		known bool
	}{
		{"groupItems", o.Items, true}, {"suggested", o.Suggested, o.Suggested > 0}, {"most", o.Most, o.Most > 0}, {"multiple", o.Multiple, o.Multiple > 0},
		{"perComputeUnit", o.PerUnit, o.Fits}, {"groups", o.Groups, o.Fits}, {"cooperativeGroups", o.Cooperative, true},
	} {
		if !f.known {
			continue
		}
		if err := obj.Set(f.name, f.n); err != nil {
			return nil, err
		}
	}
	return obj, nil
}
