package opencl

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The words of SPIR-V that are checked before a driver reads the module.
const (
	spirvMagic      = 0x07230203
	spirvHeader     = 20 // bytes
	spirvMostIDs    = 1 << 22
	opEntryPoint    = 15
	opCapability    = 17
	opFunction      = 54
	opFunctionEnd   = 56
	capKernel       = 6
	modelKernel     = 6
	mostEntryPoints = 1 << 16
)

// entryPoints returns the names of the kernels in SPIR-V. It validates the structure first, since drivers may crash on
// malformed modules. Errors in an instruction name the index of its first word.
func entryPoints(code []byte) (names []string, err error) {
	order := binary.ByteOrder(binary.LittleEndian)
	if len(code) < spirvHeader || len(code)%4 != 0 {
		return nil, fmt.Errorf("SPIR-V of %d bytes is truncated", len(code))
	}
	if order.Uint32(code) != spirvMagic {
		order = binary.BigEndian
	}
	word := func(i int) uint32 { return order.Uint32(code[4*i:]) }
	version, bound := word(1), word(3)
	switch {
	case word(0) != spirvMagic:
		return nil, errors.New("this is not SPIR-V")
	case version>>24 != 0 || version&0xFF != 0 || version>>16 != 1:
		return nil, fmt.Errorf("the version %#x of SPIR-V is unknown", version)
	case bound == 0 || bound > spirvMostIDs:
		return nil, fmt.Errorf("the module's bound of identifiers is %d, and must be 1 to %d", bound, spirvMostIDs)
	case word(4) != 0:
		return nil, fmt.Errorf("the module's schema is %d, and must be 0", word(4))
	}
	kernels, open := false, false
	for at, n := spirvHeader/4, len(code)/4; at < n; {
		count, op := int(word(at)>>16), word(at)&0xFFFF
		if count == 0 || count > n-at {
			return nil, fmt.Errorf("the instruction at word %d has %d words, and %d are left", at, count, n-at)
		}
		switch {
		case op == opCapability && count == 2:
			kernels = kernels || word(at+1) == capKernel
		case op == opEntryPoint && count >= 4:
			name, err := literal(code[4*(at+3):4*(at+count)], order)
			if err != nil {
				return nil, fmt.Errorf("the entry point at word %d: %w", at, err)
			}
			if id := word(at + 2); id == 0 || id >= bound {
				return nil, fmt.Errorf("the entry point %q is the function %d, and identifiers are 1 to %d", name, id, bound-1)
			}
			if word(at+1) == modelKernel {
				names = append(names, name)
			}
			if len(names) > mostEntryPoints {
				return nil, fmt.Errorf("the module has more than %d entry points", mostEntryPoints)
			}
		case op == opFunction && (open || count != 5), op == opFunctionEnd && (!open || count != 1):
			return nil, fmt.Errorf("the function at word %d is not complete", at)
		case op == opFunction:
			open = true
		case op == opFunctionEnd:
			open = false
		}
		at += count
	}
	switch {
	case open:
		return nil, errors.New("the last function has no end")
	case !kernels:
		return nil, errors.New("the module lacks the capability Kernel: it is for graphics, or not for OpenCL")
	case len(names) == 0:
		return nil, errors.New("the module has no kernel")
	}
	return names, nil
}

// literal returns the zero-terminated string at the start of words.
func literal(words []byte, order binary.ByteOrder) (string, error) {
	var text []byte
	for ; len(words) >= 4; words = words[4:] {
		for v, i := order.Uint32(words), 0; i < 4; i++ {
			c := byte(v >> (8 * i))
			if c == 0 {
				if len(text) == 0 {
					return "", errors.New("its name is empty")
				}
				return string(text), nil
			}
			text = append(text, c)
		}
	}
	return "", errors.New("its name has no end")
}
