package cpu

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/orepl/orepl/plugins/cpu/internal/sched"
	"github.com/orepl/orepl/plugins/internal/native"
	"github.com/orepl/orepl/plugins/internal/process"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

// guessedCost is the assumed nanoseconds per item before the first launch was measured.
const guessedCost = 2

// rangeItems divides the length of each range that the device chooses without a group size, except the last of a launch.
// Adjacent calls then mostly write different cache lines.
const rangeItems = 64

// callerAtHand is the caller that a launch object keeps between launches; both fields are nil if it keeps none. Unloading the
// program also frees the caller.
type callerAtHand struct {
	program *nativeProgram
	caller  *native.Caller
}

// nativeLaunch is a launch of a native kernel.
type nativeLaunch struct {
	device *device
	kernel *nativeKernel
	size   [3]int
	items  int
	group  int // items of a group, 0 if not set. With PerRange: maximum items of a call; with OutlinedOpenMP: maximum threads of a region
	league native.League
	values []native.Value
	words  native.Words
	at     offload.Position
	stop   *queue.Stop
	job    sched.Job
	hand   callerAtHand // kept for the next launch of the same program
	busy   atomic.Int64 // nanoseconds, summed over all cores

	services offload.Services
	number   uint32       // identifies the launch in its calls of services
	refused  atomic.Bool  // a service failed, or the code ended the launch
	exited   atomic.Bool  // the code ended the launch successfully
	cut      atomic.Bool  // a fault or an interruption ended a call
	halt     *atomic.Bool // the stop flag of calls in programs with services; nil in other programs
	patience *time.Timer  // sets halt some time after a service failed

	mu     sync.Mutex
	failed error
	first  int // first item of the range that failed
}

func (l *nativeLaunch) refuse(code offload.Code, format string, args ...any) *offload.Error {
	e := offload.Errorf(code, "launch", format, args...).On(l.device.id, l.kernel.info.Name)
	e.Pos = l.at
	return e
}

// set checks a launch and stores its sizes and arguments.
func (l *nativeLaunch) set(o *offload.Launch) error {
	l.kernel, l.at, l.services = o.Kernel.(*nativeKernel), o.Pos, o.Services
	k := l.kernel
	l.league = native.League{Teams: o.Teams, Limit: o.ThreadLimit}
	switch {
	case k.program.device != l.device:
		return l.refuse(offload.InvalidDevice, "the kernel is of another device")
	case k.program.unloaded.Load():
		return l.refuse(offload.Closed, "the program was unloaded")
	case o.Checks == offload.ChecksRaces:
		return l.refuse(offload.Unsupported, "the checks of a native kernel are its own, so that races cannot be found").WithHint("leave checks out")
	}
	if err := l.setSize(o); err != nil {
		return err
	}
	if len(o.Args) != len(k.info.Params) {
		return l.refuse(offload.InvalidArgument, "the kernel takes %d arguments and got %d", len(k.info.Params), len(o.Args))
	}
	l.values = l.values[:0]
	for i := range o.Args {
		v, err := l.value(i, &k.info.Params[i], &o.Args[i])
		if err != nil {
			return err
		}
		l.values = append(l.values, v)
	}
	l.words.Set(k.layout, l.values)
	clear(l.values)
	return nil
}

