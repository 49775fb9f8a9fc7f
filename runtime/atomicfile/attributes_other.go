//go:build !linux

package atomicfile

import "os"

func umask() os.FileMode { return 0o022 }

// copyAttributes copies the mode from source to f.
func copyAttributes(f *os.File, _ string, info os.FileInfo) error {
	return f.Chmod(info.Mode().Perm())
}

// syncFolder does nothing, because some systems cannot synchronize folders.
func syncFolder(string) error { return nil }
