package offloadjs

import (
	"fmt"
	"strings"

	"github.com/orepl/orepl/runtime/session"
)

// The functions below return the columns of the module's objects in console.table.

func deviceRow(d *session.Device) [][2]string {
	info := d.Info()
	return [][2]string{{"id", d.ID()}, {"type", info.Type.String()}, {"name", info.Name}, {"arch", info.Arch},
		{"computeUnits", fmt.Sprint(info.ComputeUnits)}, {"memory", bytesText(info.MemoryBytes)}}
}

func bufferRow(b *bufferObject) [][2]string {
	size := bytesText(b.Size())
	if b.Freed() {
		size = "freed"
	}
	return [][2]string{{"label", b.Label()}, {"type", b.elem.String()}, {"shape", shapeText(b.Dims())}, {"size", size},
		{"kind", b.Kind().String()}, {"device", b.Device().ID()}}
}

// shapeText formats extents, as in 100×200.
func shapeText(dims []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(dims), "[]"), " ", "×")
}

func kernelRow(k *kernelObject) [][2]string {
	_, compiled, _ := strings.Cut(inspectKernel(k), "\n")
	return [][2]string{{"name", k.name}, {"parameters", strings.Join(k.params, ", ")},
		{"compiled for", strings.ReplaceAll(strings.TrimSpace(compiled), "\n  ", "; ")}}
}

func queueRow(q *session.Queue) [][2]string {
	return [][2]string{{"label", q.Label()}, {"device", q.Device().ID()}, {"idle", fmt.Sprint(q.Idle())}}
}
