//go:build !linux

package heap

// Machine returns a default in bytes, since the memory of the machine is unknown on this system.
func Machine() uint64 { return 64 << 30 }
