//go:build !linux

package isolate

// BoundMemory does nothing on this system, where only the engine's own limits apply.
func BoundMemory(uint64) error { return nil }
