package gpu

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/offload"
)

// selectTile is the number of elements that a group selects from.
const selectTile = 16 * items

// Selects reports whether a device runs [Select].
func Selects(d *offload.DeviceInfo) bool {
	return fits(d) && (2*selectTile+items+1)*4 <= d.Limits.SharedBytes
}

// Select stores result(x, i) in out for each index i below n for which keep(x, i) is true, in order. It stores their number in count.
// bind has the functions keep and result.
func Select[A any](h Host[A], bind []Bind, n int, x, out, count A) error {
	tiles := divide(n, selectTile)
	counts, err := h.Temp(ir.I32, 1, tiles)
	if err != nil {
		return err
	}
	sums, err := h.Temp(ir.I32, 1, tiles)
	if err != nil {
		return err
	}
	if err := h.Launch(Launch{Text: "countChosen", Bind: bind, Groups: [3]int{tiles, 1, 1}}, x, counts); err != nil {
		return err
	}
	if err := h.Launch(Launch{Text: "addTiles", Groups: [3]int{1, 1, 1}}, counts, sums, count, divide(tiles, items)); err != nil {
		return err
	}
	return h.Launch(Launch{Text: "placeChosen", Bind: bind, Groups: [3]int{tiles, 1, 1}}, x, sums, out)
}
