package disk

import (
	"io/fs"
	"syscall"
)

// inode identifies a file and its last change, even one that keeps the time of modification and the size.
type inode struct {
	number  uint64
	changed syscall.Timespec
}

func inodeOf(info fs.FileInfo) inode {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return inode{s.Ino, s.Ctim}
	}
	return inode{}
}
