//go:build !unix

package isolate

// own does nothing here: programs get no files that they are not given.
func own(int) {}
