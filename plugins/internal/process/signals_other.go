//go:build !(linux && (amd64 || arm64))

package process

// KeepSignals runs f. Libraries are not known to replace Go's signal handlers on this platform.
func KeepSignals(f func() error) error { return f() }
