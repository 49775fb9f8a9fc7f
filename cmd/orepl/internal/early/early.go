// Package early makes room on the stack of the main goroutine before other packages are initialised. The runtime then has few
// frames to copy, and copies them once instead of at each doubling. It imports nothing, so that it is initialised among the
// first.
package early

// room is the size of the stack's frames that initialisation and a short script need, in bytes.
const room = 48 << 10

func init() { grow(false) }

// grow has a frame of room bytes, for which the runtime grows the stack at the call. The memory is not touched unless use is
// set.
//
//go:noinline
func grow(use bool) byte {
	if use {
		var frame [room]byte
		return last(&frame)
	}
	return 0
}

//go:noinline
func last(frame *[room]byte) byte { return frame[room-1] }
