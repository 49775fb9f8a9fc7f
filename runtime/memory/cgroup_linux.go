package memory

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// hierarchy names the files with the limit and the use of a control group, for a version of control groups.
type hierarchy struct {
	mount, limit, used string
	cache              string // the field of memory.stat with the reclaimable bytes
}

var (
	groups1 = hierarchy{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}
	groups2 = hierarchy{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"}
)

// groupAvailable returns the free bytes within the limits of this process's control groups, or math.MaxInt64 without a limit.
// root is the root folder of the file system.
func groupAvailable(root string) int64 {
	n := int64(math.MaxInt64)
	text, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return n
	}
	for line := range strings.Lines(string(text)) {
		// A line has the format number:controllers:path; version 2 is number 0 without controllers.
		field := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(field) != 3 {
			continue
		}
		switch {
		case field[0] == "0" && field[1] == "":
			n = min(n, groups2.available(root, field[2]))
		case strings.Contains(","+field[1]+",", ",memory,"):
			n = min(n, groups1.available(root, field[2]))
		}
	}
	return n
}

// available returns the minimum of the free bytes of a group and its ancestors. It skips groups that a container hides.
func (h *hierarchy) available(root, path string) int64 {
	n := int64(math.MaxInt64)
	for path = filepath.Join("/", path); ; path = filepath.Dir(path) {
		dir := filepath.Join(root, h.mount, path)
		if most, ok := readNumber(filepath.Join(dir, h.limit)); ok { // fails for "max", which means no limit
			if now, ok := readNumber(filepath.Join(dir, h.used)); ok {
				n = min(n, max(most-max(now-h.reclaimable(dir), 0), 0))
			}
		}
		if path == "/" {
			return n
		}
	}
}

// reclaimable returns the bytes of a group's inactive file cache, or 0 if unknown.
func (h *hierarchy) reclaimable(dir string) int64 {
	text, err := os.ReadFile(filepath.Join(dir, "memory.stat"))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		if name, value, ok := bytes.Cut(bytes.TrimSpace(line), []byte(" ")); ok && string(name) == h.cache {
			n, _ := number(value)
			return n
		}
	}
	return 0
}

func readNumber(path string) (int64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	return number(bytes.TrimSpace(text))
}
