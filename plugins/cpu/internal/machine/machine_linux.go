package machine

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Read returns the properties of this machine.
func Read() Info {
	info := Info{MemoryBytes: memory("/proc/meminfo", "/proc/self/cgroup", "/sys/fs/cgroup"), Caches: caches("/sys/devices/system/cpu/cpu0/cache")}
	var first [4 << 10]byte // the other processors of a large machine take milliseconds to read
	info.Model, info.Vendor, info.MHz = processor(beginning("/proc/cpuinfo", first[:]))
	var s syscall.Sysinfo_t
	if info.MemoryBytes == 0 && syscall.Sysinfo(&s) == nil { // a container without /proc
		info.MemoryBytes = int64(uint64(s.Totalram) * uint64(s.Unit))
	}
	return info
}

// processor returns the model, the vendor and the clock rate in MHz of the first processor in /proc/cpuinfo. Values that
// the file lacks are zero.
func processor(cpuinfo []byte) (model, vendor string, mhz int) {
	lines := bufio.NewScanner(bytes.NewReader(cpuinfo))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() && lines.Text() != "" {
		key, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "model name":
			model = strings.Join(strings.Fields(value), " ")
		case "vendor_id":
			vendor = value
		case "cpu MHz":
			f, _ := strconv.ParseFloat(value, 64)
			mhz = int(f + 0.5)
		}
	}
	return model, vendor, mhz
}

// memory returns the machine's memory in bytes, or the limit of the process's control group if that is lower. It returns 0 if the file
// meminfo of /proc cannot be read. self is the path of the file cgroup of the process, and groups the folder of control groups.
func memory(meminfo, self, groups string) int64 {
	total := int64(0)
	var first [512]byte
	for line := range bytes.Lines(beginning(meminfo, first[:])) {
		if rest, ok := bytes.CutPrefix(line, []byte("MemTotal:")); ok {
			kib, _ := strconv.ParseInt(string(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte(" kB"))), 10, 64)
			total = kib << 10
			break
		}
	}
	f, err := os.ReadFile(self)
	if err != nil {
		return total
	}
	for line := range strings.Lines(string(f)) { // "hierarchy:controllers:path"; version 2 has hierarchy 0
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		var limit string
		switch {
		case parts[0] == "0":
			limit = filepath.Join(groups, parts[2], "memory.max")
		case slices.Contains(strings.Split(parts[1], ","), "memory"):
			limit = filepath.Join(groups, "memory", parts[2], "memory.limit_in_bytes")
		default:
			continue
		}
		if n, err := strconv.ParseInt(firstLine(limit), 10, 64); err == nil && n > 0 && n < total {
			total = n
		}
	}
	return total
}

// caches returns the caches in a processor's cache folder of sysfs, without those of unknown level or size.
func caches(folder string) []Cache {
	var list []Cache
	entries, _ := filepath.Glob(filepath.Join(folder, "index*"))
	for _, entry := range entries {
		c := Cache{Type: strings.ToLower(firstLine(filepath.Join(entry, "type"))), Bytes: bytesOf(firstLine(filepath.Join(entry, "size")))}
		c.Level, _ = strconv.Atoi(firstLine(filepath.Join(entry, "level")))
		c.LineBytes, _ = strconv.Atoi(firstLine(filepath.Join(entry, "coherency_line_size")))
		c.Cores = countList(firstLine(filepath.Join(entry, "shared_cpu_list")))
		if c.Level > 0 && c.Bytes > 0 {
			list = append(list, c)
		}
	}
	return list
}

func firstLine(path string) string {
	var first [4 << 10]byte // a page, which is the most that a file of sysfs has
	line, _, _ := bytes.Cut(beginning(path, first[:]), []byte("\n"))
	return string(bytes.TrimSpace(line))
}

// beginning reads the beginning of a file into a buffer, and returns what it read. It returns nothing of a file that cannot be
// opened.
func beginning(path string, buffer []byte) []byte {
	f, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(f)
	for n := 0; ; {
		got, err := syscall.Read(f, buffer[n:])
		if err == syscall.EINTR {
			continue
		}
		if n += max(got, 0); err != nil || got <= 0 || n == len(buffer) {
			return buffer[:n]
		}
	}
}

// bytesOf parses a size such as "32K", "1M" or "512", and returns it in bytes. It returns 0 for other texts.
func bytesOf(s string) int64 {
	shift := 0
	switch {
	case strings.HasSuffix(s, "K"):
		shift = 10
	case strings.HasSuffix(s, "M"):
		shift = 20
	}
	n, _ := strconv.ParseInt(strings.TrimRight(s, "KM"), 10, 64)
	return n << shift
}

// countList returns the number of members of a list such as "0-3,8".
func countList(s string) int {
	n := 0
	for part := range strings.SplitSeq(s, ",") {
		from, to, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(from)
		if err != nil {
			continue
		}
		b := a
		if isRange {
			if b, err = strconv.Atoi(to); err != nil {
				continue
			}
		}
		n += b - a + 1
	}
	return n
}
