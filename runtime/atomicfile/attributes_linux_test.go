package atomicfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWriteKeepsAttributes checks that a rewritten file keeps its owner, its mode with the set-user-ID bit, and
// extended attributes. A link to it must stay a link.
func TestWriteKeepsAttributes(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "f"), filepath.Join(dir, "link")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("f", link); err != nil {
		t.Fatal(err)
	}
	uid := uint32(os.Getuid())
	if uid == 0 {
		uid = 4711
		if err := os.Chown(path, int(uid), 4712); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(path, 0o750|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	attributed := unix.Setxattr(path, "user.orepl", []byte("kept"), 0) == nil // not on every file system
	if err := Write(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if target, err := os.Readlink(link); err != nil || target != "f" {
		t.Errorf("the link leads to %q, %v", target, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); st.Uid != uid || info.Mode() != 0o750|os.ModeSetuid || info.Size() != 3 {
		t.Errorf("owner %d, mode %v, %d bytes", st.Uid, info.Mode(), info.Size())
	}
	value := make([]byte, 16)
	if n, err := unix.Getxattr(path, "user.orepl", value); attributed && (err != nil || string(value[:n]) != "kept") {
		t.Errorf("the attribute is %q, %v", value[:max(n, 0)], err)
	}
}
