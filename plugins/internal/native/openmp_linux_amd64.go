//go:build !nonative

package native

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ebitengine/purego"

	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/plugins/internal/process"
	"github.com/orepl/orepl/runtime/offload"
)

// Names of libraries that clang's host images need: the OpenMP run time, and the beginning of the name of the offloading
// library, which they never call.
const (
	openmpName = "libomp.so.5"
	targetName = "libomptarget.so."
)

// openmpFolders is the pattern of the run time's files in folders outside of the loader's path, where LLVM packages install it.
const openmpFolders = "/usr/lib/llvm-*/lib/" + openmpName

// openmp is LLVM's OpenMP run time in this process. It stays loaded, since its threads cannot be ended.
var openmp struct {
	sync.Mutex
	handle  uintptr
	threads uintptr // omp_set_num_threads
	level   uintptr // omp_get_level
	linger  uintptr // kmp_set_blocktime

	// Functions that earlier versions lack; 0 if missing.
	teams     uintptr // omp_set_num_teams
	mostTeams uintptr // omp_get_max_teams
	limit     uintptr // __kmpc_set_thread_limit
	thread    uintptr // __kmpc_global_thread_num
	cores     uintptr // omp_get_num_procs
}

// provide loads needed libraries that the system's loader would not find.
func (img *Image) provide(needed []string) error {
	for _, name := range needed {
		switch {
		case name == openmpName:
			if err := loadOpenMP(); err != nil {
				e := img.failed(offload.HostToolNotFound, "the image needs LLVM's OpenMP run time, "+openmpName, err)
				return e.(*offload.Error).WithHint("install it (Debian: libomp5-19), or make it known to the loader by LD_LIBRARY_PATH")
			}
			img.openmp = true
		case strings.HasPrefix(name, targetName):
			if err := loadStub(name); err != nil {
				return img.failed(offload.LinkFailure, "a stub of "+name, err)
			}
		}
	}
	return nil
}

// stubs are the libraries that loadStub loaded. Their files stay open: the loader identifies objects by path, so no other
// file may get the same path.
var stubs struct {
	sync.Mutex
	loaded map[string]bool
}

// loadStub loads a library of this name without symbols, unless it has done so before.
func loadStub(soname string) error {
	stubs.Lock()
	defer stubs.Unlock()
	if stubs.loaded[soname] {
		return nil
	}
	file, err := anonymousFile(stub(soname))
	if err != nil {
		return err
	}
	if _, err := purego.Dlopen(procPath(file), purego.RTLD_NOW|purego.RTLD_LOCAL); err != nil {
		closeFile(file)
		return err
	}
	if stubs.loaded == nil {
		stubs.loaded = map[string]bool{}
	}
	stubs.loaded[soname] = true
	return nil
}

func loadOpenMP() error {
	o := &openmp
	o.Lock()
	defer o.Unlock()
	if o.handle != 0 {
		return nil
	}
	others, _ := filepath.Glob(openmpFolders) // a constant pattern
	slices.SortFunc(others, func(a, b string) int { return cmp.Compare(llvmVersion(b), llvmVersion(a)) })
	var errs []error
	for _, path := range append([]string{openmpName}, others...) {
		err := process.KeepSignals(func() (err error) {
			o.handle, err = purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
			return err
		})
		for name, at := range map[string]*uintptr{"omp_set_num_threads": &o.threads, "omp_get_level": &o.level, "kmp_set_blocktime": &o.linger} {
			if err != nil {
				break
			}
			if *at, err = purego.Dlsym(o.handle, name); err != nil {
				o.handle, err = 0, fmt.Errorf("%s: %w", path, err) // another library by this name
			}
		}
		if err == nil {
			for name, at := range map[string]*uintptr{"omp_set_num_teams": &o.teams, "omp_get_max_teams": &o.mostTeams, "__kmpc_set_thread_limit": &o.limit,
				"__kmpc_global_thread_num": &o.thread, "omp_get_num_procs": &o.cores} {
				*at, _ = purego.Dlsym(o.handle, name) // 0 if it is missing
			}
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

var versionInPath = later.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`llvm-(\d+)`) }}

