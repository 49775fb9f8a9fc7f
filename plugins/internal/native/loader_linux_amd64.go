//go:build !nonative

package native

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/orepl/orepl/plugins/internal/process"
	"github.com/orepl/orepl/runtime/offload"
)

// loader is the system's loader, which runs code of images: resolvers of functions, and constructors of libraries that they
// need.
var loader struct {
	sync.Mutex
	open, message uintptr // dlopen, dlerror
	broken        atomic.Bool
}

var errLoader = errors.New("the system's loader was left in the middle of an earlier load, which failed: restart the process")

// link makes the loader map the image. A fault of code that the loader runs is an error. The loader then holds its locks, so that
// no image can be loaded or unloaded any more.
func (img *Image) link(ctx context.Context) error {
	l := &loader
	l.Lock()
	defer l.Unlock()
	if l.broken.Load() {
		return img.failed(offload.OutOfResources, "no further image can be loaded", errLoader)
	}
	if l.open == 0 {
		for name, at := range map[string]*uintptr{"dlerror": &l.message, "dlopen": &l.open} {
			address, err := purego.Dlsym(purego.RTLD_DEFAULT, name)
			if err != nil {
				return img.failed(offload.LinkFailure, "the system's loader", err)
			}
			*at = address
		}
	}
	c, err := img.NewCaller()
	if err != nil {
		return err
	}
	defer c.Free()
	var stop atomic.Bool
	defer context.AfterFunc(ctx, func() { stop.Store(true) })()
	path := append([]byte(img.path()), 0)
	err = process.KeepSignals(func() error {
		before, err := objects()
		if err != nil {
			return err
		}
		err = c.Plain(l.open, [3]uint64{uint64(uintptr(unsafe.Pointer(&path[0]))), purego.RTLD_NOW | purego.RTLD_LOCAL}, &stop)
		runtime.KeepAlive(path)
		switch {
		case errors.Is(err, process.ErrInterrupted):
			l.broken.Store(true)
			return img.failed(offload.Cancelled, "code that the system's loader runs for the image", context.Cause(ctx))
		case err != nil:
			l.broken.Store(true)
			return img.failed(offload.BackendFailure, "code that the system's loader runs for the image failed", err)
		}
		if img.handle = uintptr(c.block.result); img.handle != 0 {
			return rebind(before)
		}
		if err := c.Plain(l.message, [3]uint64{}, &stop); err != nil || c.block.result == 0 {
			return fmt.Errorf("dlopen gave no reason (%v)", err)
		}
		return errors.New(longText((*byte)(pointer(uintptr(c.block.result)))))
	})
	if err != nil && offload.CodeOf(err) == "" {
		return img.failed(offload.LinkFailure, "the system's loader refuses the image", err)
	}
	return err
}

// longText returns a C string of up to a few kilobytes.
func longText(s *byte) string {
	const longest = 4096
	b := unsafe.Slice(s, longest)
	for i := range b {
		if b[i] == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}
