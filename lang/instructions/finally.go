package instructions

import "unsafe"

// enterFinally begins a finally block after its try or catch block has ended. The interpreter would run the catch block of the same
// statement for what the finally block throws.
func enterFinally(r *replacement, m *machine) {
	type slice struct {
		data     unsafe.Pointer
		len, cap int
	}
	if frames := (*slice)(unsafe.Add(unsafe.Pointer(m), the.tries)); frames.len > 0 {
		last := unsafe.Add(frames.data, uintptr(frames.len-1)*the.frame)
		*(*int32)(unsafe.Add(last, the.catch)) = -1
	}
	r.run(m)
}
