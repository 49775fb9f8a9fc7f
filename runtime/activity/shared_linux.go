package activity

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// memoryName is the name of the shared memory, which the system shows as that of an open file of the process.
const memoryName = "orepl-activity"

// Publish lets other processes of the user see the counts, which begin at 0. It must be called before the process counts anything.
// Further calls do nothing.
func Publish() error {
	mu.Lock()
	defer mu.Unlock()
	if showing != nil {
		return nil
	}
	fd, err := unix.MemfdCreate(memoryName, unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	data, err := reserve(fd)
	if err != nil {
		_ = unix.Close(fd) // else it stays open, for others to find
		return err
	}
	showing = data[namesAt:]
	show()
	shown.Store((*Counts)(unsafe.Pointer(&data[countsAt])))
	copy(data, magic)
	return nil
}

// reserve sets the size of the shared memory and maps it.
func reserve(fd int) ([]byte, error) {
	if err := unix.Ftruncate(fd, size); err != nil {
		return nil, err
	}
	return unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

// Find returns the counts that the processes of this machine have published, sorted by process number. Those of processes that
// this user may not inspect are missing.
func Find() (list []Process) {
	files, _ := filepath.Glob("/proc/[0-9]*/fd")
	for _, dir := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
		if err != nil {
			continue
		}
		if p, ok := look(pid, dir); ok {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b Process) int { return a.PID - b.PID })
	return list
}

// look looks for the shared memory among the open files of a process. It returns false if there is none that this process
// may read.
func look(pid int, dir string) (p Process, ok bool) {
	entries, err := os.ReadDir(dir)
	if err != nil { // of another user, or gone
		return p, false
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if target, err := os.Readlink(path); err != nil || !strings.HasPrefix(target, "/memfd:"+memoryName+" ") {
			continue
		}
		if data, err := os.ReadFile(path); err == nil {
			if p, ok := parse(pid, data); ok {
				return p, true
			}
		}
	}
	return p, false
}
