package oracle

import (
	"fmt"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// Serve implements the host services of a case. Service first returns its first operand; service half returns half of an i32
// and rejects odd values. server.js implements the same services for Node.
func Serve(name string, args []uint64) (uint64, error) {
	switch {
	case name == "first" && len(args) > 0:
		return args[0], nil
	case name == "half" && len(args) == 1:
		n := int32(args[0])
		if n%2 != 0 {
			return 0, fmt.Errorf("%d is odd", n)
		}
		return uint64(uint32(n / 2)), nil
	}
	return 0, fmt.Errorf("there is no service %s", name)
}

func serve(name string, args []interp.Scalar) (uint64, error) {
	bits := make([]uint64, len(args))
	for i, a := range args {
		bits[i] = a.Bits
	}
	return Serve(name, bits)
}

func (o *printer) Call(_ int, name string, _ [3]int, args []interp.Scalar, _ ir.Type) (uint64, error) {
	return serve(name, args)
}
