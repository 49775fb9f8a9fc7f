//go:build !amd64 && !arm64

package goroutine

import (
	"bytes"
	"runtime"
	"strconv"
)

// current returns the goroutine's number from a stack trace, or 1 if the trace has none.
func current() uint64 {
	var text [64]byte
	fields := bytes.Fields(text[:runtime.Stack(text[:], false)]) // starts with "goroutine 12 [running]:"
	if len(fields) < 2 {
		return 1
	}
	n, _ := strconv.ParseUint(string(fields[1]), 10, 64)
	return n
}
