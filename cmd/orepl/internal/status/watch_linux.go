package status

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Keys of events that are not the end of a process, whose key is its number.
const (
	stopKey    = -1
	changedKey = -2
)

// kernelWatch receives changes of the file, and the ends of the processes that it lists.
type kernelWatch struct {
	set, stop, changes int         // descriptors of epoll, an eventfd and inotify
	processes          map[int]int // descriptors by process number; -1 for none
	order              []int       // processes in the order of their ends
}

// start begins to watch. It returns false if the system refuses.
func (k *kernelWatch) start(path string) bool {
	k.processes = map[int]int{}
	var errs [4]error
	k.set, errs[0] = unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	k.stop, errs[1] = unix.Eventfd(0, unix.EFD_CLOEXEC)
	if k.changes, errs[2] = unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK); errs[2] == nil {
		_, errs[3] = unix.InotifyAddWatch(k.changes, filepath.Dir(path), unix.IN_MODIFY)
	}
	for _, err := range errs {
		if err != nil {
			return false
		}
	}
	return k.add(k.stop, stopKey) && k.add(k.changes, changedKey)
}

func (k *kernelWatch) add(fd, key int) bool {
	return unix.EpollCtl(k.set, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(key)}) == nil
}

// see begins to watch the processes of r that are not watched yet. A process that no longer exists is added to order.
func (k *kernelWatch) see(r Report) {
	for pid := range r.Ranks {
		if _, ok := k.processes[pid]; ok {
			continue
		}
		fd, err := unix.PidfdOpen(pid, 0)
		k.processes[pid] = fd
		if err != nil {
			k.processes[pid] = -1
			if err == unix.ESRCH {
				k.order = append(k.order, pid)
			}
			continue
		}
		k.add(fd, pid)
	}
}

// wait waits for a change of the file or the end of a process, for limit milliseconds if that is not negative. The kernel
// reports the ends of several processes in their order. wait returns false if nothing, or only the end of the watch, was
// reported.
func (k *kernelWatch) wait(limit int) (more bool) {
	var events [64]unix.EpollEvent
	n, err := unix.EpollWait(k.set, events[:], limit)
	if err == unix.EINTR {
		return true
	}
	for _, e := range events[:max(n, 0)] {
		switch key := int(e.Fd); key {
		case stopKey:
		case changedKey:
			var buf [4096]byte
			_, _ = unix.Read(k.changes, buf[:])
			more = true
		default:
			k.order = append(k.order, key)
			_ = unix.EpollCtl(k.set, unix.EPOLL_CTL_DEL, k.processes[key], nil)
			more = true
		}
	}
	return more
}

// end makes wait return.
func (k *kernelWatch) end() { _, _ = unix.Write(k.stop, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

func (k *kernelWatch) close() {
	for _, fd := range k.processes {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	for _, fd := range []int{k.set, k.stop, k.changes} {
		_ = unix.Close(fd)
	}
}
