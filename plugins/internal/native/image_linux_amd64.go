//go:build !nonative

package native

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"

	"github.com/orepl/orepl/plugins/internal/process"
	"github.com/orepl/orepl/runtime/offload"
)

// destructorTime bounds the run time of the destructors of an image.
const destructorTime = 10 * time.Second

// Image is a loaded shared object. Its methods are safe for concurrent use.
type Image struct {
	label   string
	symbols []Symbol
	index   map[string]int
	base    uintptr
	span    uint64 // bytes from base to the end of the last segment
	suspect bool   // the code may contain system calls of its own
	code    []table

	openmp  bool        // the image needs the OpenMP run time
	threads bool        // the code may create threads
	held    atomic.Bool // threads that a call created may still run its code

	mu     sync.Mutex
	handle uintptr // 0 when unloaded
	file   int     // the anonymous file; open while the image is loaded, so that its name stays unique
	fini   []uintptr
}

// Load loads a shared object and runs its constructors, which ctx can cancel.
func Load(ctx context.Context, label string, data []byte) (*Image, error) {
	o, err := parse(label, data)
	if err != nil {
		return nil, err
	}
	img := &Image{label: label, symbols: o.symbols, index: map[string]int{}, span: o.span, suspect: o.suspect, threads: o.threads, code: o.code, file: -1}
	for i, s := range o.symbols {
		img.index[s.Name] = i
	}
	if err := img.open(ctx, o); err != nil {
		return nil, errors.Join(err, img.release())
	}
	init := img.functions(o.init, o.initArray)
	img.fini = img.functions(0, o.finiArray)
	for i, j := 0, len(img.fini)-1; i < j; i, j = i+1, j-1 {
		img.fini[i], img.fini[j] = img.fini[j], img.fini[i]
	}
	if o.fini != 0 {
		img.fini = append(img.fini, img.base+uintptr(o.fini))
	}
	if err := img.callAll(ctx, "constructor", init); err != nil {
		return nil, errors.Join(err, img.release())
	}
	return img, nil
}

// open maps the object and resolves its symbols by the system's loader.
func (img *Image) open(ctx context.Context, o *object) (err error) {
	if img.file, err = anonymousFile(o.data); err != nil {
		return img.failed(offload.OutOfResources, "an anonymous file", err)
	}
	if err := img.provide(o.needed); err != nil {
		return err
	}
	if err := img.link(ctx); err != nil {
		return err
	}
	img.base = *(*uintptr)(pointer(img.handle)) // the first member of struct link_map
	return nil
}

// functions returns the addresses of first, unless it is 0, and of the functions in a table of the image.
func (img *Image) functions(first uint64, t table) []uintptr {
	var list []uintptr
	if first != 0 {
		list = append(list, img.base+uintptr(first))
	}
	for i := range t.bytes / 8 {
		if at := *(*uintptr)(pointer(img.base + uintptr(t.address+8*i))); at != 0 && at != ^uintptr(0) {
			list = append(list, at)
		}
	}
	return list
}

// callAll calls constructors or destructors in order. It stops at the first constructor that fails, since later ones may
// need it. It calls all destructors and returns the first error. The end of ctx stops both.
func (img *Image) callAll(ctx context.Context, what string, list []uintptr) error {
	if len(list) == 0 {
		return nil
	}
	c, err := img.NewCaller()
	if err != nil {
		return err
	}
	defer c.Free()
	var stop atomic.Bool
	defer context.AfterFunc(ctx, func() { stop.Store(true) })()
	argc, argv := process.Arguments()
	words := [3]uint64{uint64(argc), uint64(argv), uint64(argv) + 8*uint64(argc+1)} // the environment follows the arguments
	var first error
	for i, at := range list {
		err := process.KeepSignals(func() error { return c.Plain(at, words, &stop) })
		switch {
		case errors.Is(err, process.ErrInterrupted):
			return img.failed(offload.Cancelled, fmt.Sprintf("%s %d of %d", what, i+1, len(list)), context.Cause(ctx))
		case err != nil:
			first = cmp.Or[error](first, img.failed(offload.BackendFailure, fmt.Sprintf("%s %d of %d failed", what, i+1, len(list)), err))
			if what == "constructor" {
				return first
			}
		}
	}
	return first
}

// Symbols returns the exported functions and variables, sorted by name.
func (img *Image) Symbols() []Symbol { return img.symbols }

// Lookup returns a symbol and its address, or false if the image does not define it.
func (img *Image) Lookup(name string) (Symbol, uintptr, bool) {
	i, ok := img.index[name]
	if !ok {
		return Symbol{}, 0, false
	}
	return img.symbols[i], img.base + uintptr(img.symbols[i].value), true
}

