//go:build !linux

package isolate

// BoundMemory does nothing here: the engine's own limits are all there is.
func BoundMemory(uint64) error { return nil }
