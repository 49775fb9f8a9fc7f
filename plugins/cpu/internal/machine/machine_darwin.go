package machine

import "golang.org/x/sys/unix"

// Read returns the properties of this machine, except its clock rate and the lines and cores of caches.
func Read() Info {
	var info Info
	info.Model, _ = unix.Sysctl("machdep.cpu.brand_string")
	info.Vendor, _ = unix.Sysctl("machdep.cpu.vendor")
	if info.Vendor == "" {
		info.Vendor = "Apple"
	}
	if n, err := unix.SysctlUint64("hw.memsize"); err == nil {
		info.MemoryBytes = int64(n)
	}
	for _, c := range []struct {
		name string
		Cache
	}{
		{"hw.l1dcachesize", Cache{Level: 1, Type: "data"}},
		{"hw.l1icachesize", Cache{Level: 1, Type: "instruction"}},
		{"hw.l2cachesize", Cache{Level: 2, Type: "unified"}},
	} {
		if n, err := unix.SysctlUint64(c.name); err == nil && n > 0 {
			c.Bytes = int64(n)
			info.Caches = append(info.Caches, c.Cache)
		}
	}
	return info
}