// setSize checks the sizes of launch and group against the calling convention, and sets them.
func (l *nativeLaunch) setSize(o *offload.Launch) error {
	k := l.kernel
	l.size, l.group = o.Size, 0
	for axis, n := range o.Size {
		if n < 0 || n > math.MaxInt32 {
			return l.refuse(offload.InvalidSize, "size %d on axis %c is not in 0 to %d", n, "xyz"[axis], math.MaxInt32)
		}
	}
	hi, items := bits.Mul64(uint64(o.Size[0])*uint64(o.Size[1]), uint64(o.Size[2]))
	if hi != 0 || items > math.MaxInt64 {
		return l.refuse(offload.InvalidSize, "size %v is over 2^63 work-items", o.Size)
	}
	l.items = int(items)
	if o.GroupSize != [3]int{} {
		l.group = 1
		for axis, n := range o.GroupSize {
			if n < 1 || n > math.MaxInt32/l.group {
				return l.refuse(offload.InvalidSize, "group size %d on axis %c: a group has 1 to %d work-items", n, "xyz"[axis], math.MaxInt32)
			}
			l.group *= n
		}
	}
	switch {
	case k.convention == offload.PerItem && k.axes < 3 && (o.Size[2] > 1 || k.axes < 2 && o.Size[1] > 1):
		return l.refuse(offload.InvalidSize, "size %v has more axes than the %d that the kernel's signature states", o.Size, k.axes).
			WithHint("give a size of %d axes, or axes: 3 in the signature if the function takes x, y and z", k.axes)
	case k.convention == offload.PerLaunch && l.items > 1:
		return l.refuse(offload.InvalidSize, "size %v: the function is called once for a launch", o.Size).WithHint("give size: 1")
	case k.convention == offload.OutlinedOpenMP && l.items > 1:
		return l.refuse(offload.InvalidSize, "size %v: a target region is called once and divides its loops itself", o.Size).
			WithHint("give size: 1; groupSize bounds the threads of its parallel regions")
	}
	return nil
}

// value checks argument i against its parameter, and converts it to the form in which the function takes it.
func (l *nativeLaunch) value(i int, p *offload.Param, a *offload.Arg) (native.Value, error) {
	none, name := native.Value{}, p.Name
	if name == "" {
		name = fmt.Sprint(i + 1)
	}
	switch {
	case p.Buffer:
		if a.Memory == nil {
			return none, l.refuse(offload.InvalidArgument, "parameter %s is a buffer, and the argument none", name)
		}
		data, err := l.device.Bytes(a.Memory)
		if err != nil {
			e := l.refuse(offload.CodeOf(err), "parameter %s", name)
			e.Err = err
			return none, e
		}
		if a.Offset < 0 || a.Offset > int64(len(data)) {
			return none, l.refuse(offload.InvalidSize, "parameter %s: offset %d leaves the memory of %d bytes", name, a.Offset, len(data))
		}
		return native.Value{Bits: uint64(uintptr(unsafe.Pointer(unsafe.SliceData(data)))) + uint64(a.Offset)}, nil
	case a.Memory != nil:
		return none, l.refuse(offload.InvalidArgument, "parameter %s is no buffer, and the argument is one", name)
	case p.Aggregate():
		if len(a.Data) != p.Elem {
			return none, l.refuse(offload.InvalidArgument, "parameter %s is a struct of %d bytes, and the argument has %d", name, p.Elem, len(a.Data))
		}
		return native.Value{Data: a.Data}, nil
	case a.Data != nil || a.Type != p.Type:
		return none, l.refuse(offload.InvalidArgument, "parameter %s has type %v, and the argument type %v", name, p.Type, a.Type)
	}
	return native.Value{Bits: a.Bits}, nil
}

func (l *nativeLaunch) clear() {
	l.kernel, l.stop, l.failed, l.services, l.halt = nil, nil, nil, nil, nil
	l.refused.Store(false)
	l.exited.Store(false)
	l.cut.Store(false)
}

// itemCost returns the estimated nanoseconds per item: guessedCost before the first measurement.
func (k *nativeKernel) itemCost() float64 {
	if c := k.cost.Load(); c > 0 {
		return float64(c) / costScale
	}
	return guessedCost
}

func (l *nativeLaunch) cost() time.Duration {
	return time.Duration(min(float64(l.items)*l.kernel.itemCost(), math.MaxInt64/2))
}

