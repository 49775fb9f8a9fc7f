package lang

import (
	"fmt"
	"math"
	"runtime"
	"runtime/metrics"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/internals"
)

// bounds limits the interpreter's builtins by the machine's resources and the engine's limits. A builtin runs to its end
// without checking for interrupts, so its time and memory are checked before it starts. Recursion in Go must be shallow,
// because Go ends a process whose stack is exhausted.
type bounds struct {
	engine *Engine
	// items is the maximum number of elements that one call visits; bytes is the maximum that it allocates.
	items, bytes uint64
	unchecked    uint64 // bytes allocated since the last check of the heap
	depth        int    // current nesting of builtin calls
	entered      uint   // number of builtin calls
	missing      error  // about a constructor that was not found
}

const (
	itemsPerSecond = 4 << 20 // rate of the slowest builtins on a slow machine
	bytesPerSecond = 1 << 30
	itemSize       = 16 // bytes per array element

	// unlimitedItems is the maximum number of elements that an uninterruptible builtin visits in an engine without limits.
	unlimitedItems = 1 << 28

	// maxDepth is the maximum nesting of builtin calls, of proxies, and of data. Each level takes about 1 KiB of stack.
	maxDepth = 5000
)

func newBounds(e *Engine) *bounds {
	b := &bounds{engine: e, items: unlimitedItems, bytes: math.MaxUint64}
	l := &e.opts.Limits
	if l.Time > 0 {
		seconds := max(l.Time.Seconds(), 0.05)
		b.items, b.bytes = uint64(itemsPerSecond*seconds), uint64(bytesPerSecond*seconds)
	}
	if l.Memory > 0 {
		b.items, b.bytes = min(b.items, l.Memory/itemSize), min(b.bytes, l.Memory)
	}
	return b
}

// fail throws a RangeError.
func (b *bounds) fail(id, hint, format string, args ...any) {
	b.engine.Throw(&diag.Diagnostic{ID: id, Name: "RangeError", Message: fmt.Sprintf(format, args...), Hint: hint})
}

// visit throws if a call would visit more elements than the limit.
func (b *bounds) visit(name string, n uint64) {
	if n > b.items {
		b.fail("out-of-resources", "work in smaller parts, use a kernel, or raise the limits", "%s would visit %d elements at once; the limits of the engine allow %d", name, n, b.items)
	}
}

// largeAllocation is the number of bytes, of one allocation or in sum, from which allocations check the heap first.
const largeAllocation = 1 << 20

// allocate throws if a call would allocate more than the limit or the machine has. Go ends a process whose allocation fails.
func (b *bounds) allocate(name string, n uint64) {
	const hint = "work in smaller parts, or raise the memory limit"
	if n > b.bytes {
		b.fail("out-of-memory", hint, "%s would allocate %d MiB at once; the limits of the engine allow %d MiB", name, n>>20, b.bytes>>20)
	}
	if b.unchecked += n; b.unchecked < largeAllocation {
		return
	}
	b.unchecked = 0
	if limit := b.engine.opts.Limits.Memory; limit != 0 {
		if used, yes := b.engine.limit.share.Exceeds(limit, n); yes {
			b.fail("out-of-memory", hint, "%s would allocate %d MiB beside %d MiB in use; %d MiB are allowed", name, n>>20, used>>20, limit>>20)
		}
	}
	if machine := machineMemory(); !fitsMachine(n, machine) {
		b.fail("out-of-memory", "work in smaller parts, or keep the data on a device", "%s would allocate %d MiB; the machine has %d MiB for this process", name, n>>20, machine>>20)
	}
}

// joins throws if a string of n bytes does not fit.
func (e *Engine) joins(n uint64) { e.limit.bounds.allocate("joining strings", n) }

// fits reports whether n more bytes stay within a limit of the heap, and returns the bytes in use.
func fits(n, limit uint64) (used uint64, ok bool) {
	if used = heapInUse(); n > limit || used > limit-n {
		runtime.GC()
		used = heapInUse()
	}
	return used, n <= limit && used <= limit-n
}

func fitsMachine(n, machine uint64) bool {
	_, ok := fits(n, machine)
	return ok
}

// heapInUse returns the bytes of heap objects, including garbage that is not yet collected.
func heapInUse() uint64 {
	sample := [1]metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample[:])
	return sample[0].Value.Uint64()
}

