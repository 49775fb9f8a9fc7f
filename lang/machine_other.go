//go:build !linux

package lang

// machineMemory returns a guess for machines that do not report their memory.
func machineMemory() uint64 { return 64 << 30 }
