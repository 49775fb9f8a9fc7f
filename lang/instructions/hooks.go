package instructions

import (
	"math/big"
	"runtime"
	"sync"
	"unsafe"
	"weak"

	"github.com/dop251/goja"
)

// Large is the number of bytes of a joined string from which [Watcher.Join] is called. [Watcher.Shift] is called for a shift by
// more than Large bits.
const Large = 1 << 20

// Watcher has functions that instructions of a runtime call. Each may be nil.
type Watcher struct {
	Shift func(bits *big.Int) // before a shift makes a BigInt of more than about a million bits; it may throw
	Join  func(bytes uint64)  // before strings are joined to a large one; it may throw
	Catch func(goja.Value)    // with the caught value, before a catch block with a parameter begins; it must not throw
	Grow  func()              // after about a thousand objects and arrays of literals; it must not throw
}

// watchers maps weak pointers of runtimes to weak pointers of their watchers.
var watchers sync.Map

// Watch sets the watcher of a runtime. The caller must keep the watcher, because the package holds only a weak pointer to it.
func Watch(vm *goja.Runtime, w *Watcher) {
	key := weak.Make(vm)
	watchers.Store(key, weak.Make(w))
	runtime.AddCleanup(vm, forget, key)
}

func forget(key weak.Pointer[goja.Runtime]) { watchers.Delete(key) }

// watcher returns the watcher of the machine's runtime, or nil.
func (m *machine) watcher() *Watcher {
	vm := *(**goja.Runtime)(unsafe.Add(unsafe.Pointer(m), the.strings.runtime))
	if p, ok := watchers.Load(weak.Make(vm)); ok {
		return p.(weak.Pointer[Watcher]).Value()
	}
	return nil
}

// create creates an object or an array, and calls the watcher's Grow for about one in a thousand. It chooses these by their
// addresses, since a counter would be shared.
func create(r *replacement, m *machine) {
	r.run(m)
	if address := uint32(uintptr(wordsOf(*m.slot(1)).data) >> 4); address*0x9e3779b1>>22 != 0 {
		return
	}
	if w := m.watcher(); w != nil && w.Grow != nil {
		w.Grow()
	}
}
