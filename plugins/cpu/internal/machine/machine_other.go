//go:build !linux && !darwin && !windows

package machine

// Read returns the zero Info on other systems.
func Read() Info { return Info{} }
