//go:build !linux

package lang

// machineMemory returns a default for machines whose memory is unknown.
func machineMemory() uint64 { return 64 << 30 }