// heapReserved returns the bytes of address space that the heap uses or can reuse.
func heapReserved() uint64 {
	samples := [...]metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples[:])
	total := uint64(0)
	for i := range samples {
		total += samples[i].Value.Uint64()
	}
	return total
}

// callsPerCheck is the number of builtin calls between two checks of the engine's memory.
const callsPerCheck = 256

// enter runs before a builtin: it ends an interrupted call and limits the nesting.
func (b *bounds) enter(name string) {
	b.engine.poll()
	if b.entered++; b.entered%callsPerCheck == 0 {
		b.engine.checkMemory()
	}
	if b.depth >= maxDepth {
		b.fail("stack-overflow", "is there a recursion without an end?", "%s: data or calls are nested more than %d deep", name, maxDepth)
	}
	b.depth++
}

func (b *bounds) leave() { b.depth-- }

// poll ends a call whose context has ended or that has exceeded a limit. Long-running natives call it periodically.
func (e *Engine) poll() {
	if e.running.now != nil && e.running.now.Err() != nil {
		e.letInterrupt()
	}
}

// letInterrupt runs an empty script function, so that the interpreter checks for interrupts.
func (e *Engine) letInterrupt() {
	if e.intrinsics.noScript == nil {
		v, err := runOwn(e.vm, "", "(function(){})")
		if err != nil {
			e.Throw(err)
		}
		e.intrinsics.noScript, _ = goja.AssertFunction(v)
	}
	if _, err := e.intrinsics.noScript(nil); err != nil {
		e.Throw(err)
	}
}

// A check validates a call before the builtin runs.
type check func(b *bounds, name string, c goja.FunctionCall)

// boundBuiltins adds checks to builtins. In every engine it covers those that allocate in proportion to a number, and in an
// engine with limits all that may run long.
func (e *Engine) boundBuiltins() error {
	e.limit.bounds = newBounds(e)
	typed := e.vm.GlobalObject().Get("Uint8Array").(*goja.Object).Prototype()
	e.boundArrays()
	e.boundSpread()
	for _, bound := range []func() error{e.boundCompilers, e.installBuiltins, e.boundIterators, e.boundBind, e.ownProxyArguments} {
		if err := bound(); err != nil {
			return err
		}
	}
	json := e.vm.GlobalObject().Get("JSON").(*goja.Object)
	defer func() { // a Callable is the code at the time when it is made
		e.intrinsics.parse, _ = goja.AssertFunction(json.Get("parse"))
		e.intrinsics.stringify, _ = goja.AssertFunction(json.Get("stringify"))
	}()
	if !e.opts.Limits.bounded() {
		e.boundFunctions(allocatingFunctions)
		e.boundFunctions(visitingFunctions)
		e.limit.bounds.wrap(typed, "from", checkSourceMemory)
		e.limit.bounds.wrap(json, "stringify", checkNames)
		return e.limit.bounds.missing
	}
	e.boundFunctions(boundFunctions)
	for _, name := range []string{"from", "of"} {
		e.limit.bounds.wrap(typed, name, checkSourceLength)
	}
	proto := typed.Get("prototype").(*goja.Object)
	for _, name := range typedArrayMethods {
		e.limit.bounds.wrap(proto, name, checkTypedLength)
	}
	e.limit.bounds.wrap(proto, "set", checkSourceLength)
	e.boundConstructors()
	e.boundJSON()
	return e.limit.bounds.missing
}

func (e *Engine) boundFunctions(lists []boundList) {
	global := e.vm.GlobalObject()
	for _, list := range lists {
		on := global
		for _, part := range list.on {
			on = on.Get(part).(*goja.Object)
		}
		for _, name := range list.names {
			e.limit.bounds.wrap(on, name, list.check)
		}
	}
}

// wrap adds a check to a builtin and keeps its function object. It ignores builtins that the interpreter lacks.
func (b *bounds) wrap(on *goja.Object, name string, look check) {
	original, ok := on.Get(name).(*goja.Object)
	if !ok {
		return
	}
	native, ok := internals.NativeOf(original)
	if !ok || *native.Call == nil {
		return
	}
	fn := *native.Call
	*native.Call = func(c goja.FunctionCall) goja.Value {
		b.enter(name)
		defer b.leave()
		c = b.converted(name, c)
		look(b, name, c)
		return fn(c)
	}
}
