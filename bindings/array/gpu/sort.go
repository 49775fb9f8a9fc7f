package gpu

import (
	"math/bits"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/offload"
)

// Digits is the number of values of a digit of a radix sort, and DigitBits that of its bits.
const (
	DigitBits = 8
	Digits    = 1 << DigitBits
)

// perItem returns the number of keys of a type that an item sorts.
func perItem(key ir.Type) int { return 64 / key.Size() }

// Sorts reports whether a device sorts keys of a type by [Pass].
func Sorts(d *offload.DeviceInfo, key ir.Type) bool {
	n := (perItem(key) + 1) * items // and the gaps
	return fits(d) && (2304+Digits)*4+n*(key.Size()+4) <= d.Limits.SharedBytes
}

// Digit describes a pass of a radix sort of keys and, if it is indexed, of their original places. Its texts are functions.
type Digit struct {
	Key       ir.Type
	Of        string // from a value and the position of the digit to the digit
	By        string // from a key and its place to the value that has the digit
	Pre, Post string // from an element to the key, and back
	Places    string // from a place to the value that has the digit; "" if the key has it
	Shift     int
	Indexed   bool
	First     bool // in the first pass, the place of key i is i
}

// Pass sorts n keys by a digit, stably. The arrays have one dimension; those of places are not used if the pass is not indexed.
func Pass[A any](h Host[A], d Digit, n int, keys, places, keysOut, placesOut A) error {
	per := perItem(d.Key)
	tiles := divide(n, per*items)
	counts, err := h.Temp(ir.I32, Digits, tiles)
	if err != nil {
		return err
	}
	sums, err := h.Temp(ir.I32, Digits, tiles)
	if err != nil {
		return err
	}
	totals, err := h.Temp(ir.I32, Digits)
	if err != nil {
		return err
	}
	pre, from := d.Pre, keys
	if d.Places != "" {
		pre, from = d.Places, places
	}
	if !d.Indexed {
		placesOut = totals
	}
	if !d.Indexed || d.First {
		places = totals
	}
	count := Launch{Text: "countTile", Bind: []Bind{{"digitOf", d.Of}, {"pre", pre}, {"PER", per}}, Groups: [3]int{tiles, 1, 1}}
	if err := h.Launch(count, from, counts, d.Shift); err != nil {
		return err
	}
	if err := h.Launch(Launch{Text: "addTiles", Groups: [3]int{Digits, 1, 1}}, counts, sums, totals, divide(tiles, items)); err != nil {
		return err
	}
	place := Launch{Text: "placeTile", Groups: [3]int{tiles, 1, 1}, Bind: []Bind{{"digitOf", d.Of}, {"by", d.By}, {"pre", d.Pre}, {"post", d.Post}, {"type", d.Key},
		{"PER", per}, {"GAP", bits.TrailingZeros(uint(per))}, {"INDEXED", d.Indexed}, {"FIRST", d.First}}}
	return h.Launch(place, keys, places, counts, sums, totals, keysOut, placesOut, d.Shift)
}
