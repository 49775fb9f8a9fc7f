package memory

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// prefault is the maximum size in bytes of blocks that are populated at allocation. Populating is cheaper than single page
// faults, even if some pages are never used.
const prefault = 64 << 20

// mapPages maps zero pages and returns the whole mapping and n page-aligned bytes of it. Blocks of hugePage bytes or more
// request huge pages and start at a huge page's boundary. Blocks of up to prefault bytes are populated.
func mapPages(n int64) (all, usable []byte, err error) {
	flags := unix.MAP_ANON | unix.MAP_PRIVATE
	if n < hugePage {
		all, err = unix.Mmap(-1, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, flags|unix.MAP_POPULATE)
		return all, all, err
	}
	all, err = unix.Mmap(-1, 0, int(n+hugePage), unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		return nil, nil, err
	}
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(all))) & (hugePage - 1)
	usable = all[skip : int64(skip)+n]
	_ = unix.Madvise(usable, unix.MADV_HUGEPAGE) // best effort: kernels without huge pages refuse it
	if n <= prefault {
		populate(usable)
	}
	return all, usable, nil
}

// populate touches every page, on two goroutines for large blocks unless GOMAXPROCS is 1.
func populate(data []byte) {
	touch := func(part []byte) {
		for i := 0; i < len(part); i += pageSize {
			part[i] = 0
		}
	}
	if runtime.GOMAXPROCS(0) == 1 || len(data) < 4*hugePage {
		touch(data)
		return
	}
	half := len(data) / 2 / hugePage * hugePage
	var wg sync.WaitGroup
	wg.Go(func() { touch(data[half:]) })
	touch(data[:half])
	wg.Wait()
}

func unmapPages(data []byte) error { return unix.Munmap(data) }

// Available returns the bytes of memory that can be used without swapping, within the control groups of this process. If
// the system does not state them, it returns fallbackAvailable.
func Available() int64 {
	n := int64(1) << 62
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		for line := range bytes.Lines(text) {
			if rest, ok := bytes.CutPrefix(line, []byte("MemAvailable:")); ok {
				if kib, ok := number(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte(" kB"))); ok {
					n = kib << 10
				}
			}
		}
	}
	n = min(n, groupAvailable("/"))
	if n == 1<<62 {
		return fallbackAvailable
	}
	return n
}

func number(text []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(text), 10, 64)
	return n, err == nil
}
