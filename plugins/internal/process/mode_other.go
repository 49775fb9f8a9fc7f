//go:build !amd64

package process

// The mode of the floating-point unit is looked after on amd64 only, where compilers have options that change it when a
// library is loaded.

func floatMode() uint32 { return 0 }

func setFloatMode(uint32) {}
