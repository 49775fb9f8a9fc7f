// Package gpu plans array operations for devices whose groups are many items that run together and share fast memory. Their
// results have the bits of the plans for other devices.
package gpu

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/offload"
)

// items is the number of items of a group.
const items = 256

// Host makes arrays of type A and issues launches for an operation.
type Host[A any] interface {
	// Temp returns an array of a type that ends with the operation.
	Temp(t ir.Type, dims ...int) (A, error)
	// Launch issues a launch. The arguments are arrays and numbers of i32.
	Launch(l Launch, args ...any) error
}

// Launch describes a launch of groups of 256 items on the first axis.
type Launch struct {
	Text   string        // a kernel, or the name of one
	Full   func() string // the kernel of a name; nil if it is in package kernels/array
	Bind   []Bind
	Groups [3]int
}

// Bind is a free name of a kernel with its value: a type, a number, a boolean, or a function or its text.
type Bind struct {
	Name  string
	Value any
}

// fits reports whether a device runs groups of 256 items.
func fits(d *offload.DeviceInfo) bool {
	return d.Limits.GroupItems >= items && d.Limits.GroupSize[0] >= items
}

func divide(n, by int) int { return (n + by - 1) / by }
