package process

// floatMode is how the floating-point unit of this thread rounds and treats denormals: its MXCSR.
func floatMode() uint32

// setFloatMode sets what floatMode gives.
func setFloatMode(mode uint32)
