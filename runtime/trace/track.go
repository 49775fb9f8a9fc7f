package trace

import (
	"fmt"

	"github.com/orepl/orepl/runtime/offload"
)

// DeviceProcess precedes a device's id in the name of the process with its tracks.
const DeviceProcess = "device "

// Names makes names of tracks for objects with labels. If several objects of a process have the same label, a number is added
// to the names of all but the first. The zero value has no objects.
type Names struct {
	byID   map[uint64]string
	labels map[[2]string]int
}

// Name returns the name of the track of an object.
func (n *Names) Name(id uint64, process, label string) string {
	if name, known := n.byID[id]; known {
		return name
	}
	if n.byID == nil {
		n.byID, n.labels = map[uint64]string{}, map[[2]string]int{}
	}
	key := [2]string{process, label}
	n.labels[key]++
	name := label
	if n.labels[key] > 1 {
		name = fmt.Sprintf("%s (%d)", name, n.labels[key])
	}
	n.byID[id] = name
	return name
}

// Compile begins a step of compiling or loading kernels in a process, and returns the function that ends it. A nil recorder has
// no steps.
func (r *Recorder) Compile(process, step string) (end func()) {
	if r == nil {
		return func() {}
	}
	return r.Begin(r.Track(process, "compile"), Compile, step)
}

// Service begins a call of a service by a kernel on a device, and returns the function that ends it.
func (r *Recorder) Service(device string, call *offload.Request) (end func()) {
	return r.Begin(r.Track(DeviceProcess+device, "services"), Service, call.Name, Text("kernel", call.Kernel), Text("item", fmt.Sprint(call.Item)))
}
