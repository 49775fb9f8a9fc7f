//go:build !(linux && (amd64 || arm64))

package process

// CheckSignals returns nil: libraries are not known to replace Go's signal handlers on this platform.
func CheckSignals() error { return nil }
