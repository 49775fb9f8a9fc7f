package process

// floatMode returns the MXCSR of this thread: how its floating-point unit rounds and treats denormals.
func floatMode() uint32

// setFloatMode sets the MXCSR of this thread.
func setFloatMode(mode uint32)
