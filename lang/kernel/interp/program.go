package interp

import (
	"fmt"
	"sync/atomic"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// Options are those of [Compile].
type Options struct {
	// IgnoreProofs checks accesses and divisions even where [ir.Instr.Proved] says that no check is needed, so that a
	// wrong proof shows as a fault.
	IgnoreProofs bool
	// Races makes runs look for races and for reads of shared memory that was not written, in arrays that no atomics count
	// in. Such a program is run by one worker at a time.
	Races bool
}

// Program is a compiled kernel. It can be used by any number of goroutines.
type Program struct {
	kernel   *ir.Kernel
	options  Options
	observes bool
	body     block
	launches atomic.Int64

	regWords  int // of a row
	numMasks  int
	numSets   int
	constants []constant
	inputs    []input

	sharedBytes  int
	privateBytes int   // of a lane
	offsets      []int // of each shared and private array in its memory, by ID
	dirtyPrivate bool  // a private array may be read before the kernel sets it to zero

	counted map[*ir.Array]bool // with Options.Races: what atomics work on, from the zeros that it begins with
}

// constant is a register that holds one value forever.
type constant struct {
	reg  int
	t    ir.Type
	bits uint64
}

// inputKind says where an input comes from.
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
	param int         // inputParam: position in the arguments
	array *ir.Array   // inputExtent
	item  ir.ItemKind // inputItem
	axis  int         // inputExtent, inputItem
}

// UnsupportedError says that a kernel needs something that the interpreter does not have.
type UnsupportedError struct {
	Kernel string
	Site   int // position in [ir.Kernel.Sites]
	What   string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("kernel %s: unsupported: %s", e.Kernel, e.What)
}

// maxRegisters bounds the bytes of registers of a row, which a kernel with tens of thousands of live values reaches.
const maxRegisters = 64 << 20

// maxShared bounds the bytes of shared memory.
const maxShared = ir.MaxSharedBytes

// Compile prepares a kernel of a verified module for running. The kernel must not be changed while the program is used.
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

// place lays out the shared and private arrays.
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