// Memory returns the memory of a variable.
func (img *Image) Memory(s Symbol) []byte {
	return unsafe.Slice((*byte)(pointer(img.base+uintptr(s.value))), s.Size)
}

// Offset returns the offset of an address from the image's base, and whether the address is in the image.
func (img *Image) Offset(address uintptr) (uint64, bool) {
	d := uint64(address - img.base)
	return d, address >= img.base && d < img.span
}

// Close runs the destructors and unloads the image. No call may be running. It returns the first failure of a destructor, or
// an error if the image stays in memory: the system's loader retains it, or threads that it created may run its code.
func (img *Image) Close() error {
	img.mu.Lock()
	defer img.mu.Unlock()
	if img.handle == 0 {
		return nil
	}
	if img.held.Load() && !img.quiet() {
		return offload.Errorf(offload.OutOfResources, "unload", "the image stays in memory: threads that it created may be in its code").On("", img.label)
	}
	ctx, cancel := context.WithTimeout(context.Background(), destructorTime)
	defer cancel()
	err := img.callAll(ctx, "destructor", img.fini)
	return errors.Join(err, img.release())
}

// quiet reports whether it is known that no thread can return to the image's code.
func (img *Image) quiet() bool {
	ranges := make([][2]uintptr, len(img.code))
	for i, t := range img.code {
		ranges[i] = [2]uintptr{img.base + uintptr(t.address), img.base + uintptr(t.address+t.bytes)}
	}
	for range quietChecks {
		found, known := process.ThreadsIn(ranges)
		if known || found {
			return !found
		}
		time.Sleep(time.Millisecond) // Go's own threads run, too, and sleep again
	}
	return false
}

// quietChecks bounds the checks of quiet while other threads run.
const quietChecks = 100

// release unmaps the image and closes its file. It returns an error if the loader keeps the image in memory.
func (img *Image) release() error {
	if img.handle != 0 && loader.broken.Load() {
		return img.failed(offload.OutOfResources, "the image stays in memory", errLoader)
	}
	if img.handle != 0 {
		err := process.KeepSignals(func() error { return purego.Dlclose(img.handle) })
		if err != nil {
			return img.failed(offload.BackendFailure, "the system's loader cannot unload the image", err)
		}
		img.handle = 0
		if img.resident() {
			return offload.Errorf(offload.OutOfResources, "unload", "the system's loader keeps the image in memory").On("", img.label).
				WithHint("images stay that have unique symbols (g++ without -fno-gnu-unique), the flag nodelete, or thread-local objects with destructors on running threads")
		}
	}
	if img.file >= 0 {
		if err := unix.Close(img.file); err != nil {
			return img.failed(offload.BackendFailure, "closing the anonymous file", err)
		}
		img.file = -1
	}
	return nil
}

// resident reports whether the system's loader still has the image loaded.
func (img *Image) resident() bool {
	const noLoad = 4 // RTLD_NOLOAD
	h, err := purego.Dlopen(img.path(), purego.RTLD_NOW|purego.RTLD_LOCAL|noLoad)
	if err != nil {
		return false
	}
	_ = purego.Dlclose(h) // drops the reference that Dlopen added
	return true
}

// path returns the path of the anonymous file, by which the system's loader identifies the image. It is unique while the file is
// open.
func (img *Image) path() string { return procPath(img.file) }

func procPath(file int) string { return "/proc/self/fd/" + strconv.Itoa(file) }

// anonymousFile returns the descriptor of an anonymous file with these contents, or -1.
func anonymousFile(data []byte) (int, error) {
	file, err := unix.MemfdCreate("orepl-image", unix.MFD_CLOEXEC|unix.MFD_EXEC)
	if errors.Is(err, unix.EINVAL) {
		file, err = unix.MemfdCreate("orepl-image", unix.MFD_CLOEXEC) // a kernel before 6.3
	}
	if err != nil {
		return -1, err
	}
	for len(data) > 0 {
		n, err := unix.Write(file, data)
		if err != nil {
			closeFile(file)
			return -1, err
		}
		data = data[n:]
	}
	return file, nil
}

func closeFile(file int) { _ = unix.Close(file) } // Linux closes the file even if it reports an error

func (img *Image) failed(code offload.Code, detail string, err error) error {
	e := offload.Errorf(code, "load", "%s", detail).On("", img.label)
	e.Err = err
	return e
}

// pointer converts an address outside of Go's memory.
func pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }
