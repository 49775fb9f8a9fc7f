package native

import (
	"fmt"

	"github.com/orepl/orepl/runtime/offload"
)

// The words of a call: six integer registers, eight vector registers, then stack words.
const (
	intRegisters   = 6
	floatRegisters = 8
	firstFloat     = intRegisters
	firstStack     = firstFloat + floatRegisters

	maxStackWords     = 512
	maxAggregateBytes = 8 * maxStackWords
)

// Layout assigns arguments of a call to registers and stack words by the System V ABI for x86-64.
type Layout struct {
	convention offload.Convention
	leading    int // words before the arguments: coordinates, range bounds, or the dynamic environment
	params     []offload.Param
	places     []place
	stack      int // number of stack words
}

// place is the location of an argument.
type place struct {
	words [2]int // indices in the words of a call; arguments in memory are contiguous
	count int    // number of words
	copy  bool   // the argument is the address of a copy of an aggregate
}

// NewBareLayout returns the layout of a target region that has no parameter for its dynamic environment.
func NewBareLayout(sig *offload.Signature) (*Layout, error) { return newLayout(sig, 0) }

// NewLayout returns the layout of a signature. Errors: InvalidArgument without a convention, for more than three coordinates,
// or for parameters that cannot be passed; Unsupported for conventions of other devices.
func NewLayout(sig *offload.Signature) (*Layout, error) { return newLayout(sig, 1) }

// newLayout returns the layout of a signature. environment is the number of words before the arguments of a target region.
func newLayout(sig *offload.Signature, environment int) (*Layout, error) {
	l := &Layout{convention: sig.Convention, params: sig.Params}
	switch sig.Convention {
	case offload.PerItem:
		l.leading = max(sig.Axes, 1)
		if l.leading > 3 {
			return nil, offload.Errorf(offload.InvalidArgument, "kernel", "a function takes 1 to 3 coordinates, not %d", sig.Axes)
		}
	case offload.PerRange:
		l.leading = 2
	case offload.PerLaunch:
	case offload.OutlinedOpenMP:
		l.leading = environment
	case offload.ConventionImage:
		return nil, offload.Errorf(offload.InvalidArgument, "kernel", "the image does not describe its functions, so that the signature needs a convention").
			WithHint("give convention: 'item', 'range', 'call' or 'openmp'")
	default:
		return nil, offload.Errorf(offload.Unsupported, "kernel", "the convention %s is not one of the CPU device", sig.Convention)
	}
	ints, floats := l.leading, 0
	for i := range sig.Params {
		p := &sig.Params[i]
		classes, err := l.classify(p)
		if err != nil {
			return nil, offload.Errorf(offload.InvalidArgument, "kernel", "parameter %d: %v", i+1, err)
		}
		at := place{count: len(classes), copy: l.convention == offload.OutlinedOpenMP && p.Aggregate()}
		needInts, needFloats := 0, 0
		for _, c := range classes {
			switch c {
			case integer:
				needInts++
			case float:
				needFloats++
			}
		}
		switch {
		case classes[0] == inMemory, ints+needInts > intRegisters, floats+needFloats > floatRegisters:
			at.words[0] = firstStack + l.stack
			at.words[1] = at.words[0] + 1
			l.stack += at.count
		default:
			for w, c := range classes {
				if c == integer {
					at.words[w] = ints
					ints++
				} else {
					at.words[w] = firstFloat + floats
					floats++
				}
			}
		}
		l.places = append(l.places, at)
	}
	if l.stack > maxStackWords {
		return nil, offload.Errorf(offload.InvalidArgument, "kernel", "the arguments take %d bytes of the stack; the most is %d", 8*l.stack, 8*maxStackWords)
	}
	l.stack += l.stack & 1 // the stack is aligned to 16 bytes
	return l, nil
}

// class is an ABI class of an eightbyte.
type class uint8

const (
	none class = iota
	integer
	float
	inMemory
)

// classify returns the class of each word of a parameter, or an error if the parameter cannot be passed.
func (l *Layout) classify(p *offload.Param) ([]class, error) {
	switch {
	case p.Buffer:
		return []class{integer}, nil
	case !p.Aggregate():
		if p.Type == offload.Opaque {
			return nil, fmt.Errorf("a scalar needs a type")
		}
		if isFloat(p.Type) && l.convention != offload.OutlinedOpenMP { // outlined regions take floats as integer words
			return []class{float}, nil
		}
		return []class{integer}, nil
	case p.Elem <= 0 || p.Elem > maxAggregateBytes:
		return nil, fmt.Errorf("a struct of %d bytes cannot be passed by value; the most is %d", p.Elem, maxAggregateBytes)
	case l.convention == offload.OutlinedOpenMP:
		return []class{integer}, nil
	}
	classes := make([]class, (p.Elem+7)/8)
	if len(classes) > 2 {
		for i := range classes {
			classes[i] = inMemory
		}
		return classes, nil
	}
	for _, f := range p.Fields {
		size := f.Type.Size()
		if f.Offset < 0 || f.Offset > p.Elem-size || f.Type == offload.Opaque {
			return nil, fmt.Errorf("the field of type %s at %d is not within a struct of %d bytes", f.Type, f.Offset, p.Elem)
		}
		if f.Offset%size != 0 {
			for i := range classes {
				classes[i] = inMemory
			}
			return classes, nil
		}
		c := &classes[f.Offset/8]
		if !isFloat(f.Type) {
			*c = integer
		} else if *c == none {
			*c = float
		}
	}
	for i, c := range classes {
		if c == none { // an eightbyte of padding only
			classes[i] = float
		}
	}
	return classes, nil
}

func isFloat(t offload.Type) bool {
	return t == offload.F16 || t == offload.BF16 || t == offload.F32 || t == offload.F64
}

// extended returns a scalar's bits as C passes them: narrow signed integers are sign-extended.
func extended(t offload.Type, bits uint64) uint64 {
	switch t {
	case offload.I8:
		return uint64(int64(int8(bits)))
	case offload.I16:
		return uint64(int64(int16(bits)))
	case offload.I32:
		return uint64(int64(int32(bits)))
	}
	return bits
}
