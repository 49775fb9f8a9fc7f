package cpu

import (
	"github.com/orepl/orepl/runtime/memory"
	"github.com/orepl/orepl/runtime/queue"
)

// moveChunk is the maximum number of bytes that are copied or filled between two checks of the stop flag.
const moveChunk = 64 << 20

// Copy implements [queue.Device].
func (d *device) Copy(dst, src []byte, stop *queue.Stop) {
	for len(dst) > 0 && !stop.Requested() {
		n := memory.Copy(dst[:min(moveChunk, len(dst))], src)
		dst, src = dst[n:], src[n:]
	}
}

// Fill implements [queue.Device].
func (d *device) Fill(dst, pattern []byte, stop *queue.Stop) {
	for len(dst) > 0 && !stop.Requested() {
		n := min(moveChunk, len(dst)) // a multiple of every pattern's length
		memory.Fill(dst[:n], pattern)
		dst = dst[n:]
	}
}
