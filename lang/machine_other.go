//go:build !linux

package lang

// machineMemory is a guess where the machine does not tell.
func machineMemory() uint64 { return 64 << 30 }
