//go:build !linux && !darwin && !windows

package machine

// Read returns the zero Info on systems other than Linux, macOS and Windows.
func Read() Info { return Info{} }
