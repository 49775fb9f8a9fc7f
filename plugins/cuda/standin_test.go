//go:build linux && (amd64 || arm64) && !nonative

package cuda_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/orepl/orepl/lang/kernel/emit/ptx/ptxrun"
	"github.com/orepl/orepl/plugins/cuda"
	"github.com/orepl/orepl/runtime/offload"
)

// standIn is the stand-in for libcuda, compiled by the tests with gcc. There is one in the process.
type standIn struct {
	path  string
	set   func(what string, n int32) int32
	fail  func(name string, status, after int32) int32
	live  func(kind int32) int32
	wrong func(text *byte, size uintptr) int32
	trace func(text *byte, size uintptr) int32
	find  func(at uint64, span *[2]uint64) int32

	mu       sync.Mutex
	modules  map[string]*ptxrun.Module
	refuse   string    // the log of a compiler that refuses all kernels; "" compiles them
	wrong32  bool      // compiles sums of f32 as differences
	failed   error     // error of a kernel whose behaviour PTX leaves undefined
	group    [3]uint32 // group size of the last launch
	readOnly int       // number of launches of kernels with ld.global.nc
}

var (
	loading sync.Once
	loaded  *standIn
	missing error
)

func TestMain(m *testing.M) {
	code := m.Run()
	if loaded != nil {
		_ = os.RemoveAll(filepath.Dir(loaded.path))
	}
	os.Exit(code)
}

// newStandIn returns the stand-in in its initial state. At the end of the test it must have no complaints and no live
// objects.
func newStandIn(t testing.TB) *standIn {
	t.Helper()
	loading.Do(func() { loaded, missing = buildStandIn() })
	if missing != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	s := loaded
	for what, n := range map[string]int32{"devices": 1, "capability": 80, "init": 0, "managed": 1, "pools": 1, "instance": 0, "units": 2, "best": 1024, "recover": 0} {
		s.set(what, n)
	}
	s.mu.Lock()
	s.refuse, s.failed, s.wrong32 = "", nil, false
	s.mu.Unlock()
	t.Cleanup(func() {
		text := make([]byte, 256)
		if n := s.wrong(&text[0], uintptr(len(text))); n > 0 {
			t.Errorf("%d wrong calls; the first: %s", n, strings.TrimRight(string(text), "\x00"))
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.failed != nil {
			t.Error(s.failed)
		}
	})
	return s
}

// loads returns the number of launches, since its last call, of kernels with ld.global.nc.
func (s *standIn) loads(t testing.TB) int {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.readOnly
	s.readOnly = 0
	return n
}

// kinds are the kinds of objects that the stand-in counts.
var kinds = []string{"contexts", "streams", "events", "memory blocks", "modules", "pools"}

// checkLive fails if any objects of the driver are alive.
func (s *standIn) checkLive(t testing.TB) {
	t.Helper()
	for i, name := range kinds {
		if n := s.live(int32(i)); n != 0 {
			t.Errorf("%d %s are left", n, name)
		}
	}
}

// calls returns the driver calls since its last call, except event queries.
func (s *standIn) calls() []string {
	text := make([]byte, 1<<20)
	n := s.trace(&text[0], uintptr(len(text)))
	return strings.Fields(string(text[:n]))
}

func (s *standIn) options() cuda.Options { return cuda.Options{Library: s.path} }

// open opens the plugin with the stand-in.
func (s *standIn) open(t testing.TB) offload.Platform {
	t.Helper()
	p, err := cuda.New(s.options()).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func buildStandIn() (*standIn, error) {
	dir, err := os.MkdirTemp("", "libcuda")
	if err != nil {
		return nil, err
	}
	s := &standIn{path: filepath.Join(dir, "libcuda.so.1"), modules: map[string]*ptxrun.Module{}}
	out, err := exec.Command("gcc", "-shared", "-fPIC", "-O1", "-w", "-pthread", "testdata/libcuda.c", "-o", s.path).CombinedOutput()
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, fmt.Errorf("gcc: %w: %s", err, out)
	}
	handle, err := purego.Dlopen(s.path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	purego.RegisterLibFunc(&s.set, handle, "standin_set")
	purego.RegisterLibFunc(&s.fail, handle, "standin_fail")
	purego.RegisterLibFunc(&s.live, handle, "standin_live")
	purego.RegisterLibFunc(&s.wrong, handle, "standin_wrong")
	purego.RegisterLibFunc(&s.trace, handle, "standin_trace")
	purego.RegisterLibFunc(&s.find, handle, "standin_range")
	var setRun func(kernel, image uintptr) int32
	purego.RegisterLibFunc(&setRun, handle, "standin_run")
	setRun(purego.NewCallback(s.run), purego.NewCallback(s.compile))
	return s, nil
}

// cText returns the zero-terminated text at p.
func cText(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// module returns the parsed module of a PTX text.
func (s *standIn) module(text string) (*ptxrun.Module, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wrong32 {
		text = strings.ReplaceAll(text, "add.rn.f32", "sub.rn.f32")
	}
	if m := s.modules[text]; m != nil {
		return m, nil
	}
	m, err := ptxrun.Parse(text)
	if err == nil {
		s.modules[text] = m
	}
	return m, err
}

// compile implements the driver's compiler.
func (s *standIn) compile(image *byte, log *byte, size uintptr) uintptr {
	const invalidPTX = 218
	s.mu.Lock()
	refuse := s.refuse
	s.mu.Unlock()
	if refuse == "" {
		if _, err := s.module(cText(image)); err != nil {
			refuse = err.Error()
		}
	}
	if refuse == "" {
		return 0
	}
	copy(unsafe.Slice(log, size-1), refuse+"\x00")
	return invalidPTX
}

// run runs a kernel on a thread of the stand-in.
func (s *standIn) run(image, name *byte, dims *[6]uint32, params *byte, size uintptr) uintptr {
	const illegalAddress = 700
	m, err := s.module(cText(image))
	s.mu.Lock()
	s.group = [3]uint32(dims[3:])
	s.mu.Unlock()
	if strings.Contains(cText(image), "ld.global.nc") {
		s.mu.Lock()
		s.readOnly++
		s.mu.Unlock()
	}
	if err == nil {
		var spans [][2]uint64
		l := &ptxrun.Launch{Params: unsafe.Slice(params, size)}
		for i := range 3 {
			l.Grid[i], l.Block[i] = int(dims[i]), int(dims[3+i])
		}
		l.Memory = func(address uint64, size int) unsafe.Pointer {
			for _, r := range spans {
				if address >= r[0] && address-r[0]+uint64(size) <= r[1] {
					return *(*unsafe.Pointer)(unsafe.Pointer(&address))
				}
			}
			var r [2]uint64
			if s.find(address, &r) == 0 || address-r[0]+uint64(size) > r[1] {
				return nil
			}
			spans = append(spans, r)
			return *(*unsafe.Pointer)(unsafe.Pointer(&address))
		}
		err = m.Kernel(cText(name)).Run(l)
	}
	if err != nil {
		s.mu.Lock()
		s.failed = err
		s.mu.Unlock()
		return illegalAddress
	}
	return 0
}
