package ptx

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// ReadOnly reports, by parameter, the buffers that a kernel does not write; the kernel may be lowered or not. It returns nil if
// there are none. It also returns nil for kernels with fences, calls or pauses, because other writers may then change buffers
// during the launch.
func ReadOnly(k *ir.Kernel) []bool {
	written, shares := map[*ir.Array]bool{nil: true}, false
	k.Body.Walk(func(in *ir.Instr) {
		switch in.Op {
		case ir.Fence, ir.Call, ir.Pause:
			shares = true
		case ir.Store, ir.Atomic:
			written[in.Array] = true
		}
		for _, a := range in.Arrays {
			written[a] = true
		}
	})
	list := make([]bool, len(k.Params))
	for i := range k.Params {
		list[i] = !written[k.Params[i].Array]
	}
	if shares || !slices.Contains(list, true) {
		return nil
	}
	return list
}
