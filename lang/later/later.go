// Package later holds values of packages that are made when they are first used. Unlike variables that call [sync.OnceValue], they
// need no code at the start of the process.
package later

import (
	"sync"
	"sync/atomic"
)

// Value is a value that Make returns at the first Get.
type Value[T any] struct {
	Make func() T

	made  atomic.Bool
	mu    sync.Mutex
	value T
}

// Get returns the value. It is safe for concurrent use.
func (v *Value[T]) Get() T {
	if !v.made.Load() {
		v.make()
	}
	return v.value
}

func (v *Value[T]) make() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.made.Load() {
		v.value = v.Make()
		v.made.Store(true)
	}
}
