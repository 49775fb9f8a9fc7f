package ptx

import (
	"encoding/binary"
	"fmt"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/lower"
)

// Argument is an argument of a kernel: the bits of a scalar, or a buffer.
type Argument struct {
	Bits    uint64
	Address uint64  // address of a buffer
	Dims    []int32 // extents of a buffer, outermost first
}

// maxBlock is the maximum size of the argument block, in bytes: the limit of drivers before CUDA 12.1. Source: CUDA C++
// Programming Guide, section on function parameters.
const maxBlock = 4096

// checkBlock returns an error if the argument block of a kernel is too large.
func checkBlock(k *lower.Kernel) error {
	args := make([]Argument, len(k.IR.Params))
	for i := range args {
		args[i].Dims = make([]int32, ir.MaxRank)
	}
	if n := len(AppendArguments(nil, k, args, [3]int{})); n > maxBlock {
		return fmt.Errorf("kernel %s: its parameters take %d bytes, and a CUDA device has room for %d: pass fewer, such as one buffer with several rows", k.IR.Name, n, maxBlock)
	}
	return nil
}

// AppendArguments appends the argument block of a launch, with each argument naturally aligned. args has an argument for each
// parameter; the last one is the buffer of records. The launch size follows the arguments.
func AppendArguments(block []byte, k *lower.Kernel, args []Argument, size [3]int) []byte {
	start := len(block)
	word := func(bits uint64, n int) {
		for (len(block)-start)%n != 0 {
			block = append(block, 0)
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], bits)
		block = append(block, b[:n]...)
	}
	for i, p := range k.IR.Params {
		a := &args[i]
		switch {
		case p.Array != nil:
			word(a.Address, 8)
			for _, d := range a.Dims[:p.Array.Rank] {
				word(uint64(d), 4)
			}
		case p.Type == ir.Bool:
			word(min(a.Bits, 1), 1)
		default:
			word(a.Bits, p.Type.Size())
		}
	}
	for _, n := range size {
		word(uint64(n), 4)
	}
	return block
}
