package offload

import "fmt"

// Convention is the calling convention of a kernel's function. docs/images.md states how each maps a launch's size and group
// size to calls.
type Convention uint8

// The calling conventions.
const (
	ConventionImage Convention = iota // the image's own, for images that describe their kernels
	PerItem                           // a C function, called per work-item: f(x, args…), f(x, y, args…) or f(x, y, z, args…)
	PerRange                          // a C function, called for ranges of work-items: f(first, last, args…)
	OutlinedOpenMP                    // a target region that clang outlined: f(dynamic environment, args…)
	PerLaunch                         // a C function, called once for a launch: f(args…)
	numConventions
)

var conventionNames = [numConventions]string{"image", "item", "range", "openmp", "call"}

// String returns the name that scripts use.
func (c Convention) String() string {
	if c < numConventions {
		return conventionNames[c]
	}
	return fmt.Sprintf("convention(%d)", uint8(c))
}

// ParseConvention returns the convention with a name, or false if there is none.
func ParseConvention(name string) (Convention, bool) {
	for c, n := range conventionNames {
		if n == name {
			return Convention(c), true
		}
	}
	return ConventionImage, false
}

// Signature is the type of a kernel whose image does not describe it.
type Signature struct {
	Params     []Param // a buffer of rank 0 takes any buffer
	Convention Convention
	Axes       int      // number of coordinates of a PerItem function, 1 to 3
	Pos        Position // position of the signature in the script
}

// Field is a scalar at an offset of an aggregate.
type Field struct {
	Type   Type
	Offset int // bytes
}

// Aggregate reports whether the parameter is a struct by value, of Elem bytes.
func (p *Param) Aggregate() bool { return p.Fields != nil }

// SignedProgram is a [Program] whose image does not describe its kernels, so that callers supply signatures.
type SignedProgram interface {
	// KernelAs returns a kernel with the signature sig, which the program keeps. Errors: those of Kernel, InvalidArgument for a
	// signature that the program cannot call, and Unsupported for a convention that it lacks.
	KernelAs(name string, sig *Signature) (Kernel, error)
}

// SymbolAddresser is a [Program] whose functions and variables have addresses in the address space of the device's kernels.
type SymbolAddresser interface {
	// SymbolAddress returns the address of a symbol. It is valid until the program is unloaded. Errors: NotFound.
	SymbolAddress(name string) (uint64, error)
}

// Addresser is a [Memory] whose address kernels may receive, to follow pointers in data. Default: no address.
type Addresser interface {
	// Address returns the address of the first byte in the address space of the device's kernels. It is valid until the
	// memory is freed, or the program that it belongs to is unloaded.
	Address() (uint64, error)
}
