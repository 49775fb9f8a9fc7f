package interp

import (
	"fmt"
	"sync/atomic"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// Options configure [Compile].
type Options struct {
	// IgnoreProofs checks accesses and divisions even if [ir.Instr.Proved] is set, so that a wrong proof causes a fault.
	IgnoreProofs bool
	// Races detects races. It also detects reads of unwritten shared memory, except in arrays that atomic operations access. A
	// worker compares only the accesses of its own groups, so one worker must run the whole launch.
	Races bool
}

// Program is a compiled kernel. It is safe for concurrent use.
type Program struct {
	kernel   *ir.Kernel
	options  Options
	observes bool // the kernel observes its groups
	body     block
	launches atomic.Int64

	regWords  int // size of a row's registers
	numMasks  int // masks that a worker needs
	numSets   int // lists of sets that a worker needs, one set per row each
	constants []constant
	inputs    []input

	sharedBytes  int
	privateBytes int   // per lane
	offsets      []int // offset of each shared and private array in its memory, by ID
	dirtyPrivate bool  // a private array may be read before the kernel clears it

	counted map[*ir.Array]bool // with Options.Races: arrays used by atomics, whose initial zeros count as written
}

// constant is a register with a constant value.
type constant struct {
	reg  int
	t    ir.Type
	bits uint64
}

// inputKind is the source of an input.
type inputKind uint8

const (
	inputParam inputKind = iota
	inputExtent
	inputItem
)

// input is a register that is set before the body runs.
type input struct {
	kind  inputKind
	reg   int
	t     ir.Type
	param int         // inputParam: index of the argument
	array *ir.Array   // inputExtent
	item  ir.ItemKind // inputItem
	axis  int         // inputExtent, inputItem
}

// UnsupportedError reports an operation that the interpreter does not support, or a kernel that needs too much memory.
type UnsupportedError struct {
	Kernel string
	Site   int // index in [ir.Kernel.Sites]; 0 if the cause is not one operation
	What   string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("kernel %s: unsupported: %s", e.Kernel, e.What)
}

// maxRegisters is the maximum size of a row's registers in bytes, reached with tens of thousands of live values.
const maxRegisters = 64 << 20

// maxShared is the maximum size of shared memory in bytes.
const maxShared = ir.MaxSharedBytes

// Compile prepares a kernel of a verified module for execution. Its errors are of type [*UnsupportedError]. The kernel must not
// change while the program is in use.
func Compile(k *ir.Kernel, options Options) (*Program, error) {
	p := &Program{kernel: k, options: options, observes: k.ObservesGroup(), offsets: make([]int, len(k.Arrays))}
	if err := p.place(); err != nil {
		return nil, err
	}
	if options.Races {
		p.counted = map[*ir.Array]bool{}
		k.Body.Walk(func(in *ir.Instr) {
			if in.Op == ir.Atomic {
				p.counted[in.Array] = true
			}
		})
	}
	c := newCompiler(p)
	p.body = c.entry()
	if c.err != nil {
		return nil, c.err
	}
	p.regWords = c.top
	return p, nil
}

// place assigns offsets to the shared and private arrays. It returns an error if they are too large.
func (p *Program) place() error {
	k := p.kernel
	for _, a := range k.Arrays {
		size := &p.sharedBytes
		switch a.Space {
		case ir.Private:
			size = &p.privateBytes
		case ir.Shared:
		default:
			continue
		}
		p.offsets[a.ID] = *size
		*size += (a.Bytes() + 7) &^ 7
	}
	if p.sharedBytes > maxShared {
		return p.unsupported(0, "%d bytes of shared memory; at most %d", p.sharedBytes, maxShared)
	}
	if p.privateBytes*width > maxPrivate {
		return p.unsupported(0, "%d bytes of private arrays; at most %d", p.privateBytes, maxPrivate/width)
	}
	p.dirtyPrivate = k.ReadsDirty()
	return nil
}

func (p *Program) unsupported(site int, format string, args ...any) error {
	return &UnsupportedError{Kernel: p.kernel.Name, Site: site, What: fmt.Sprintf(format, args...)}
}