func llvmVersion(path string) int {
	m := versionInPath.Get().FindStringSubmatch(path)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// lingerTime is the time in milliseconds that OpenMP threads spin before they sleep. Its default, 200, would take the cores
// from other kernels.
const lingerTime = 1

// turnPoll is the interval at which a target region polls for its turn.
const turnPoll = 100 * time.Microsecond

// settleTime bounds the wait for the other threads of the team of a failed region.
const settleTime = time.Second

// maxAbandoned bounds the threads that are abandoned because their teams never reach the end of a region.
const maxAbandoned = 64

// region has the threads that run target regions, one region at a time. They are few, since each caller of the OpenMP run time
// gets its own team of threads. The second one is for regions with a limit, which the run time cannot remove from a thread.
var region struct {
	sync.Mutex
	work      [2]chan func(fresh bool) (abandon bool) // nil without a thread
	abandoned int
}

// Region calls a target region. Errors: Unsupported if the OpenMP run time cannot bound what l bounds; OutOfResources after
// maxAbandoned regions that left threads running; [process.ErrInterrupted] after a stop; a [*process.Fault].
func (c *Caller) Region(fn uintptr, w *Words, l League, stop *atomic.Bool) error {
	r := &region
	for !r.TryLock() { // the current region may be endless
		if stop.Load() {
			return process.ErrInterrupted
		}
		time.Sleep(turnPoll)
	}
	defer r.Unlock()
	if r.abandoned >= maxAbandoned {
		return offload.Errorf(offload.OutOfResources, "launch", "%d target regions of this process have failed with threads of theirs still running", r.abandoned).
			WithHint("restart the process")
	}
	work := &r.work[0]
	if l.Limit > 0 {
		work = &r.work[1]
	}
	if *work == nil {
		*work = make(chan func(bool) bool)
		go serveRegions(*work)
	}
	var err error
	done := make(chan bool, 1)
	*work <- func(fresh bool) (abandon bool) {
		defer func() { done <- abandon }()
		abandon, err = c.region(fn, w, l, fresh, stop)
		return abandon
	}
	if <-done {
		*work = nil
		r.abandoned++
		c.image.held.Store(true)
	}
	return err
}

// serveRegions is the loop of the thread that runs target regions.
func serveRegions(work chan func(bool) bool) {
	runtime.LockOSThread() // never unlocked: the run time has data of the thread
	fresh := true
	for f := range work {
		if f(fresh) {
			select {} // keeps the thread, whose end would end other teams, too
		}
		fresh = false
	}
}

// region calls a target region on the region thread. fresh is set for the thread's first region. abandon is set if threads of
// its team may still be in the region.
func (c *Caller) region(fn uintptr, w *Words, l League, fresh bool, stop *atomic.Bool) (abandon bool, err error) {
	if fresh {
		if err := c.Plain(openmp.linger, [3]uint64{lingerTime}, stop); err != nil {
			return true, err
		}
	}
	if err := c.Plain(openmp.threads, [3]uint64{uint64(l.Threads)}, stop); err != nil {
		return true, err
	}
	restore, err := c.bound(l, stop)
	if err != nil {
		return offload.CodeOf(err) != offload.Unsupported, err
	}
	stray := process.WatchForeign()
	defer process.LeaveForeign()
	c.set(fn, w, stop)
	c.foreign.Store(stray)
	err = c.run()
	c.foreign.Store(nil)
	f := stray.Fault()
	if f == nil && (err == nil || c.outsideParallel()) {
		return restore() != nil, err
	}
	process.Settle(settleTime) // keeps a late fault of the team from being reported for the next region
	return true, cmp.Or(f, err)
}

// outsideParallel reports whether the region thread is outside of parallel constructs, so that it has no team in the image's code.
// The thread can then run further regions.
func (c *Caller) outsideParallel() bool {
	var calm atomic.Bool
	return c.Plain(openmp.level, [3]uint64{}, &calm) == nil && int32(c.block.result) == 0
}
