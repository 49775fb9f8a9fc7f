//go:build !unix

package isolate

// own does nothing on this system, where child processes inherit no descriptors implicitly.
func own(int) {}
