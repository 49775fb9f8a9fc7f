package heap

import "runtime"

// FitsMachine reports whether n more bytes fit into the memory that the machine leaves for the heap. It collects garbage before it
// returns false.
func FitsMachine(n uint64) bool {
	limit := Machine()
	used := inUse()
	if n > limit || used > limit-n {
		runtime.GC()
		used = inUse()
	}
	return n <= limit && used <= limit-n
}

// reserved returns the bytes of address space that the heap uses or can reuse.
func reserved() uint64 {
	return inUse() + metric("/memory/classes/heap/unused:bytes") + metric("/memory/classes/heap/free:bytes") + metric("/memory/classes/heap/released:bytes")
}