// run runs the launch, and serves the calls of its code meanwhile. It returns the launch's error, or [queue.ErrStopped] after a
// stop. A launch without items does nothing.
func (l *nativeLaunch) run(stop *queue.Stop) error {
	if l.items == 0 {
		return nil
	}
	l.stop = stop
	if l.kernel.program.ports != nil {
		leave, err := l.enterPorts(stop)
		if err != nil {
			return err
		}
		l.spread()
		leave()
	} else {
		l.spread()
	}
	switch err := l.failure(); {
	case err != nil:
		return err
	case stop.Requested():
		return queue.ErrStopped
	}
	return nil
}

// failure returns the launch's error, or nil. It takes the lock, since a one-way call may fail while the items end.
func (l *nativeLaunch) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// spread runs the items on one or more cores, depending on the cost.
func (l *nativeLaunch) spread() {
	cost := l.cost()
	measure := cost > measureAbove || l.kernel.cost.Load() == 0
	var start time.Time
	if measure {
		start = time.Now()
	}
	var busy time.Duration // summed over all cores
	if cost <= runAlone || l.device.pool.Cores() == 1 || l.items == 1 {
		l.runAlone()
		if measure {
			busy = time.Since(start)
		}
	} else {
		l.busy.Store(0)
		l.device.pool.Run(&l.job, l, l.items, l.chunk(cost), int(cost/(runAlone/2)))
		busy = time.Duration(l.busy.Load())
	}
	if measure && l.failure() == nil && !l.stop.Requested() {
		now := max(int64(busy)*costScale/int64(l.items), 1)
		if old := l.kernel.cost.Load(); old > 0 {
			now = old + (now-old)/4
		}
		l.kernel.cost.Store(max(now, 1))
	}
}

// chunk returns the number of items per chunk for a launch of this cost. It is a multiple of the group size, if the launch has
// one and calls take ranges, else of rangeItems.
func (l *nativeLaunch) chunk(cost time.Duration) int {
	about := max(min(cost/time.Duration(l.device.pool.Cores()*chunksPerCore), longChunk), shortChunk)
	n := max(int(float64(about)/l.kernel.itemCost()), 1)
	step := rangeItems
	if l.kernel.convention == offload.PerRange && l.group > 0 {
		step = l.group
	}
	return (n + step - 1) / step * step
}

// Work implements [sched.Task].
func (l *nativeLaunch) Work(s sched.Share) {
	start := time.Now()
	defer func() {
		l.busy.Add(int64(time.Since(start)))
		if p := recover(); p != nil { // workers must not end the process
			s.Stop()
			l.fail(0, l.refuse(offload.BackendFailure, "the launch panicked: %v\n%s", p, debug.Stack()))
		}
	}()
	if first, last, ok := s.Next(); ok {
		l.runItems(s, first, last)
	}
}

// runAlone runs all items on this goroutine.
func (l *nativeLaunch) runAlone() {
	h, p := &l.hand, l.kernel.program
	if h.program == p && p.unloaded.Load() { // after the launch was issued; the caller was freed
		*h = callerAtHand{}
	}
	if h.program != p {
		if h.program != nil {
			h.program.release(h.caller)
		}
		*h = callerAtHand{}
		c, err := p.caller()
		if err != nil {
			l.fail(0, err)
			return
		}
		*h = callerAtHand{p, c}
	}
	if err := l.call(h.caller, 0, l.items); err != nil {
		l.fail(0, err)
	}
}

// runItems runs items [first, last), then further chunks of the share.
func (l *nativeLaunch) runItems(s sched.Share, first, last int) {
	c, err := l.kernel.program.caller()
	if err != nil {
		s.Stop()
		l.fail(first, err)
		return
	}
	defer l.kernel.program.release(c)
	for ok := true; ok; first, last, ok = s.Next() {
		if err := l.call(c, first, last); err != nil {
			s.Stop()
			l.fail(first, err)
		}
		if l.stop.Requested() || l.refused.Load() {
			s.Stop()
		}
	}
}

