package races

import (
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// Launch describes a launch, or typical ones.
type Launch struct {
	Size      [3]int64            // items on each axis
	GroupSize [3]int64            // items per group on each axis
	Extents   map[string][]int64  // extents of buffers by name, outermost first; a missing buffer's are unknown
	Scalars   map[string]uint64   // bits of scalar parameters; a missing one is unknown
	Memory    map[string]Location // location of buffers; a missing buffer overlaps no other
}

// Location is the start of a buffer in memory.
type Location struct {
	Memory any   // identifies the allocation; comparable
	Offset int64 // bytes
}

// Sizes and extents assumed for kernels without launches, by the number of axes. Products of them fit in 32 bits.
var assumedSizes = [4]int64{1, 1 << 20, 1 << 12, 1 << 9}

// Assumed returns a typical launch of a kernel: large on each axis that the kernel observes. It has one item if the kernel
// observes none.
func Assumed(c *kernel.Compiled) *Launch {
	l := &Launch{Size: [3]int64{1, 1, 1}, GroupSize: [3]int64{1, 1, 1}, Extents: map[string][]int64{}}
	var axes [3]bool
	last := -1
	c.Kernel.Body.Walk(func(in *ir.Instr) {
		if in.Op == ir.Item && in.Item <= ir.GroupID {
			axes[in.Axis], last = true, max(last, in.Axis)
		}
	})
	n := 0
	for _, used := range axes {
		if used {
			n++
		}
	}
	for axis, used := range axes {
		if used {
			l.Size[axis] = assumedSizes[n]
		}
	}
	switch last {
	case 0:
		l.GroupSize = [3]int64{256, 1, 1}
	case 1:
		l.GroupSize = [3]int64{16, 16, 1}
	case 2:
		l.GroupSize = [3]int64{8, 8, 4}
	}
	for _, p := range c.Kernel.Params {
		if p.Array != nil {
			for range p.Array.Rank {
				l.Extents[p.Name] = append(l.Extents[p.Name], assumedSizes[p.Array.Rank])
			}
		}
	}
	return l
}

// items returns the number of items of a launch.
func (l *Launch) items() int64 { return l.Size[0] * l.Size[1] * l.Size[2] }

// Maximum numbers of sampled items, and of sampled coordinates along one axis.
const (
	maxItems = 128
	maxAlong = 72
)

// coordinates returns at most maxAlong coordinates along an axis: the first ones, the last ones, the hints with their neighbours,
// and some others.
func (l *Launch) coordinates(axis int, hints []int64) []int64 {
	n := l.Size[axis]
	var out []int64
	seen := map[int64]bool{}
	add := func(x int64) {
		if x >= 0 && x < n && !seen[x] && len(out) < maxAlong {
			seen[x] = true
			out = append(out, x)
		}
	}
	for x := range int64(9) {
		add(x)
	}
	add(n - 1)
	add(n - 2)
	add(l.GroupSize[axis])
	add(l.GroupSize[axis] + 1)
	for _, h := range hints {
		add(h)
		add(h + 1)
		add(h - 1)
	}
	for _, x := range []int64{15, 16, 17, 31, 32, 33, 63, 64, 127, 128, n / 2, n/2 + 1, n / 3, n / 5 * 4, n / 7} {
		add(x)
	}
	return out
}

// sample returns at most maxItems items of a launch: items at a corner, on the axes, and in the first rows along x.
func (l *Launch) sample(hints []int64) [][3]int64 {
	var along [3][]int64
	for axis := range along {
		along[axis] = l.coordinates(axis, hints)
	}
	var out [][3]int64
	seen := map[[3]int64]bool{}
	add := func(at [3]int64) {
		if !seen[at] && len(out) < maxItems {
			seen[at] = true
			out = append(out, at)
		}
	}
	for _, z := range first(along[2], 2) { // a corner
		for _, y := range first(along[1], 3) {
			for _, x := range first(along[0], 3) {
				add([3]int64{x, y, z})
			}
		}
	}
	share := maxItems / 3
	if len(along[1]) == 1 && len(along[2]) == 1 {
		share = maxItems
	}
	for axis := range along { // the axes
		for _, x := range first(along[axis], share) {
			at := [3]int64{}
			at[axis] = x
			add(at)
		}
	}
	for _, x := range along[0] { // beside the axes
		for _, y := range first(along[1], 2) {
			add([3]int64{x, y, 0})
		}
	}
	return out
}

func first(list []int64, n int) []int64 { return list[:min(n, len(list))] }
