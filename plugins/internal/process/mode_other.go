//go:build !amd64

package process

// The mode of the floating-point unit is restored on amd64 only, where compiler options can make a library change it at load
// time.

func floatMode() uint32 { return 0 }

func setFloatMode(uint32) {}
