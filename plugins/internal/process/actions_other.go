//go:build !(linux && (amd64 || arm64))

package process

// CheckSignals returns nil: on this platform libraries are not known to take signals from the Go runtime.
func CheckSignals() error { return nil }
