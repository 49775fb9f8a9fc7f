package cpu

import (
	"encoding/binary"
	"math"
	"runtime"
	"testing"
	"unsafe"

	"github.com/orepl/orepl/plugins/internal/process"
	"github.com/orepl/orepl/runtime/offload"
)

// TestDenormalsOnAThreadThatFlushesThem checks that flush-to-zero mode, set on a thread by a foreign library, does not
// affect kernels.
func TestDenormalsOnAThreadThatFlushesThem(t *testing.T) {
	f := open(t, Options{})
	if !f.variant("saxpy").isCompiled() {
		return // the interpreter is Go, which cannot be kept on one thread
	}
	x, y := f.buffer(offload.F32, 1, "x"), f.buffer(offload.F32, 1, "y")
	binary.LittleEndian.PutUint32(x.Memory.Bytes(), 3) // 3 times the smallest denormal
	guard, err := process.NewGuard()
	must(t, err)
	defer guard.Free()
	code, err := process.NewCode([]byte("\x0F\xAE\x17\xC3")) // ldmxcsr [arg]
	must(t, err)
	defer func() { must(t, code.Free()) }()
	l := f.saxpy(1, x, y, 1)

	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked, so that the thread ends with the goroutine
		mode := uint32(0x1F80 | 1<<15 | 1<<6)
		if err := guard.CallHere(code.Entry(0), unsafe.Pointer(&mode)); err != nil {
			t.Error(err)
			return
		}
		if tiny := math.Float32frombits(binary.LittleEndian.Uint32(x.Memory.Bytes())); tiny*tiny != 0 || tiny*one != 0 {
			t.Error("the thread does not flush denormals")
		}
		for range 2 {
			if err := f.queue.Launch(l); err != nil {
				t.Error(err)
			}
		}
	}()
	<-done
	f.sync()
	if got := binary.LittleEndian.Uint32(y.Memory.Bytes()); got != 9 {
		t.Errorf("the sum of three times a denormal is %#x, want 9", got)
	}
}

var one = float32(1)