// call calls the function for items [first, last), as the kernel's calling convention says. A function of a whole launch is
// called once, whatever the items. A function of ranges is called once for each group, if groups have a size. call then stops
// between two groups, without an error, if the launch was stopped or a service failed.
func (l *nativeLaunch) call(c *native.Caller, first, last int) error {
	k, stop := l.kernel, l.stop.Flag()
	if p := k.program.ports; p != nil {
		stop = l.halt
		if p.enter != 0 {
			c.Enter(p.enter, uint64(l.number))
			defer c.Enter(0, 0)
		}
	}
	switch k.convention {
	case offload.PerItem:
		return c.Items(k.address, &l.words, l.size, first, last, stop)
	case offload.PerLaunch:
		return patiently(stop, func(halt *atomic.Bool) error { return c.Once(k.address, &l.words, halt) })
	case offload.OutlinedOpenMP:
		league := l.league
		if league.Threads = l.group; league.Threads == 0 {
			league.Threads = l.device.pool.Cores()
		}
		return c.Region(k.address, &l.words, league, stop)
	}
	if l.group == 0 {
		return c.Range(k.address, &l.words, first, last, stop)
	}
	for ; first < last && !stop.Load() && !l.refused.Load(); first += l.group {
		if err := c.Range(k.address, &l.words, first, min(first+l.group, last), stop); err != nil {
			return err
		}
	}
	return nil
}

// callGrace is the time that a function with the convention [offload.PerLaunch] has to return after a request to stop. A
// function that is interrupted may leave locks held, for which later calls of the library would wait forever. callLook is the
// time between checks for a request.
const (
	callGrace = 2 * time.Second
	callLook  = 5 * time.Millisecond
)

// patiently calls call with a stop flag that is set about callGrace after stop has been set, and returns the error of call.
func patiently(stop *atomic.Bool, call func(halt *atomic.Bool) error) error {
	var halt atomic.Bool
	done := make(chan struct{})
	defer close(done)
	go func() {
		look := time.NewTicker(callLook)
		defer look.Stop()
		var since time.Time // of the request
		for {
			select {
			case <-done:
				return
			case now := <-look.C:
				switch {
				case !stop.Load():
				case since.IsZero():
					since = now
				case now.Sub(since) >= callGrace:
					halt.Store(true)
					return
				}
			}
		}
	}()
	return call(&halt)
}

// fail sets cut. It records err as the failure of the range that starts at item first, unless the failure of this or an earlier
// range is recorded. It records no errors of calls that the launch itself has ended, and none after the code has exited
// successfully.
func (l *nativeLaunch) fail(first int, err error) {
	l.cut.Store(true)
	if l.exited.Load() {
		return
	}
	if errors.Is(err, process.ErrInterrupted) && (l.stop.Requested() || l.refused.Load()) {
		return // the queue reports the reason
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil && first >= l.first {
		return
	}
	l.first = first
	var f *process.Fault
	if !errors.As(err, &f) {
		if offload.CodeOf(err) == "" {
			e := l.refuse(offload.BackendFailure, "")
			e.Err = err
			err = e
		}
		l.failed = err
		return
	}
	where := ""
	if offset, ok := l.kernel.program.image.Offset(f.PC); ok {
		where = fmt.Sprintf(", at offset %#x of the image", offset)
	}
	l.failed = l.refuse(offload.BackendFailure, "%v%s", f, where).WithHint("%s", faultHint(f))
}

// faultHint returns advice for the kind of a fault.
func faultHint(f *process.Fault) string {
	switch {
	case f.StackOverflow():
		return "the function nests too deep, or its arrays are too large for a stack of a few megabytes"
	case f.Signal == int(syscall.SIGILL):
		return "build the image for this processor, or look for what the function traps on"
	case f.Signal == int(syscall.SIGABRT):
		return "look at what the function or the C library wrote to the standard error"
	case f.Signal == int(syscall.SIGFPE):
		return "look for an integer division by zero or of the least integer by -1"
	}
	return "check the signature against the function's declaration, and the sizes of the buffers against what it accesses"
}
