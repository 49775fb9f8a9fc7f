//go:build !(linux && (amd64 || arm64))

package process

// KeepSignals runs f. On this platform libraries are not known to take signals from the Go runtime.
func KeepSignals(f func() error) error { return f() }
