//go:build linux

package process

import (
	"errors"
	"math"
	"runtime"
	"testing"
	"unsafe"
)

// otherMode flushes results to zero, treats denormals as zero, and rounds toward zero.
const otherMode = 0x1F80 | 1<<15 | 1<<6 | 3<<13

var one = float32(1)

// flushes reports whether computations of this thread flush denormals.
func flushes() bool { return math.Float32frombits(1)*one == 0 }

// onOwnThread runs f on a thread that ends afterwards.
func onOwnThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked, so that the thread ends
		f()
	}()
	<-done
}

// TestFloatMode checks that code starts in the default mode, also after a fault, and that the thread's mode is restored
// afterwards.
func TestFloatMode(t *testing.T) {
	get, fault, set := place(t, getMode), place(t, "\x0F\xAE\x1F"+load), place(t, setMode)
	for name, call := range ways {
		g := newGuard(t)
		onOwnThread(func() {
			if flushes() {
				t.Error("a new thread loses denormals")
			}
			mode := uint32(otherMode)
			before := floatMode()
			if err := g.Call(set.Entry(0), unsafe.Pointer(&mode)); err != nil || floatMode()&^0x3F != before&^0x3F {
				t.Errorf("%s: %v; code changes the mode from %#x to %#x", name, err, before, floatMode())
			}
			setFloatMode(otherMode)
			for i, code := range []*Code{get, fault, get} {
				if !flushes() {
					t.Errorf("%s: call %d: the thread's mode was changed", name, i)
					return
				}
				err := call(g, code.Entry(0), unsafe.Pointer(&mode))
				if f := (*Fault)(nil); errors.As(err, &f) != (code == fault) {
					t.Errorf("%s: call %d: %v", name, i, err)
				}
				if mode&^0x3F != 0x1F80 {
					t.Errorf("%s: call %d found mode %#x", name, i, mode)
				}
			}
			if got := floatMode() &^ 0x3F; got != otherMode {
				t.Errorf("%s: the thread has mode %#x afterwards", name, got)
			}
		})
	}
}

// TestLoadingKeepsTheFloatMode simulates loading a library built with -ffast-math.
func TestLoadingKeepsTheFloatMode(t *testing.T) {
	onOwnThread(func() {
		if err := KeepSignals(func() error { setFloatMode(otherMode); return nil }); err != nil {
			t.Error(err)
		}
		if flushes() {
			t.Error("the thread computes as the library wants")
		}
	})
}
