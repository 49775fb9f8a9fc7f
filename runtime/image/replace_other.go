//go:build !linux

package image

import "os"

func umask() os.FileMode { return 0o022 }

// copyAttributes sets the mode of f as source has it.
func copyAttributes(f *os.File, _ string, info os.FileInfo) error {
	return f.Chmod(info.Mode().Perm())
}

// syncFolder does nothing: folders cannot be synchronised everywhere.
func syncFolder(string) error { return nil }
