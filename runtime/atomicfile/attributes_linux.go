package atomicfile

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// umask returns the process's file mode mask as /proc reports it, since the system call would also change it. If it cannot be
// read, the result lets only the owner write.
func umask() os.FileMode {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "Umask:"); ok {
			if mask, err := strconv.ParseUint(strings.TrimSpace(value), 8, 32); err == nil {
				return os.FileMode(mask)
			}
		}
	}
	return 0o022
}

// copyAttributes copies owner, mode and extended attributes from source to f.
func copyAttributes(f *os.File, source string, info os.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		mine, err := f.Stat()
		if err != nil {
			return err
		}
		if own, ok := mine.Sys().(*syscall.Stat_t); ok && (own.Uid != st.Uid || own.Gid != st.Gid) {
			if err := f.Chown(int(st.Uid), int(st.Gid)); err != nil {
				return err
			}
		}
	}
	// The mode follows the owner, because changing the owner clears the set-user-ID bits.
	if err := f.Chmod(info.Mode().Perm() | info.Mode()&(os.ModeSetuid|os.ModeSetgid|os.ModeSticky)); err != nil {
		return err
	}
	return copyExtended(f, source)
}

// copyExtended copies the extended attributes of the file source to f, such as capabilities and access lists. It skips those
// that the system does not support or permit.
func copyExtended(f *os.File, source string) error {
	names := make([]byte, 64<<10)
	n, err := unix.Listxattr(source, names)
	if errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	if err != nil {
		return err
	}
	for name := range bytes.SplitSeq(names[:n], []byte{0}) {
		if len(name) == 0 {
			continue
		}
		value := make([]byte, 64<<10)
		size, err := unix.Getxattr(source, string(name), value)
		if err == nil {
			err = unix.Fsetxattr(int(f.Fd()), string(name), value[:size], 0)
		}
		if err != nil && !errors.Is(err, unix.ENOTSUP) && !errors.Is(err, unix.EPERM) {
			return err
		}
	}
	return nil
}

// syncFolder makes a rename durable.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, unix.EINVAL) {
		return err
	}
	return nil
}
