package process

// floatMode returns this thread's MXCSR: rounding and treatment of denormals.
func floatMode() uint32

// setFloatMode sets this thread's MXCSR.
func setFloatMode(mode uint32)
