package array

import "github.com/orepl/orepl/runtime/offload"

// AsGPU makes operations run the plans for a GPU with properties on every device, or with nil those for the device.
func (o *Ops) AsGPU(d *offload.DeviceInfo) { o.asGPU = d }
