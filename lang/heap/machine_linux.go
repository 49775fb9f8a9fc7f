package heap

import (
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Machine returns the bytes that the machine and the process's limits leave for the heap, including the current heap.
func Machine() uint64 {
	room := uint64(math.MaxUint64)
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err == nil {
		room = (uint64(info.Totalram) + uint64(info.Totalswap)) * uint64(info.Unit)
	}
	// Limits map to the field of /proc/self/statm, in pages, that counts their use.
	for resource, field := range map[int]int{unix.RLIMIT_AS: 0, unix.RLIMIT_DATA: 5} {
		var limit unix.Rlimit
		if unix.Getrlimit(resource, &limit) == nil && limit.Cur != unix.RLIM_INFINITY {
			others := saturated(pagesOf(field)*uint64(os.Getpagesize()), reserved())
			room = min(room, saturated(limit.Cur, others))
		}
	}
	return room
}

func pagesOf(field int) uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if field >= len(fields) {
		return 0
	}
	n, _ := strconv.ParseUint(fields[field], 10, 64)
	return n
}

// saturated subtracts two numbers and saturates at zero.
func saturated(x, y uint64) uint64 { return x - min(x, y) }
