package interp

import (
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// Arg is an argument of a launch: the bits of a scalar, or the memory of a buffer.
type Arg struct {
	Bits uint64 // scalar: as in [ir.Instr.Bits]

	Base  unsafe.Pointer // buffer: first byte, aligned for its element; may be outside the Go heap
	Bytes int            // buffer: size of the memory, which no access exceeds
	Dims  [3]int32       // buffer: the first Rank elements are the extents, outermost first
}

// Scalar is a value of a scalar type, with its bits as in [ir.Instr.Bits].
type Scalar struct {
	Type ir.Type
	Bits uint64
}

// Services implements the host calls of kernels. Goroutines that run groups call its methods concurrently.
type Services interface {
	// Print receives the text of one print. The prints of a group arrive after the group has ended, ordered by item and then by
	// program order. Where the kernel does not observe its group, a run of items counts as a group. If a group prints more than
	// 1 MiB or 65536 texts, they arrive in several parts, each in that order. In a long run of a launch that is Prompt, parts
	// also arrive on another goroutine. The prints of one item keep their order.
	Print(site int, item [3]int, text string)
	// Call executes the named service and returns the bits of its result. An error is a fault of the item.
	Call(site int, name string, item [3]int, args []Scalar, result ir.Type) (uint64, error)
}

// Launch describes a launch of a kernel. [Program.Prepare] completes it; it must not change afterwards.
type Launch struct {
	Size         [3]int // items; 1 for unused axes
	GroupSize    [3]int // items per group; unused if the kernel does not observe its group
	Args         []Arg  // in the order of the kernel's parameters
	Services     Services
	Prompt       bool         // prints reach Services within 100 ms
	SubgroupSize int          // 4, 8, 16, 32 or 64; 0 means 32
	Stop         *atomic.Bool // if set during a run, the run stops within milliseconds and keeps its partial effects

	// Unchecked disables faults, except those of Call. An integer division by zero returns 0, a load out of bounds returns 0,
	// and an out-of-bounds store or atomic has no effect. A Uniform returns the value of the group's first active item. Other
	// devices guarantee only the division's result.
	Unchecked bool

	// Watch, if not nil, is the only item whose fault is kept.
	Watch *[3]int

	program *Program
	serial  int64  // number of the launch in its program
	total   int    // items, if the group is not observed
	groups  [3]int // groups on each axis, if observed
	count   int    // total number of groups
	items   int    // items per group
}

// MaxGroupItems is the maximum number of items of a group.
const MaxGroupItems = 1024

// maxPrivate is the maximum memory of a worker's private arrays, in bytes.
const maxPrivate = 256 << 20

// Prepare checks the launch and returns the number of its groups, the range for [Program.Run]; it is 0 for an empty launch. If
// the kernel does not observe its group, a group is a run of consecutive items.
func (p *Program) Prepare(l *Launch) (groups int, err error) {
	l.program = nil
	if err := p.checkArgs(l.Args); err != nil {
		return 0, err
	}
	switch l.SubgroupSize {
	case 0:
		l.SubgroupSize = 32
	case 4, 8, 16, 32, 64:
	default:
		return 0, fmt.Errorf("subgroup size %d is not 4, 8, 16, 32 or 64", l.SubgroupSize)
	}
	empty := false
	for axis, n := range l.Size {
		if n < 0 || n > math.MaxInt32 {
			return 0, fmt.Errorf("size %d on axis %c is not in 0 to 2147483647", n, "xyz"[axis])
		}
		empty = empty || n == 0
	}
	l.total, l.count, l.items = 0, 0, 0
	if p.observes {
		if err := l.cut(p, empty); err != nil {
			return 0, err
		}
	} else if !empty {
		total, ok := multiply(l.Size[0], l.Size[1], l.Size[2])
		if !ok {
			return 0, fmt.Errorf("size %v is over 2^63 items", l.Size)
		}
		l.total, l.items = total, width
		l.count = (total-1)/width + 1
	}
	l.program, l.serial = p, p.launches.Add(1)
	return l.count, nil
}

// cut checks the group size and computes the number of groups. empty reports that the launch has size 0 on an axis.
func (l *Launch) cut(p *Program, empty bool) error {
	for axis, n := range l.GroupSize {
		if n < 1 || n > MaxGroupItems {
			return fmt.Errorf("group size %d on axis %c is not in 1 to %d", n, "xyz"[axis], MaxGroupItems)
		}
	}
	l.items = l.GroupSize[0] * l.GroupSize[1] * l.GroupSize[2]
	if l.items > MaxGroupItems {
		return fmt.Errorf("a group of %v has %d items, at most %d are possible", l.GroupSize, l.items, MaxGroupItems)
	}
	if rows := (l.items-1)/width + 1; p.privateBytes*width*rows > maxPrivate {
		return fmt.Errorf("private arrays of %d bytes are too large for groups of %d items", p.privateBytes, l.items)
	}
	if empty {
		return nil
	}
	for axis, n := range l.Size {
		l.groups[axis] = (n-1)/l.GroupSize[axis] + 1
	}
	var ok bool
	if l.count, ok = multiply(l.groups[0], l.groups[1], l.groups[2]); !ok {
		return fmt.Errorf("size %v is over 2^63 groups", l.Size)
	}
	return nil
}

// GroupOf returns the index of the group, as used by [Program.Run], that contains an item of a prepared launch.
func (l *Launch) GroupOf(item [3]int) int {
	if !l.program.observes {
		return (item[0] + l.Size[0]*(item[1]+l.Size[1]*item[2])) / width
	}
	for axis := range item {
		item[axis] /= l.GroupSize[axis]
	}
	return item[0] + l.groups[0]*(item[1]+l.groups[1]*item[2])
}

func multiply(a, b, c int) (int, bool) {
	hi, lo := bits.Mul64(uint64(a)*uint64(b), uint64(c)) // a and b are below 2^31
	return int(lo), hi == 0 && lo <= math.MaxInt64
}

func (p *Program) checkArgs(args []Arg) error {
	k := p.kernel
	if len(args) != len(k.Params) {
		return fmt.Errorf("kernel %s takes %d arguments, got %d", k.Name, len(k.Params), len(args))
	}
	for i := range k.Params {
		param, arg := &k.Params[i], &args[i]
		a := param.Array
		if a == nil {
			continue
		}
		need := a.Elem.Size()
		fits := true
		for _, d := range arg.Dims[:a.Rank] {
			if d < 0 {
				return fmt.Errorf("argument %s: negative extent %d", param.Name, d)
			}
			if d > 0 && need > math.MaxInt/int(d) {
				fits = false
			}
			need *= int(d)
		}
		switch {
		case !fits || need > arg.Bytes:
			return fmt.Errorf("argument %s: extents %v of %s need more than its %d bytes", param.Name, arg.Dims[:a.Rank],
				a.Elem, arg.Bytes)
		case need > 0 && arg.Base == nil:
			return fmt.Errorf("argument %s: no memory", param.Name)
		case uintptr(arg.Base)%uintptr(a.Elem.Align()) != 0:
			return fmt.Errorf("argument %s: memory is not aligned to %d bytes", param.Name, a.Elem.Align())
		}
	}
	return nil
}
